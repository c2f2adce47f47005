#!/usr/bin/env bash
# Formatting and static analysis of the sources given, or of all. Usage: scripts/lint.sh [FILE.cc ...]
# Needs a configured build/ci (scripts/test.sh makes it). Takes minutes for everything.
set -euo pipefail

cd "$(dirname "$0")/.."
scripts/setup.sh build lint
if [[ $# -gt 0 ]]; then
  files=("$@")
  clang-format --dry-run --Werror "${files[@]}"
else
  mapfile -t files < <(git ls-files 'rml/*.cc')
  git ls-files -z '*.cc' '*.h' '*.inc' | xargs -0 clang-format --dry-run --Werror
fi
[[ -f build/ci/compile_commands.json ]] || cmake --preset ci
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 -p build/ci --quiet
