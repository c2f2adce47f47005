#!/usr/bin/env bash
# Lays the arm64 libraries that the cross build needs into a folder (default build/arm64-sysroot).
# They are Debian's packages, taken by an apt of its own settings: the machine's list of
# architectures and its installed packages stay as they are, and no root is needed.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
sysroot=${1:-$root/build/arm64-sysroot}
packages=(libhwy-dev libhwy1 nlohmann-json3-dev)
stamp=$sysroot/.packages

if [[ -f $stamp && $(cat "$stamp") == "${packages[*]}" ]]; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,debs}
: > "$work/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64
     -o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/status"
     -o Dir::Cache="$work" -o Dir::Cache::Archives="$work/archives" -o APT::Sandbox::User="$(id -un)"
     -o Acquire::Languages=none -o Debug::NoLocking=1)
# Sources that hold other architectures only are no failure; a missing package below is one.
"${apt[@]}" update || true
(cd "$work/debs" && "${apt[@]}" download "${packages[@]}")

rm -rf "$sysroot"
mkdir -p "$sysroot"
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$sysroot"; done
echo "${packages[*]}" > "$stamp"
echo "arm64 sysroot: ${packages[*]} in $sysroot"
