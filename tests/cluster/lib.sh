# What slurm.sh and sshd.sh share: a folder, a gemmview whose workers pretend, the README's lines.
#
# On the PATH of whoever starts a worker "gemmview worker …" times by a law instead of on a GPU
# (src/kernels/worker/worker_simulate.h); everything else is the program itself.
set -euo pipefail
program=$(realpath "${1:-build/gemmview}")
[ -x "$program" ] || { echo "cluster: $program is not there; make build/gemmview" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "cluster: daemons are started, which only root may" >&2; exit 2; }
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d /tmp/gemmview-cluster-XXXXXX)
chmod 755 "$work"

fail() {
  echo "cluster: $*" >&2
  exit 1
}

# A worker needs 50 ms for a timing, so that there is time to take it away.
mkdir "$work/bin"
cat > "$work/gpu.jsonl" <<END
{"on":"start","do":"hello"}
{"on":"start","do":"machine","text":"NVIDIA H200"}
{"on":"compile","do":"simulate"}
{"on":"bench","delay_ms":50,"do":"simulate"}
END
cat > "$work/bin/gemmview" <<END
#!/bin/sh
# Each start of a worker is a line.
if [ "\$1" = worker ]; then
  echo "\$\$ \${SLURM_JOB_ID:-} \${SLURM_STEP_ID:-} \${SSH_CONNECTION:-}" >> "$work/starts"
  exec "$program" worker --fake "$work/gpu.jsonl"
fi
exec "$program" "\$@"
END
chmod 755 "$work/bin/gemmview"
export PATH="$work/bin:$PATH"
export GEMMVIEW_CLASSROOM="$work/history"
mkdir "$GEMMVIEW_CLASSROOM"

# recipe WORD: the first command of README.md with WORD in it, its continued lines joined. All is read:
# who leaves a pipe early ends those before him, and with pipefail the script.
recipe() {
  sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' "$repository/README.md" |
    sed 's/^    *//' | grep -- "^gemmview tune .*$1" | sed -n '1{s/   *#.*$//;p}'
}

starts() { wc -l < "$work/starts"; }

# wait_for SECONDS WHAT COMMAND…: until the command succeeds.
wait_for() {
  local seconds=$1 what=$2 i
  shift 2
  for ((i = 0; i < 10 * seconds; i++)); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.1
  done
  fail "$what: not within $seconds s"
}

# points FILE: kernels with a time in the JSON Lines of a search; workers FILE: who timed them.
points() { grep -c '"kind":"point".*"status":"ok"' "$1"; }
workers() { grep '"kind":"point".*"status":"ok"' "$1" | grep -o '"worker":[0-9]*' | sort -u | wc -l; }
failed() { grep -c '"kind":"point".*"status":"failed"' "$1" || true; }

# end_daemons NAME…: those whose numbers stand in NAME.pid, and waits until they are gone.
end_daemons() {
  local name pid i
  for name in "$@"; do
    [ -s "$work/$name.pid" ] || continue
    pid=$(cat "$work/$name.pid")
    kill "$pid" 2> /dev/null || continue
    for ((i = 0; i < 100; i++)); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
  done
}
