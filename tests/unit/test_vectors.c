// What instructions do, beside an H200: each form of tests/data/machine/vectors.def with 1,024
// vectors of operands, from PTX and from the machine code that ptxas makes of it.
//
// lab/machine/vectors.cu ran the same forms on an NVIDIA H200 (driver 580.159.04, CUDA 13.0,
// 2026-11-29) and wrote vectors.in and vectors.out: a little-endian word of 32 bits behind the
// other, form after form. Whole numbers, comparisons, conversions and what IEEE 754 rounds are
// equal to the last bit; of approximations the distance has a bound each, which that program
// measured with all 2^32 operands.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine_case.h"
#include "open_case.h"
#include "ptx/run/machine.h"
#include "stress.h"

Suite *suite_vectors(void);

enum { VECTORS = 1024, WORDS = 4, GROUPS = 4 };

typedef enum Shape {
  ONE_WORD,
  TWO_WORDS,
  ONE_OF_64,
  TWO_OF_64,
  PRODUCT,
  PRODUCT_F16,
  GROUP_PRODUCT,
  GROUP_PRODUCT_F16,
} Shape;

typedef struct Form {
  const char *name, *text;
  Shape shape;
  uint32_t keep, set;
  const char *tail;
  int times;
} Form;

#define BIT " selp.b32 %0, 1, 0, p;"
#define ONE(id, ptx) {.name = #id, .text = ptx, .shape = ONE_WORD},
#define TWO(id, ptx) {.name = #id, .text = ptx, .shape = TWO_WORDS},
#define D1(id, ptx) {.name = #id, .text = ptx, .shape = ONE_OF_64},
#define D2(id, ptx) {.name = #id, .text = ptx, .shape = TWO_OF_64},
#define MMA_TEXT(shape, types) "mma.sync.aligned." shape ".row.col." types
#define MMA_TEXT2 MMA_TEXT
#define MMA(name, text, keep, set) {#name, text, PRODUCT, keep, set, "", 1},
#define MMA2(name, text, keep, set) {#name, text, PRODUCT_F16, keep, set, "", 1},
#define WGMMA(name, shape, tail, keep, set, times) \
  {#name, shape, GROUP_PRODUCT, keep, set, tail, times},
#define WGMMA2(name, shape, tail, keep, set, times) \
  {#name, shape, GROUP_PRODUCT_F16, keep, set, tail, times},
static const Form forms[] = {
#include "../data/machine/vectors.def"
#include "../data/machine/vectors_mma.def"
};
enum { FORMS = sizeof forms / sizeof *forms };

static const int words_of[] = {1, 2, 1, 2, 4, 2, 4, 2};

// ---- approximations -----------------------------------------------------------------------------

// By how much a result may differ from the GPU's: units in the last place, or an absolute error.
// All other forms are equal. The first seven were measured with every f32 (vectors.cu prints them);
// of sin and cos those up to pi. The rest is what PTX ISA says of div and the halves.
static const struct {
  const char *name;
  int ulp;
  double absolute;
} bounds[] = {
    {"ex2_approx", 2, 0},      {"lg2_approx", 2, 2.4e-7}, {"rcp_approx", 1, 0},
    {"rsqrt_approx", 2, 0},    {"sqrt_approx", 1, 0},     {"sin_approx", 0, 3.6e-7},
    {"cos_approx", 0, 4.2e-7}, {"tanh_approx", 134, 0},   {"div_approx", 2, 0},
    {"div_full", 2, 0},        {"ex2_f16x2", 1, 0},       {"tanh_f16x2", 1, 0},
    {"tanh_bf16x2", 1, 0},     {"ex2_ftz_bf16x2", 1, 0},
};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- the kernels --------------------------------------------------------------------------------

// %0 … of a row, which nvcc numbers, as names.
static const char *named(const Form *form) {
  static const char *const all[] = {"x", "y", "a", "b", "c", "d"};
  const bool two = words_of[form->shape] == 2;
  Str out = str_new(arena);
  for (const char *at = form->text; *at; at++) {
    if (*at != '%') {
      str_printf(&out, "%c", *at);
      continue;
    }
    const int n = *++at - '0';
    str_add(&out, n == 0 || two ? all[n] : all[n + 1]);
  }
  return out.text;
}

// A register of a product: the word of an operand at [at + bytes], some of its bits kept, some set.
static void load(Str *out, const char *to, int n, int bytes, uint32_t keep, uint32_t set) {
  str_printf(out,
             "ld.global.b32 %s%d, [at+%d]; and.b32 %s%d, %s%d, 0x%x; or.b32 %s%d, %s%d, 0x%x;\n",
             to, n, bytes, to, n, to, n, keep, to, n, to, n, set);
}

static bool is_f16(const Form *form) {
  return form->shape == PRODUCT_F16 || form->shape == GROUP_PRODUCT_F16;
}

// What products are added to: f32 of at most 2, or two halves of at most 2.
static void load_sums(Str *out, const Form *form) {
  str_add(out, "xor.b32 w, g, 9; mad.wide.u32 at, w, 16, in;\n");
  for (int i = 0; i < words_of[form->shape]; i++)
    load(out, "c", i, 4 * i, is_f16(form) ? 0x87ff87ff : 0x80ffffff,
         is_f16(form) ? 0x38003800 : 0x3f000000);
}

static void store_sums(Str *out, const Form *form, const char *from) {
  const int words = words_of[form->shape];
  str_printf(out, "mad.wide.u32 at, g, %d, out;\n", 4 * words);
  for (int i = 0; i < words; i++) str_printf(out, "st.global.b32 [at+%d], %s%d;\n", 4 * i, from, i);
}

static const char *product_text(const Form *form) {
  Str out = str_new(arena);
  str_add(&out, ".reg .b32 a<4>, b<4>, c<4>, x<4>;\nmad.wide.u32 at, g, 16, in;\n");
  for (int i = 0; i < 4; i++) load(&out, "a", i, 4 * i, form->keep, form->set);
  str_add(&out, "xor.b32 w, g, 5; mad.wide.u32 at, w, 16, in;\n");
  for (int i = 0; i < 2; i++) load(&out, "b", i, 4 * i, form->keep, form->set);
  load_sums(&out, form);
  str_printf(&out, "%s {%s}, {a0, a1, a2, a3}, {b0, b1}, {%s};\n", form->text,
             is_f16(form) ? "x0, x1" : "x0, x1, x2, x3",
             is_f16(form) ? "c0, c1" : "c0, c1, c2, c3");
  store_sums(&out, form, "x");
  return out.text;
}

// Rows of 32 bytes, 64 of A and 8 of B, in core matrices: vectors.cu says where they lie.
static const char *group_product_text(const Form *form) {
  enum { ROW_WORDS = 512 + 64, THREADS = 128, DESCRIPTOR = 128 / 16 << 16 };
  Str out = str_new(arena);
  str_add(&out,
          ".shared .align 128 .b8 s[2304];\n.reg .b32 f<2>, c<4>, z, n, row; .reg .b64 da, db;\n");
  str_add(&out, "mov.u32 z, s; mov.u32 n, %ctaid.x;\n");
  for (int i = 0; i * THREADS < ROW_WORDS; i++) {
    str_printf(
        &out,
        "add.u32 w, t, %d; setp.lt.u32 p, w, %d; mad.lo.u32 u, n, 512, 0; mad.lo.u32 u, w, 7, u;\n",
        i * THREADS, ROW_WORDS);
    str_add(&out, "and.b32 u, u, 4095; mad.wide.u32 at, u, 4, in;\n");
    load(&out, "f", 0, 0, form->keep, form->set);
    str_add(
        &out,
        "shr.u32 row, w, 3; and.b32 v, row, 7; shl.b32 v, v, 4; shr.u32 u, row, 3;\n"
        "mad.lo.u32 v, u, 256, v; and.b32 u, w, 3; mad.lo.u32 v, u, 4, v;\n"
        "and.b32 u, w, 4; mad.lo.u32 v, u, 32, v; add.u32 v, v, z;\n@p st.shared.b32 [v], f0;\n");
  }
  load_sums(&out, form);
  str_printf(&out, "shr.u32 u, z, 4; mov.b64 da, {u, 16}; or.b64 da, da, %d;\n", DESCRIPTOR);
  str_printf(&out, "add.u32 u, u, 128; mov.b64 db, {u, 16}; or.b64 db, db, %d;\n", DESCRIPTOR);
  str_add(&out, "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n");
  for (int i = 0; i < form->times; i++)
    str_printf(&out, "wgmma.mma_async.sync.aligned.%s {%s}, da, db, 1, 1, 1%s;\n", form->text,
               is_f16(form) ? "c0, c1" : "c0, c1, c2, c3", form->tail);
  str_add(&out, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
  store_sums(&out, form, "c");
  return out.text;
}

static const char *plain_text(const Form *form) {
  const bool wide = form->shape == ONE_OF_64 || form->shape == TWO_OF_64,
             two = words_of[form->shape] == 2;
  return arena_printf(arena,
                      "mad.wide.u32 at, t, 16, in; ld.global.v4.b32 {a, b, c, d}, [at];\n"
                      "mad.wide.u32 at, t, %d, out;\n%s{ %s }\n%s%s",
                      two ? 8 : 4, wide ? "mov.b64 A, {a, b}; mov.b64 B, {c, d};\n" : "",
                      named(form), form->shape == TWO_OF_64 ? "mov.b64 {x, y}, D;\n" : "",
                      two ? "st.global.v2.b32 [at], {x, y};\n" : "st.global.b32 [at], x;\n");
}

static const char *body(const Form *form) {
  if (form->shape >= GROUP_PRODUCT) return group_product_text(form);
  return form->shape >= PRODUCT ? product_text(form) : plain_text(form);
}

// The forms of one group, one in GROUPS each.
static const char *module_text(int group) {
  Str out = str_new(arena);
  str_add(&out, ".version 8.6\n.target sm_90a\n.address_size 64\n");
  for (int i = group; i < FORMS; i += GROUPS) {
    const Form *form = &forms[i];
    str_printf(&out,
               ".visible .entry %s(.param .u64 p_in, .param .u64 p_out)\n{\n"
               ".reg .pred p, q; .reg .b16 h, k; .reg .b32 x, y, u, v, w, a, b, c, d, t, g;\n"
               ".reg .b64 A, B, D, in, out, at;\n"
               "ld.param.u64 in, [p_in]; ld.param.u64 out, [p_out]; mov.u32 t, %%tid.x;\n"
               "mov.u32 g, %%ctaid.x; mad.lo.u32 g, g, 128, t;\n%sret;\n}\n",
               form->name, body(form));
  }
  return out.text;
}

// What kernel(in, out) leaves in `out`; NULL: an instruction of it is not run.
static const uint32_t *run_kernel(const PtxModule *module, const char *name, int blocks, int words,
                                  int threads, const uint32_t *in) {
  Diags diags = diags_new(arena);
  const PtxFunction *kernel = ptx_module_kernel(module, name, &diags);
  ck_assert_msg(kernel != NULL, "%s: %s", name, diags_text(arena, &diags));
  const PtxLaunch launch = {
      .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .budget = INT64_C(200000000)};
  PtxMachine *m = ptx_machine_new(arena, module, kernel, &launch, &diags);
  ck_assert_msg(m != NULL, "%s: %s", name, diags_text(arena, &diags));
  const uint64_t from = ptx_machine_buffer(m, "in", VECTORS * 16, in, PTX_CONTENT_GIVEN),
                 to = ptx_machine_buffer(m, "out", VECTORS * 16, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(m, 0, &from, 8);
  ptx_machine_param(m, 1, &to, 8);
  PtxOutcome outcome = PTX_DONE;
  for (int x = 0; x < blocks && outcome == PTX_DONE; x++) outcome = ptx_machine_run(m, x, 0, 0);
  const PtxFinding *f = ptx_machine_findings(m) ? ptx_machine_finding(m, 0) : NULL;
  if (f && f->kind == PTX_FINDING_NOT_RUN) return NULL;
  ck_assert_msg(outcome == PTX_DONE && !f, "%s: %s", name, f && f->text ? f->text : "");
  return ptx_machine_bytes(m, to, VECTORS * 4 * words);
}

static const uint32_t *run(const PtxModule *module, const Form *form, const uint32_t *in) {
  enum { GROUP = 128 };
  const int threads = form->shape >= PRODUCT ? GROUP : VECTORS;
  return run_kernel(module, form->name, VECTORS / threads, words_of[form->shape], threads, in);
}

// ---- beside the GPU -----------------------------------------------------------------------------

static const uint32_t *words_at(const char *name, int64_t n) {
  size_t bytes = 0;
  const char *path = arena_printf(arena, "tests/data/machine/%s", name);
  const uint32_t *words = (const uint32_t *)open_case_bytes(arena, path, &bytes);
  ck_assert_int_eq((int64_t)bytes, 4 * n);
  return words;
}

static int64_t words_before(int form) {
  int64_t n = 0;
  for (int i = 0; i < form; i++) n += (int64_t)VECTORS * words_of[forms[i].shape];
  return n;
}

// Places of floats in their order: neighbours differ by one.
static int64_t place_of(uint32_t bits, int width) {
  const uint32_t sign = 1u << (width - 1), size = bits & (sign - 1);
  return bits & sign ? -(int64_t)size : (int64_t)size;
}

static double value_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// A NaN and infinity lie behind the largest number, so that they are equal or far.
static bool is_near(int bound, bool halves, uint32_t x, uint32_t y) {
  if (x == y || bound == BOUNDS) return x == y;
  const int64_t most = bounds[bound].ulp;
  if (halves)
    return llabs(place_of(x & 0xffff, 16) - place_of(y & 0xffff, 16)) <= most &&
           llabs(place_of(x >> 16, 16) - place_of(y >> 16, 16)) <= most;
  return llabs(place_of(x, 32) - place_of(y, 32)) <= most ||
         fabs(value_of(x) - value_of(y)) <= bounds[bound].absolute;
}

static void compare(const Form *form, const uint32_t *in, const uint32_t *gpu,
                    const uint32_t *ours) {
  const int words = words_of[form->shape];
  const bool halves = strstr(form->name, "16x2") != NULL;
  int bound = 0;
  while (bound < BOUNDS && !str_starts(form->name, bounds[bound].name)) bound++;
  for (int i = 0; i < VECTORS * words; i++) {
    const uint32_t *at = &in[WORDS * (i / words)];
    ck_assert_msg(is_near(bound, halves, gpu[i], ours[i]),
                  "%s of %08x %08x %08x %08x: word %d is %08x, on a GPU %08x", form->name, at[0],
                  at[1], at[2], at[3], i % words, ours[i], gpu[i]);
  }
}

START_TEST(test_ptx_does_what_the_gpu_does) {
  Diags diags = diags_new(arena);
  const char *text = module_text(_i);
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "vectors.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const uint32_t *in = words_at("vectors.in", WORDS * VECTORS),
                 *out = words_at("vectors.out", words_before(FORMS));
  for (int i = _i; i < FORMS; i += GROUPS) {
    const uint32_t *ours = run(module, &forms[i], in);
    ck_assert_msg(ours != NULL, "%s is not run", forms[i].name);
    compare(&forms[i], in, &out[words_before(i)], ours);
  }
}
END_TEST

START_TEST(test_machine_code_does_what_the_gpu_does) {
  size_t n = 0;
  const char *cubin = machine_case_assemble(arena, module_text(_i), "sm_90a", &n);
  if (!cubin || !sass_find_tool(arena)) return;
  const SassResult *sass = sass_disassemble(arena, cubin, n, 60);
  ck_assert_msg(sass->ok, "%s", sass->error);
  Diags diags = diags_new(arena);
  const uint32_t *in = words_at("vectors.in", WORDS * VECTORS),
                 *out = words_at("vectors.out", words_before(FORMS));
  for (int i = _i; i < FORMS; i += GROUPS) {
    const PtxModule *module = machine_case_listed(arena, cubin, n, sass, forms[i].name, &diags);
    ck_assert_msg(module != NULL, "%s: %s", forms[i].name, diags_text(arena, &diags));
    const uint32_t *ours = run(module, &forms[i], in);
    ck_assert_msg(ours != NULL, "%s is not run", forms[i].name);
    compare(&forms[i], in, &out[words_before(i)], ours);
  }
}
END_TEST

// Where a fragment's elements lie no one knows, so that the whole product is compared.
static const char *wmma_text(const char *shape, int c_step, int d_step) {
  return arena_printf(
      arena,
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 p_in, .param .u64 p_out)\n{\n"
      ".reg .b32 a<8>, b<8>; .reg .f32 c<8>, d<8>; .reg .b64 in, out, at;\n"
      "ld.param.u64 in, [p_in]; ld.param.u64 out, [p_out];\n"
      "wmma.load.a.sync.aligned.row.%s.global.f16 {a0,a1,a2,a3,a4,a5,a6,a7}, [in], 16;\n"
      "add.u64 at, in, 2048;\n"
      "wmma.load.b.sync.aligned.col.%s.global.f16 {b0,b1,b2,b3,b4,b5,b6,b7}, [at], 16;\n"
      "add.u64 at, in, 4096;\n"
      "wmma.load.c.sync.aligned.row.%s.global.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, [at], %d;\n"
      "wmma.mma.sync.aligned.row.col.%s.f32.f32 {d0,d1,d2,d3,d4,d5,d6,d7}, "
      "{a0,a1,a2,a3,a4,a5,a6,a7}, {b0,b1,b2,b3,b4,b5,b6,b7}, {c0,c1,c2,c3,c4,c5,c6,c7};\n"
      "wmma.store.d.sync.aligned.row.%s.global.f32 [out], {d0,d1,d2,d3,d4,d5,d6,d7}, %d;\n"
      "ret;\n}\n",
      shape, shape, shape, c_step, shape, shape, d_step);
}

START_TEST(test_wmma_is_summed_as_its_machine_code_is) {
  static const struct {
    const char *shape;
    int columns;
  } cases[] = {{"m16n16k16", 16}, {"m8n32k16", 32}, {"m32n8k16", 8}};
  enum { LANES = 32, SUMS = 8, HALVES = 1024 };
  uint32_t in[4 * VECTORS];
  memcpy(in, words_at("vectors.in", WORDS * VECTORS), sizeof in);
  for (int i = 0; i < 4 * VECTORS; i++)  // halves of at most 2, then numbers of at most 2
    in[i] = i < HALVES ? in[i] & 0xbfffbfff : (in[i] & 0x80ffffff) | 0x3f000000;
  const char *text = wmma_text(cases[_i].shape, cases[_i].columns, cases[_i].columns);
  Diags diags = diags_new(arena);
  size_t n = 0;
  const PtxModule *ptx = ptx_module_read(arena, text, strlen(text), "wmma.ptx", &diags);
  ck_assert_msg(ptx != NULL, "%s", diags_text(arena, &diags));
  const char *cubin = machine_case_assemble(arena, text, "sm_90a", &n);
  const PtxModule *machine = cubin ? machine_case_module(arena, cubin, n, "k", &diags) : NULL;
  if (!machine) return;
  const uint32_t *x = run_kernel(ptx, "k", 1, 1, LANES, in),
                 *y = run_kernel(machine, "k", 1, 1, LANES, in);
  for (int i = 0; i < LANES * SUMS; i++)
    ck_assert_msg(x[i] == y[i], "%s: sum %d is %08x, by machine code %08x", cases[_i].shape, i,
                  x[i], y[i]);
}
END_TEST

Suite *suite_vectors(void) {
  Suite *suite = suite_create("vectors");
  TCase *tcase = tcase_create("vectors");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_ptx_does_what_the_gpu_does, 0, GROUPS);
  tcase_add_loop_test(tcase, test_machine_code_does_what_the_gpu_does, 0, GROUPS);
  tcase_add_loop_test(tcase, test_wmma_is_summed_as_its_machine_code_is, 0, 3);
  suite_add_tcase(suite, tcase);
  return suite;
}
