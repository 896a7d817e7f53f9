#!/bin/sh
# Packs the folder of `make portable` as a wheel, so that pip, pipx and uv install the program.
#
#   tools/wheel.sh build/portable build/dist
#
# The wheel holds what `make install` installs, and the libraries and terminal descriptions of the
# folder under share/gemmview, where the program looks for them. No Python is in it: the program lies
# in the environment's bin/ itself.
set -eu
portable=$1
dist=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

tools/install.sh "$prefix" install "$portable/gemmview" >/dev/null
mkdir -p "$prefix/share/gemmview"
for part in lib terminfo; do
  [ -d "$portable/$part" ] && cp -r "$portable/$part" "$prefix/share/gemmview/"
done
mkdir -p "$dist"
python3 tools/wheel.py "$prefix" "$("$portable/gemmview" --version)" "$dist" LICENSE "$portable"/licenses/*
