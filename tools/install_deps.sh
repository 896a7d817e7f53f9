#!/bin/sh
# Installs what the build ("run") or the tests ("test") need and the machine lacks, through the
# system's package manager, after saying what. Quick and silent when nothing is missing.
#
# What is missing is found by trying to compile and link against it, so a library installed by hand
# counts. The table below is the only place that knows package names.
set -eu
purpose=${1:-run}

# what        probe                          apt              dnf                 pacman      zypper
table='
cc            tool:cc                        gcc              gcc                 gcc         gcc
make          tool:make                      make             make                make        make
pkg-config    tool:pkg-config                pkg-config       pkgconf-pkg-config  pkgconf     pkg-config
libc          header:stdio.h                 libc6-dev        glibc-devel         glibc       glibc-devel
ncursesw      header:ncurses.h               libncurses-dev   ncurses-devel       ncurses     ncurses-devel
cjson         header:cjson/cJSON.h           libcjson-dev     cjson-devel         cjson       libcjson-devel
sqlite3       header:sqlite3.h               libsqlite3-dev   sqlite-devel        sqlite      sqlite3-devel
'
test_table='
check         header:check.h                 check            check-devel         check       check-devel
libvterm      header:vterm.h                 libvterm-dev     libvterm-devel      libvterm    libvterm-devel
'

is_there() {
  case $1 in
    tool:*) command -v "${1#tool:}" >/dev/null 2>&1 ;;
    header:*)
      command -v cc >/dev/null 2>&1 &&
        printf '#include <stdio.h>\n#include <%s>\n' "${1#header:}" |
        cc -E -x c - >/dev/null 2>&1 ;;
  esac
}

if command -v apt-get >/dev/null 2>&1; then manager=apt
elif command -v dnf >/dev/null 2>&1; then manager=dnf
elif command -v pacman >/dev/null 2>&1; then manager=pacman
elif command -v zypper >/dev/null 2>&1; then manager=zypper
else manager=none
fi

[ "$purpose" = test ] && table="$table$test_table"
missing='' packages=''
while read -r what probe apt dnf pacman zypper; do
  if [ -z "$what" ] || is_there "$probe"; then continue; fi
  missing="$missing $what"
  case $manager in
    apt) packages="$packages $apt" ;;
    dnf) packages="$packages $dnf" ;;
    pacman) packages="$packages $pacman" ;;
    zypper) packages="$packages $zypper" ;;
  esac
done <<END
$table
END
[ -z "$missing" ] && exit 0

if [ $manager = none ]; then
  echo "missing:$missing" >&2
  echo "none of apt-get, dnf, pacman and zypper is here: install these by hand, then run make again" >&2
  exit 2
fi

as_root=''
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "missing:$missing; as root, install:$packages" >&2
    exit 2
  fi
  as_root=sudo
fi
echo "missing:$missing; installing through $manager:$packages${as_root:+ (with sudo)}"
# shellcheck disable=SC2086  # the package list is meant to be split
case $manager in
  apt)
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages ;;
  dnf) $as_root dnf install -y -q $packages ;;
  pacman) $as_root pacman -Sy --needed --noconfirm $packages ;;
  zypper) $as_root zypper --non-interactive install $packages ;;
esac
