# Kernels of one's own, all blocks: counts of each line, findings, and what is left in memory; without that
# where functions of the C library took part in it.
home=$(mktemp -d)  # of launches that are remembered
export XDG_STATE_HOME="$home"
scratch=$home/memory
opened() {
  told open "$@" --blocks all --predict --json
  for name in 0 1 2 3; do
    rm -f $scratch
    "$GEMMVIEW" open "$@" --predict --json --dump $name=$scratch >/dev/null 2>&1
    [ -f $scratch ] && echo "  argument $name: $(cksum < $scratch)"
  done
}
opened tests/data/open/k01.ptx --kernel _Z15transpose_naivePfPKfii --launch grid=8x7x1,block=32x8x1 --arg mem:200000:zero --arg mem:200000:random --arg 250 --arg 200
opened tests/data/open/k03.ptx --kernel _Z13transpose_xorPfPKfjj --launch grid=8x6x1,block=32x4x1 --arg mem:196608:unwritten --arg mem:196608:random --arg 256 --arg 192
opened tests/data/open/k05.ptx --kernel _Z12float4_storePKfPfS1_i --launch grid=4x4x1,block=256x1x1 --arg mem:262144:random --arg mem:262144:unwritten --arg mem:262144:unwritten --arg 256
opened tests/data/open/k07.ptx --kernel _Z14reduce_shuffleILj512EEvPKfPfS2_i --launch grid=24x1x1,block=512x1x1 --arg mem:400012:random --arg mem:96:unwritten --arg mem:96:unwritten --arg 100003
opened tests/data/open/k09.ptx --kernel _Z12sgemm_scalarILi64ELi64ELi16ELi4ELi4EEviiifPKfS1_fPf --launch grid=3x4x1,block=256x1x1 --arg 256 --arg 192 --arg 80 --arg 1.25 --arg mem:81920:random --arg mem:61440:random --arg 0.5 --arg mem:196608:random
opened tests/data/open/k11.ptx --kernel _Z14hgemm_ldmatrixPK6__halfS1_Pfiii --launch grid=2x3x1,block=128x1x1 --arg mem:98304:random --arg mem:65536:random --arg mem:393216:unwritten --arg 384 --arg 256 --arg 128
opened tests/data/open/k13.ptx --kernel _Z12stencil_haloPKfPfiif --launch grid=8x8x1,block=32x8x1 --arg mem:60000:random --arg mem:60000:unwritten --arg 250 --arg 60 --arg 0.200000003
opened tests/data/open/k15.ptx --kernel _Z16histogram_atomicPKjPji --launch grid=20x1x1,block=192x1x1 --arg file:tests/data/open/k15_data.bin --arg mem:1032:zero --arg 30001
told open tests/data/open/k17.ptx --kernel _Z14attention_headPK6__halfS1_S1_PS_if --launch grid=8x2x1,block=128x1x1 --arg mem:32768:random --arg mem:32768:random --arg mem:32768:random --arg mem:32768:unwritten --arg 128 --arg 0.125 --blocks all --predict --json
opened tests/data/open/k19.ptx --kernel _Z11aos_stridesPK4Vec3Pfi --launch grid=24x1x1,block=160x1x1,smem=16000 --arg mem:46080:random --arg mem:15360:unwritten --arg 6
k=tests/data/open
opened $k/c01.ptx --launch grid=4x4,block=16x16 --arg mem:262144 --arg mem:262144 --arg mem:262144 --arg 256
opened $k/c02.ptx --launch grid=8,block=256 --arg mem:16384 --arg mem:8192 --arg 4096
opened $k/c03.ptx --launch grid=6,block=96,smem=1888 --arg mem:65536 --arg mem:65536
opened $k/c04.ptx --launch grid=4,block=128 --arg mem:1048576 --arg mem:1048576 --arg 9
opened $k/c05.ptx --launch grid=3,block=128 --arg mem:1048576 --arg mem:1048576 --arg 7
opened $k/c06.ptx --launch grid=2x2,block=128 --arg mem:1048576 --arg mem:1048576 --arg mem:1048576 --arg mem:1048576 \
  --arg mem:1048576 --arg 64
opened $k/c07.ptx --launch grid=4,block=192 --arg mem:65536
opened $k/c08.ptx --launch grid=5,block=100 --arg mem:65536 --arg mem:65536 --arg 463
opened $k/c09.ptx --launch grid=3,block=256 --arg file:$k/c09_data.bin --arg mem:3072 --arg mem:3072
opened $k/c10.ptx --launch grid=3,block=160 --arg mem:36864 --arg mem:6144 --arg 6
opened $k/c11.ptx --launch grid=2,block=128 --arg mem:16384 --arg mem:2048
opened $k/tensors.ptx --launch grid=1,block=256 --arg tma:shape=48x13,box=32x8,swizzle=128B,type=f32 \
  --arg tma:shape=48x13,box=32x8,type=f32 --arg 8 --arg 4
opened $k/triton_matmul.ptx --launch grid=1,block=128,smem=24576 --arg mem:65536 --arg mem:65536 --arg mem:65536:unwritten \
  --arg 64 --arg 64 --arg 64 --arg mem:4096 --arg mem:4096
opened $k/triton_fp8.ptx --launch grid=1,block=128,smem=24576 --arg mem:65536 --arg mem:65536 --arg mem:65536:unwritten \
  --arg 64 --arg 64 --arg 64 --arg mem:4096 --arg mem:4096
told open $k/triton_attention.ptx --launch grid=1,block=128,smem=65536 --arg mem:65536 --arg mem:65536 --arg mem:65536 \
  --arg mem:65536 --arg 128 --arg 0.125 --arg mem:4096 --arg mem:4096 --blocks all --predict --json
told open $k/triton_layernorm.ptx --launch grid=2,block=128,smem=4096 --arg mem:65536 --arg mem:65536 --arg mem:65536 \
  --arg mem:65536 --arg 1000 --arg 0.00001 --arg mem:4096 --arg mem:4096 --blocks all --predict --json
told open $k/triton_softmax.ptx --launch grid=2,block=128,smem=4096 --arg mem:65536 --arg mem:65536 --arg 1000 --arg mem:4096 \
  --arg mem:4096 --blocks all --predict --json
for wrong in 'grid=8x7,block=16x8' 'grid=8x7,block=32x8,smem=4'; do
  opened $k/k01.ptx --launch $wrong --arg mem:20000:unwritten --arg mem:1000 --arg 250 --arg 200
done
told open $k/c10.ptx --every-order --json --launch grid=3,block=160 --arg mem:36864 --arg mem:6144 --arg 6
rm -r "$home"
