#!/bin/sh
# Puts the libraries and headers of another machine into a folder, from Debian, without running
# anything of them: what `make cross` compiles against and the emulator loads.
#
#   tools/sysroot.sh aarch64 build/sysroot-aarch64
#
# Wants mmdebstrap and dpkg-dev; the release is this machine's own, so that the cross compiler's
# libraries are the same.
set -eu
machine=$1
folder=$2
packages=libc6-dev,libgcc-12-dev,libncurses-dev,libcjson-dev,libsqlite3-dev,check,libvterm-dev

for tool in mmdebstrap dpkg-architecture "$machine-linux-gnu-gcc"; do
  command -v "$tool" >/dev/null && continue
  echo "sysroot: $tool is missing; on Debian:" \
    "apt-get install mmdebstrap dpkg-dev gcc-$machine-linux-gnu qemu-user-static" >&2
  exit 2
done
architecture=$(dpkg-architecture -t "$machine-linux-gnu" -qDEB_HOST_ARCH 2>/dev/null)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
trap 'rm -rf "$folder.new"' EXIT
rm -rf "$folder.new"
mmdebstrap --quiet --variant=extract --architectures="$architecture" --include="$packages" "$release" \
  "$folder.new"
# A link such as libtinfo.so -> /lib/…/libtinfo.so.6 means the file of this folder: where it led to
# nothing the linker would take the archive instead, a second copy of the library in one process.
find "$folder.new" -type l -lname '/*' | while read -r link; do
  ln -snfr "$folder.new$(readlink "$link")" "$link"
done
# The emulator takes a file of this folder before the machine's own: it is to have no more than that.
rm -rf "$folder.new/dev" "$folder.new/etc" "$folder.new/tmp" "$folder.new/var"
mv "$folder.new" "$folder"
echo "sysroot: $folder, $architecture, $release, $(du -sh "$folder" | cut -f1)"
