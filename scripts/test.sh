#!/usr/bin/env bash
# Every test, from a bare Debian 12: packages, build (preset ci: warnings are errors), all tests with
# the command on emulated Nehalem and Haswell, the installed package, the table of layers; then the
# kernels for 64-bit Arm under emulation. Quick when little has changed.
set -euo pipefail

cd "$(dirname "$0")/.."
jobs=$(nproc)

# Tests on large or unfree files read them from here and are skipped without it.
if [[ -z ${RML_DATA_DIR-} && -d ../shared/data ]]; then
  RML_DATA_DIR=$(cd ../shared/data && pwd)
  export RML_DATA_DIR
fi

scripts/setup.sh build pull test
scripts/arm64_sysroot.sh

configure() {  # keeps its output to itself unless it fails
  mkdir -p build
  cmake --preset "$1" > "build/configure-$1.log" 2>&1 || { cat "build/configure-$1.log" >&2; return 1; }
}

configure ci
cmake --build --preset ci -j "$jobs"
# The real models that some tests compare with llama.cpp on; without a network those are skipped.
if [[ -z ${RML_MODEL_DIR-} ]]; then
  for model in smollm2-135m gemma3-270m; do
    build/ci/bin/rml pull "$model" ||
      echo "test.sh: WARNING: $model could not be fetched (above): its tests are skipped" >&2
  done
  export RML_MODEL_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/rml/models
fi

configure arm64
cmake --build --preset arm64 -j "$jobs"
ctest --preset arm64 -j "$jobs"
ctest --preset ci -j "$jobs"
