// Standalone .cu files: one reviewed text for each kind of type, and nvcc's opinion where there is
// one.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli_harness.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "features/gpc/model/deal_lists.h"
#include "golden.h"
#include "golden_cuda.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"
#include "kernels/toolchain/export/export_library.h"
#include "kernels/toolchain/verify.h"
#include "stress.h"

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test export cu");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *name, *state;
  bool compiled;  // nvcc takes seconds: a text of each shape is enough
} exports[] = {
    {"f32", "M=512,N=512,K=512,FM=4,FN=4,STAGE=11", true},
    {"f16_partials",
     "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1", true},
    {"f16_early",
     "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1,"
     "DEPENDENT_LAUNCH=1",
     true},
    {"f16_sums", "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,A_COL=1", false},
    {"bf16", "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_bf16,B_COL=1", false},
    {"tf32", "M=8192,N=8192,K=8192,ATOM_KIND=mma_m16n8k8_tf32,ALPHA=1", false},
    {"s8", "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k32_s8", true},
    {"e4m3", "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k32_e4m3", true},
    {"persistent",
     "M=512,N=1024,K=512,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=4,TMA=1,STAGE=11,"
     "WARP_SPECIALIZE=1,BUFFER_COUNT=3,PERSISTENT=1,TILE_ORDER=hilbert",
     false},
    {"hopper",
     "M=600,N=304,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,BK=4,STAGE=11,TMA=1,"
     "SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1,MMA_GROUPS=1,CLUSTER_M=4,CLUSTER_N=2,MULTICAST=1,"
     "PERSISTENT=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2",
     true},
    {"work_lists",
     "M=1024,N=2048,K=512,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=4,TMA=1,STAGE=11,"
     "WARP_SPECIALIZE=1,BUFFER_COUNT=3,CLUSTER_M=2,MULTICAST=1,PERSISTENT=1,TILE_ORDER=gpc,"
     "GROUP_N=8",
     true},
    {"attention",
     "PROGRAM=attention,HEADS=4,M=300,N=512,K=64,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FM=2,FN=8,FUSE=1,"
     "STAGE=11,LDMATRIX=2,SWIZZLE=3,EAGER_KV=1,TMA=1,CAUSAL=1",
     true},
    {"three_kernels", "PROGRAM=attention,HEADS=4,M=300,N=512,K=48,BM=16,BN=16", false},
    {"f64", "M=512,N=512,K=512,ATOM_KIND=mma_m8n8k4_f64", false},
    {"nvfp4",
     "TARGET=rtx5090,M=512,N=512,K=1024,ATOM_KIND=mma_m16n8k64_nvfp4,B_COL=1,FM=4,FN=8,BK=4,"
     "STAGE=11,LDMATRIX=2,SWIZZLE=3,TMA=1,BUFFER_COUNT=2",
     true},
    {"tensor_nvfp4",
     "TARGET=b200,M=512,N=512,K=1024,ATOM_KIND=tcgen05_m128n256k64_nvfp4,B_COL=1,ATOM_N=256,BK=4,"
     "STAGE=11,SWIZZLE=3,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1",
     true},
    {"mxf8", "TARGET=rtx5090,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k32_mxf8,B_COL=1", false},
};
enum { N_EXPORTS = sizeof exports / sizeof *exports };

static const char *exported(const char *state) {
  const Model *model = emit_state(&cases, state);
  const Emission *emission = emit_model(arena, model, model->program);
  return export_cu(arena, emission, model->program, model->target);
}

START_TEST(exports_are_written_as_reviewed) {
  GoldenText before[N_EXPORTS];
  GoldenHelpers *helpers = golden_helpers_new(arena);
  for (int i = 0; i < N_EXPORTS; i++) {
    const char *text = golden_without_helpers(helpers, exported(exports[i].state));
    const char *name = arena_printf(arena, "export_%s", exports[i].name);
    if (i)
      golden_check_change(arena_printf(arena, "cuda/%s.diff", name), before, i, text);
    else
      golden_check(arena_printf(arena, "cuda/%s.cu", name), text);
    before[i] = (GoldenText){name, text};
  }
  golden_check_helpers("cuda/helpers_exports.cu", helpers);
}
END_TEST

START_TEST(lines_keep_to_their_columns) {
  for (int i = 0; i < N_EXPORTS; i++)
    for (const char *line = exported(exports[i].state); *line;) {
      size_t n = strcspn(line, "\n");
      ck_assert_msg(n <= 100 || strncmp(line, "// ", 3) == 0, "%s: %.*s", exports[i].name, (int)n,
                    line);
      line += n + (line[n] == '\n');
    }
}
END_TEST

// What nvcc says of its version; NULL where there is none.
static const char *nvcc_version(void) {
  char said[1024];
  FILE *pipe = popen("nvcc --version 2> /dev/null", "r");
  ck_assert_ptr_nonnull(pipe);
  said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
  return pclose(pipe) == 0 ? arena_strdup(arena, said) : NULL;
}

static void compile_in_folder(const char *name, const char *file, const char *line,
                              const char *text) {
  char folder[] = "/tmp/gemmview-export-XXXXXX";
  ck_assert(mkdtemp(folder) != NULL);
  FILE *out = fopen(arena_printf(arena, "%s/%s.cu", folder, file), "w");
  ck_assert(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
  const char *command = arena_printf(arena, "cd %s && %s > said 2>&1", folder, line);
  ck_assert_msg(system(command) == 0, "%s: see %s/said", name, folder);
  ck_assert(system(arena_printf(arena, "rm -r %s", folder)) == 0);
}

// By the line that it begins with, word for word, as a person would copy it; warnings are errors.
static void assert_compiles(const char *name, const char *text) {
  const char *version = nvcc_version(), *end = strstr(text, " && ./");
  char file[64];
  if (!version) return;
  ck_assert_msg(end && end < strchr(text, '\n'), "%s: no line for nvcc", name);
  ck_assert_int_eq(sscanf(end, " && ./%63[a-z_0-9]", file), 1);
  const char *line =
      arena_printf(arena, "%.*s -std=c++17 -Werror all-warnings", (int)(end - text - 3), text + 3);
  const CacheKey key = {version, line, text};
  if (compile_was_clean(arena, &key)) return;
  compile_in_folder(name, file, line, text);
  compile_is_clean(&key);
}

// One text in 72, in `make stress` all of them.
START_TEST(nvcc_compiles_it) {
  if (exports[_i].compiled && stress_has_turn(_i, 72))
    assert_compiles(exports[_i].name, exported(exports[_i].state));
}
END_TEST

// Slabs filled by the tensor memory accelerator: boxes of 64 rows of A, and of 64 columns of B,
// which run along k, 32 values each.
static const char mapped_state[] =
    "M=512,N=256,K=1024,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,B_COL=1,TMA=1,"
    "LDMATRIX=1,SWIZZLE=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1";

// The order that does harm, made likely. Of a fill and a read the one that is meant to be first
// sleeps: fill 1 of a slot where nobody waits for it, the read of a slot that is given back early.
static const struct {
  const char *name, *state, *says[3];
} witnesses[] = {
    {"witness_refilled",
     "hopper/consumers --break release_early",
     {"// refilled: producer warp 8 writes", "unsigned delayed[", "    delay(delayed[0], "}},
    {"witness_cluster",
     "hopper/cluster --break fewer_arrivals",
     {"in the background", "own == rank) delay(count, warp, time)", "delay_in(0, delayed[0], 0, "}},
    {"witness_unfilled",
     "hopper/roles --break full_wait",
     {"// Warps: 1 sleeps", "delay(delayed[0], 4, 1);", "tma_load(A_s, 0, &A_map"}},
    {"witness_unbegun",
     "hopper/roles --break first_barrier",
     {"// Warps: 1 sleeps", "delay(delayed[0], 0, 1);", "mbarrier_init(full, i, 1);"}},
    {"witness_one_slab",
     "hopper/roles --break last_slab",
     {"// exit with work in flight", "mbarrier_wait(full, 0, 0);", "no warp has to sleep"}},
    // Three tiles, all of one cluster: the fault is in its second.
    {"witness_tiles",
     "hopper/cluster --break ring_restarts_per_tile",
     {"// C[256, 768]", "matmul<<<min(2, blocks that fit)", "that_fit(matmul, 2, 384"}},
    {"witness_lists",
     "hopper/pingpong --break own_slabs",
     {"// C[256, 384]", "that_fit(matmul, 2, 384", "lists_for(3, n_blocks, 2)"}},
};
enum { N_WITNESSES = sizeof witnesses / sizeof *witnesses };

// nvcc takes four seconds for each: in make test it has one, in CI two, in the long CI all.
START_TEST(a_witness_is_exported_with_its_delays) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena, "export -k %s --witness", witnesses[_i].state));
  ck_assert_msg(run.status == 0, "%s", run.err);
  for (int i = 0; i < 3; i++)
    ck_assert_msg(strstr(run.out, witnesses[_i].says[i]), "no \"%s\"", witnesses[_i].says[i]);
  if (stress_has_turn(_i, N_WITNESSES)) assert_compiles(witnesses[_i].name, run.out);
}
END_TEST

START_TEST(a_sound_kernel_has_no_witness) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "export -k hopper/roles --witness");
  ck_assert_int_eq(run.status, 1);
  ck_assert_ptr_nonnull(strstr(run.err, "no order that does harm was found"));
}
END_TEST

#define SPLIT                                                                                     \
  "ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=4," \
  "WARP_SPECIALIZE=1,M=256,N=256,SPLIT_F32="

// The parts of a split product lie in memory of their own, which their maps name.
START_TEST(maps_of_workspaces_come_behind_them) {
  const Model *model = emit_state(&cases, SPLIT "3xbf16,K=256");
  const Emission *emission = emit_cuda(arena, model->program, &(EmitOptions){0});
  const char *text = export_cu(arena, emission, model->program, model->target);
  const char *memory = strstr(text, "on.A_parts = unwritten<bf16>(131072);"),
             *map = strstr(text, "on.A_parts_map = map_of(on.A_parts,");
  ck_assert(memory && map && memory < map);
}
END_TEST

// Products of two parts of bf16 lose more than fp32 sums do, and less where more are summed.
START_TEST(a_split_product_is_allowed_what_its_parts_leave_out) {
  static const char *const states[] = {SPLIT "3xbf16,K=256", SPLIT "3xbf16,K=4096",
                                       SPLIT "6xbf16,K=256"};
  double allowed[3];
  for (int i = 0; i < 3; i++) {
    const Model *model = emit_state(&cases, states[i]);
    allowed[i] = verify_tolerance(plan_from_model(arena, model, ""));
  }
  ck_assert(allowed[0] > 6.4e-6 && allowed[0] < 6.5e-6);  // 2^-24 · 12 + 2^-15 · 3 / 16
  ck_assert(allowed[1] > 2.8e-6 && allowed[1] < 2.9e-6);  // 2^-24 · 24 + 2^-15 · 3 / 64
  ck_assert(allowed[2] < 8e-7);                           // of 24 bits nothing is lost
}
END_TEST

START_TEST(an_operand_taken_by_map_has_one_built) {
  const Model *model = emit_state(&cases, mapped_state);
  const Emission *emission = emit_cuda(arena, model->program, &(EmitOptions){0});
  const Plan *plan = plan_from_emission(arena, emission, model->program, model->target, "");
  Diags diags = diags_new(arena);
  ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(arena, &diags));
  ck_assert_int_eq(plan->n_maps, 2);
  for (int i = 0; i < 2; i++) ck_assert_int_eq(plan->kernels[0].args[i], PLAN_ARG_MAP + i);
  ck_assert_int_eq(plan->kernels[0].args[2], PLAN_ARG_C);
  const char *text = export_cu(arena, emission, model->program, model->target);
  golden_check("cuda/export_maps.cu", text);
  if (stress_is_on()) assert_compiles("maps", text);
}
END_TEST

// ---- a library ----------------------------------------------------------------------------------

// One of each kind of host part: nothing, a workspace, maps, and lists of tiles.
static const char *const library_states[] = {
    "M=512,N=512,K=512,FM=4,FN=4,STAGE=11",
    "M=512,N=256,K=512,ATOM_KIND=mma_m16n8k16_f16,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1",
    "M=600,N=304,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,BK=4,STAGE=11,TMA=1,"
    "SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1,CLUSTER_M=2,MULTICAST=1,PERSISTENT=1,EPILOGUE=1,"
    "TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2",
    "M=1024,N=2048,K=512,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=4,TMA=1,STAGE=11,"
    "WARP_SPECIALIZE=1,BUFFER_COUNT=3,CLUSTER_M=2,MULTICAST=1,PERSISTENT=1,TILE_ORDER=gpc,GROUP_N="
    "8",
    "M=1024,N=2048,K=512,ATOM_KIND=mma_m16n8k16_bf16,B_COL=1,FM=4,FN=4,BK=4,STAGE=11"};
enum { LIBRARY = sizeof library_states / sizeof *library_states };

static const LibraryFile *library_of(const char *gpu) {
  LibraryKernel *kernels = ARENA_ARRAY(arena, LibraryKernel, LIBRARY);
  for (int i = 0; i < LIBRARY; i++)
    kernels[i] = (LibraryKernel){emit_state(&cases, library_states[i]), 1000.0 * (i + 1), 900,
                                 "2026-11-23T12:00:00Z"};
  return export_library(arena, gpu, kernels, LIBRARY);
}

static const LibraryFile *library(void) { return library_of("NVIDIA H200"); }

START_TEST(the_librarys_header_is_as_reviewed) {
  const LibraryFile *files = library();
  for (int i = 0; i < 2; i++)
    golden_check(arena_printf(arena, "cuda/%s.txt", files[i].name), files[i].text);
}
END_TEST

// A worker's hello, or whoever shares the history, says what the GPU is called.
START_TEST(a_gpus_name_stays_in_its_comment) {
  static const char *const names[] = {"H200 */ __attribute__((constructor)) void pwn(void); /*",
                                      "H200\n#error", "H200 *\\\n/ #error", "H200 /*/"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = library_of(names[i])[0].text, *end = strstr(text, "*/");
    const char *line = strchr(text, '\n');
    ck_assert_msg(str_starts(end, "*/\n#ifndef GEMM_TUNED_H\n"), "%s", text);
    ck_assert_msg(str_starts(line, "\n *\n *   nvcc ") && line[-1] != '\\', "%s", text);
    ck_assert_ptr_null(memmem(text + 2, (size_t)(end - text) - 2, "/*", 2));
  }
}
END_TEST

// Which kernel a problem is given, by the rule that the header states; a header is C, not C++.
static const char library_main[] =
    "#include \"gemm_tuned.h\"\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "static int find(long long m, long long n, long long k, enum gemm_types types,\n"
    "                enum gemm_layout layout, int exact, int near) {\n"
    "  int nearest = -7;\n"
    "  const int found = gemm_find(m, n, k, types, layout, &nearest);\n"
    "  if (found == exact && (exact >= 0 || nearest == near)) return 1;\n"
    "  printf(\"%lld %lld %lld: %d, nearest %d\\n\", m, n, k, found, nearest);\n"
    "  return 0;\n"
    "}\n"
    "int main(void) {\n"
    "  int nearest = -7;\n"
    "  if (gemm_kernel_count != 5 || gemm_kernels[1].workspace_bytes != 2 * 512 * 256 * 4) return "
    "1;\n"
    "  if (strcmp(gemm_kernels[2].name, \"gemm_600x304x256_bf16_f32_bf16_nn\") != 0) return 2;\n"
    "  if (!find(512, 512, 512, GEMM_F32_F32_F32, GEMM_NN, 0, 0) ||\n"
    "      !find(4096, 7, 64, GEMM_F32_F32_F32, GEMM_NN, -1, 0) ||\n"
    "      !find(1024, 2048, 512, GEMM_BF16_F32_BF16, GEMM_NN, 3, 0) ||\n"
    "      !find(1024, 2048, 512, GEMM_BF16_F32_BF16, GEMM_NT, 4, 0) ||\n"
    "      !find(640, 300, 256, GEMM_BF16_F32_BF16, GEMM_NN, -1, 2) ||\n"
    "      !find(900, 2000, 500, GEMM_BF16_F32_BF16, GEMM_NN, -1, 3) ||\n"
    "      !find(600, 304, 256, GEMM_BF16_F32_BF16, GEMM_NT, -1, 4) ||\n"
    "      !find(600, 304, 256, GEMM_BF16_F32_BF16, GEMM_TN, -1, -1))\n"
    "    return 3;\n"
    "  if (gemm_dispatch(1, 2, 3, GEMM_F32_F32_F32, GEMM_NN, 0, 0, 0, 0, 0, &nearest) !=\n"
    "          GEMM_NO_KERNEL ||\n"
    "      nearest != 0)\n"
    "    return 4;\n"
    "  return 0;\n"
    "}\n";

static void write_text(const char *folder, const char *name, const char *text) {
  FILE *out = fopen(arena_printf(arena, "%s/%s", folder, name), "w");
  ck_assert(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

// All that belongs together, compiled by the line that the header states, linked with a main() in C
// and run: dispatching asks no GPU. In CI alone: it takes nvcc as long as six texts.
START_TEST(a_library_is_compiled_and_finds_its_kernels) {
  const char *version = nvcc_version();
  const LibraryFile *files = library();
  if (!version || !stress_is_on()) return;
  Str all = str_new(arena);
  for (int i = 0; i < LIBRARY + 2; i++) str_add(&all, files[i].text);
  str_add(&all, library_main);
  const char *at = strstr(files[0].text, "nvcc "), *end = strchr(at, '\n');
  const char *line =
      arena_printf(arena,
                   "%.*s -std=c++17 -Werror all-warnings && gcc -std=c99 -Wall -Werror -I. "
                   "-I\"$(dirname $(dirname $(command -v nvcc)))/include\" -c main.c && "
                   "nvcc -o program main.o libgemm_tuned.a && ./program",
                   (int)(end - at), at);
  const CacheKey key = {version, line, all.text};
  if (compile_was_clean(arena, &key)) return;
  char folder[] = "/tmp/gemmview-library-XXXXXX";
  ck_assert(mkdtemp(folder) != NULL);
  for (int i = 0; i < LIBRARY + 2; i++) write_text(folder, files[i].name, files[i].text);
  write_text(folder, "main.c", library_main);
  const char *command = arena_printf(arena, "cd %s && (%s) > said 2>&1", folder, line);
  ck_assert_msg(system(command) == 0, "see %s/said", folder);
  ck_assert(system(arena_printf(arena, "rm -r %s", folder)) == 0);
  compile_is_clean(&key);
}
END_TEST

// Columns of a map are neighbours in memory, whichever way the operand is stored.
START_TEST(maps_know_which_way_operands_are_stored) {
  const char *state = "M=512,N=256,K=1024,ATOM_KIND=mma_m16n8k16_f16,FM=4,FN=8,BK=4,STAGE=11,TMA=1";
  const Model *model =
      emit_state(&cases, arena_printf(arena, "%s,A_COL=%d,B_COL=%d", state, _i & 1, _i >> 1));
  const Plan *plan = plan_from_model(arena, model, "");
  const PlanMap a[] = {{PLAN_ARG_A, PLAN_F16, 1024, 512, 0, 64, 64, 0},
                       {PLAN_ARG_A, PLAN_F16, 512, 1024, 0, 64, 64, 0}};
  const PlanMap b[] = {{PLAN_ARG_B, PLAN_F16, 256, 1024, 0, 64, 64, 0},
                       {PLAN_ARG_B, PLAN_F16, 1024, 256, 0, 64, 64, 0}};
  ck_assert_int_eq(plan->n_maps, 2);
  ck_assert(plan_same_map(&plan->maps[0], &a[_i & 1]));
  ck_assert(plan_same_map(&plan->maps[1], &b[_i >> 1]));
}
END_TEST

static long long number_behind(const char *text, const char *word) {
  const char *at = strstr(text, word);
  ck_assert_msg(at != NULL, "no %s", word);
  return strtoll(at + strlen(word), NULL, 10);
}

// 5 x 3 tiles are launched as whole clusters, of the size that the kernel is declared with; so are
// as many persistent blocks as a device holds: of 8 blocks, 132 SMs hold 16 clusters and a half.
// ---- lists of tiles -----------------------------------------------------------------------------

static const int maps[][13] = {{16, 16, 16, 18, 16, 16, 16, 18},
                               {8, 16, 16, 16, 16, 16, 18, 18, 2, 2, 2, 2},
                               {7},
                               {1, 3, 5, 2}};
static const ListShape shapes[] = {
    {1024, 66, 2, 1}, {4096, 66, 2, 1}, {100, 33, 4, 1}, {40, 9, 1, 1}};
enum { N_MAPS = sizeof maps / sizeof *maps, N_SHAPES = sizeof shapes / sizeof *shapes };

// Places of SMs that follow each other.
static PlaceMap map_of(const int *sizes) {
  int set[PLACES_SMS], sm = 0;
  for (int i = 0; sizes[i]; i++)
    for (int end = sm + sizes[i]; sm < end; sm++) set[sm] = i;
  while (sm < PLACES_SMS) set[sm++] = -1;
  PlaceMap map;
  places_from_sets(set, &map);
  return map;
}

// {{0, 1}, {2, 3, 4}}
static void add_places(Str *out, const int *sizes) {
  int sm = 0;
  str_add(out, "{");
  for (int i = 0; sizes[i]; i++) {
    str_add(out, "{");
    for (int end = sm + sizes[i]; sm < end; sm++) str_printf(out, "%d,", sm);
    str_add(out, "},");
  }
  str_add(out, "}");
}

// The function of an exported text, between its signature and the end of its body.
static const char *function_of(const char *text, const char *signature) {
  const char *begin = strstr(text, signature), *end = begin ? strstr(begin, "\n}\n") : NULL;
  ck_assert_ptr_nonnull(end);
  return arena_printf(arena, "%.*s\n}\n", (int)(end - begin), begin);
}

static const char *tables_text(const char *function) {
  Str out = str_new(arena);
  str_printf(&out, "#include <algorithm>\n#include <cstdio>\n#include <vector>\n%s", function);
  str_add(&out,
          "static void say(std::vector<std::vector<int>> gpcs, int t, int n, int c, int b) {\n"
          "  int lists;\n  const auto of_sm = lists_of_sms(gpcs, t, n, c, b, &lists);\n"
          "  std::printf(\"%d\", lists);\n"
          "  for (auto &sms : gpcs) for (int sm : sms) std::printf(\" %d\", of_sm[sm]);\n"
          "  std::printf(\"\\n\");\n}\nint main() {\n");
  for (int m = 0; m < N_MAPS; m++)
    for (int i = 0; i < N_SHAPES; i++) {
      const ListShape *shape = &shapes[i];
      str_add(&out, "say(");
      add_places(&out, maps[m]);
      str_printf(&out, ", %lld, %d, %d, %d);\n", (long long)shape->tiles, shape->clusters,
                 shape->cluster, shape->blocks);
    }
  str_add(&out, "}\n");
  return out.text;
}

static const char *tables_expected(void) {
  Str out = str_new(arena);
  for (int m = 0; m < N_MAPS; m++)
    for (int i = 0; i < N_SHAPES; i++) {
      const PlaceMap map = map_of(maps[m]);
      ListTable table;
      deal_lists(&map, &shapes[i], &table);
      str_printf(&out, "%d", table.lists);
      for (int sm = 0; sm < map.n_sms; sm++) str_printf(&out, " %d", table.of_sm[map.sm[sm]]);
      str_add(&out, "\n");
    }
  return out.text;
}

// What an exported kernel makes for a device is what the worker would make for it.
START_TEST(the_table_of_lists_is_the_workers) {
  if (system("c++ --version > /dev/null 2>&1") != 0) return;
  const char *text = NULL;
  for (int i = 0; i < N_EXPORTS; i++)
    if (strcmp(exports[i].name, "work_lists") == 0) text = exported(exports[i].state);
  ck_assert_ptr_nonnull(text);
  char folder[] = "/tmp/gemmview-lists-XXXXXX", said[16384];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const char *source = arena_printf(arena, "%s/lists.cc", folder);
  FILE *file = fopen(source, "w");
  ck_assert_ptr_nonnull(file);
  fputs(tables_text(function_of(text, "static std::vector<int> lists_of_sms(")), file);
  fclose(file);
  FILE *run =
      popen(arena_printf(arena, "cd %s && c++ -std=c++17 lists.cc && ./a.out", folder), "r");
  ck_assert_ptr_nonnull(run);
  said[fread(said, 1, sizeof said - 1, run)] = '\0';
  ck_assert_int_eq(pclose(run), 0);
  ck_assert_int_eq(system(arena_printf(arena, "rm -r %s", folder)), 0);
  ck_assert_str_eq(said, tables_expected());
}
END_TEST

START_TEST(grids_are_whole_clusters) {
  static const char *const tiles =
      "M=600,N=304,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,WM=2,BK=4,STAGE=11,TMA=1,"
      "SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1,MULTICAST=1";
  static const struct {
    int m, n, blocks;
  } sizes[] = {{2, 1, 18}, {1, 2, 20}, {4, 1, 24}, {4, 2, 32}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const char *state =
        arena_printf(arena, "%s,CLUSTER_M=%d,CLUSTER_N=%d", tiles, sizes[i].m, sizes[i].n);
    int cluster = sizes[i].m * sizes[i].n;
    const char *text = exported(state);
    ck_assert_int_eq(number_behind(text, "__cluster_dims__("), cluster);
    ck_assert_int_eq(number_behind(text, "  matmul<<<"), sizes[i].blocks);
    const char *persistent = exported(arena_printf(arena, "%s,PERSISTENT=1", state));
    ck_assert_int_eq(number_behind(persistent, "__cluster_dims__("), cluster);
    const char *fits =
        arena_printf(arena, "blocks_in_clusters_that_fit(matmul, %d, ", sizes[i].blocks);
    const char *at = strstr(persistent, fits);
    ck_assert_msg(at != NULL, "no %s", fits);
    const char *call = arena_strndup(arena, at, strcspn(at, ";"));
    ck_assert_int_eq(strtoll(strrchr(call, ',') + 1, NULL, 10), cluster);
    ck_assert_ptr_nonnull(strstr(persistent, "cudaOccupancyMaxActiveClusters(&clusters, kernel"));
    ck_assert_ptr_nonnull(strstr(persistent, "std::min(blocks, clusters * cluster)"));
  }
}
END_TEST

// nvcc's -arch=sm_90a also makes PTX for all sm_90, where roles do not
// compile. CI takes one rung in eight, `make stress SUITES=export_cu`, which `make ci-long` runs,
// every one.
START_TEST(rungs_compile_by_the_line_they_print) {
  const int part = stress_is_on() ? cases.n / 8 : 1, whole = stress_count(1, cases.n),
            tried = whole > part ? whole : part;
  for (int i = 0; i < tried; i++) {
    int rung = (i + 1) * cases.n / tried - 1;
    const Model *model = emit_case(&cases, rung);
    if (!model) continue;
    const Emission *emission = emit_model(arena, model, model->program);
    assert_compiles(cases.rung[rung].name,
                    export_cu(arena, emission, model->program, model->target));
  }
}
END_TEST

Suite *suite_export_cu(void);
Suite *suite_export_cu(void) {
  Suite *suite = suite_create("export_cu");
  TCase *tests = tcase_create("export cu");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_gpus_name_stays_in_its_comment);
  tcase_add_test(tests, the_librarys_header_is_as_reviewed);
  tcase_add_test(tests, a_library_is_compiled_and_finds_its_kernels);
  tcase_add_test(tests, exports_are_written_as_reviewed);
  tcase_add_test(tests, lines_keep_to_their_columns);
  tcase_add_loop_test(tests, nvcc_compiles_it, 0, N_EXPORTS);
  tcase_add_loop_test(tests, a_witness_is_exported_with_its_delays, 0, N_WITNESSES);
  tcase_add_test(tests, a_sound_kernel_has_no_witness);
  tcase_add_test(tests, the_table_of_lists_is_the_workers);
  tcase_add_test(tests, maps_of_workspaces_come_behind_them);
  tcase_add_test(tests, a_split_product_is_allowed_what_its_parts_leave_out);
  tcase_add_test(tests, an_operand_taken_by_map_has_one_built);
  tcase_add_test(tests, grids_are_whole_clusters);
  tcase_add_loop_test(tests, maps_know_which_way_operands_are_stored, 0, 4);
  suite_add_tcase(suite, tests);
  TCase *rungs = tcase_create("rungs");
  tcase_add_checked_fixture(rungs, setup, teardown);
  tcase_set_timeout(rungs, stress_is_on() ? 3600 : 300);
  tcase_add_test(rungs, rungs_compile_by_the_line_they_print);
  suite_add_tcase(suite, rungs);
  return suite;
}
