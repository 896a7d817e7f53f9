#!/bin/sh
# Makes a folder that runs on any Linux with glibc 2.34 or newer on the machine that $CC compiles for,
# nothing installed.
#
#   tools/portable.sh build/portable OBJECT…
#
# Libraries other than glibc's are linked in where a .a of them exists; otherwise their .so goes to
# lib/, which the program finds through its rpath $ORIGIN/lib, or where tools/wheel.sh puts it. A few
# terminal descriptions go to terminfo/, which the program adds to its search path, and what the
# libraries' authors ask to be told along goes to licenses/. The folder fails to be made when anything in
# it asks for a glibc that is too new.
set -eu
folder=$1
shift
oldest_glibc=2.34
cc=${CC:-gcc}

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/terminfo" "$folder/licenses"

libs=''
static=''
for lib in ncursesw tinfo cjson sqlite3; do
  archive=$($cc -print-file-name=lib$lib.a)
  if [ -f "$archive" ]; then
    libs="$libs -Wl,-Bstatic -l$lib -Wl,-Bdynamic"
    static="$static $lib"
  else
    libs="$libs -l$lib"
  fi
done

# Functions that newer glibc versions have twice: the calls go to the old one.
wraps=$(grep -o 'WRAP [a-z_][a-z0-9_]*' tools/glibc_compat.c | sed 's/WRAP /-Wl,--wrap=/' | sort -u)

# shellcheck disable=SC2086,SC2016  # flags and libraries are meant to be split, $ORIGIN is ld.so's
$cc ${CFLAGS:-} -static-libgcc -Wl,--strip-debug -Wl,--as-needed \
  -Wl,-rpath,'$ORIGIN/lib:$ORIGIN/../share/gemmview/lib' "$@" tools/glibc_compat.c $wraps $libs \
  -lpthread -ldl -lm -o "$folder/gemmview"

# What is still shared and not part of glibc travels along, and what that wants too.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
bring_libraries_of() {
  for name in $(needed "$1"); do
    case $name in libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | ld-linux*) continue ;; esac
    [ -f "$folder/lib/$name" ] && continue
    cp -L "$($cc -print-file-name="$name")" "$folder/lib/$name"
    chmod 644 "$folder/lib/$name"
    bring_libraries_of "$folder/lib/$name"
  done
}
bring_libraries_of "$folder/gemmview"

for term in xterm-256color xterm screen-256color screen tmux-256color linux vt100 dumb; do
  for place in /etc/terminfo /lib/terminfo /usr/share/terminfo; do
    entry=$place/$(printf %.1s $term)/$term
    [ -f "$entry" ] || continue
    mkdir -p "$folder/terminfo/$(printf %.1s $term)"
    cp -L "$entry" "$folder/terminfo/$(printf %.1s $term)/"
    break
  done
done

# As Debian's packages and as Fedora's and Arch's say it.
root=$($cc -print-sysroot)
for lib in ncursesw tinfo cjson sqlite3; do
  for notice in "$root"/usr/share/doc/lib$lib*[0-9]/copyright "$root"/usr/share/licenses/*"${lib%w}"*/*; do
    [ -f "$notice" ] && cp -L "$notice" "$folder/licenses/$lib"
  done
  [ -f "$folder/licenses/$lib" ] || echo "portable: no notice of $lib is here; add it by hand" >&2
done

cp LICENSE README.md "$folder/"
mkdir -p "$folder/tests"
[ -d tests/gpu ] && cp -r tests/gpu "$folder/tests/"

glibc_names() { readelf -W --dyn-syms --version-info "$1" | grep -o '[^ ]*@*GLIBC_[A-Z0-9._]*' | sort -u; }
# $DRIVER is the library that the program has inside.
for file in "$folder/gemmview" "$folder"/lib/* "${DRIVER:-}"; do
  [ -f "$file" ] || continue
  newest=$(glibc_names "$file" | sed 's/.*GLIBC_//' | sort -Vu | tail -n 1)
  if [ "$(printf '%s\n%s\n' "$newest" "$oldest_glibc" | sort -V | tail -n 1)" != "$oldest_glibc" ]; then
    echo "portable: $file needs glibc $newest; at most $oldest_glibc is allowed:" >&2
    glibc_names "$file" | grep "@GLIBC_$newest" | sed 's/^/  /' >&2
    exit 1
  fi
  echo "$file: glibc $newest or newer"
done
rmdir "$folder/lib" 2>/dev/null || true
"$folder/gemmview" --version >/dev/null
echo "portable: $folder, linked in:$static, $(du -sh "$folder" | cut -f1)"
