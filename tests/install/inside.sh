#!/usr/bin/env bash
# Run by tests/install/run.sh in a root of its own: installs what lies in /root and starts it.
#
#   VERSION=0.1.0 bash inside.sh pip pipx uv | deb
set -euo pipefail
cd /root
fail() {
  echo "install: $*" >&2
  exit 1
}
for compiler in cc gcc clang; do
  command -v $compiler >/dev/null && fail "$compiler is here: that is no clean root"
done

# What people do first: the version, the help's files, a picture, the explorer in a terminal.
starts() {
  local program=$1 screen=/tmp/screen
  [ "$("$program" --version)" = "gemmview $VERSION" ] || fail "$program is not version $VERSION"
  "$program" show explore --size 100x30 | grep 4096³ >/dev/null || fail "$program draws no picture"
  "$program" check -k fp32/padded >/dev/null || fail "$program finds no ladder"
  "$program" doctor >/dev/null || fail "$program has no doctor"
  # q until it ends: what is typed before it listens is lost.
  timeout 60 script -qec "$program explore" $screen >/dev/null \
    < <(for _ in $(seq 60); do sleep 1 && printf q; done) || fail "$program: the explorer ended badly"
  grep -q loops $screen || fail "$program: the explorer showed nothing"
}

for step in "$@"; do
  case $step in
    pip)
      python3 -m venv environment
      environment/bin/pip install -q --no-index gemmview-*.whl
      starts environment/bin/gemmview
      [ -f environment/share/man/man1/gemmview.1 ] || fail 'the wheel has no man page'
      environment/bin/pip uninstall -q -y gemmview
      [ -z "$(find environment/share -type f -path '*gemmview*')" ] || fail 'pip left something behind'
      ;;
    pipx)
      PIP_NO_INDEX=1 PIP_FIND_LINKS=/root/wheels pipx install ./gemmview-*.whl >/dev/null 2>&1
      starts .local/bin/gemmview
      pipx uninstall gemmview >/dev/null 2>&1
      ;;
    uv)
      environment/bin/pip install -q --no-index --find-links wheels uv
      environment/bin/uv tool install -q --offline ./gemmview-*.whl 2>/dev/null
      starts .local/bin/gemmview
      environment/bin/uv tool uninstall -q gemmview
      environment/bin/uv run -q --offline --no-project --with ./gemmview-*.whl gemmview --version >/dev/null
      ;;
    deb)
      apt-get update -qq
      apt-get install -y -qq --no-install-recommends ./gemmview_*.deb >/dev/null 2>&1
      starts gemmview
      [ -f /usr/share/bash-completion/completions/gemmview ] || fail 'the package has no completion'
      dpkg -V gemmview
      apt-get purge -y -qq gemmview >/dev/null 2>&1
      [ -e /usr/bin/gemmview ] && fail 'apt left the program behind'
      ;;
  esac
  echo "install: $(dpkg --print-architecture), $step: gemmview $VERSION installed, started, taken away"
done
