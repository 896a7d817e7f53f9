#!/bin/sh
# Redraws screenshots/ from screenshots/list: one picture a line, "NAME ARGUMENTS of gemmview show".
#
#   tools/screenshots.sh build/gemmview screenshots
#
# A picture is an SVG made from the very canvas that the terminal shows, so it cannot go stale
# unseen: the same arguments are what the screen tests use.
set -eu
program=$1
folder=$2
count=0
while read -r name arguments; do
  case $name in '' | '#'*) continue ;; esac
  # shellcheck disable=SC2086  # the arguments of a line are meant to be split
  "$program" show $arguments --format svg >"$folder/$name.svg.new"
  mv "$folder/$name.svg.new" "$folder/$name.svg"
  count=$((count + 1))
done <"$folder/list"
echo "screenshots: $count pictures in $folder"
