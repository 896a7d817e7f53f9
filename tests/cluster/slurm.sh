#!/usr/bin/env bash
# The README's recipes for Slurm, run on a cluster of one node that is made here and taken away
# again: searches whose workers are jobs, one of which is cancelled under way or has to wait, and one within a
# job that is cancelled and goes on in the next. Workers pretend to have GPUs; Slurm counts two.
#
#   tests/cluster/slurm.sh build/gemmview      as root, with Debian's slurm-wlm and munge; two minutes
source "$(dirname "$0")/lib.sh"
for tool in slurmctld slurmd munged srun sbatch scancel squeue; do
  command -v $tool > /dev/null || fail "no $tool here: apt-get install slurm-wlm munge"
done
trap 'take_away' EXIT

take_away() {
  scancel --user root > /dev/null 2>&1 || true
  end_daemons slurmctld slurmd munged
  [ "${KEEP:-}" = 1 ] || rm -rf "$work"
}

make_cluster() {
  local host
  host=$(hostname -s)
  mkdir "$work/munge" "$work/state" "$work/spool"
  head -c 1024 /dev/urandom > "$work/munge/key"
  chmod 600 "$work/munge/key"
  chown -R munge "$work/munge"
  runuser -u munge -- munged --socket="$work/munge/socket" --key-file="$work/munge/key" \
    --log-file="$work/munge/log" --pid-file="$work/munge/pid" --seed-file="$work/munge/seed"
  wait_for 10 "munged" test -s "$work/munge/pid"
  cp "$work/munge/pid" "$work/munged.pid"
  cat > "$work/slurm.conf" <<END
ClusterName=gemmview
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
SlurmdPort=17818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=500 Gres=gpu:2
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
  # A GPU of Slurm is a device file; nobody opens these.
  printf 'Name=gpu File=%s\n' /dev/null /dev/zero > "$work/gres.conf"
  echo "CgroupAutomount=no" > "$work/cgroup.conf"
  export SLURM_CONF="$work/slurm.conf"
  slurmctld
  slurmd
  wait_for 30 "a node that is idle" sh -c 'sinfo -h -o %T | grep -q idle'
}

n_jobs() { squeue -h -o %i | wc -l; }
two_jobs_run() { [ "$(squeue -h -t RUNNING -o %i | wc -l)" = 2 ]; }

# Workers are jobs of their own; the first is cancelled while both work.
workers_as_jobs() {
  local line out="$work/jobs.jsonl" search status=0
  line=$(recipe 'srun --gpus=1')
  echo "  $line"
  eval "${line/--seconds 120/--seconds 25} --json" > "$out" 2> "$work/jobs.err" &
  search=$!
  wait_for 30 "two jobs" two_jobs_run
  wait_for 30 "points by both" sh -c "grep -q '\"worker\":0' '$out' && grep -q '\"worker\":1' '$out'"
  scancel "$(squeue -h -o %i | sort -n | head -n 1)"
  wait "$search" || status=$?
  [ "$status" = 0 ] || fail "the search ended with $status: $(tail -n 3 "$work/jobs.err")"
  [ "$(workers "$out")" = 2 ] || fail "$(workers "$out") workers had points"
  [ "$(starts)" -ge 3 ] || fail "the worker whose job was cancelled did not come back"
  [ "$(failed "$out")" -le 1 ] || fail "$(failed "$out") points were lost with one job"
  grep -q '"kind":"best"' "$out" || fail "no best kernel"
  wait_for 20 "all jobs to end" sh -c '[ -z "$(squeue -h)" ]'
  echo "  $(points "$out") points by two jobs, one of them cancelled: $(failed "$out") lost"
}

# Another's job has all GPUs while the search begins: the workers wait in the queue, and are not taken
# out of it again.
workers_in_a_queue() {
  local line out="$work/queue.jsonl"
  line=$(recipe 'srun --gpus=1')
  srun --gpus=2 -c 8 sleep 24 &
  wait_for 10 "the other's job" sh -c 'squeue -h -t R | grep -q sleep'
  eval "${line/--seconds 120/--seconds 10} --json" > "$out" 2> "$work/queue.err" ||
    fail "the search ended with $?: $(tail -n 3 "$work/queue.err")"
  [ "$(points "$out")" -gt 10 ] || fail "$(points "$out") points behind a queue"
  echo "  $(points "$out") points by workers that waited for their turn"
}

# A job that searches with a worker for each of its GPUs; cancelled, and submitted again.
search_as_job() {
  local first second job
  sed -n '/^#!\/bin\/sh$/,/^```$/p' "$repository/README.md" | sed '/^```$/d' > "$work/tune.sh"
  grep -q '^#SBATCH' "$work/tune.sh" || fail "README.md has no batch file"
  echo '2048,2048,2048' > "$work/shapes.csv"
  sed -i 's/--seconds 600/--seconds 20/' "$work/tune.sh"
  cd "$work"
  job=$(sbatch --parsable --export=ALL tune.sh)
  wait_for 40 "points of the job" sh -c "gemmview history --csv --max 1000 | grep -c 2048x2048x2048 | grep -q '[0-9][0-9]'"
  scancel "$job"
  wait_for 20 "the job to end" sh -c '[ -z "$(squeue -h)" ]'
  first=$(gemmview history --csv --max 1000 | grep -c 2048x2048x2048)
  job=$(sbatch --parsable --wait --export=ALL tune.sh) || fail "the second job: $(tail -n 3 slurm-*.out)"
  second=$(sed -n 's/.*: \([0-9]*\) kernels of 2048x2048x2048.*/\1/p' "slurm-$job.out")
  cd "$repository"
  [ -n "$second" ] || fail "the second job has no table: $(tail -n 5 "$work/slurm-$job.out")"
  [ "$second" -gt "$first" ] || fail "$second kernels are known after $first and another job"
  echo "  $first kernels timed by a job that was cancelled, $second known after the next"
}

make_cluster
echo "slurm: workers as jobs"
workers_as_jobs
echo "slurm: workers behind another's job"
workers_in_a_queue
echo "slurm: a search as a job"
search_as_job
echo "slurm: all went as it should"
