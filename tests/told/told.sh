# Helper of the suites told_NAME: each script here asks gemmview, and tests/golden/told holds the answers.
#
#   told ARGUMENTS    the command, its status and what it says, an object a line; of more than 16 lines the rest by its sum;
#                     without what was measured, and fractions to six digits
told() {
  answer=$("${GEMMVIEW:-build/plain/gemmview}" "$@" 2>&1)
  printf '%s: gemmview' "$?"
  printf ' %s' "$@"
  echo
  printf '%s\n' "$answer" | LC_ALL=C sed 's/"numbers":{[^}]*},//; s/"time_ms":[0-9.e+-]*,*//; s/\(\.[0-9]\{6\}\)[0-9]*/\1/g; s/,{/,\n  {/g; s/\(.\{150,240\},\)"/\1\n  "/g' |
    awk 'NR <= 16 { print; next } { n++; print | "cksum >&3" } END { close("cksum >&3"); if (n) print n " lines more" }' 3>&1
}
