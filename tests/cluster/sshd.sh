#!/usr/bin/env bash
# The README's recipe for ssh, run through an sshd on the loopback that is started here and ended
# again: one search with workers on two hosts, which are this one by two names. One connection is cut
# under way. Workers pretend to have a GPU.
#
#   tests/cluster/sshd.sh build/gemmview      as root, with Debian's openssh-server; half a minute
source "$(dirname "$0")/lib.sh"
for tool in sshd ssh ssh-keygen; do
  command -v $tool > /dev/null || fail "no $tool here: apt-get install openssh-server openssh-client"
done
trap 'take_away' EXIT

take_away() {
  end_daemons sshd
  [ "${KEEP:-}" = 1 ] || rm -rf "$work"
}

make_host() {
  ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"
  ssh-keygen -q -t ed25519 -N '' -f "$work/user_key"
  cp "$work/user_key.pub" "$work/authorized_keys"
  mkdir -p /run/sshd
  cat > "$work/sshd_config" <<END
Port 17822
ListenAddress 127.0.0.1
HostKey $work/host_key
PidFile $work/sshd.pid
AuthorizedKeysFile $work/authorized_keys
PasswordAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
SetEnv PATH=$PATH
END
  "$(command -v sshd)" -f "$work/sshd_config" -E "$work/sshd.log"
  cat > "$work/ssh_config" <<END
Host node1 node2
  HostName 127.0.0.1
  Port 17822
  User root
  IdentityFile $work/user_key
  UserKnownHostsFile $work/known_hosts
  StrictHostKeyChecking accept-new
END
  # ssh as everybody calls it, with this configuration for these two names.
  printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" > "$work/bin/ssh"
  chmod 755 "$work/bin/ssh"
  wait_for 10 "sshd" ssh node1 true
}

run_search() {
  local line out="$work/ssh.jsonl" search status=0
  line=$(recipe 'ssh node1')
  echo "  $line"
  eval "${line/--seconds 120/--seconds 15} --json" > "$out" 2> "$work/ssh.err" &
  search=$!
  wait_for 30 "points by both" sh -c "grep -q '\"worker\":0' '$out' && grep -q '\"worker\":1' '$out'"
  kill -9 "$(head -n 1 "$work/starts" | cut -d ' ' -f 1)"
  wait "$search" || status=$?
  [ "$status" = 0 ] || fail "the search ended with $status: $(tail -n 3 "$work/ssh.err")"
  [ "$(workers "$out")" = 2 ] || fail "$(workers "$out") workers had points"
  [ "$(starts)" -ge 3 ] || fail "the worker that was cut off did not come back"
  [ "$(failed "$out")" -le 1 ] || fail "$(failed "$out") points were lost with one worker"
  echo "  $(points "$out") points through two connections, one of them cut: $(failed "$out") lost"
}

make_host
echo "sshd: workers on two hosts"
run_search
echo "sshd: all went as it should"
