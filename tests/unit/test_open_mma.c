// mma.sync against matrices multiplied by hand, and the rounding of halves against the exact one.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "model/words/fragment.h"
#include "ptx/module/float_format.h"
#include "ptx_kernel.h"

Suite *suite_open_mma(void);

enum { ELEMENTS_MAX = 1024 };

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];
static uint32_t seed;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static int small_number(void) {
  seed = seed * 1664525u + 1013904223u;
  return (int)(seed >> 29) - 4;
}

static const struct {
  const char *atom, *types, *kind;  // the instruction's types, the registers of sums
  PtxType type, sums;
} atoms[] = {
    {"m16n8k16.f16", "f32.f16.f16.f32", "f32", PTX_F16, PTX_F32},
    {"m16n8k16.f16.f16", "f16.f16.f16.f16", "b32", PTX_F16, PTX_F16},
    {"m16n8k8.f16", "f32.f16.f16.f32", "f32", PTX_F16, PTX_F32},
    {"m16n8k16.bf16", "f32.bf16.bf16.f32", "f32", PTX_BF16, PTX_F32},
    {"m16n8k8.tf32", "f32.tf32.tf32.f32", "f32", PTX_F32, PTX_F32},
    {"m16n8k4.tf32", "f32.tf32.tf32.f32", "f32", PTX_F32, PTX_F32},
    {"m16n8k32.s8", "s32.s8.s8.s32", "b32", PTX_S8, PTX_S32},
    {"m16n8k16.s8", "s32.s8.s8.s32", "b32", PTX_S8, PTX_S32},
    {"m16n8k32.e4m3", "f32.e4m3.e4m3.f32", "f32", PTX_E4M3, PTX_F32},
    {"m16n8k32.e5m2", "f32.e5m2.e5m2.f32", "f32", PTX_E5M2, PTX_F32},
};
enum { ATOMS = sizeof atoms / sizeof atoms[0] };

static uint64_t bits_of(PtxType type, int value) {
  const PtxFormat *format = ptx_format_of(type);
  if (format) return ptx_float_round(format, value, PTX_ROUND_NEAREST, true);
  return (uint64_t)(int64_t)value & ((UINT64_C(1) << ptx_types[type].bits) - 1);
}

// Values of one operand into words of `in` from `at` on, register by register for each lane, and
// into a matrix.
static int give(const Atom *atom, AtomOperand operand, PtxType type, int at, int *matrix) {
  const FragmentPacking p = fragment_packing(atom, operand);
  const int cols = operand == ATOM_A ? atom->k : atom->n;
  for (int lane = 0; lane < 32; lane++)
    for (int v = 0; v < p.n_values; v++) {
      const FragmentElement e = fragment_element(atom, operand, lane, v);
      const int value = small_number(), part = v % p.per_register;
      matrix[e.row * cols + e.col] = value;
      uint32_t *word = &in[at + v / p.per_register * 32 + lane];
      if (part == 0) *word = 0;
      *word |= (uint32_t)(bits_of(type, value) << part * p.value_bits);
    }
  return at + 32 * p.n_registers;
}

START_TEST(test_products_are_those_of_the_matrices) {
  Diags diags = diags_new(arena);
  Atom atom;
  ck_assert(atom_parse(atoms[_i].atom, &atom, &diags));
  seed = (uint32_t)_i;
  static int a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[ELEMENTS_MAX];
  const int at_b = give(&atom, ATOM_A, atoms[_i].type, 0, a);
  const int at_c = give(&atom, ATOM_B, atoms[_i].type, at_b, b);
  give(&atom, ATOM_C, atoms[_i].sums, at_c, c);
  const int n_a = fragment_packing(&atom, ATOM_A).n_registers,
            n_b = fragment_packing(&atom, ATOM_B).n_registers;
  const FragmentPacking sums = fragment_packing(&atom, ATOM_C);
  const char *body = arena_printf(
      arena,
      ".reg .b32 %%a<8>, %%b<8>, %%c<8>;\n%s%s%s"
      "mma.sync.aligned.m16n8k%d.row.col.%s {%s}, {%s}, {%s}, {%s};\n",
      ptx_kernel_loads(arena, "%a", n_a, 0), ptx_kernel_loads(arena, "%b", n_b, at_b),
      ptx_kernel_loads(arena, "%c", sums.n_registers, at_c), atom.k, atoms[_i].types,
      ptx_kernel_registers(arena, "%c", sums.n_registers), ptx_kernel_registers(arena, "%a", n_a),
      ptx_kernel_registers(arena, "%b", n_b), ptx_kernel_registers(arena, "%c", sums.n_registers));
  for (int i = 0; i < sums.n_registers; i++)
    body = arena_printf(arena, "%sst.global.b32 [%%o+%d], %%c%d;\n", body, 128 * i, i);
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
  ck_assert_msg(k.outcome == PTX_DONE, "%s",
                k.outcome == PTX_STOPPED ? ptx_machine_finding(k.machine, 0)->text : "");
  for (int lane = 0; lane < 32; lane++)
    for (int v = 0; v < sums.n_values; v++) {
      const FragmentElement e = fragment_element(&atom, ATOM_C, lane, v);
      int wanted = c[e.row * atom.n + e.col];
      for (int x = 0; x < atom.k; x++) wanted += a[e.row * atom.k + x] * b[x * atom.n + e.col];
      const int shift = v % sums.per_register * sums.value_bits;
      const uint32_t got = k.out[v / sums.per_register * 32 + lane] >> shift;
      const uint32_t mask = sums.value_bits == 16 ? 0xffff : 0xffffffff;
      ck_assert_uint_eq(got & mask, bits_of(atoms[_i].sums, wanted) & mask);
    }
}
END_TEST

START_TEST(test_halves_round_as_the_exact_rule) {
  const PtxFormat *half = &ptx_formats[PTX_FORMAT_F16];
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const float value = ptx_f16_value((uint16_t)bits);
    const double exact = ptx_float_value(half, bits);
    if (exact == exact) ck_assert(value == (float)exact);
    if (exact == exact) ck_assert_uint_eq(ptx_f16_of(value), bits);
  }
  for (uint32_t i = 0; i < 200000; i++) {
    seed = seed * 1664525u + 1013904223u;
    float value;
    memcpy(&value, &seed, sizeof value);
    ck_assert_uint_eq(ptx_f16_of(value), ptx_float_round(half, value, PTX_ROUND_NEAREST, false));
    seed ^= i << 20;
  }
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/mma.txt"); }
END_TEST

Suite *suite_open_mma(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_mma");
  TCase *tcase = tcase_create("mma");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_products_are_those_of_the_matrices, 0, ATOMS);
  tcase_add_test(tcase, test_halves_round_as_the_exact_rule);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
