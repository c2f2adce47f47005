#!/usr/bin/env bash
# Runs a program under Linux on a Bochs machine that has AVX-512 with VNNI (Ice Lake), for testing
# kernels that neither this machine nor qemu's user mode (AVX2 at most) can run. On demand, not in CI.
#
#   tests/emulation/bochs_avx512.sh PROGRAM [ARGUMENT...]
#   RML_ISA=avx512 tests/emulation/bochs_avx512.sh build/ci/bin/kernels_test --gtest_filter='Dot*'
#
# CPU=corei7_skylake_x has AVX-512 without VNNI; `bochs --help cpu` lists all. None has AVX512-BF16.
# Needs: bochs bochs-term bochsbios vgabios grub-pc-bin grub-common xorriso mtools busybox-static cpio.
# The program's shared libraries and testdata/ go into the initial RAM disk at their own paths. Debian's
# cloud kernel is taken from the package archive. Expect about 100 million instructions a second.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
[[ $# -gt 0 ]] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$(realpath "$1")
shift
cpu=${CPU:-corei7_icelake_u}
timeout=${TIMEOUT:-3600}
work=${WORK:-$root/build/bochs}
mkdir -p "$work"

if ! ls "$work"/kernel/boot/vmlinuz-* > /dev/null 2>&1; then
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
  (cd "$work" && apt-get download -qq "$package" 2> /dev/null && dpkg-deb -x "$package"_*.deb kernel)
fi

# The RAM disk: busybox, the program, the libraries it names, the test data.
ram=$work/ram
rm -rf "$ram" "$work/iso"
mkdir -p "$ram"/{bin,proc,sys,dev,tmp} "$work/iso/boot/grub"
cp /bin/busybox "$ram/bin/busybox"
copy() { mkdir -p "$ram$(dirname "$1")" && cp -L "$1" "$ram$1"; }
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do copy "$library"; done
copy "$program"
mkdir -p "$ram$root" && cp -r "$root/testdata" "$ram$root/"
printf -v arguments ' %q' "$@"
cat > "$ram/init" << INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox grep -m1 'model name' /proc/cpuinfo
/bin/busybox grep -m1 -o 'avx512f.*' /proc/cpuinfo
export HOME=/tmp ${RML_ISA:+RML_ISA=$RML_ISA}
$program$arguments
echo "bochs: exit code \$?"
/bin/busybox sleep 3600
INIT
chmod +x "$ram/init"
(cd "$ram" && find . | cpio --quiet -o -H newc | gzip -1) > "$work/iso/boot/initrd.gz"
cp "$work"/kernel/boot/vmlinuz-* "$work/iso/boot/vmlinuz"
cat > "$work/iso/boot/grub/grub.cfg" << GRUB
set timeout=0
menuentry linux {
  linux /boot/vmlinuz console=ttyS0 ${KERNEL_LOG:-quiet loglevel=3}  nokaslr mitigations=off tsc=reliable lpj=1000000 nosmp clearcpuid=321,323,515 rdinit=/init
  initrd /boot/initrd.gz
}
GRUB
grub-mkrescue -o "$work/boot.iso" "$work/iso" > "$work/grub.log" 2>&1

serial=$work/serial.txt
: > "$serial"
cat > "$work/bochsrc" << BOCHS
config_interface: textconfig
display_library: rfb, options="timeout=0"
cpu: model=$cpu, count=1, ips=100000000, reset_on_triple_fault=0
memory: guest=1024, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
speaker: enabled=0
com1: enabled=1, mode=file, dev=$serial
clock: sync=none
log: $work/bochs.log
panic: action=fatal
error: action=ignore
BOCHS
echo continue > "$work/debugger"  # Debian's Bochs starts in its debugger
bochs -q -f "$work/bochsrc" -rc "$work/debugger" > "$work/bochs.out" 2>&1 < /dev/null &
bochs_pid=$!
trap 'kill "$bochs_pid" 2> /dev/null || true' EXIT

for ((waited = 0; waited < timeout; waited += 2)); do
  if code=$(grep -ao 'bochs: exit code [0-9]*' "$serial"); then
    tr -d '\r' < "$serial"
    exit "${code##* }"
  fi
  kill -0 "$bochs_pid" 2> /dev/null || { tail -n 20 "$work/bochs.out" >&2; echo "bochs_avx512.sh: Bochs ended early" >&2; exit 1; }
  sleep 2
done
tail -n 20 "$serial" >&2
echo "bochs_avx512.sh: no end within $timeout s" >&2
exit 1
