#!/usr/bin/env bash
# Installs the packages of build/dist in Debian roots made for it, as people install them, and starts
# what was installed: the wheels with pip, pipx and uv where no compiler and no terminal description
# is, the Debian package with apt. A wheel for another machine is installed in a root of that machine,
# through the emulator. There must be one for x86-64 and one for aarch64, with programs of these machines.
#
#   make wheel deb cross && tests/install/run.sh build/dist      as root; minutes, Debian's mirror, PyPI
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

fail() {
  echo "install: $*" >&2
  exit 1
}

declare -A architectures=([x86_64]=amd64 [aarch64]=arm64)
declare -A elf_machines=([x86_64]=X86-64 [aarch64]=AArch64)

# wheel_of MACHINE: the wheel that says so, if its program is of that machine.
wheel_of() {
  local wheel=("$dist/gemmview-$version"-*manylinux_*_"$1".whl) folder=$work/wheel-of-$1
  [ ${#wheel[@]} = 1 ] && [ -f "${wheel[0]}" ] || fail "there is no one wheel for $1 in $dist"
  python3 -m zipfile -e "${wheel[0]}" "$folder"
  LC_ALL=C readelf -h "$(find "$folder" -path '*/scripts/gemmview')" | grep "Machine:.* ${elf_machines[$1]}\$" >/dev/null ||
    fail "${wheel[0]} has a program of another machine"
  echo "${wheel[0]}"
}

version=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
own=$(dpkg --print-architecture)
for machine in "${!architectures[@]}"; do
  architecture=${architectures[$machine]}
  wheel=$(wheel_of "$machine")
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
    fail "auditwheel does not say $tag of $wheel"
  echo "install: auditwheel says $tag too"
done
