#!/usr/bin/env bash
# Installs the packages of packages.txt that are missing. Usage: scripts/setup.sh PURPOSE...
# (build pull test fuzz lint). Does nothing, quickly, when all are there.
set -euo pipefail

list=$(dirname "$0")/packages.txt
[[ $# -gt 0 ]] || { echo "usage: setup.sh PURPOSE...; purposes: $(awk '/^[a-z]/ {print $1}' "$list" | sort -u | xargs)" >&2; exit 2; }

wanted=()
for purpose in "$@"; do
  mapfile -t packages < <(awk -v purpose="$purpose" '$1 == purpose {print $2}' "$list")
  [[ ${#packages[@]} -gt 0 ]] || { echo "setup.sh: no packages for '$purpose' in $list" >&2; exit 2; }
  wanted+=("${packages[@]}")
done

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk '$1 == "installed" {print $2}')
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | sort -u | grep -vxF -f <(echo "$installed") || true)
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo > /dev/null || { echo "setup.sh: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup.sh: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { "${as_root[@]}" apt-get -qq update &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get -qq install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
  cat "$log" >&2
  echo "setup.sh: apt-get failed (above); the package source may be out of reach" >&2
  exit 1
fi
