#!/usr/bin/env bash
# From a bare Debian 12 to a language model that answers: packages, build, model, answer.
# Run it again at any time; what is done already is not done twice.
#
#   --require-model   fail, rather than fall back to the tiny embedded model, without a network
#
# It builds the preset `release`; RML_PRESET names another, whose build may be there already.
set -euo pipefail

cd "$(dirname "$0")/.."
model=smollm2-135m
require_model=false
for argument in "$@"; do
  case $argument in
    --require-model) require_model=true ;;
    *) echo "usage: scripts/quickstart.sh [--require-model]" >&2; exit 2 ;;
  esac
done

scripts/setup.sh build pull

preset=${RML_PRESET:-release}
if [[ ! -f build/$preset/build.ninja ]]; then
  cmake --preset "$preset" -DRML_BUILD_TESTS=OFF -DRML_BUILD_BENCHMARKS=OFF > build-release.log 2>&1 ||
    { cat build-release.log >&2; exit 1; }
  rm -f build-release.log
fi
cmake --build --preset "$preset" --target rml
rml=build/$preset/bin/rml

ask=(generate -n 48 --temp 0)
if "$rml" pull "$model"; then
  echo "+ $rml generate -m $model -p \"The capital of France is\" -n 48 --temp 0"
  "$rml" "${ask[@]}" -m "$model" -p "The capital of France is"
elif $require_model; then
  echo "quickstart.sh: '$rml pull $model' failed (above); is PyPI in reach of pip?" >&2
  exit 1
else
  echo "quickstart.sh: the model could not be fetched (above); here is the tiny one built into rml, which only tells children's stories" >&2
  "$rml" "${ask[@]}" -p "Once upon a time"
fi
echo
echo "Next: $rml chat -m $model"
