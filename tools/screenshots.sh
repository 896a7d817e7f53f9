#!/bin/sh
# Redraws screenshots/ from screenshots/list: one picture a line, "NAME ARGUMENTS of gemmview show",
# after the keys of screenshots/NAME.keys where there are some.
#
#   tools/screenshots.sh build/gemmview screenshots          redraws them
#   tools/screenshots.sh build/gemmview screenshots check    1 when one is not as it is committed
#
# A picture is an SVG made from the very canvas that the terminal shows. The test of the screenshots
# runs the second form.
set -eu
program=$1
folder=$2
mode=${3:-draw}
count=0
stale=0
unset GEMMVIEW_DATA || true
# Without a disassembler nothing is compiled for a picture, so that it is the same everywhere.
export GEMMVIEW_NVDISASM=/dev/null/none
while read -r name arguments; do
  case $name in '' | '#'*) continue ;; esac
  keys=
  [ -f "$folder/$name.keys" ] && keys="--script $folder/$name.keys"
  new=$folder/$name.svg.new
  [ "$mode" = check ] && new=$(mktemp)
  # shellcheck disable=SC2086  # the arguments of a line are meant to be split
  "$program" show $arguments $keys --format svg >"$new"
  count=$((count + 1))
  if [ "$mode" = check ]; then
    cmp -s "$new" "$folder/$name.svg" || {
      echo "screenshots: $folder/$name.svg is not what the program draws; make screenshots"
      stale=1
    }
    rm -f "$new"
  else
    mv "$new" "$folder/$name.svg"
  fi
done <"$folder/list"
echo "screenshots: $count pictures in $folder"
exit $stale
