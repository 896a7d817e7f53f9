# Readings of a schedule: limits, rules, the data of each view.
for state in fp32/padded,M=1000,N=600,K=203 hgemm/ldmatrix,GROUP_M=4 hopper/consumers,M=1111 attention/causal blackwell/pair \
  fp32/splitk_1 scaled/mxf4; do
  for view in banks grid tiles; do told show $view -k $state --format json; done
done
for state in hopper/roles blackwell/pair; do
  for view in pipeline memory descriptor swizzle; do told show $view -k $state --format json; done
done
for state in BM=64,BN=64,FM=128 LAYOUT_A=swizzle:1:3:3,STAGE=11 K=4095,SPLITK=3 ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=12 \
  PROGRAM=attention,K=33 BK=1024,FM=64,FN=64 WARP_SPECIALIZE=1 TMA=1,N=1001 CLUSTER_M=3; do
  told check --failing -k $state --json
done
for regs in 24 32 33 64 92 128 168 255 256; do told occupancy --regs $regs --threads 224 --smem 16384 --target a100 --json; done
for threads in 1 32 1000 1024 1025; do told occupancy --regs 40 --threads $threads --smem 50000 --target h200 --json; done
for name in ampere_h16816gemm_128x128_ldg8_stages_64x3_nn sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas \
  volta_sgemm_128x64_nn cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4; do
  told decode $name --json
done
