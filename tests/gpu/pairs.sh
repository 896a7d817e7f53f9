#!/bin/sh
# A schedule against itself, many times: of the pairs at most one in a hundred may be called
# different. Half of the pairs are of a kernel of microseconds, half of one of milliseconds.
#
#   tests/gpu/pairs.sh build/gemmview 200
set -u
program=$1 pairs=${2:-200}
schedule=AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4
n=0 different=0
while [ $n -lt "$pairs" ]; do
  size=$((n % 2 ? 512 : 2048))
  state=M=$size,N=$size,K=$size,$schedule
  said=$("$program" bench --in-process --no-reference --seconds 0.2 -k "$state" --against "$state") || {
    echo "pair $n could not be timed: $said"
    exit 1
  }
  n=$((n + 1))
  case $said in
    *'no difference beyond the spread of the times'*) ;;
    *faster* | *slower*) different=$((different + 1)) && echo "pair $n, $size: $said" | tail -n 1 ;;
    *) echo "pair $n: $said" && exit 1 ;;
  esac
done
echo "$n pairs of the same kernel, $different called different"
[ $((100 * different)) -le "$n" ]
