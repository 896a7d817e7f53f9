#!/usr/bin/env bash
# Installs the packages of build/dist in Debian roots made for it, as people install them, and starts
# what was installed: the wheels with pip, pipx and uv where no compiler and no terminal description
# is, the Debian package with apt. A wheel for another machine is installed in a root of that machine,
# through the emulator.
#
#   make wheel deb && tests/install/run.sh build/dist      as root; some minutes, Debian's mirror, PyPI
set -euo pipefail
dist=${1:-build/dist}
[ "$(id -u)" = 0 ] || { echo 'install: a root of its own is made, which only root may' >&2 && exit 2; }
# Mounts are seen by this script alone and go when it ends.
[ "${GEMMVIEW_INSTALL_APART:-}" = 1 ] || GEMMVIEW_INSTALL_APART=1 exec unshare -m -- "$0" "$@"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d)
trap 'umount -R "$work"/*/proc "$work"/*/dev/pts 2>/dev/null || true; rm -rf "$work"' EXIT

# make_root FOLDER ARCHITECTURE PACKAGES
make_root() {
  mmdebstrap --quiet --variant=minbase --architectures="$2" --include="$3" "$release" "$1"
  mount -t proc proc "$1/proc"
  mount -t devpts devpts "$1/dev/pts" -o newinstance,ptmxmode=0666
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  cp tests/install/inside.sh "$1/root/"
}

# inside ROOT STEP…
inside() {
  local root=$1
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=xterm-256color \
    VERSION="$version" chroot "$root" bash /root/inside.sh "$@"
}

version=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
own=$(dpkg --print-architecture)
for wheel in "$dist"/gemmview-"$version"-*.whl; do
  case $wheel in
    *_x86_64.whl) architecture=amd64 ;;
    *_aarch64.whl) architecture=arm64 ;;
    *) echo "install: no wheel: $wheel" >&2 && exit 1 ;;
  esac
  root=$work/wheel-$architecture
  if [ "$architecture" = "$own" ]; then
    make_root "$root" "$architecture" python3-venv,pipx
    # pipx keeps a pip of its own and uv is a wheel too; in the root nothing is fetched.
    python3 -m pip download -q --only-binary :all: -d "$root/root/wheels" uv pip setuptools wheel
    steps=(pip pipx uv)
  else
    make_root "$root" "$architecture" python3-venv
    steps=(pip)
  fi
  rm -rf "$root"/{lib,etc,usr/share}/terminfo
  cp "$wheel" "$root/root/"
  inside "$root" "${steps[@]}"
done

make_root "$work/deb" "$own" ca-certificates
cp "$dist/gemmview_${version}_$own.deb" "$work/deb/root/"
inside "$work/deb" deb

# A second opinion of the tag: the symbols say the same to the tool that other projects trust.
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q auditwheel
for wheel in "$dist"/gemmview-"$version"-*.whl; do
  tag=$(basename "$wheel" .whl)
  tag=${tag##*-}
  "$work/venv/bin/auditwheel" show "$wheel" | tr -s '\n ' ' ' |
    grep "This constrains the platform tag to \"$tag\"" >/dev/null ||
    { echo "install: auditwheel does not say $tag of $wheel" >&2 && exit 1; }
  echo "install: auditwheel says $tag too"
done
