# The loops of recorded cubins, clock by clock.
for arch in sm_80 sm_86 sm_89 sm_90a sm_100a sm_120; do
  told why tests/data/cubins/$arch.cubin --kernel dots --json
  told why tests/data/cubins/$arch.cubin --kernel dots --what-if
  told why tests/data/cubins/$arch.cubin --kernel dots --launch grid=300,block=128 --trips 0x150=16 --json
  told why tests/data/cubins/$arch.cubin --kernel pairs --launch grid=300,block=64 --json
done
for kernel in k07 k09 k11 k15 k17; do
  told why tests/data/machine/open/$kernel.cubin --json
  told why tests/data/machine/open/$kernel.cubin --what-if --json
done
for kernel in k01 k03 k05 k13 k19; do
  told why tests/data/machine/open/$kernel.cubin --launch grid=300,block=256 --json
  told why tests/data/machine/open/$kernel.cubin --launch grid=3,block=96,smem=20000 --json
done
told why tests/data/machine/open/k11.cubin --launch grid=300,block=128 --trips 0x19a0=16 --json
told why tests/data/machine/open/k11.cubin --launch grid=300,block=128 --trips 0x19a0=16 --what-if --mhz 1200 --json
