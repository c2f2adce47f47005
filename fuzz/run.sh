#!/usr/bin/env bash
# Runs one fuzzer for some seconds of CPU time, and prints one line about it.
#
#   fuzz/run.sh NAME SECONDS [libFuzzer option...]
#
# The program is NAME_fuzz in $RML_FUZZ_BIN (build/fuzz/bin). Inputs that reach new code collect in
# $RML_FUZZ_WORK/NAME (build/fuzz/work), so that the next run goes on from there; findings are put
# into $RML_FUZZ_WORK/NAME-findings. Exit code: 0 when nothing was found.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
name=$1 seconds=$2
shift 2

here=$(cd "$(dirname "$0")" && pwd)
bin=${RML_FUZZ_BIN:-$here/../build/fuzz/bin}
work=${RML_FUZZ_WORK:-$here/../build/fuzz/work}
program=$bin/${name}_fuzz
if [[ ! -x $program ]]; then
  echo "fuzz/run.sh: there is no program $program; build it with: cmake --build --preset fuzz" >&2
  exit 2
fi

corpus=$work/$name findings=$work/$name-findings log=$work/$name.log
mkdir -p "$corpus" "$findings"
options=(-timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=65536
  -print_final_stats=1 -artifact_prefix="$findings/")
[[ -f $here/dict/$name.dict ]] && options+=(-dict="$here/dict/$name.dict")
seeds=()
[[ -d $here/corpus/$name ]] && seeds+=("$here/corpus/$name")

# CPU time so far, in whole seconds; nothing once the process has gone.
cpu_seconds() {
  local fields
  fields=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 1
  read -r -a fields <<<"$fields"
  echo $(((fields[11] + fields[12]) / $(getconf CLK_TCK)))
}

"$program" "${options[@]}" "$@" "$corpus" "${seeds[@]}" >"$log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null' EXIT
spent=0
while now=$(cpu_seconds "$pid"); do
  spent=$now
  if ((spent >= seconds)); then
    kill -USR1 "$pid" # libFuzzer ends in good order, and prints its figures
    break
  fi
  sleep 1
done
code=0
wait "$pid" || code=$?
trap - EXIT

stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
progress=$(grep -E '^#[0-9]+' "$log" | tail -1 || true)
coverage=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' <<<"$progress")
found=$(find "$findings" -type f | wc -l)
commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)
echo "$name: $(date -u +%F), commit $commit, $spent s of CPU time, $(stat number_of_executed_units) executions," \
  "coverage ${coverage:-0} edges, corpus $(find "$corpus" -type f | wc -l) files," \
  "peak $(stat peak_rss_mb) MB, findings $found"
if ((code != 0)); then
  echo "fuzz/run.sh: $name stopped with code $code; see $log and $findings" >&2
  grep -E 'property violated|ERROR:|SUMMARY:|runtime error' "$log" | head -5 >&2 || true
fi
exit "$code"
