// Plans: their limits, and their journey through a pipe.
//
// The JSON is an object with exactly these keys (the text of the kernel shortened):
//
//   {"cuda":"extern \"C\" __global__ …","arch":"sm_90a","label":"fp32 rung 1",
//    "operand_type":"f32","accumulate_type":"f32","output_type":"f32","m":64,"n":32,"k":16,
//    "heads":0,"causal":false,"a_col_major":false,"b_col_major":false,"factor_tiles":false,"workspace_bytes":[0,0,0,0],"maps":[{"buffer":"B",
//    "type":"f32","columns":32,"rows":16,"box_columns":32,"box_rows":8,"swizzle_bits":3}],
//    "tile_m":16,"tile_n":16,"traced":0,"tolerance":0,"kernels":[{"name":"gemm",
//    "grid":[2,4,1],"dependent":false,"persistent":false,"block":[16,16,1],"cluster":[1,1,1],
//    "smem_bytes":0,"blocks_per_sm":0,"args":["A","map_0","C"]}]}
//
// All keys must be there: a plan is written by this file and by nothing else, so an absent key
// means that two versions meet, and guessing a default would time something that was not asked for.
// plan_check runs on whatever was read: the process behind the pipe never sees a launch that every
// GPU would refuse, nor a size whose byte count overflows.
#include "kernels/toolchain/plan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/record_json.h"
#include "base/whole.h"

enum { CUDA_TEXT_MAX = 4 << 20, SMEM_MAX = 256 << 10, CLUSTER_MAX = 16, BLOCK_MAX = 1024 };
enum { CHUNK_BYTES = 16 };  // what a swizzle moves, and what a tensor map counts rows in
static const int64_t extent_max = INT64_C(1) << 30;
static const int64_t bytes_max = INT64_C(1) << 42;

static const char *const type_names[PLAN_N_TYPES] = {"f32",      "f16",  "bf16",  "tf32",  "f64",
                                                     "s8",       "e4m3", "e5m2",  "s32",   "mxf8",
                                                     "mxf8e5m2", "mxf4", "nvfp4", "ue8m0", "ue4m3"};
static const int type_bytes[PLAN_N_TYPES] = {4, 2, 2, 4, 8, 1, 1, 1, 4, 1, 1, 1, 1, 1, 1};
static const struct {
  int elements;
  PlanType type;
} scales[PLAN_N_TYPES] = {[PLAN_MXF8] = {32, PLAN_UE8M0},
                          [PLAN_MXF8E5M2] = {32, PLAN_UE8M0},
                          [PLAN_MXF4] = {32, PLAN_UE8M0},
                          [PLAN_NVFP4] = {16, PLAN_UE4M3}};
static const char *const arg_names[PLAN_N_ARGS] = {
    "A",           "B",           "C",     "V",     "SFA",   "SFB",   "workspace_0", "workspace_1",
    "workspace_2", "workspace_3",
#define LAUNCH_ARG(id, name, type, taken, holds, made) name,
#include "model/text/launch_arg.def"
    "map_0",       "map_1",       "map_2", "map_3", "map_4", "map_5", "map_6",       "map_7"};

// Settled by the launch of a persistent kernel.
static bool is_settled(PlanArg arg) {
  return arg >= PLAN_ARG_ALPHA && arg < PLAN_ARG_MAP &&
         launch_arg_facts((int)arg - PLAN_ARG_ALPHA)->made != MADE_GIVEN;
}

const char *plan_type_name(PlanType type) { return type_names[type]; }
int plan_type_bytes(PlanType type) { return type_bytes[type]; }
int plan_type_elements(PlanType type) { return type == PLAN_MXF4 || type == PLAN_NVFP4 ? 2 : 1; }
int plan_scale_elements(PlanType type) { return scales[type].elements; }
PlanType plan_scale_type(PlanType type) { return scales[type].type; }

bool plan_type_parse(const char *name, PlanType *type) {
  for (int i = 0; i < PLAN_N_TYPES; i++)
    if (str_equal(name, type_names[i])) {
      *type = (PlanType)i;
      return true;
    }
  return false;
}

bool plan_is_attention(const Plan *plan) { return plan->heads > 0; }

float plan_alpha(const Plan *plan) {
  static const double log2_e = 1.4426950408889634;
  return plan_is_attention(plan) ? (float)(log2_e / sqrt((double)plan->k)) : 1.0f;
}

static int64_t heads_of(const Plan *plan) { return plan->heads > 0 ? plan->heads : 1; }

int64_t plan_rows(const Plan *plan) { return heads_of(plan) * plan->m; }
int64_t plan_columns(const Plan *plan) { return plan_is_attention(plan) ? plan->k : plan->n; }

double plan_flops(const Plan *plan) {
  const double m = (double)plan->m, n = (double)plan->n;
  const double seen = plan->causal ? m * n - m * (m - 1) / 2 : m * n;
  const double products = plan_is_attention(plan) ? 2.0 * (double)plan->heads : 1;
  return 2.0 * products * seen * (double)plan->k;
}
// Bytes of a number of elements along k.
static int64_t bytes_along_k(const Plan *plan) {
  const PlanType type = plan->operand_type;
  return ceil_div(plan->k, plan_type_elements(type)) * plan_type_bytes(type);
}

int64_t plan_a_bytes(const Plan *plan) { return heads_of(plan) * plan->m * bytes_along_k(plan); }
int64_t plan_b_bytes(const Plan *plan) { return heads_of(plan) * plan->n * bytes_along_k(plan); }

enum { FACTOR_TILE_ROWS = 128, FACTOR_TILE_FACTORS = 4 };

int64_t plan_scale_tiles(const Plan *plan) {
  const int elements = plan_scale_elements(plan->operand_type);
  if (!elements || !plan->factor_tiles) return 0;
  return ceil_div(ceil_div(plan->k, elements), FACTOR_TILE_FACTORS);
}

int64_t plan_scale_bytes(const Plan *plan, PlanArg factors) {
  const int elements = plan_scale_elements(plan->operand_type);
  const int64_t rows = factors == PLAN_ARG_SFA ? plan->m : plan->n, tiles = plan_scale_tiles(plan);
  if (tiles) return round_up(rows, FACTOR_TILE_ROWS) * tiles * FACTOR_TILE_FACTORS;
  return elements ? rows * ceil_div(plan->k, elements) : 0;
}

int64_t plan_c_bytes(const Plan *plan) {
  return plan_rows(plan) * plan_columns(plan) * plan_type_bytes(plan->output_type);
}
int64_t plan_v_bytes(const Plan *plan) { return plan_is_attention(plan) ? plan_b_bytes(plan) : 0; }

Plan *plan_copy(Arena *arena, const Plan *plan) {
  Plan *copy = ARENA_NEW(arena, Plan);
  *copy = *plan;
  copy->cuda = arena_strdup(arena, plan->cuda);
  copy->arch = arena_strdup(arena, plan->arch);
  copy->label = arena_strdup(arena, plan->label ? plan->label : "");
  if (plan->ptxas_opt) copy->ptxas_opt = arena_strdup(arena, plan->ptxas_opt);
  for (int i = 0; i < plan->n_kernels; i++)
    copy->kernels[i].name = arena_strdup(arena, plan->kernels[i].name);
  return copy;
}

const char *const plan_data_names[PLAN_N_DATA] = {"normal", "positive", "scaled", "cancelling"};

bool plan_same_problem(const Plan *a, const Plan *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->operand_type == b->operand_type &&
         a->accumulate_type == b->accumulate_type && a->output_type == b->output_type &&
         a->a_col_major == b->a_col_major && a->b_col_major == b->b_col_major &&
         a->data == b->data && a->factor_tiles == b->factor_tiles && a->heads == b->heads &&
         a->causal == b->causal;
}

bool plan_same_map(const PlanMap *a, const PlanMap *b) {
  return a->buffer == b->buffer && a->type == b->type && a->columns == b->columns &&
         a->rows == b->rows && a->matrices == b->matrices && a->box_columns == b->box_columns &&
         a->box_rows == b->box_rows && a->swizzle_bits == b->swizzle_bits;
}

int64_t plan_buffer_bytes(const Plan *plan, PlanArg buffer) {
  if (buffer == PLAN_ARG_A) return plan_a_bytes(plan);
  if (buffer == PLAN_ARG_B) return plan_b_bytes(plan);
  if (buffer == PLAN_ARG_C) return plan_c_bytes(plan);
  if (buffer == PLAN_ARG_V) return plan_v_bytes(plan);
  if (buffer == PLAN_ARG_SFA || buffer == PLAN_ARG_SFB) return plan_scale_bytes(plan, buffer);
  return buffer < PLAN_N_BUFFERS ? plan->workspace_bytes[buffer - PLAN_ARG_WORKSPACE] : 0;
}

static bool is_identifier(const char *name) {
  if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return strlen(name) < 256;
}

// "sm_90a": sm_, two or three digits, at most one letter of a or f.
static bool is_arch(const char *arch) {
  if (!arch || !str_starts(arch, "sm_")) return false;
  size_t digits = strspn(arch + 3, "0123456789");
  const char *rest = arch + 3 + digits;
  return digits >= 2 && digits <= 3 && (!rest[0] || (strchr("af", rest[0]) && !rest[1]));
}

static void check_range(Diags *diags, const char *what, int64_t value, int64_t lo, int64_t hi) {
  if (value >= lo && value <= hi) return;
  Diag *diag = diag_add(diags, "plan", "%s is %lld; it must be %lld to %lld", what,
                        (long long)value, (long long)lo, (long long)hi);
  diag->nearest = arena_printf(diags->arena, "%lld", (long long)(value < lo ? lo : hi));
}

// The limits of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management"). Worked
// example, f16: a box of 64 columns has 128 B, all that a swizzle of 3 bits permutes; an operand of
// 100 columns, 200 B a row, has no map.
static void check_box(const PlanMap *map, const char *name, Diags *diags) {
  const struct {
    const char *what;
    int value, lo, hi;
  } sides[] = {{"columns of the box", map->box_columns, 1, 256},
               {"rows of the box", map->box_rows, 1, 256},
               {"swizzle bits", map->swizzle_bits, 0, 3}};
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
    check_range(diags, arena_printf(diags->arena, "%s: %s", name, sides[i].what), sides[i].value,
                sides[i].lo, sides[i].hi);
  const int64_t bytes = (int64_t)map->box_columns * plan_type_bytes(map->type);
  if (bytes % CHUNK_BYTES)
    diag_add(diags, "plan", "%s: a row of the box has %lld B, not a multiple of %d", name,
             (long long)bytes, CHUNK_BYTES);
  const int bits = map->swizzle_bits;
  if (bits > 0 && bits <= 3 && bytes > CHUNK_BYTES << bits)
    diag_add(diags, "plan", "%s: a row of the box has %lld B; the swizzle permutes %d B", name,
             (long long)bytes, CHUNK_BYTES << bits);
}

// A matrix beyond its buffer would let copies by it write over the memory behind.
static void check_matrix_of_map(const Plan *plan, const PlanMap *map, const char *name,
                                Diags *diags) {
  const int before = diags->count, bytes = plan_type_bytes(map->type);
  check_range(diags, arena_printf(diags->arena, "%s: columns", name), map->columns, 1, extent_max);
  check_range(diags, arena_printf(diags->arena, "%s: rows", name), map->rows, 1, extent_max);
  if (diags->count > before) return;
  if (map->columns * bytes % CHUNK_BYTES)
    diag_add(diags, "plan", "%s: a row of %lld elements of %d B is not a multiple of %d B", name,
             (long long)map->columns, bytes, CHUNK_BYTES);
  check_range(diags, arena_printf(diags->arena, "%s: matrices", name), map->matrices, 0,
              extent_max);
  if (diags->count > before) return;
  const int64_t there = plan_buffer_bytes(plan, map->buffer) / max64(map->matrices, 1);
  if (map->columns > there / bytes / map->rows)
    diag_add(diags, "plan", "%s: %lld rows of %lld elements do not fit into %s's %lld B", name,
             (long long)map->rows, (long long)map->columns, arg_names[map->buffer],
             (long long)there);
}

// The sizes of the plan are in order: their products do not overflow.
static void check_maps(const Plan *plan, Diags *diags) {
  check_range(diags, "maps", plan->n_maps, 0, PLAN_MAX_MAPS);
  for (int i = 0; i < plan->n_maps && i < PLAN_MAX_MAPS; i++) {
    const PlanMap *map = &plan->maps[i];
    const char *name = arg_names[PLAN_ARG_MAP + i];
    check_box(map, name, diags);
    if (map->buffer >= PLAN_N_BUFFERS)
      diag_add(diags, "plan", "%s: %s is not a buffer", name, arg_names[map->buffer]);
    else
      check_matrix_of_map(plan, map, name, diags);
  }
}

static void check_args(const Plan *plan, const PlanKernel *kernel, const char *name, Diags *diags) {
  check_range(diags, arena_printf(diags->arena, "%s: arguments", name), kernel->n_args, 0,
              PLAN_MAX_ARGS);
  for (int i = 0; i < kernel->n_args && i < PLAN_MAX_ARGS; i++) {
    const PlanArg arg = kernel->args[i];
    const bool is_workspace = arg >= PLAN_ARG_WORKSPACE && arg < PLAN_N_BUFFERS;
    if (is_workspace && plan->workspace_bytes[arg - PLAN_ARG_WORKSPACE] == 0)
      diag_add(diags, "plan", "%s: %s is passed, but it has 0 bytes", name, arg_names[arg]);
    if (is_settled(arg) && !kernel->persistent)
      diag_add(diags, "plan", "%s: %s is passed to a kernel that is not persistent", name,
               arg_names[arg]);
    if (arg >= PLAN_ARG_MAP && (int)(arg - PLAN_ARG_MAP) >= plan->n_maps)
      diag_add(diags, "plan", "%s: %s is passed, but there are %d maps", name, arg_names[arg],
               plan->n_maps);
  }
}

static void check_kernel(const Plan *plan, const PlanKernel *kernel, Diags *diags) {
  static const int64_t grid_max[3] = {INT32_MAX, 65535, 65535};
  static const int block_max[3] = {1024, 1024, 64};
  static const char axis[] = "xyz";
  const char *name = is_identifier(kernel->name) ? kernel->name : "(unnamed)";
  if (!is_identifier(kernel->name))
    diag_add(diags, "plan", "a kernel's name must be a C identifier of at most 255 characters");
  int64_t threads = 1, blocks = 1;
  for (int d = 0; d < 3; d++) {
    const char *what = arena_printf(diags->arena, "%s: grid.%c", name, axis[d]);
    check_range(diags, what, kernel->grid[d], 1, grid_max[d]);
    what = arena_printf(diags->arena, "%s: block.%c", name, axis[d]);
    check_range(diags, what, kernel->block[d], 1, block_max[d]);
    what = arena_printf(diags->arena, "%s: cluster.%c", name, axis[d]);
    check_range(diags, what, kernel->cluster[d], 0, CLUSTER_MAX);
    int cluster = kernel->cluster[d] > 1 ? kernel->cluster[d] : 1;
    if (kernel->grid[d] % cluster != 0)
      diag_add(diags, "plan", "%s: grid.%c is %lld, not a multiple of cluster.%c = %d", name,
               axis[d], (long long)kernel->grid[d], axis[d], cluster);
    threads *= kernel->block[d] > 0 && kernel->block[d] <= BLOCK_MAX ? kernel->block[d] : 1;
    blocks *= cluster <= CLUSTER_MAX ? cluster : 1;
  }
  check_range(diags, arena_printf(diags->arena, "%s: threads in a block", name), threads, 1,
              BLOCK_MAX);
  check_range(diags, arena_printf(diags->arena, "%s: blocks in a cluster", name), blocks, 1,
              CLUSTER_MAX);
  check_range(diags, arena_printf(diags->arena, "%s: smem_bytes", name), kernel->smem_bytes, 0,
              SMEM_MAX);
  check_args(plan, kernel, name, diags);
}

static void check_matrix(Diags *diags, const char *what, int64_t rows, int64_t columns, int bytes) {
  if (rows < 1 || columns < 1 || rows > extent_max || columns > extent_max) return;
  check_range(diags, arena_printf(diags->arena, "bytes of %s", what), rows * columns * bytes, 1,
              bytes_max);
}

// The uses that a type may have: PLAN_OPERAND, PLAN_SUM, PLAN_OUTPUT.
enum { PLAN_OPERAND = 1, PLAN_SUM = 2, PLAN_OUTPUT = 4, PLAN_ANYTHING = 7 };

static void check_type(Diags *diags, const char *what, PlanType type, int use,
                       const char *instead) {
  static const int uses[PLAN_N_TYPES] = {[PLAN_F32] = PLAN_ANYTHING,
                                         [PLAN_F16] = PLAN_ANYTHING,
                                         [PLAN_BF16] = PLAN_OPERAND | PLAN_OUTPUT,
                                         [PLAN_TF32] = PLAN_OPERAND,
                                         [PLAN_F64] = PLAN_ANYTHING,
                                         [PLAN_S8] = PLAN_OPERAND,
                                         [PLAN_E4M3] = PLAN_OPERAND,
                                         [PLAN_E5M2] = PLAN_OPERAND,
                                         [PLAN_MXF8] = PLAN_OPERAND,
                                         [PLAN_MXF8E5M2] = PLAN_OPERAND,
                                         [PLAN_MXF4] = PLAN_OPERAND,
                                         [PLAN_NVFP4] = PLAN_OPERAND,
                                         [PLAN_S32] = PLAN_SUM | PLAN_OUTPUT};
  if (uses[type] & use) return;
  diag_add(diags, "plan", "%s is not a type of %s: use f16, f32, f64%s", type_names[type], what,
           instead);
}

static void check_types(const Plan *plan, Diags *diags) {
  check_type(diags, "operands", plan->operand_type, PLAN_OPERAND,
             ", bf16, tf32, the 8-bit and the block-scaled types");
  const int block = plan_scale_elements(plan->operand_type);
  if (block && (plan->k % block || plan_is_attention(plan)))
    diag_add(diags, "plan", "%s takes a matrix product whose k is a multiple of %d",
             type_names[plan->operand_type], block);
  check_type(diags, "sums", plan->accumulate_type, PLAN_SUM, " and s32");
  check_type(diags, "the output", plan->output_type, PLAN_OUTPUT, ", bf16 and s32");
  bool whole = plan->operand_type == PLAN_S8;
  if (whole != (plan->accumulate_type == PLAN_S32) || whole != (plan->output_type == PLAN_S32))
    diag_add(diags, "plan",
             "s8 operands, and no others, have s32 sums and an s32 output; here %s, %s, %s",
             type_names[plan->operand_type], type_names[plan->accumulate_type],
             type_names[plan->output_type]);
}

bool plan_check(const Plan *plan, Diags *diags) {
  int before = diags->count;
  if (!plan->cuda || !plan->cuda[0] || strlen(plan->cuda) > CUDA_TEXT_MAX)
    diag_add(diags, "plan", "the CUDA text must have 1 to %d bytes", (int)CUDA_TEXT_MAX);
  if (!is_arch(plan->arch))
    diag_add(diags, "plan", "arch \"%.40s\" is not one; write it like sm_90a",
             plan->arch ? str_sanitise(diags->arena, plan->arch) : "");
  const char *opt = plan->ptxas_opt;
  if (opt && *opt && (!strchr("0123", *opt) || opt[1]))
    diag_add(diags, "plan", "ptxas_opt \"%.40s\": the levels are 0 to 3",
             str_sanitise(diags->arena, opt));
  check_range(diags, "m", plan->m, 1, extent_max);
  check_range(diags, "n", plan->n, 1, extent_max);
  check_range(diags, "k", plan->k, 1, extent_max);
  check_range(diags, "heads", plan->heads, 0, 1 << 20);
  if (diags->count == before) {
    const int64_t heads = heads_of(plan);
    check_matrix(diags, "A", heads * plan->m, plan->k, plan_type_bytes(plan->operand_type));
    check_matrix(diags, "B", heads * plan->n, plan->k, plan_type_bytes(plan->operand_type));
    check_matrix(diags, "C", plan_rows(plan), plan_columns(plan),
                 plan_type_bytes(plan->output_type));
  }
  check_types(plan, diags);
  for (int i = 0; i < PLAN_MAX_WORKSPACES; i++)
    check_range(diags, arena_printf(diags->arena, "workspace_bytes[%d]", i),
                plan->workspace_bytes[i], 0, bytes_max);
  if (diags->count == before) check_maps(plan, diags);
  check_range(diags, "tile_m", plan->tile_m, 0, extent_max);
  check_range(diags, "tile_n", plan->tile_n, 0, extent_max);
  check_range(diags, "traced", plan->traced, 0, INT32_MAX);
  check_range(diags, "main_kernel", plan->main_kernel, 0, PLAN_MAX_KERNELS - 1);
  if (!(plan->tolerance >= 0 && plan->tolerance < 1))
    diag_add(diags, "plan", "tolerance is %g; it must be 0 to 1", plan->tolerance);
  check_range(diags, "kernels", plan->n_kernels, 1, PLAN_MAX_KERNELS);
  for (int i = 0; i < plan->n_kernels && i < PLAN_MAX_KERNELS; i++)
    check_kernel(plan, &plan->kernels[i], diags);
  return diags->count == before;
}

#define FIELD(T, NAME, KIND) \
  { .key = #NAME, .kind = KIND, .offset = offsetof(T, NAME) }
#define TYPE_FIELD(T, NAME)                                                                \
  {                                                                                        \
    .key = #NAME, .kind = RECORD_CHOICE, .offset = offsetof(T, NAME), .names = type_names, \
    .n_names = PLAN_N_TYPES                                                                \
  }

static const RecordField map_fields[] = {
    {.key = "buffer",
     .kind = RECORD_CHOICE,
     .offset = offsetof(PlanMap, buffer),
     .names = arg_names,
     .n_names = PLAN_N_BUFFERS},
    TYPE_FIELD(PlanMap, type),
    FIELD(PlanMap, columns, RECORD_INT64),
    FIELD(PlanMap, rows, RECORD_INT64),
    FIELD(PlanMap, matrices, RECORD_INT64),
    FIELD(PlanMap, box_columns, RECORD_INT),
    FIELD(PlanMap, box_rows, RECORD_INT),
    FIELD(PlanMap, swizzle_bits, RECORD_INT),
};
static const Record map_record = {map_fields, sizeof map_fields / sizeof *map_fields,
                                  sizeof(PlanMap)};

static const RecordField kernel_fields[] = {
    FIELD(PlanKernel, name, RECORD_TEXT),
    {.key = "grid", .kind = RECORD_INT64S, .offset = offsetof(PlanKernel, grid), .max = 3},
    FIELD(PlanKernel, dependent, RECORD_BOOL),
    FIELD(PlanKernel, persistent, RECORD_BOOL),
    {.key = "block", .kind = RECORD_INTS, .offset = offsetof(PlanKernel, block), .max = 3},
    {.key = "cluster", .kind = RECORD_INTS, .offset = offsetof(PlanKernel, cluster), .max = 3},
    FIELD(PlanKernel, smem_bytes, RECORD_INT64),
    FIELD(PlanKernel, blocks_per_sm, RECORD_INT),
    {.key = "args",
     .kind = RECORD_CHOICES,
     .offset = offsetof(PlanKernel, args),
     .count_offset = offsetof(PlanKernel, n_args),
     .max = PLAN_MAX_ARGS,
     .names = arg_names,
     .n_names = PLAN_N_ARGS},
};
static const Record kernel_record = {kernel_fields, sizeof kernel_fields / sizeof *kernel_fields,
                                     sizeof(PlanKernel)};

static const RecordField plan_fields[] = {
    FIELD(Plan, cuda, RECORD_TEXT),
    FIELD(Plan, arch, RECORD_TEXT),
    FIELD(Plan, label, RECORD_MAYBE_TEXT),
    FIELD(Plan, ptxas_opt, RECORD_MAYBE_TEXT),
    TYPE_FIELD(Plan, operand_type),
    TYPE_FIELD(Plan, accumulate_type),
    TYPE_FIELD(Plan, output_type),
    {.key = "data",
     .kind = RECORD_CHOICE,
     .offset = offsetof(Plan, data),
     .names = plan_data_names,
     .n_names = PLAN_N_DATA},
    FIELD(Plan, m, RECORD_INT64),
    FIELD(Plan, n, RECORD_INT64),
    FIELD(Plan, k, RECORD_INT64),
    FIELD(Plan, heads, RECORD_INT64),
    FIELD(Plan, causal, RECORD_BOOL),
    FIELD(Plan, a_col_major, RECORD_BOOL),
    FIELD(Plan, b_col_major, RECORD_BOOL),
    FIELD(Plan, factor_tiles, RECORD_BOOL),
    {.key = "workspace_bytes",
     .kind = RECORD_INT64S,
     .offset = offsetof(Plan, workspace_bytes),
     .max = PLAN_MAX_WORKSPACES},
    {.key = "maps",
     .kind = RECORD_ARRAY,
     .offset = offsetof(Plan, maps),
     .record = &map_record,
     .count_offset = offsetof(Plan, n_maps),
     .max = PLAN_MAX_MAPS},
    FIELD(Plan, tile_m, RECORD_INT64),
    FIELD(Plan, tile_n, RECORD_INT64),
    FIELD(Plan, traced, RECORD_INT64),
    FIELD(Plan, tolerance, RECORD_DOUBLE),
    FIELD(Plan, main_kernel, RECORD_INT),
    {.key = "kernels",
     .kind = RECORD_ARRAY,
     .offset = offsetof(Plan, kernels),
     .record = &kernel_record,
     .count_offset = offsetof(Plan, n_kernels),
     .max = PLAN_MAX_KERNELS},
};
static const Record plan_record = {plan_fields, sizeof plan_fields / sizeof *plan_fields,
                                   sizeof(Plan)};

void plan_write_json(Str *out, const Plan *plan) {
  JsonWriter w = json_writer(out);
  record_write(&w, &plan_record, plan);
}

Plan *plan_read_json(Arena *arena, const char *text, Diags *diags) {
  Plan *plan = record_read_text(arena, text, "plan", &plan_record, diags);
  return plan && plan_check(plan, diags) ? plan : NULL;
}
