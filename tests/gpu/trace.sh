#!/bin/sh
# One block, or cluster, of several rungs by its stamps. The command itself refuses clocks that go back, ends with
# 5 where a wait ends before what it waited for, and verifies C; here what it prints is held against
# the time of the launch: a block takes no longer than a launch does (a half more is allowed, since
# the traced launch runs alone), and most of its warps' time lies in events.
#
#   tests/gpu/trace.sh build/gemmview
set -u
program=$1 failed=0
for state in fp32/naive fp32/pipelined fp32/cp_async hgemm/multistage fp16/tma fp16/roles hopper/wgmma hopper/tile \
  hopper/roles hopper/consumers hopper/persistent hopper/multicast hopper/tma_store hopper/hilbert hopper/hilbert,TILE_ORDER=gpc; do
  said=$("$program" trace -k "$state" --block "${BLOCK:-5}") || {
    status=$?
    [ $status = 3 ] && exit 3
    echo "$state: status $status" && failed=1
    continue
  }
  echo "$said" | awk -v state="$state" '
    /^a launch takes/ { cost = $NF == "%" ? $(NF - 1) : $NF }
    /^(block|cluster): / {
      for (i = 1; i < NF; i++) {
        if ($(i + 1) == "%" && $(i + 2) == "of" && $(i + 3) == "a") launch = $i
        if ($(i + 1) == "%" && $(i + 2) == "of" && $(i + 3) == "its") covered = $i
      }
    }
    / ends of waits held / { checked = $1; behind = /all came after it/ }
    END {
      ok = behind && launch <= 150 && covered >= 50
      printf "%-18s stamps cost %6s %%  block %5.1f %% of a launch  in events %5.1f %%  waits checked %5d  %s\n",
             state, cost, launch, covered, checked, ok ? "right" : "WRONG"
      exit !ok
    }' || failed=1
done
exit $failed
