#!/bin/sh
# Sees to it that programs of another machine start here: where the kernel does not know the emulator
# yet, as in a container without services, root tells it.
#
#   tools/emulator.sh aarch64
set -eu
machine=$1
formats=/proc/sys/fs/binfmt_misc
rule=/usr/lib/binfmt.d/qemu-$machine.conf

[ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats || true
[ -e "$formats/qemu-$machine" ] && exit 0
if [ ! -f "$rule" ] || [ ! -w $formats/register ]; then
  echo "emulator: no emulator of $machine; as root: apt-get install qemu-user-static, $0 $machine" >&2
  exit 2
fi
# F: the emulator is opened now, so that it is found from within a chroot too.
cat "$rule" >$formats/register
echo "emulator: programs of $machine start"
