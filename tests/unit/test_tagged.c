// The kernels that ask the GPU for its fragment maps: they compile for every GPU that has the
// instruction, and on a GPU played here, by the PTX ISA's formulas for registers, every case holds;
// one that hands its registers out otherwise is found out, with the lane and the element.
#include "compile_once.h"
#include "kernels/device/fragment_check.h"

#include <check.h>
#include <string.h>

#include "fake_cuda.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/nvrtc.h"
#include "numbers.h"
#include "stress.h"

Suite *suite_tagged(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test tagged"); }
static void teardown(void) { arena_free(arena); }

// ---- a warp of our own --------------------------------------------------------------------------

typedef enum Fault {
  NO_FAULT,
  A_REGISTERS_SWAPPED,  // registers 1 and 2 of A
  B_HALVES_SWAPPED,     // neighbours along k of B
  C_COLUMNS_SWAPPED,
  C_ROWS_SWAPPED,
  TRANS_IGNORED,
  ADDRESSES_REVERSED,  // within a matrix
  N_FAULTS
} Fault;

static const TaggedCase *current;
static Fault fault;

// m16n8k* and m8n8k4, by register q and part p of it; per = elements of A and B in a register.
typedef struct Cell {
  int row, col;
} Cell;

static Cell a_cell(int lane, int q, int p, int per) {
  if (fault == A_REGISTERS_SWAPPED && (q == 1 || q == 2)) q = 3 - q;
  return (Cell){lane / 4 + 8 * (q & 1), lane % 4 * per + p + (q >> 1) * 4 * per};
}
static Cell b_cell(int lane, int q, int p, int per) {
  if (fault == B_HALVES_SWAPPED) p ^= per > 1;
  return (Cell){lane % 4 * per + p + q * 4 * per, lane / 4};
}
static Cell c_cell(int lane, int i) {
  Cell at = {lane / 4 + 8 * (i >> 1), lane % 4 * 2 + (i & 1)};
  if (fault == C_COLUMNS_SWAPPED) at.col ^= 1;
  if (fault == C_ROWS_SWAPPED) at.row ^= 1;
  return at;
}

static PlanType type_named(const char *name) {
  PlanType type = PLAN_F32;
  ck_assert(plan_type_parse(name, &type));
  return type;
}

static void multiply(const uint32_t *in, uint32_t *out) {
  const Atom *atom = &current->atom;
  const PlanType type = type_named(atom->type), acc = type_named(atom->acc);
  const int per = atom->bits < 32 ? 32 / atom->bits : 1;
  const int n_a = atom->m * atom->k / 32, n_b = atom->n * atom->k / 32;
  const int n_c = atom->m * atom->n / 32;
  double a[16][32] = {{0}}, b[32][8] = {{0}};
  for (int lane = 0; lane < 32; lane++) {
    const char *words = (const char *)(in + lane * current->n_in);
    const char *behind = words + n_a * atom->bits / 8;
    for (int v = 0; v < n_a; v++) {
      const Cell at = a_cell(lane, v / per, v % per, per);
      a[at.row][at.col] = number_load(type, words, (uint64_t)v);
    }
    for (int v = 0; v < n_b; v++) {
      const Cell at = b_cell(lane, v / per, v % per, per);
      b[at.row][at.col] = number_load(type, behind, (uint64_t)v);
    }
  }
  for (int lane = 0; lane < 32; lane++)
    for (int v = 0; v < n_c; v++) {
      const char *c = (const char *)(in + lane * current->n_in) + (n_a + n_b) * atom->bits / 8;
      const Cell at = c_cell(lane, v);
      double sum = number_load(acc, c, (uint64_t)v);
      for (int k = 0; k < atom->k; k++) sum += a[at.row][k] * b[k][at.col];
      number_store(acc, out + lane * current->n_out, (uint64_t)v, sum);
    }
}

static void load_matrices(const uint32_t *in, uint32_t *out) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < current->load.n_matrices; r++)
      for (int half = 0; half < 2; half++) {
        const bool trans = current->load.trans && fault != TRANS_IGNORED;
        const int spread = lane / 4, packed = lane % 4 * 2 + half;
        int row = trans ? packed : spread, col = trans ? spread : packed;
        if (fault == ADDRESSES_REVERSED) row = 7 - row;
        const uint32_t address = in[8 * r + row];
        ck_assert(address % 16 == 0 && address + 16 <= 2 * TAGGED_TAGS);
        out[lane * current->n_out + r] |= (address / 2 + (uint32_t)col) << 16 * half;
      }
}

static void run_tagged(void **parameters) {
  const uint32_t *in = (const uint32_t *)(uintptr_t) * (CuDevicePtr *)parameters[0];
  uint32_t *out = (uint32_t *)(uintptr_t) * (CuDevicePtr *)parameters[1];
  const int rounds = *(int *)parameters[2];
  memset(out, 0, sizeof *out * (size_t)(rounds * 32 * current->n_out));
  for (int round = 0; round < rounds; round++) {
    if (current->load.n_matrices)
      load_matrices(in + round * 32 * current->n_in, out + round * 32 * current->n_out);
    else
      multiply(in + round * 32 * current->n_in, out + round * 32 * current->n_out);
  }
}

// What the fake GPU says of a case; NULL: it holds.
static const char *checked(int index, Fault planted) {
  const char *why = NULL;
  fake_cuda_install();
  Gpu *gpu = gpu_open(arena, 0, &why);
  current = tagged_build(arena, "sm_90", index);
  fault = planted;
  fake_cuda_add_kernel(current->plan->kernels[0].name, run_tagged);
  const char *error = tagged_check(arena, gpu, index);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
  return error;
}

static int index_of(const char *name) {
  for (int i = 0; i < tagged_count(); i++)
    if (str_equal(tagged_name(arena, i), name)) return i;
  ck_abort_msg("no case %s", name);
  return -1;
}

// ---- tests --------------------------------------------------------------------------------------

START_TEST(test_every_case_holds) {
  const char *error = checked(_i, NO_FAULT);
  ck_assert_msg(error == NULL, "%s", error);
}
END_TEST

static const struct {
  const char *name;
  Fault fault;
  const char *says;
} planted[] = {
    {"m16n8k16.f16.f32", A_REGISTERS_SWAPPED, "value 2 of lane 0, A[8][0]"},
    {"m16n8k8.tf32.f32", A_REGISTERS_SWAPPED, "value 1 of lane 0, A[8][0]"},
    {"m16n8k32.s8.s32", A_REGISTERS_SWAPPED, "value 4 of lane 0, A[8][0]"},
    {"m16n8k16.bf16.f32", B_HALVES_SWAPPED, "value 0 of lane 0, C[0][0], is 2, not 0"},
    {"m16n8k16.e4m3.f16", B_HALVES_SWAPPED, "A[0][0]"},
    {"m8n8k4.f64.f64", C_COLUMNS_SWAPPED, "value 0 of lane 0, C[0][0]"},
    {"m16n8k16.f16.f16", C_COLUMNS_SWAPPED, "C[0][0]"},
    {"m16n8k8.f16.f32", C_ROWS_SWAPPED, "C[0][0]"},
    {"ldmatrix.x4.trans", TRANS_IGNORED, "lane 0 received tags 0 and 1 in register 0, not 0 and 8"},
    {"ldmatrix.x1", ADDRESSES_REVERSED, "lane 0 received tags 56 and 57 in register 0"},
};

START_TEST(test_a_wrong_map_is_found) {
  const char *error = checked(index_of(planted[_i].name), planted[_i].fault);
  ck_assert_msg(error != NULL, "%s: nothing was found", planted[_i].name);
  ck_assert_msg(strstr(error, planted[_i].name) == error, "%s", error);
  ck_assert_msg(strstr(error, planted[_i].says) != NULL, "%s", error);
}
END_TEST

// Atoms that share their maps with another one, which is there.
static bool is_twin(const TaggedCase *tagged) {
  return str_equal(tagged->atom.type, "bf16") || str_equal(tagged->atom.type, "e5m2") ||
         str_equal(tagged->atom.type, "e4m3") || str_equal(tagged->atom.acc, "f16");
}

// Every register map that is wrong in any of these ways is found in every case it touches.
START_TEST(test_no_fault_hides) {
  for (int planned = NO_FAULT + 1; planned < N_FAULTS; planned++) {
    const bool of_matrix = planned == TRANS_IGNORED || planned == ADDRESSES_REVERSED;
    for (int i = 0; i < tagged_count(); i++) {
      const TaggedCase *tagged = tagged_build(arena, "sm_90", i);
      const bool is_matrix = tagged->load.n_matrices > 0;
      if (is_matrix != of_matrix || (!is_matrix && is_twin(tagged))) continue;
      if (planned == TRANS_IGNORED && !tagged->load.trans) continue;
      if (planned == B_HALVES_SWAPPED && tagged->atom.bits >= 32) continue;
      const int n_a_registers = is_matrix ? 0 : fragment_packing(&tagged->atom, ATOM_A).n_registers;
      if (planned == A_REGISTERS_SWAPPED && n_a_registers < 4) continue;
      ck_assert_msg(checked(i, (Fault)planned) != NULL, "%s hides fault %d", tagged->name, planned);
      arena_reset(arena);
    }
  }
}
END_TEST

// All cases of a GPU in one text, since starting the compiler is what takes the time.
static const struct {
  const char *arch;
  int cc;
} gpus[] = {{"sm_80", 80}, {"sm_89", 89}, {"sm_90a", 90}, {"sm_120a", 120}};

START_TEST(test_it_compiles_wherever_it_is) {
  bool found = false;
  Str text = str_new(arena);
  nvrtc_describe(arena, &found);
  if (!found) return;
  TaggedCase *tagged = NULL;
  for (int i = 0; i < tagged_count(); i++) {
    if (!tagged_on(i, gpus[_i].cc)) continue;
    tagged = tagged_build(arena, gpus[_i].arch, i);
    str_add(&text, tagged->plan->cuda);
  }
  tagged->plan->cuda = text.text;
  const CompileResult *result = compile_once(arena, tagged->plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %s\n%s", gpus[_i].arch, result->error, result->log);
  for (int i = 0; i < tagged_count(); i++) {
    if (!tagged_on(i, gpus[_i].cc)) continue;
    tagged = tagged_build(arena, gpus[_i].arch, i);
    const char *instruction = tagged->load.n_matrices ? ldmatrix_ptx(arena, &tagged->load)
                                                      : atom_ptx(arena, &tagged->atom);
    ck_assert_msg(strstr(result->ptx, instruction) != NULL, "no %s", instruction);
  }
}
END_TEST

START_TEST(test_the_list) {
  int n_mma = 0;
  for (int i = 0; i < atom_count; i++)
    if (atom_is_of_warp(&atom_table[i]) && !atom_scales(&atom_table[i]) && !atom_table[i].sparse &&
        atom_table[i].products == 1)
      n_mma += 1 + atom_table[i].f16_acc;
  ck_assert_int_eq(tagged_count(), 6 + n_mma);
  ck_assert(tagged_on(index_of("m16n8k16.f16.f16"), 80));
  ck_assert(!tagged_on(index_of("m16n8k32.e4m3.f32"), 80));
  ck_assert(tagged_on(index_of("ldmatrix.x2"), 75));
  const TaggedCase *tagged = tagged_build(arena, "sm_90", index_of("m16n8k16.f16.f32"));
  ck_assert_int_eq(tagged->n_rounds, 16 * 16 * 4);
  ck_assert_int_eq(tagged->n_in, 4 + 2 + 4);
  ck_assert_str_eq(tagged->plan->kernels[0].name, "tagged_m16n8k16_f16_f32");
}
END_TEST

// The driver fails at any of its calls: a sentence, and nothing is left on the device.
START_TEST(test_a_failing_driver) {
  const int index = index_of("m16n8k8.f16.f32");
  int n_errors = 0;
  for (int n = 1; n < 20; n++) {
    const char *why = NULL;
    fake_cuda_install();
    Gpu *gpu = gpu_open(arena, 0, &why);
    current = tagged_build(arena, "sm_90", index);
    fault = NO_FAULT;
    fake_cuda_add_kernel(current->plan->kernels[0].name, run_tagged);
    fake_cuda_fail(n, 2);
    const char *error = tagged_check(arena, gpu, index);
    ck_assert(error == NULL || strstr(error, "CUDA_ERROR_FAKE"));
    fake_cuda_fail(0, 0);
    gpu_close(gpu);
    ck_assert_int_eq(fake_cuda_live(), 0);
    fake_cuda_remove();
    arena_reset(arena);
    n_errors += error != NULL;
  }
  // All but a cubin that is refused (its PTX is tried then) and what is given back at the end.
  ck_assert_int_ge(n_errors, 8);
}
END_TEST

Suite *suite_tagged(void) {
  Suite *suite = suite_create("tagged");
  TCase *tests = tcase_create("tagged");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_the_list);
  stress_add_turns(tests, test_every_case_holds, tagged_count(), 9);
  stress_add_turns(tests, test_a_wrong_map_is_found, (int)(sizeof planted / sizeof *planted), 6);
  tcase_add_test(tests, test_no_fault_hides);
  stress_add_turns(tests, test_it_compiles_wherever_it_is, (int)(sizeof gpus / sizeof *gpus), 6);
  tcase_add_test(tests, test_a_failing_driver);
  suite_add_tcase(suite, tests);
  return suite;
}
