#!/bin/sh
# Makes a Debian package of build/gemmview for the release that it was built on: the libraries that it
# depends on are those that dpkg-shlibdeps finds it linked to.
#
#   tools/deb.sh build/dist
set -eu
dist=$1
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
  command -v $tool >/dev/null || { echo "deb: $tool is missing: apt-get install dpkg-dev" >&2 && exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/debian/gemmview
version=$(build/gemmview --version | cut -d' ' -f2)
architecture=$(dpkg-architecture -qDEB_HOST_ARCH)
documents=$root/usr/share/doc/gemmview

tools/install.sh "$root/usr" install >/dev/null
strip --strip-unneeded -R .comment -R .note "$root/usr/bin/gemmview"
gzip -9n "$root/usr/share/man/man1/gemmview.1"
mkdir -p "$root/usr/share/zsh/vendor-completions" "$documents"
mv "$root/usr/share/zsh/site-functions/_gemmview" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gemmview

Files: *
Copyright: the authors of gemmview
License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.
END

# dpkg-shlibdeps asks for the source package's control file and prints "shlibs:Depends=…".
printf 'Source: gemmview\n\nPackage: gemmview\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O debian/gemmview/usr/bin/gemmview | sed -n 's/^shlibs:Depends=//p')
mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
cat >"$root/DEBIAN/control" <<END
Package: gemmview
Version: $version
Architecture: $architecture
Maintainer: gemmview <gemmview@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends, ncurses-base
Suggests: nvidia-cuda-toolkit
Section: devel
Priority: optional
Description: terminal explorer for GPU matrix multiplication kernels
 A schedule is a short list of knobs; the loop nest, the shared-memory bank
 maps, the CUDA text and the measured time are derived from it, live, in the
 terminal. Without a GPU everything works but the timing.
END
chmod -R u=rwX,go=rX "$root"
mkdir -p "$dist"
dpkg-deb --root-owner-group --build "$root" "$dist/gemmview_${version}_$architecture.deb" >/dev/null
echo "$dist/gemmview_${version}_$architecture.deb: $(du -k "$dist/gemmview_${version}_$architecture.deb" | cut -f1) KiB, depends on $depends"
