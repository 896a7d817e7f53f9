// Names of kernels as profilers show them, and what becomes of them.
#include "model/schedules/decode.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/str.h"
#include "cli_harness.h"
#include "model/ir/program.h"
#include "model/readings/model.h"
#include "property.h"

static Arena *arena;
static Diags diags;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  targets = *property_gpus();
}

static void teardown(void) { arena_free(arena); }

#define MANGLED                                                                                \
  "_ZN7cutlass7Kernel2I66cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8EE" \
  "vNT_6ParamsE"

static const struct {
  const char *name;
  DecodedFamily family;
  int arch, mma_k, tile_m, tile_n, tile_k, stages;
  DType type, acc;
  const char *layout, *knobs, *note;  // knobs, note: a part
} cases[] = {
    {"s1688gemm_64x256_16x4", DECODED_BARE, 0, 8, 64, 256, 16, 4, DTYPE_TF32, DTYPE_F32, "",
     "ATOM_KIND=mma_m16n8k8_tf32,WM=1,WN=4,FM=4,FN=8,BK=2,", "type of A and B: tf32"},
    {"cutlass_80_tensorop_s1688gemm_64x256_16x4_nn_align4", DECODED_CUTLASS, 80, 8, 64, 256, 16, 4,
     DTYPE_TF32, DTYPE_F32, "nn", "BUFFER_COUNT=4,PIPELINE_STAGES=1,LDMATRIX=1,SWIZZLE=2",
     "exchanged"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688tf32gemm_128x128_32x3_nt_align4>(Params)",
     DECODED_CUTLASS, 80, 8, 128, 128, 32, 3, DTYPE_TF32, DTYPE_F32, "nt", "BK=4", "exchanged"},
    {MANGLED, DECODED_CUTLASS, 80, 16, 256, 128, 32, 3, DTYPE_F16, DTYPE_F32, "tn",
     "WM=2,WN=4,FM=4,FN=8",
     "128 rows of C and 256 columns here, with operands as under A_COL=0,B_COL=1"},
    {"cutlass_80_tensorop_i16832gemm_s8_128x128_64x4_tn_align16", DECODED_CUTLASS, 80, 32, 128, 128,
     64, 4, DTYPE_S8, DTYPE_S32, "tn", "ATOM_KIND=mma_m16n8k32_s8", "warps"},
    {"cutlass_80_tensorop_d884gemm_64x64_16x4_nt_align1", DECODED_CUTLASS, 80, 4, 64, 64, 16, 4,
     DTYPE_F64, DTYPE_F64, "nt", "ATOM_KIND=mma_m8n8k4_f64,WM=2,WN=2,FM=4,FN=4", "warps"},
    {"cutlass_80_simt_sgemm_128x128_8x5_nn_align1", DECODED_CUTLASS, 80, 1, 128, 128, 8, 5,
     DTYPE_F32, DTYPE_F32, "nn", "BM=16,BN=16,FM=8,FN=8,BK=8,STAGE=11,ASYNC_COPY=1,BUFFER_COUNT=5",
     "cells"},
    {"ampere_h16816gemm_128x128_ldg8_stages_64x3_nn", DECODED_CUBLAS, 80, 16, 128, 128, 64, 3,
     DTYPE_F16, DTYPE_F16, "nn", "ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4",
     "warps"},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", DECODED_CUBLAS, 80, 16, 128, 64,
     64, 4, DTYPE_BF16, DTYPE_F32, "tn", "ATOM_KIND=mma_m16n8k16_bf16", "not read: f2f"},
    {"volta_sgemm_128x64_nn", DECODED_CUBLAS, 70, 1, 128, 64, 0, 0, DTYPE_F32, DTYPE_F32, "nn",
     "BM=8,BN=16,FM=8,FN=8,BK=8,STAGE=11,BUFFER_COUNT=2", "depth of a slab: 8"},
    {"volta_h884gemm_256x128_ldg8_nn", DECODED_CUBLAS, 70, 4, 256, 128, 0, 0, DTYPE_F16, DTYPE_F16,
     "nn", "ATOM_KIND=mma_m16n8k16_f16,ACC=f16", "m8n8k4 is not among the atoms"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
     "alignc4_"
     "execute_kernel__51_cublas",
     DECODED_XMMA, 80, 1, 256, 128, 8, 3, DTYPE_F32, DTYPE_F32, "nnn", "BM=16,BN=32,FM=8,FN=8",
     "51"},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_"
     "kernel",
     DECODED_XMMA, 80, 16, 128, 128, 32, 4, DTYPE_F16, DTYPE_F32, "tnn", "WM=2,WN=2,FM=4,FN=8,BK=2",
     "exchanged"},
    {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x64_stage3_warpsize2x2x2_tensor16x8x8_"
     "kernel",
     DECODED_XMMA, 80, 8, 64, 64, 64, 3, DTYPE_TF32, DTYPE_F32, "nnn", "ATOM_KIND=mma_m16n8k8_tf32",
     "2 warps share a tile along K"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
     "execute_segment_k_off_kernel__5x_cublas",
     DECODED_XMMA, 90, 0, 128, 128, 64, 0, DTYPE_BF16, DTYPE_F32, "tnn",
     "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,WM=1,WN=1,FM=2,FN=1,BK=4,STAGE=11,TMA=1,"
     "BUFFER_COUNT=7,WARP_SPECIALIZE=1,MMA_GROUPS=1,SWIZZLE=3",
     "the number of slabs: 7, all that fit"},
    {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT", DECODED_NVJET, 90, 0, 128, 256, 64, 4, DTYPE_F16,
     DTYPE_F32, "nn",
     "ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=128,WM=2,WN=1,FM=2,FN=1,BK=4,STAGE=11,TMA=1,"
     "BUFFER_COUNT=4,WARP_SPECIALIZE=1",
     "share the tile by columns of C; here by rows"},
    {"nvjet_tst_320x128_64x3_1x2_h_bz_coopB_NTN", DECODED_NVJET, 90, 0, 320, 128, 64, 3, DTYPE_BF16,
     DTYPE_F32, "nt", "ATOM_N=160,WM=2,WN=1,FM=1,FN=2,BK=4,", "whether by a producer"},
    {"nvjet_hhh_64x256_64x4_1x1_h_bz_TNN", DECODED_NVJET, 90, 0, 64, 256, 64, 4, DTYPE_F16,
     DTYPE_F16, "tn", "wgmma_m64n256k16_f16,ACC=f16,ATOM_N=64,WM=1,WN=1,FM=4,FN=1,",
     "the warpgroups that multiply: 1"},
    {"nvjet_hsh_256x64_64x4_1x1_h_bz_coopA_TNN", DECODED_NVJET, 90, 0, 256, 64, 64, 4, DTYPE_F16,
     DTYPE_F32, "tn", "ATOM_N=128,WM=1,WN=2,FM=1,FN=1,", "whether by a producer"},
    {"nvjet_sss_128x128_32x4_1x1_h_bz_coopA_TNN", DECODED_NVJET, 90, 0, 128, 128, 32, 4, DTYPE_TF32,
     DTYPE_F32, "tn", "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,TMA=1,",
     "only along K, as with A_COL=0,B_COL=1: a warp's m16n8k8 replaces it"},
    {"nvjet_hsh_64x96_64x4_1x1_h_bz_TNN", DECODED_NVJET, 90, 0, 64, 96, 64, 4, DTYPE_F16, DTYPE_F32,
     "tn", "ATOM_KIND=mma_m16n8k16_f16,", "rows in 64s and columns in 16s"},
    {"cutlass3x_sm90_tensorop_h64x128x16gemm_f16_f16_f16_void_f16_128x128x64_2x1x1_0_tnt_align8_"
     "warpspecialized_pingpong_epi_tma",
     DECODED_CUTLASS3, 90, 16, 128, 128, 64, 0, DTYPE_F16, DTYPE_F16, "tnt",
     "WARP_SPECIALIZE=1,PERSISTENT=1,ROLE_SCHEDULE=pingpong", "the name does not"},
    {"cutlass_80_tensorop_f16_s16816gemm_...128x64_64x3_nn_align8", DECODED_CUTLASS, 80, 16, 128,
     64, 64, 3, DTYPE_F16, DTYPE_F32, "nn", "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=8,BK=4",
     "it is built for sm_80, so it runs without TMA, roles for warps (sm_90)"},
    {"cutlass_80_simt_sgemm_256x128_8x4_nn_align1", DECODED_CUTLASS, 80, 1, 256, 128, 8, 4,
     DTYPE_F32, DTYPE_F32, "nn", "BK=8,STAGE=11,ASYNC_COPY=1,BUFFER_COUNT=4", "without TMA"},
    {"ampere_h16816gemm_128x128_…", DECODED_CUBLAS, 80, 16, 128, 128, 0, 0, DTYPE_F16, DTYPE_F16,
     "", "ATOM_KIND=mma_m16n8k16_f16,ACC=f16", "depth of a slab: 32"},
    {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_f32_128x128x64_2x1x1_0_ttn_align8_"
     "warpspecialized_cooperative_epi_tma",
     DECODED_CUTLASS3, 90, 16, 128, 128, 64, 0, DTYPE_BF16, DTYPE_F32, "ttn",
     "SWIZZLE=3,CLUSTER_M=1,CLUSTER_N=2,MULTICAST=1", "share: here slabs"},
    {"nvjet_hsh_128x128_64x4_3x1_h_bz_TNN", DECODED_NVJET, 90, 0, 128, 128, 64, 4, DTYPE_F16,
     DTYPE_F32, "tn", "ATOM_N=128,WM=1,WN=1,FM=2,FN=1,BK=4,",
     "it runs in clusters of 1 x 3 blocks"},
};

START_TEST(names) {
  DecodedKernel kernel;
  ck_assert_msg(decode_kernel(arena, cases[_i].name, &kernel, &diags), "%s",
                diags_text(arena, &diags));
  ck_assert_int_eq(kernel.family, cases[_i].family);
  ck_assert_int_eq(kernel.arch, cases[_i].arch);
  ck_assert_int_eq(kernel.mma_k, cases[_i].mma_k);
  ck_assert_int_eq(kernel.tile_m, cases[_i].tile_m);
  ck_assert_int_eq(kernel.tile_n, cases[_i].tile_n);
  ck_assert_int_eq(kernel.tile_k, cases[_i].tile_k);
  ck_assert_int_eq(kernel.stages, cases[_i].stages);
  ck_assert_str_eq(dtype_name(kernel.type), dtype_name(cases[_i].type));
  ck_assert_str_eq(dtype_name(kernel.acc), dtype_name(cases[_i].acc));
  ck_assert_str_eq(kernel.layout, cases[_i].layout);
}
END_TEST

// Every one of them is legal here as it comes, for the problem and the target that one has.
START_TEST(schedules) {
  DecodedKernel kernel;
  Schedule base = schedule_plain();
  ck_assert(decode_kernel(arena, cases[_i].name, &kernel, &diags));
  const char *target = kernel.arch == 90 ? "h100" : "a100";
  const char *state = arena_printf(arena, "M=8192,TARGET=%s,BM=4,PAD_SMEM=4", target);
  ck_assert(schedule_parse(&base, state, &diags));
  DecodedSchedule near = decode_schedule(arena, &kernel, &base);
  ck_assert_msg(strstr(near.knobs, cases[_i].knobs), "%s", near.knobs);
  bool noted = false;
  for (int i = 0; i < near.n_notes; i++) noted |= strstr(near.note[i], cases[_i].note) != NULL;
  ck_assert_msg(noted, "no note says \"%s\"", cases[_i].note);
  ck_assert_int_eq(near.schedule.value[KNOB_M], 8192);
  ck_assert_int_eq(near.schedule.value[KNOB_PAD_SMEM], 0);
  const Model *model = model_build(arena, &targets, &near.schedule);
  ck_assert_msg(model->ok, "%s: %s", near.knobs, diags_text(arena, &model->diags));
  const Axis *m = &model->program->axis[AXIS_M], *n = &model->program->axis[AXIS_N];
  bool turned = *kernel.layout && kernel.layout[2] != 't';  // C is column-major there
  // The outermost digit of an axis steps from cluster to cluster.
  const int tile_m = turned ? kernel.tile_n : kernel.tile_m;
  const int tile_n = turned ? kernel.tile_m : kernel.tile_n;
  ck_assert_int_eq(m->digit[0].weight, tile_m * near.schedule.value[KNOB_CLUSTER_M]);
  ck_assert_int_eq(n->digit[0].weight, tile_n * near.schedule.value[KNOB_CLUSTER_N]);
}
END_TEST

// Types that wgmma reads only along K, where the reader's operands run along K.
START_TEST(warpgroups_of_other_types) {
  static const struct {
    const char *name, *knobs;
  } others[] = {
      {"nvjet_sss_128x128_32x4_1x1_h_bz_coopA_TNN",
       "wgmma_m64n256k8_tf32,ATOM_N=128,WM=2,WN=1,FM=1,FN=1,BK=4,"},
      {"nvjet_qss_128x256_128x4_1x1_h_bz_coopA_TNN",
       "wgmma_m64n256k32_e4m3,ATOM_N=128,WM=2,WN=1,FM=2,FN=1,BK=4,"},
      {"cutlass3x_sm90_tensorop_i64x128x32gemm_s8_s8_s32_void_s32_128x128x128_2x1x1_0_tnt_align16_"
       "warpspecialized_cooperative_epi_tma",
       "wgmma_m64n256k32_s8,ATOM_N=128,WM=2,WN=1,FM=1,FN=1,BK=4,"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    DecodedKernel kernel;
    Schedule base = schedule_plain();
    ck_assert(decode_kernel(arena, others[i].name, &kernel, &diags));
    ck_assert(schedule_parse(&base, "M=8192,TARGET=h200,B_COL=1", &diags));
    DecodedSchedule near = decode_schedule(arena, &kernel, &base);
    ck_assert_msg(strstr(near.knobs, others[i].knobs) && strstr(near.knobs, "SWIZZLE=3"), "%s",
                  near.knobs);
    const Model *model = model_build(arena, &targets, &near.schedule);
    ck_assert_msg(model->ok, "%s: %s", near.knobs, diags_text(arena, &model->diags));
  }
}
END_TEST

// Names of Blackwell, as CUTLASS's generator and cuBLAS write them: whole, with words of the
// epilogue, without a cluster, without an instruction, and with types and words that are not known.
static const struct {
  const char *name;
  int mma_m, mma_n, mma_k;
  bool tensor_memory, pair;
  DType type, acc;
  const char *knobs, *note, *part, *meaning;
} blackwell[] = {
    {"cutlass3x_sm100_tensorop_s256x128x16gemm_f16_f16_f32_f16_f16_256x128x64_2x1x1_0_tnn_align8_"
     "2sm",
     256, 128, 16, true, true, DTYPE_F16, DTYPE_F32,
     "ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=128,WM=1,BK=4,",
     "blackwell/pair", "2sm", "a pair of CTAs multiplies as one (cta_group::2)"},
    {"cutlass3x_sm100_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_64x128x64_1x1x1_0_nnn_align8_1sm",
     64, 128, 16, true, false, DTYPE_F16, DTYPE_F32, "tcgen05_m128n256k16_f16",
     "64 is not a multiple of 128", "s64x128x16gemm", "tcgen05.mma m64n128k16, sums in f32"},
    {"cutlass3x_sm100_tensorop_gemm_f32_f32_f32_void_f32_128x128x32_1x1x1_0_tnt_align4_1sm_stage6",
     0, 0, 0, true, false, DTYPE_F32, DTYPE_F32, "tcgen05_m128n256k8_tf32", "blackwell/roles",
     "void", "C is not read"},
    {"cutlass3x_sm100_tensorop_s256x256x8tf32gemm_f32_f32_f32_f32_f32_256x256x32_2x1x1_0_tnt_"
     "align4_"
     "2sm",
     256, 256, 8, true, true, DTYPE_TF32, DTYPE_F32, "tcgen05_m128n256k8_tf32", "blackwell/pair",
     "s256x256x8tf32gemm",
     "tcgen05.mma m256n256k8, sums in f32; A and B are f32 in memory, and the kernel rounds them "
     "to "
     "tf32"},
    {"cutlass3x_sm100_tensorop_s128x256x16gemm_bgrada_bf16_bf16_f32_void_bf16_128x256x64_1x1x1_0_"
     "tnt_"
     "align8_1sm",
     128, 256, 16, true, false, DTYPE_BF16, DTYPE_F32, "tcgen05_m128n256k16_bf16",
     "not read: bgrada", "f32", "sums f32"},
    {"cutlass3x_sm100_bstensorop_s256x128x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16_"
     "256x128x256_0_tnn_align32_o_vs16_2sm_bias_f16_relu",
     256, 128, 64, true, true, DTYPE_NVFP4, DTYPE_F32,
     "ATOM_KIND=tcgen05_m128n256k64_nvfp4,TARGET=b200", "tensor_scaled/pair", "vs16",
     "16 elements along K share a factor"},
    {"cutlass3x_sm120_bstensorop_s16x8x32gemm_ue8m0xe4m3_ue8m0xe4m3_f32_void_e5m2_128x128x128_"
     "1x1x1_"
     "0_tnn_align16",
     16, 8, 32, false, false, DTYPE_MXF8, DTYPE_F32,
     "ATOM_KIND=mma_m16n8k32_mxf8,TARGET=rtx5090,B_COL=1", "scaled/ring", "e5m2", "result e5m2"},
    {"cutlass3x_sm120_bstensorop_s16832gemm_block_scaled_ue8m0xe4m3_ue8m0xe4m3_f32_bf16_bf16_"
     "128x128x128_1x1x1_0_tnn_align16_q_bias_bf16_relu",
     16, 8, 32, false, false, DTYPE_MXF8, DTYPE_F32, "mma_m16n8k32_mxf8", "scaled/ring",
     "ue8m0xe4m3", "A e4m3, 32 elements along K share a ue8m0"},
    {"cutlass3x_sm120_bstensorop_s16864gemm_block_scaled_ue4m3xe2m1_ue4m3xe2m1_f32_bf16_bf16_"
     "128x128x256_1x1x1_0_tnn_align32_o_vs16_bias_bf16_relu",
     16, 8, 64, false, false, DTYPE_NVFP4, DTYPE_F32, "mma_m16n8k64_nvfp4", "scaled/ring",
     "ue4m3xe2m1", "A e2m1, 16 elements along K share a ue4m3"},
    {"cutlass3x_sm120_bstensorop_gemm_ue8m0xe3m2_ue8m0xe3m2_f32_void_f16_128x128x128_1x1x1_0_tnt_"
     "align128",
     0, 0, 0, false, false, DTYPE_MXF8, DTYPE_F32, "mma_m16n8k32_mxf8", "scaled/ring", "ue8m0xe3m2",
     "A e3m2, blocks share a ue8m0; no schedule has e3m2: e4m3 replaces it"},
    {"nvjet_sm100_tst_256x128_64x4_2x1_2cta_v_bz_TNT", 0, 0, 0, true, false, DTYPE_BF16, DTYPE_F32,
     "tcgen05_m128n256k16_bf16", "blackwell/roles", "sm100", "built for sm_100"},
};

static const char *meaning_of(const DecodedKernel *kernel, const char *part) {
  for (int i = 0; i < kernel->n_parts; i++)
    if (strcmp(kernel->part[i].text, part) == 0) return kernel->part[i].meaning;
  return "(missing)";
}

START_TEST(blackwell_is_no_hopper) {
  DecodedKernel kernel;
  ck_assert(decode_kernel(arena, blackwell[_i].name, &kernel, &diags));
  ck_assert(!kernel.warpgroup);
  ck_assert_int_eq(kernel.tensor_memory, blackwell[_i].tensor_memory);
  ck_assert_int_eq(kernel.pair, blackwell[_i].pair);
  ck_assert_int_eq(kernel.mma_m, blackwell[_i].mma_m);
  ck_assert_int_eq(kernel.mma_n, blackwell[_i].mma_n);
  ck_assert_int_eq(kernel.mma_k, blackwell[_i].mma_k);
  ck_assert_str_eq(dtype_name(kernel.type), dtype_name(blackwell[_i].type));
  ck_assert_str_eq(dtype_name(kernel.acc), dtype_name(blackwell[_i].acc));
  ck_assert_str_eq(meaning_of(&kernel, blackwell[_i].part), blackwell[_i].meaning);
  const Schedule base = schedule_plain();
  const DecodedSchedule near = decode_schedule(arena, &kernel, &base);
  ck_assert_msg(strstr(near.knobs, blackwell[_i].knobs), "%s", near.knobs);
  bool noted = false;
  for (int i = 0; i < near.n_notes; i++) noted |= strstr(near.note[i], blackwell[_i].note) != NULL;
  ck_assert_msg(noted, "no note says \"%s\"", blackwell[_i].note);
  const Model *model = model_build(arena, &targets, &near.schedule);
  ck_assert_msg(model->ok, "%s: %s", near.knobs, diags_text(arena, &model->diags));
}
END_TEST

// The rungs that notes name are there.
START_TEST(rungs_that_are_named_exist) {
  static const char *const rungs[][2] = {{"blackwell", "roles"},
                                         {"blackwell", "pair"},
                                         {"tensor_scaled", "roles"},
                                         {"tensor_scaled", "pair"},
                                         {"scaled", "ring"}};
  for (size_t i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
    const char *path = arena_printf(arena, "ladders/%s.json", rungs[i][0]);
    const EmbeddedFile *file = embed_find(arena, path);
    ck_assert_msg(strstr(file->text, arena_printf(arena, "\"name\": \"%s\"", rungs[i][1])), "%s",
                  path);
  }
}
END_TEST

// Two names that look alike are told apart, and an old number in a name is explained.
START_TEST(names_of_older_kernels_are_told_apart) {
  static const struct {
    const char *name, *part, *meaning, *note;
  } told[] = {
      {"cutlass_tensorop_s1688tf32gemm_256x128_16x3_nn_align4", "s1688tf32gemm",
       "tensor core m16n8k8, sums in f32; A and B are f32 in memory, and the kernel rounds them to "
       "tf32",
       "exchanged"},
      {"cutlass_tensorop_tf32_s1688gemm_tf32_256x128_16x3_nn_align4", "s1688gemm",
       "tensor core m16n8k8, sums in f32", "exchanged"},
      {"cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", "75", "built for sm_75",
       "mma.sync has bf16 from sm_80 on, so it runs only there: sm_75 names its main loop"},
      {"cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", "align1",
       "1 element in one load from global memory",
       "align1 is 2 bytes in one load: cp.async moves 4 at least"},
      {"ampere_sgemm_32x32_sliced1x4_nn", "sliced1x4",
       "slice-K: 4 warps share a tile along K and add up in shared memory",
       "4 warps share a tile along K: no knob says it"},
      {"cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x1_sliced1x2_nn_align2", "sliced1x2",
       "slice-K: 2 warps share a tile along K and add up in shared memory", "exchanged"},
  };
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
    DecodedKernel kernel;
    ck_assert(decode_kernel(arena, told[i].name, &kernel, &diags));
    ck_assert_str_eq(meaning_of(&kernel, told[i].part), told[i].meaning);
    const Schedule base = schedule_plain();
    const DecodedSchedule near = decode_schedule(arena, &kernel, &base);
    bool noted = false;
    for (int n = 0; n < near.n_notes; n++) noted |= strstr(near.note[n], told[i].note) != NULL;
    ck_assert_msg(noted, "%s: no note says \"%s\"", told[i].name, told[i].note);
  }
  DecodedKernel kernel;
  ck_assert(decode_kernel(arena, told[1].name, &kernel, &diags));
  ck_assert_str_eq(kernel.part[4].meaning,
                   "A and B tf32: the words in memory are rounded to it already");
}
END_TEST

START_TEST(what_is_no_name_is_said) {
  static const char *const texts[] = {"",
                                      "foo",
                                      "__",
                                      "gemm",
                                      "cutlass_80_tensorop",
                                      "ampere_sgemm_0x0_nn",
                                      "nvjet_",
                                      "sgemm_99999999999999999999x1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    DecodedKernel kernel;
    diags = diags_new(arena);
    ck_assert_msg(!decode_kernel(arena, texts[i], &kernel, &diags), "%s", texts[i]);
    ck_assert_str_eq(diags.first->rule, "decode");
  }
  DecodedKernel kernel;
  char *longest = arena_alloc(arena, 5000);
  memset(longest, 'x', 4999);
  memcpy(longest, "ampere_sgemm_1x1_", 17);
  ck_assert(!decode_kernel(arena, longest, &kernel, &diags));
}
END_TEST

// Names with bytes exchanged, left out and doubled: an answer or a finding, and never a bad
// schedule text.
START_TEST(mutants) {
  uint64_t state = 20261121;
  for (int i = 0; i < 20000; i++) {
    Arena *round = arena_new("mutant");
    Diags findings = diags_new(round);
    char text[400];
    const size_t n_cases = sizeof cases / sizeof *cases,
                 drawn = random_next(&state) % (n_cases + sizeof blackwell / sizeof *blackwell);
    snprintf(text, sizeof text, "%s",
             drawn < n_cases ? cases[drawn].name : blackwell[drawn - n_cases].name);
    for (int edits = (int)(random_next(&state) % 4) + 1; edits; edits--) {
      size_t n = strlen(text), at = random_next(&state) % n;
      if (random_next(&state) % 2)
        text[at] = (char)(32 + random_next(&state) % 95);
      else if (n > 8)
        memmove(text + at, text + at + 1, n - at);
    }
    DecodedKernel kernel;
    if (decode_kernel(round, text, &kernel, &findings)) {
      Schedule base = schedule_plain();
      DecodedSchedule near = decode_schedule(round, &kernel, &base);
      ck_assert_ptr_nonnull(near.knobs);
      if (i % 16 == 0) model_build(round, &targets, &near.schedule);
    } else {
      ck_assert_int_eq(findings.count, 1);
    }
    arena_free(round);
  }
}
END_TEST

START_TEST(command) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, "decode s1688gemm_64x256_16x4 --json");
  ck_assert_int_eq(run.status, 0);
  const JsonValue *document = cli_json(arena, &run);
  const struct {
    const char *key;
    int value;
  } numbers[] = {{"tile_m", 64}, {"tile_n", 256}, {"tile_k", 16}, {"stages", 4}, {"mma_k", 8}};
  for (size_t i = 0; i < 5; i++) {
    int value = 0;
    ck_assert(json_require_int(document, numbers[i].key, 0, 4096, &value, &diags));
    ck_assert_int_eq(value, numbers[i].value);
  }
  run = cli_run(arena, "decode cutlass_80_tensorop_s1688gemm_64x256_16x4_nn_align4");
  ck_assert(strstr(run.out, "228 registers; here 220 registers (RTX 5060 laptop, 4096^3)"));
  run = cli_run(arena, "decode cutlass_80_tensorop_f16_s16816gemm_...128x64_64x3_nn_align8");
  ck_assert(strstr(run.out, "left out; such names have here the type of A and B"));
  ck_assert(strstr(run.out, "its kernel is from Ampere"));
  run = cli_run(arena, "decode cutlass_80_tensorop_...");
  ck_assert_int_eq(run.status, 2);
  ck_assert(strstr(run.err, "the tile is missing in the name"));
  run = cli_run(arena, "decode foo");
  ck_assert_int_eq(run.status, 2);
  ck_assert(strstr(run.err, "nearest: ampere_h16816gemm"));
  run = cli_run(arena, "decode ampere_h16816gemm_256x256_ldg8_stages_64x3_nn -k TARGET=t4");
  ck_assert_int_eq(run.status, 1);
  ck_assert(strstr(run.err, "is not legal"));
}
END_TEST

Suite *suite_decode(void);
Suite *suite_decode(void) {
  Suite *suite = suite_create("decode");
  TCase *tcase = tcase_create("decode");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  int n = (int)(sizeof cases / sizeof *cases);
  tcase_add_loop_test(tcase, names, 0, n);
  tcase_add_loop_test(tcase, schedules, 0, n);
  tcase_add_test(tcase, warpgroups_of_other_types);
  tcase_add_loop_test(tcase, blackwell_is_no_hopper, 0,
                      (int)(sizeof blackwell / sizeof *blackwell));
  tcase_add_test(tcase, rungs_that_are_named_exist);
  tcase_add_test(tcase, names_of_older_kernels_are_told_apart);
  tcase_add_test(tcase, what_is_no_name_is_said);
  tcase_add_test(tcase, mutants);
  tcase_add_test(tcase, command);
  suite_add_tcase(suite, tcase);
  return suite;
}
