#!/bin/sh
# Prints the names of the command line that people have typed or stored, one a line, sorted:
#   tools/names.sh build/gemmview
#   option tune --seconds     json wavefronts     exit 5 benchmark failed or not trustworthy
set -eu
export LC_ALL=C
program=$1
{
  for command in $(grep -oE '^COMMAND\(([a-z_]+)' src/cli/common/commands.def | cut -d'(' -f2 | tr _ -); do
    "$program" help "$command" | grep -oE -- '--[a-z][a-z-]*' | sort -u | sed "s/^/option $command /"
  done
  "$program" schema | tr ',{' '\n\n' | grep -oE '^ *"[a-z0-9_]+" *:' | tr -d '": ' | sort -u | sed 's/^/json /'
  grep -oE 'X\([A-Z_]+, [0-9]+,' src/cli/common/cli.h | sed -E 's/X\(([A-Z_]+), ([0-9]+),/exit \1 \2/'
} | sort -u
