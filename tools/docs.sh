#!/bin/sh
# Writes docs/commands.md and docs/glossary.md from the program's own tables.
#
#   tools/docs.sh build/gemmview docs          writes them
#   tools/docs.sh build/gemmview docs check    1 when one is not as it is committed
set -eu
program=$1
folder=$2
mode=${3:-write}
stale=0
unset GEMMVIEW_DATA || true

put() { # NAME: what comes on stdin is the file
  new=$(mktemp)
  cat >"$new"
  if [ "$mode" = check ]; then
    cmp -s "$new" "$folder/$1" || {
      echo "docs: $folder/$1 is not what the program says; make docs"
      stale=1
    }
    rm -f "$new"
  else
    mv "$new" "$folder/$1"
    chmod 644 "$folder/$1"
  fi
}

{
  echo '# Commands'
  echo
  echo 'Written by `make docs` from `gemmview COMMAND --help`.'
  "$program" --help | sed -n 's/^  *\([a-z][a-z-]*\)  .*/\1/p' | sort -u | while read -r name; do
    "$program" "$name" --help >/dev/null 2>&1 || continue
    printf '\n## %s\n\n```\n' "$name"
    "$program" "$name" --help
    echo '```'
  done
} | put commands.md

{
  echo '# Words'
  echo
  echo 'Written by `make docs` from data/glossary.tsv, which `?` shows in the explorer, too.'
  echo
  echo '| word | what it means |'
  echo '|---|---|'
  awk -F '\t' '{ printf "| %s | %s |\n", $1, $2 }' data/glossary.tsv
} | put glossary.md
exit $stale
