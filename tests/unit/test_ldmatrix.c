// ldmatrix against the PTX ISA: who receives what, who gives whose address, and what arrives when
// the plan of a fragment is carried out on tagged bytes.
#include <check.h>

#include "model/words/fragment.h"

Suite *suite_ldmatrix(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static Atom parse(const char *name) {
  Atom atom;
  ck_assert_msg(atom_parse(name, &atom, &diags), "%s: %s", name, diags_text(arena, &diags));
  return atom;
}

// Thread t receives of an 8×8 matrix of 16-bit elements, by the figure of ldmatrix: T0 has the
// first two of row 0, T3 the last two, T4 the first two of row 1; with .trans of the transpose.
START_TEST(test_ldmatrix_receivers) {
  for (int lane = 0; lane < 32; lane++)
    for (int half = 0; half < 2; half++) {
      FragmentElement plain = ldmatrix_element(false, lane, half);
      FragmentElement turned = ldmatrix_element(true, lane, half);
      ck_assert_int_eq(plain.row, lane / 4);
      ck_assert_int_eq(plain.col, lane % 4 * 2 + half);
      ck_assert_int_eq(turned.row, plain.col);
      ck_assert_int_eq(turned.col, plain.row);
      LdMatrixReceiver back = ldmatrix_receiver(true, turned.row, turned.col);
      ck_assert_int_eq(back.lane, lane);
      ck_assert_int_eq(back.half, half);
      back = ldmatrix_receiver(false, plain.row, plain.col);
      ck_assert_int_eq(back.lane, lane);
      ck_assert_int_eq(back.half, half);
    }
}
END_TEST

START_TEST(test_the_addressing_lane_and_its_receivers) {
  int lanes[8];
  ck_assert_int_eq(ldmatrix_addressing_lane(0, 5), 5);
  ck_assert_int_eq(ldmatrix_addressing_lane(3, 7), 31);
  ck_assert_int_eq(ldmatrix_receivers(false, 5, lanes), 4);
  for (int i = 0; i < 4; i++) ck_assert_int_eq(lanes[i], 20 + i);
  ck_assert_int_eq(ldmatrix_receivers(true, 5, lanes), 8);
  for (int i = 0; i < 8; i++) ck_assert_int_eq(lanes[i], 4 * i + 2);
}
END_TEST

typedef struct Load {
  const char *atom;
  AtomOperand operand;
  bool k_contiguous;
  int n_fragments, n_matrices;
} Load;

static const Load loads[] = {
    {"m16n8k16.f16", ATOM_A, true, 1, 4},  {"m16n8k16.f16", ATOM_A, false, 1, 4},
    {"m16n8k16.f16", ATOM_B, true, 1, 2},  {"m16n8k16.f16", ATOM_B, false, 1, 2},
    {"m16n8k16.f16", ATOM_B, true, 2, 4},  {"m16n8k16.f16", ATOM_B, false, 2, 4},
    {"m16n8k8.bf16", ATOM_A, true, 1, 2},  {"m16n8k8.bf16", ATOM_A, false, 2, 4},
    {"m16n8k8.bf16", ATOM_B, true, 1, 1},  {"m16n8k8.bf16", ATOM_B, false, 4, 4},
    {"m16n8k8.tf32", ATOM_A, true, 1, 4},  {"m16n8k8.tf32", ATOM_B, true, 2, 4},
    {"m16n8k4.tf32", ATOM_A, true, 2, 4},  {"m16n8k4.tf32", ATOM_B, true, 4, 4},
    {"m16n8k32.s8", ATOM_A, true, 1, 4},   {"m16n8k32.s8", ATOM_B, true, 2, 4},
    {"m16n8k16.s8", ATOM_A, true, 2, 4},   {"m16n8k16.s8", ATOM_B, true, 1, 1},
    {"m16n8k32.e4m3", ATOM_A, true, 1, 4}, {"m16n8k32.e5m2", ATOM_B, true, 1, 2},
};
enum { N_LOADS = sizeof loads / sizeof *loads, SLAB_ELEMENTS = 64 * 64 };

// A slab in shared memory whose element (row, col) of the operand carries a tag of its own, as many
// bits of it as an element has room for.
typedef struct Slab {
  unsigned char bytes[SLAB_ELEMENTS * 4];
  int rows, cols, elem_bytes;
  bool cols_contiguous;
} Slab;

static int slab_byte(const Slab *slab, int row, int col) {
  return (slab->cols_contiguous ? row * slab->cols + col : col * slab->rows + row) *
         slab->elem_bytes;
}

static unsigned tag_byte(int row, int col, int byte, unsigned salt) {
  return ((unsigned)row * 2654435761u ^ (unsigned)col * 40503u * 65537u ^ salt) >> (8 * byte) & 255;
}

static void fill_slab(Slab *slab, unsigned salt) {
  for (int row = 0; row < slab->rows; row++)
    for (int col = 0; col < slab->cols; col++)
      for (int b = 0; b < slab->elem_bytes; b++)
        slab->bytes[slab_byte(slab, row, col) + b] = (unsigned char)tag_byte(row, col, b, salt);
}

// ldmatrix as the PTX ISA tells it: eight threads per matrix give the addresses of its rows of 16
// bytes; thread t gets in register r bytes 4·(t % 4) to +3 of row t / 4 of matrix r, or with .trans
// the 16-bit elements t / 4 of rows 2·(t % 4) and 2·(t % 4) + 1.
static void run_ldmatrix(const Slab *slab, const int *address, int n_matrices, bool trans,
                         unsigned char out[32][16]) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < n_matrices; r++)
      for (int b = 0; b < 4; b++) {
        int row = trans ? lane % 4 * 2 + b / 2 : lane / 4;
        int at = trans ? lane / 4 * 2 + b % 2 : lane % 4 * 4 + b;
        ck_assert_int_eq(address[r * 8 + row] % 16, 0);
        out[lane][r * 4 + b] = slab->bytes[address[r * 8 + row] + at];
      }
}

START_TEST(test_ldmatrix_fills_the_fragment) {
  const Load *load = &loads[_i];
  Atom atom = parse(load->atom);
  LdMatrix plan;
  ck_assert(fragment_ldmatrix(&atom, load->operand, load->k_contiguous, load->n_fragments, &plan));
  ck_assert_int_eq(plan.n_matrices, load->n_matrices);
  ck_assert_int_eq(plan.n_address_lanes, 8 * load->n_matrices);
  ck_assert_int_eq(plan.trans, !load->k_contiguous);
  FragmentMap map = fragment_map(&atom, load->operand);
  FragmentPacking packing = fragment_packing(&atom, load->operand);
  bool is_a = load->operand == ATOM_A;
  Slab *slab = ARENA_NEW(arena, Slab);
  *slab = (Slab){.rows = is_a ? map.rows * load->n_fragments : map.rows,
                 .cols = is_a ? map.cols : map.cols * load->n_fragments,
                 .elem_bytes = atom.bits / 8,
                 .cols_contiguous = is_a == load->k_contiguous};
  for (unsigned salt = 0; salt < 3; salt++) {
    fill_slab(slab, salt * 0x9e3779b9u);
    int address[32];
    for (int lane = 0; lane < plan.n_address_lanes; lane++) {
      FragmentElement at = ldmatrix_address(&plan, lane);
      address[lane] = slab_byte(slab, at.row, at.col);
    }
    unsigned char got[32][16];
    run_ldmatrix(slab, address, plan.n_matrices, plan.trans, got);
    for (int lane = 0; lane < 32; lane++)
      for (int f = 0; f < load->n_fragments; f++)
        for (int v = 0; v < packing.n_values; v++)
          for (int b = 0; b < slab->elem_bytes; b++) {
            FragmentElement at = fragment_map_element(&map, lane, v);
            int row = at.row + (is_a ? f * map.rows : 0), col = at.col + (is_a ? 0 : f * map.cols);
            int byte = (f * packing.n_values + v) * slab->elem_bytes + b;
            ck_assert_int_eq(got[lane][byte], tag_byte(row, col, b, salt * 0x9e3779b9u));
          }
  }
}
END_TEST

// The four 8×8 tiles of A and who addresses them; B by .x2.trans leaves lanes 16 to 31 idle.
START_TEST(test_the_tiles_of_m16n8k16) {
  Atom atom = parse("m16n8k16.f16");
  LdMatrix a, b;
  ck_assert(fragment_ldmatrix(&atom, ATOM_A, true, 1, &a));
  for (int lane = 0; lane < 32; lane++) {
    FragmentElement at = ldmatrix_address(&a, lane);
    ck_assert_int_eq(at.row, lane % 16);
    ck_assert_int_eq(at.col, lane / 16 * 8);
  }
  ck_assert_str_eq(ldmatrix_ptx(arena, &a), "ldmatrix.sync.aligned.m8n8.x4.shared.b16");
  ck_assert(fragment_ldmatrix(&atom, ATOM_B, false, 1, &b));
  ck_assert_int_eq(b.n_address_lanes, 16);
  for (int lane = 0; lane < 16; lane++) {
    FragmentElement at = ldmatrix_address(&b, lane);
    ck_assert_int_eq(at.row, lane);
    ck_assert_int_eq(at.col, 0);
  }
  ck_assert_str_eq(ldmatrix_ptx(arena, &b), "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
}
END_TEST

START_TEST(test_what_ldmatrix_cannot_load) {
  static const Load never[] = {
      {"m16n8k16.f16", ATOM_C, true, 1, 0},  {"m8n8k4.f64", ATOM_A, true, 1, 0},
      {"m16n8k8.tf32", ATOM_B, false, 1, 0}, {"m16n8k32.s8", ATOM_A, false, 1, 0},
      {"m16n8k16.f16", ATOM_A, true, 2, 0},  {"m16n8k16.f16", ATOM_B, true, 3, 0},
      {"m16n8k16.f16", ATOM_B, true, 0, 0},  {"wgmma.m64n64k16.f16", ATOM_B, true, 1, 0},
  };
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    Atom atom = parse(never[i].atom);
    LdMatrix plan;
    ck_assert_msg(!fragment_ldmatrix(&atom, never[i].operand, never[i].k_contiguous,
                                     never[i].n_fragments, &plan),
                  "%s", never[i].atom);
  }
}
END_TEST

// A of a warpgroup's atom: warp w loads rows 16·w on.
START_TEST(test_ldmatrix_of_a_warpgroup) {
  Atom atom = parse("wgmma.m64n64k16.f16");
  LdMatrix plan;
  ck_assert(fragment_ldmatrix(&atom, ATOM_A, true, 1, &plan));
  FragmentElement at = ldmatrix_address(&plan, 64 + 9);
  ck_assert_int_eq(at.row, 32 + 9);
  ck_assert_int_eq(at.col, 0);
}
END_TEST

Suite *suite_ldmatrix(void) {
  Suite *suite = suite_create("ldmatrix");
  TCase *tc = tcase_create("ldmatrix");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, test_ldmatrix_receivers);
  tcase_add_test(tc, test_the_addressing_lane_and_its_receivers);
  tcase_add_loop_test(tc, test_ldmatrix_fills_the_fragment, 0, N_LOADS);
  tcase_add_test(tc, test_the_tiles_of_m16n8k16);
  tcase_add_test(tc, test_what_ldmatrix_cannot_load);
  tcase_add_test(tc, test_ldmatrix_of_a_warpgroup);
  suite_add_tcase(suite, tc);
  return suite;
}
