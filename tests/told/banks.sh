# Accesses to shared and global memory: each operation in a few patterns, each unit, each fault of a list.
for op in lds8 lds16 lds32 lds64 lds128 sts8 sts16 sts32 sts64 sts128 cpasync4 cpasync8 cpasync16 cpasync16ca; do
  told banks --op $op --addr '(lane%8)*144 + (lane/8)*16' --json
  told banks --op $op --addr 'lane < 21 ? lane*32 : -1' --json
done
for op in ldsm_x1 ldsm_x2 ldsm_x4 ldsm_x1t ldsm_x2t ldsm_x4t stsm_x1 stsm_x2 stsm_x4 stsm_x1t stsm_x2t stsm_x4t; do
  told banks --op $op --addr '(lane%16)*80 + (lane/16)*16' --json
done
for op in ldg8 ldg16 ldg32 ldg64 ldg128 stg8 stg16 stg32 stg64 stg128 red16 red32 red64 red128 ldgsts32 ldgsts64 ldgsts128; do
  told banks --op $op --addr 'lane*48 + lane/4*16' --json
done
for unit in bytes f16 f32 f64 byte s8 e4m3 e5m2 half bf16 float tf32 s32 int double float2 float4 u8 e8m0 ue8m0 ue4m3 e2m1x2 \
  u16 u32 u64 s16 s64; do
  told banks --op ldg8 --addr 'lane' --unit $unit --json
done
told banks --op lds32 --addr 'lane*33'
told banks --op lds128 --addr '(lane/4)*64 + lane%4*16 ^ lane/8*16'
told banks --op lds64 --addr '0:512:16'
told banks --op lds32 --addr '-1'
told banks --op lds128 --addr 'lane*8'
told banks --op lds32 --addr 'lane*8192'
told banks --op lds32 --addr '233468'
told banks --op lds32 --addr '233472'
told banks --op ldsm_x2 --addr '0:128:16'
told banks --op lds32 --addr 'lane *'
told banks --op lds32 --addr 'lane/0'
