#!/bin/sh
# Installs the program, its man page and its completions below a prefix, or takes them away.
#
#   tools/install.sh /usr/local install|uninstall [build/gemmview]
set -eu
prefix=$1
action=$2
program=${3:-build/gemmview}
files='bin/gemmview share/man/man1/gemmview.1 share/bash-completion/completions/gemmview
share/zsh/site-functions/_gemmview share/fish/vendor_completions.d/gemmview.fish'

if [ "$action" = uninstall ]; then
  for file in $files; do rm -f "$prefix/$file"; done
  exit 0
fi

for file in $files; do mkdir -p "$prefix/$(dirname "$file")"; done
install -m 755 "$program" "$prefix/bin/gemmview"
# The program writes these from its own tables, so they fit the commands that it has.
"$program" completion man >"$prefix/share/man/man1/gemmview.1"
"$program" completion bash >"$prefix/share/bash-completion/completions/gemmview"
"$program" completion zsh >"$prefix/share/zsh/site-functions/_gemmview"
"$program" completion fish >"$prefix/share/fish/vendor_completions.d/gemmview.fish"
echo "installed in $prefix"
