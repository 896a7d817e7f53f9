// The interpreter on tensor-core programs built by hand: the sound ones are silent and exact for
// every mma atom, each planted fault is told or makes C wrong, and numbers are rounded where the
// hardware rounds them.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "interp_recipe.h"
#include "interp_tensor_recipe.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

Suite *suite_interp_tensor(void);

static Arena *arena;

static void setup(void) {
  arena = arena_new("test interp tensor");
  recipe_use(arena);
}
static void teardown(void) { arena_free(arena); }

static void print_findings(const InterpCheck *check) {
  for (int i = 0; i < check->n_findings; i++) puts(check->finding[i].text);
  if (check->n_wrong)
    printf("wrong: %lld cells, first C[%lld, %lld] = %g, expected %g\n", (long long)check->n_wrong,
           (long long)check->wrong_row, (long long)check->wrong_column, check->wrong_got,
           check->wrong_expected);
}

static InterpCheck run_check(const TensorRecipe *recipe) {
  return interpret_check(arena, tensor_build(recipe), &(InterpOptions){.seed = 7});
}

static bool tells(const InterpCheck *check, FindingKind kind, const char *says) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, says)) return true;
  return false;
}

// ---- sound programs -----------------------------------------------------------------------------

#define ONE_WARP .wm = 1, .wn = 1, .fm = 1, .fn = 1
#define FOUR_WARPS .wm = 2, .wn = 2, .fm = 2, .fn = 2
#define RING .bk = 2, .slabs = 3, .async = true
#define SLAB .bk = 2, .slabs = 1
#define LDMATRIX .ldmatrix_a = true, .ldmatrix_b = true
#define F16 .atom = "m16n8k16.f16", .out = DTYPE_F16
#define TF32 .atom = "m16n8k8.tf32", .out = DTYPE_F32
#define S8 .atom = "m16n8k32.s8", .out = DTYPE_S32
#define F64 .atom = "m8n8k4.f64", .out = DTYPE_F64

// The swizzled rows are of 64 16-bit values, 128 bytes: two warps of four atoms, four atoms of K.
#define SWIZZLED .wm = 2, .wn = 2, .fm = 2, .fn = 4, .bk = 4, .swizzle = 3

static const TensorRecipe sound[] = {
    {F16, .m = 16, .n = 8, .k = 16, ONE_WARP},
    {F16, .m = 21, .n = 11, .k = 37, ONE_WARP},
    {F16, .m = 16, .n = 8, .k = 32, ONE_WARP, .bk = 1, .slabs = 1, LDMATRIX},
    {F16, .m = 33, .n = 40, .k = 48, FOUR_WARPS, SLAB},
    {F16, .m = 70, .n = 40, .k = 72, FOUR_WARPS, SLAB, LDMATRIX},
    {F16, .m = 70, .n = 40, .k = 136, FOUR_WARPS, RING, LDMATRIX},
    {F16, .m = 64, .n = 64, .k = 128, SWIZZLED, .slabs = 1, LDMATRIX},
    {F16, .m = 90, .n = 72, .k = 264, SWIZZLED, .slabs = 3, .async = true, LDMATRIX},
    {F16, .m = 64, .n = 64, .k = 64, SWIZZLED, .slabs = 1},
    {.atom = "m16n8k16.f16.f16",
     .out = DTYPE_F16,
     .m = 40,
     .n = 24,
     .k = 72,
     FOUR_WARPS,
     RING,
     LDMATRIX},
    {.atom = "m16n8k16.f16",
     .out = DTYPE_F32,
     .m = 40,
     .n = 24,
     .k = 72,
     FOUR_WARPS,
     SLAB,
     LDMATRIX},
    {.atom = "m16n8k16.bf16",
     .out = DTYPE_BF16,
     .m = 40,
     .n = 24,
     .k = 72,
     FOUR_WARPS,
     RING,
     LDMATRIX},
    {.atom = "m16n8k8.f16",
     .out = DTYPE_F16,
     .m = 40,
     .n = 24,
     .k = 72,
     FOUR_WARPS,
     SLAB,
     LDMATRIX},
    {.atom = "m16n8k8.bf16", .out = DTYPE_F32, .m = 20, .n = 11, .k = 19, ONE_WARP},
    {TF32, .m = 20, .n = 11, .k = 19, ONE_WARP},
    {TF32, .m = 40, .n = 24, .k = 36, FOUR_WARPS, RING, .ldmatrix_a = true},
    {.atom = "m16n8k4.tf32",
     .out = DTYPE_F32,
     .m = 40,
     .n = 24,
     .k = 20,
     FOUR_WARPS,
     SLAB,
     .ldmatrix_a = true},
    {S8, .m = 20, .n = 11, .k = 70, ONE_WARP},
    {S8, .m = 40, .n = 48, .k = 144, FOUR_WARPS, RING, .ldmatrix_a = true},
    {.atom = "m16n8k16.s8",
     .out = DTYPE_S32,
     .m = 40,
     .n = 48,
     .k = 64,
     FOUR_WARPS,
     SLAB,
     .ldmatrix_a = true},
    {.atom = "m16n8k32.e4m3",
     .out = DTYPE_F32,
     .m = 40,
     .n = 48,
     .k = 64,
     FOUR_WARPS,
     SLAB,
     .ldmatrix_a = true},
    {.atom = "m16n8k32.e5m2.f16", .out = DTYPE_F16, .m = 20, .n = 11, .k = 70, ONE_WARP},
    {.atom = "m16n8k16.e4m3", .out = DTYPE_F32, .m = 20, .n = 11, .k = 70, ONE_WARP},
    {F64, .m = 11, .n = 13, .k = 9, ONE_WARP},
    {F64, .m = 40, .n = 24, .k = 36, FOUR_WARPS, RING},
};
enum { N_SOUND = sizeof sound / sizeof sound[0] };

START_TEST(sound_programs_are_silent_and_exact) {
  InterpCheck check = run_check(&sound[_i]);
  if (!check.ok) print_findings(&check);
  ck_assert_msg(check.ok, "row %d, %s", _i, sound[_i].atom);
  ck_assert_int_eq(check.n_found, 0);
  int64_t warps = check.result->lanes[OP_MMA] / 32;
  ck_assert_int_gt(warps, 0);
  ck_assert_int_eq(check.result->lanes[OP_MMA] % 32, 0);
}
END_TEST

// ---- planted faults -----------------------------------------------------------------------------

typedef struct Planted {
  TensorRecipe recipe;
  FindingKind kind;  // FINDING_COUNT: C is wrong, and nothing else
  const char *says;
  bool wrong;
} Planted;

#define PLAIN F16, .m = 64, .n = 64, .k = 128, SWIZZLED, .slabs = 1, LDMATRIX
#define PIPED F16, .m = 64, .n = 64, .k = 256, SWIZZLED, .slabs = 3, .async = true, LDMATRIX
#define DIRECT F16, .m = 64, .n = 64, .k = 128, SWIZZLED, .slabs = 1

static const Planted planted[] = {
    {{PLAIN, .fault = ROW_OFF}, FINDING_COUNT, NULL, true},
    {{PLAIN, .fault = MATRIX_OFF}, FINDING_COUNT, NULL, true},
    {{PLAIN, .fault = ROW_SHIFTED}, FINDING_MISALIGNED, "moves 16 bytes at byte 2, ", true},
    {{PLAIN, .fault = ROW_BEYOND}, FINDING_OUT_OF_BOUNDS, "warp 2 lane 15 has index 64, ", true},
    {{PLAIN, .fault = NO_TRANS}, FINDING_COUNT, NULL, true},
    {{PLAIN, .fault = HALF_LOADS},
     FINDING_DIVERGENCE,
     "the whole warp, but lane 16 does not (ldmatrix",
     true},
    {{PLAIN, .fault = HALF_MULTIPLIES}, FINDING_DIVERGENCE, "but lane 31 does not (mma", true},
    {{PLAIN, .fault = INSIDE_REGISTER},
     FINDING_MISALIGNED,
     "starts inside a register of 2 values",
     true},
    {{PLAIN, .fault = READ_UNSWIZZLED}, FINDING_COUNT, NULL, true},
    {{PLAIN, .fault = FOLDED_LAYOUT}, FINDING_RACE, "writes (store", true},
    {{PIPED, .fault = FOLDED_LAYOUT}, FINDING_RACE, "copies into (cp.async", false},
    {{PLAIN, .fault = FRAGMENTS_SWAPPED}, FINDING_COUNT, NULL, true},
    {{DIRECT, .fault = VALUES_SWAPPED}, FINDING_COUNT, NULL, true},
    {{PLAIN, .fault = NO_FILL_BARRIER}, FINDING_RACE, "reads (ldmatrix", false},
    {{PIPED, .fault = NO_FILL_BARRIER}, FINDING_RACE, "copies into (cp.async", false},
    {{PIPED, .fault = NO_COPY_WAIT},
     FINDING_MISSING_WAIT,
     "with no wait for that copy between",
     true},
    {{PIPED, .fault = UNGUARDED_TAIL},
     FINDING_ABANDONED_COPY,
     "ends without a wait for its copy (cp.async",
     false},
    {{PLAIN, .fault = WRONG_ACC},
     FINDING_OPERAND,
     "C of m16n8k16.f16 is f32, but acc holds f64",
     true},
    {{PIPED, .fault = NARROW_COPY},
     FINDING_OPERAND,
     "cp.async moves 1 elements of f16, 2 bytes: 4, 8 or 16",
     true},
    {{TF32, .m = 40, .n = 24, .k = 36, FOUR_WARPS, RING, .ldmatrix_a = true, .fault = MATRIX_OFF},
     FINDING_COUNT,
     NULL,
     true},
    {{S8, .m = 40, .n = 48, .k = 144, FOUR_WARPS, RING, .ldmatrix_a = true, .fault = ROW_OFF},
     FINDING_COUNT,
     NULL,
     true},
    {{S8, .m = 40, .n = 48, .k = 144, FOUR_WARPS, RING, .ldmatrix_a = true,
      .fault = INSIDE_REGISTER},
     FINDING_MISALIGNED,
     "starts inside a register of 4 values",
     true},
    {{F64, .m = 40, .n = 24, .k = 36, FOUR_WARPS, RING, .fault = NO_COPY_WAIT},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
};
enum { N_PLANTED = sizeof planted / sizeof planted[0] };

START_TEST(planted_faults_are_told) {
  const Planted *row = &planted[_i];
  InterpCheck check = run_check(&row->recipe);
  bool silent = row->kind == FINDING_COUNT;
  bool told = silent ? check.n_found == 0 : tells(&check, row->kind, row->says);
  if (!told) {
    printf("row %d: wanted \"%s\" that says \"%s\":\n", _i, silent ? "" : finding_name(row->kind),
           silent ? "" : row->says);
    print_findings(&check);
  }
  ck_assert(told);
  ck_assert(!check.ok);
  if (row->wrong) ck_assert_int_gt(check.n_wrong, 0);
}
END_TEST

// The same recipe without its fault is silent: what was told above is the fault, nothing else.
START_TEST(planted_recipes_are_sound_without_their_fault) {
  TensorRecipe recipe = planted[_i].recipe;
  recipe.fault = TENSOR_SOUND;
  InterpCheck check = run_check(&recipe);
  if (!check.ok) print_findings(&check);
  ck_assert(check.ok);
}
END_TEST

static void find_fragment_load(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Op **op = context;
  bool is =
      stmt->kind == STMT_OP && stmt->op.kind == OP_LOAD && stmt->op.dst.buffer->role == ROLE_FRAG_A;
  if (is && !*op) *op = &stmt->op;
}

START_TEST(what_ldmatrix_cannot_do_is_told) {
  static const struct {
    const char *atom;
    int64_t count;
    bool trans;
    const char *says;
  } rows[] = {
      {"m16n8k16.f16", 3, false, "ldmatrix loads 3 matrices: 1, 2 or 4"},
      {"m16n8k8.tf32", 4, true, "transposes elements of 16 bits, tf32 has 32"},
      {"m16n8k32.s8", 4, true, "transposes elements of 16 bits, s8 has 8"},
      {"m8n8k4.f64", 1, false, "hands out 32 bits, an element of f64 has 64"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    TensorRecipe recipe = {.atom = rows[i].atom, .m = 32, .n = 32, .k = 64, FOUR_WARPS, SLAB};
    recipe.out = i == 3 ? DTYPE_F64 : i == 2 ? DTYPE_S32 : DTYPE_F32;
    Program *p = tensor_build(&recipe);
    Op *op = NULL;
    stmt_walk(p->kernel[0].body, find_fragment_load, &op);
    ck_assert_ptr_nonnull(op);
    *op = (Op){.kind = OP_LDMATRIX,
               .width = 1,
               .dst = op->dst,
               .src = op->src,
               .matrices = rows[i].count,
               .trans = rows[i].trans};
    InterpCheck check = interpret_check(arena, p, &(InterpOptions){.seed = 1});
    if (!tells(&check, FINDING_OPERAND, rows[i].says)) print_findings(&check);
    ck_assert_msg(tells(&check, FINDING_OPERAND, rows[i].says), "%s", rows[i].says);
  }
}
END_TEST

// ---- numbers ------------------------------------------------------------------------------------

static float *filled(int64_t n, float value) {
  float *x = ARENA_ARRAY(arena, float, n);
  for (int64_t i = 0; i < n; i++) x[i] = value;
  return x;
}

// C[0, 0] of A[16, k] · B[k, 8] where the first k-step of A is `first` and the next `then`.
static double product(const char *atom, DType out, int64_t step, float first, float then,
                      float by) {
  TensorRecipe recipe = {.atom = atom, .out = out, .m = 16, .n = 8, .k = 2 * step, ONE_WARP};
  float *a = filled(16 * 2 * step, 0), *b = filled(2 * step * 8, by);
  a[0] = first;
  a[step] = then;
  InterpOptions options = {.seed = 1, .a = a, .b = b};
  const InterpResult *result = interpret(arena, tensor_build(&recipe), &options);
  ck_assert_int_eq(result->n_found, 0);
  return result->c[0];
}

START_TEST(sums_round_where_the_hardware_rounds) {
  ck_assert_double_eq(product("m16n8k16.f16", DTYPE_F32, 16, 2048, 1, 1), 2049);
  ck_assert_double_eq(product("m16n8k16.f16", DTYPE_F16, 16, 2048, 1, 1), 2048);      // the store
  ck_assert_double_eq(product("m16n8k16.f16", DTYPE_F16, 16, 2048, 3, 1), 2052);      // to even
  ck_assert_double_eq(product("m16n8k16.f16.f16", DTYPE_F32, 16, 2048, 1, 1), 2048);  // each mma
  ck_assert_double_eq(product("m16n8k16.f16", DTYPE_BF16, 16, 256, 1, 1), 256);
  ck_assert_double_infinite(product("m16n8k16.f16", DTYPE_F16, 16, 60000, 60000, 1));
  ck_assert_double_eq(product("m16n8k16.f16", DTYPE_F32, 16, 60000, 60000, 1), 120000);
  ck_assert_double_infinite(product("m16n8k16.f16", DTYPE_F32, 16, 70000, 0, 1));  // on the way in
  ck_assert_double_eq(product("m16n8k32.e4m3", DTYPE_F32, 32, 17, 0, 1), 16);
  ck_assert_double_eq(product("m16n8k32.s8", DTYPE_S32, 32, 127, 127, 127), 2 * 127 * 127);
  ck_assert_double_eq(product("m8n8k4.f64", DTYPE_F64, 4, 16777216, 1, 1), 16777217);
}
END_TEST

// The tensor core leaves out the low 13 bits of a tf32 operand; they are not rounded.
START_TEST(tf32_operands_are_cut) {
  ck_assert_double_eq(product("m16n8k8.tf32", DTYPE_F32, 8, 0x1.002p0f, 0, 1), 1);
  ck_assert_double_eq(product("m16n8k8.tf32", DTYPE_F32, 8, 0x1.003ffep0f, 0, 1), 1);
  ck_assert_double_eq(product("m16n8k8.tf32", DTYPE_F32, 8, 0x1.004p0f, 0, 1), 0x1.004p0);
}
END_TEST

START_TEST(s32_sums_wrap_around) {
  TensorRecipe recipe = {S8, .m = 16, .n = 8, .k = 32, ONE_WARP};
  Program *p = tensor_build(&recipe);
  Stmt *at = p->kernel[0].body;
  while (at->kind != STMT_OP) at = at->body;
  ck_assert_int_eq(at->op.kind, OP_INIT);
  at->op.value = INT32_MAX;
  InterpOptions options = {.seed = 1, .a = filled(16 * 32, 1), .b = filled(32 * 8, 1)};
  const InterpResult *result = interpret(arena, p, &options);
  ck_assert_double_eq(result->c[0], (double)INT32_MIN + 31);
}
END_TEST

// Sums stay exact in the narrow types, whatever the seed: no cell of C needs its rounding.
START_TEST(inputs_suit_the_types) {
  static const struct {
    DType dtype, acc, out;
    int64_t k;
    double most;
  } rows[] = {
      {DTYPE_F16, DTYPE_F32, DTYPE_F16, 16, 2048},   {DTYPE_F16, DTYPE_F16, DTYPE_F16, 1024, 2048},
      {DTYPE_F16, DTYPE_F32, DTYPE_F32, 128, 65536}, {DTYPE_BF16, DTYPE_F32, DTYPE_BF16, 128, 256},
      {DTYPE_S8, DTYPE_S32, DTYPE_S32, 128, 65536},  {DTYPE_E5M2, DTYPE_F16, DTYPE_F16, 256, 2048},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (uint64_t seed = 0; seed < 10; seed++) {
      Problem problem = {.m = 32,
                         .n = 32,
                         .k = rows[i].k,
                         .dtype = rows[i].dtype,
                         .acc = rows[i].acc,
                         .out = rows[i].out};
      InterpOptions options = {.seed = seed};
      Program *p = program_new(arena, problem);
      InterpCheck check = interpret_check(arena, p, &options);
      ck_assert_int_eq(check.n_wrong, 32 * 32);  // there is no kernel
      ck_assert_double_ne(check.wrong_expected, 0.5);
      ck_assert(check.wrong_expected <= rows[i].most && check.wrong_expected >= -rows[i].most);
    }
}
END_TEST

// What is told about a swizzled slab is the element's own index, not where it lies.
START_TEST(elements_of_swizzled_slabs_go_by_their_index) {
  Program *p = program_new(arena, (Problem){.m = 1, .n = 1, .k = 1, .dtype = DTYPE_F16});
  Buffer *slab =
      program_new_buffer(p, "S", SPACE_SHARED, ROLE_SLAB_A, 3, (int64_t[]){2, 8, 64}, KNOB_NONE);
  Buffer *x = program_new_buffer(p, "x", SPACE_REGISTER, ROLE_FRAG_A, 1, (int64_t[]){1}, KNOB_NONE);
  slab->swizzle_bits = 3;
  slab->swizzle_base = 4;
  slab->swizzle_shift = 3;
  if (_i) slab->swizzle_bits = 0;
  if (_i) slab->xor_term[slab->n_xor++] = (XorTerm){.from = 7, .to = 4, .bits = 3};
  program_place_shared(p);
  Access at = access3(slab, num(1), num(5), num(11)), from = access1(x, num(0));
  const Expr *offset = access_offset(arena, &at);
  ck_assert_int_eq(expr_eval(offset, NULL), 512 + 5 * 64 + (11 ^ 5 << 3));
  Stmt *body = stmt_list(init(p, from), op1(p, OP_STORE, at, from), NULL);
  Var *t = new_var(p, "t", TIER_THREAD, 2);
  p->kernel[p->n_kernels++] = (Kernel){.name = "race", .body = loop(p, t, body), .knob = KNOB_NONE};
  const InterpResult *result = interpret(arena, p, &(InterpOptions){.seed = 1});
  ck_assert_int_ge(result->n_findings, 1);
  ck_assert_msg(strstr(result->finding[0].text, "race on S[1, 5, 11]: ") != NULL, "%s",
                result->finding[0].text);
}
END_TEST

Suite *suite_interp_tensor(void) {
  Suite *suite = suite_create("interp_tensor");
  TCase *tc = tcase_create("interp_tensor");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, sound_programs_are_silent_and_exact, 0, N_SOUND);
  tcase_add_loop_test(tc, planted_faults_are_told, 0, N_PLANTED);
  tcase_add_loop_test(tc, planted_recipes_are_sound_without_their_fault, 0, N_PLANTED);
  tcase_add_test(tc, what_ldmatrix_cannot_do_is_told);
  tcase_add_test(tc, sums_round_where_the_hardware_rounds);
  tcase_add_test(tc, tf32_operands_are_cut);
  tcase_add_test(tc, s32_sums_wrap_around);
  tcase_add_test(tc, inputs_suit_the_types);
  tcase_add_loop_test(tc, elements_of_swizzled_slabs_go_by_their_index, 0, 2);
  suite_add_tcase(suite, tc);
  return suite;
}
