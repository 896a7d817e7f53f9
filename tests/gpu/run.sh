#!/bin/sh
# Everything that is worth running on a GPU, in one go, each step with a limit. What is recorded is timed hot, some
# ten seconds a rung; the other steps take a few minutes.
#
#   tests/gpu/run.sh                    all steps
#   tests/gpu/run.sh selftest ladder    only these
#   tests/gpu/run.sh search             tune of $PROBLEM for $SEARCH_SECONDS; not part of all
#   tests/gpu/run.sh sectors            global accesses against ncu's counters; not part of all
#
# $GEMMVIEW is the program; in a portable folder it is the one beside tests/. $OUT is the folder for
# results (build/results). $LADDER limits the self test to one ladder. After $DEADLINE seconds (1800)
# no step begins. The last lines are the tables. A GPU that is not there ends it with 3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${GEMMVIEW:-}" ]; then
  for GEMMVIEW in "$here/../../gemmview" "$here/../../build/gemmview" "$here/../../build/portable/gemmview"; do
    [ -x "$GEMMVIEW" ] && break
  done
fi
OUT=${OUT:-build/results}
SECONDS_EACH=${SECONDS_EACH:-1}
mkdir -p "$OUT"
steps=${*:-doctor selftest hopper probe registers trace ladder tensor skinny ui sanitizer pairs}
began=$(date +%s)
ends=$((began + ${DEADLINE:-1800}))
passed=0 failed=0 skipped=0 tables=''

# step NAME LIMIT COMMAND…: output to $OUT/NAME.txt, at most LIMIT seconds.
step() {
  name=$1 limit=$2
  shift 2
  started=$(date +%s)
  left=$((ends - started))
  if [ $left -lt 5 ]; then
    skipped=$((skipped + 1))
    echo "$name: skipped: out of time"
    return 0
  fi
  [ "$limit" -gt $left ] && limit=$left
  timeout -k 5 "$limit" "$@" >"$OUT/$name.txt" 2>"$OUT/$name.err"
  status=$?
  took=$(($(date +%s) - started))
  case $status in
    0) passed=$((passed + 1)) word=passed ;;
    3) skipped=$((skipped + 1)) word='skipped: something is missing' ;;
    124 | 137) failed=$((failed + 1)) word="FAILED: over its $limit s" ;;
    *) failed=$((failed + 1)) word="FAILED: status $status" ;;
  esac
  echo "$name: $word ($took s)"
  [ $status = 0 ] || tail -n 12 "$OUT/$name.err" | sed 's/^/  /'
  return $status
}

wanted() { case " $steps " in *" $1 "*) true ;; *) false ;; esac; }

base=BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11
best=$base,TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,PAD_SMEM=4,CELL_GROUP=4,LANES_M=4,LANE_ORDER=1,FRAG_BUFFER=2

tensor=WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2

roles=WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=3,FRAG_BUFFER=2,SERPENTINE=1

wgmma=ATOM_KIND=wgmma_m64n256k16_bf16,BK=4,STAGE=11,TMA=1,SWIZZLE=3
group=WM=2,BUFFER_COUNT=3,WARP_SPECIALIZE=1,MMA_GROUPS=1
lists=PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8,SERPENTINE_K=1,CLUSTER_M=2,MULTICAST=1
rows=PROGRAM=attention,HEADS=2,FUSE=1,STAGE=11,CAUSAL=1
keys=$rows,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,SWIZZLE=3,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2
turns=PERSISTENT=1,ROLE_SCHEDULE=pingpong,BUFFER_COUNT=4,WARP_SPECIALIZE=1,MMA_GROUPS=1

# One state of each kind: plain, guarded edges, ring, cp.async, register buffer, both split-Ks, and
# tensor cores with copies in a heap and spread, TMA with roles and without, wgmma alone, with roles,
# clusters, persistent blocks and sums that leave by TMA, lists by GPC with K there and back, consumers
# that take tiles by turns, tails that are split, and causal attention: its slices with eager copies, and
# warpgroups whose softmax runs under products, by turns and not.
sanitize() {
  for state in \
    "M=130,N=70,K=90,BM=16,BN=16" \
    "M=200,N=150,K=70,$base" \
    "M=256,N=256,K=64,$base,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1" \
    "M=256,N=256,K=128,$base,VECTORIZE=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1" \
    "M=256,N=256,K=64,$best" \
    "M=128,N=128,K=512,BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11,SPLITK=4" \
    "M=128,N=128,K=512,BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11,SPLITK=4,ATOMIC_FREE_SPLITK=1" \
    "M=264,N=256,K=328,ATOM_KIND=mma_m16n8k16_f16,$tensor,EPILOGUE=1" \
    "M=264,N=256,K=328,ATOM_KIND=mma_m16n8k16_bf16,$tensor,COPY_STEPS=3,SERPENTINE=1,EPILOGUE=1" \
    "M=256,N=256,K=320,ATOM_KIND=mma_m16n8k8_tf32,$tensor,COPY_STEPS=3,SERPENTINE=1,UNROLL_RING=1" \
    "M=264,N=256,K=328,ATOM_KIND=mma_m16n8k16_bf16,$roles,EPILOGUE=1,WARP_SPECIALIZE=1" \
    "M=264,N=256,K=324,ATOM_KIND=mma_m16n8k8_tf32,$roles,WARP_SPECIALIZE=1" \
    "M=264,N=256,K=100,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,TMA=1,BUFFER_COUNT=2,PIPELINE_STAGES=1" \
    "M=200,N=150,K=70,$base,VECTORIZE=1,PAD_CELLS=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1" \
    "M=264,N=256,K=328,ATOM_KIND=mma_m16n8k16_f16,$tensor,COPY_STEPS=2,COPY_FROM=1,L2_HINT=1" \
    "M=264,N=256,K=328,ATOM_KIND=mma_m16n8k16_f16,$roles,WARP_SPECIALIZE=1,PRODUCER_WARPS=1" \
    "M=200,N=264,K=264,$wgmma,ATOM_N=64" \
    "M=200,N=264,K=264,$wgmma,ATOM_N=64,A_REGS=1,LDMATRIX=1" \
    "M=520,N=520,K=520,$wgmma,$group,ATOM_N=128,EPILOGUE=1,TMA_STORE=1" \
    "M=520,N=520,K=520,$wgmma,$group,ATOM_N=128,CLUSTER_M=2,CLUSTER_N=2,MULTICAST=1" \
    "M=1032,N=1032,K=520,$wgmma,$group,ATOM_N=128,PERSISTENT=1,CLUSTER_M=2,MULTICAST=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2" \
    "M=1544,N=1544,K=520,$wgmma,$group,$lists,ATOM_N=64,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2" \
    "M=1544,N=1544,K=520,$wgmma,$group,$lists,ATOM_N=64,TAIL_SPLIT=2" \
    "M=1544,N=1544,K=200,BM=8,FM=8,FN=6,STAGE=11,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,PERSISTENT=1,FRAG_BUFFER=2,TAIL_SPLIT=3" \
    "M=1544,N=1544,K=520,$wgmma,$turns,ATOM_N=64,CLUSTER_M=2,MULTICAST=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1" \
    "M=1544,N=1544,K=520,$wgmma,$turns,ATOM_N=64,TAIL_SPLIT=3,EPILOGUE=1,TMA_STORE=1,STMATRIX=1" \
    "M=200,N=330,K=64,$rows,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FN=8,SWIZZLE=3,LDMATRIX=2,ASYNC_COPY=1,EAGER_KV=1" \
    "M=200,N=330,K=64,$keys,MMA_GROUPS=1" \
    "M=200,N=330,K=64,$keys,MMA_GROUPS=1,ROLE_SCHEDULE=pingpong"; do
    number=$((${number:-0} + 1))
    step "sanitizer-$1-$number" 60 "$sanitizer" --tool "$1" --error-exitcode 9 "$GEMMVIEW" bench \
      --in-process --no-time --no-reference -k "AUTO=0,$state"
  done
  number=0
}

if wanted doctor; then step doctor 60 "$GEMMVIEW" doctor; fi
if wanted selftest; then
  step selftest 200 "$GEMMVIEW" selftest --gpu --random 100 --seed "${SEED:-1}" \
    ${LADDER:+--ladder "$LADDER"}
  status=$?
  tables="$tables selftest"
  if [ $status = 3 ]; then
    echo 'there is no GPU here: nothing was tested'
    exit 3
  fi
fi
# wgmma with whatever Hopper has besides, one random schedule after the other, every cell of C checked.
if wanted hopper; then
  step hopper-random 400 "$GEMMVIEW" selftest --gpu --only random --random "${HOPPER_RANDOM:-200}" --hopper \
    --seed "${SEED:-1}"
  tables="$tables hopper-random"
fi
# Every access of every rung by the clock, beside its wavefronts: fails when they order otherwise; what
# the floor of an operation hides is no failure.
if wanted probe; then
  step probe 120 "$GEMMVIEW" probe --ladder all
  tables="$tables probe"
  "$GEMMVIEW" probe --ladder all --json >"$OUT/probe.json" 2>/dev/null
fi
# What register banks cost an FFMA, by the clock, beside the rule that sass and source mark by.
if wanted registers; then
  step registers 60 "$GEMMVIEW" probe --registers
  tables="$tables registers"
fi
# One block of rungs of each kind by its stamps: nobody goes on before what it waited for.
if wanted trace; then
  step trace 200 "$here/trace.sh" "$GEMMVIEW"
  tables="$tables trace"
fi
if wanted ladder; then
  for size in 2048 4096 8192; do
    step "fp32-$size" 300 "$GEMMVIEW" ladder fp32 --size $size --main --seconds "$SECONDS_EACH" \
      --record "$OUT/fp32-$size.json"
    tables="$tables fp32-$size"
  done
fi
if wanted tensor; then
  for ladder in hgemm tf32 fp16 hopper; do
    step "$ladder" 600 "$GEMMVIEW" ladder "$ladder" --size 4096 --size 8192 \
      --seconds "$SECONDS_EACH" --record "$OUT/$ladder.json"
    tables="$tables $ladder"
  done
fi
if wanted skinny; then
  step fp32-asides 300 "$GEMMVIEW" ladder fp32 --asides --seconds "$SECONDS_EACH" \
    --record "$OUT/fp32-asides.json"
  tables="$tables fp32-asides"
fi
if wanted ui; then
  step bench-ui 60 "$GEMMVIEW" bench-ui --json && tables="$tables bench-ui"
fi
if wanted pairs; then
  step pairs 300 "$here/pairs.sh" "$GEMMVIEW" "${PAIRS:-200}" && tables="$tables pairs"
fi
if wanted sectors; then
  step sectors 400 "$here/sectors.sh" "$GEMMVIEW"
  tables="$tables sectors"
fi
if wanted search; then
  seconds=${SEARCH_SECONDS:-240}
  ends=$((ends + seconds))
  step search $((seconds + 60)) "$GEMMVIEW" tune "${PROBLEM:-4096,4096,4096}" \
    --seconds "$seconds" --seed "${SEED:-1}"
  tail -n 5 "$OUT/search.txt"
fi
if wanted sanitizer; then
  sanitizer=$(command -v compute-sanitizer || find /usr/local -name compute-sanitizer -path '*/bin/*' 2>/dev/null | head -n 1)
  if [ -n "$sanitizer" ]; then
    for tool in memcheck racecheck synccheck; do sanitize $tool; done
  else
    skipped=$((skipped + 1))
    echo 'sanitizer: skipped: compute-sanitizer is not installed'
  fi
fi

for table in $tables; do
  echo
  cat "$OUT/$table.txt"
done
echo
echo "$passed passed, $failed failed, $skipped skipped in $(($(date +%s) - began)) s; files in $OUT"
[ $failed = 0 ] && [ $passed -gt 0 ]
