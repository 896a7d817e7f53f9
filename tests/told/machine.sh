# The loops of recorded cubins, clock by clock.
for arch in sm_80 sm_86 sm_89 sm_90a sm_100a sm_120; do
  told why tests/data/cubins/$arch.cubin --kernel dots --json
  told why tests/data/cubins/$arch.cubin --kernel dots --what-if
  told why tests/data/cubins/$arch.cubin --kernel dots --launch grid=300,block=128 --trips 0x150=16 --json
  told why tests/data/cubins/$arch.cubin --kernel pairs --launch grid=300,block=64 --json
done
