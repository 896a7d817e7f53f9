// The atoms against the PTX ISA. The layouts below are a second transcription of its formulas, one
// instruction after the other and in its own words (groupID, threadID_in_group, conditions on the
// index i of an element); the program under test derives all of them from one rule.
#include <check.h>

#include "banks/engine/formula.h"
#include "base/str.h"
#include "model/readings/place/fragment_text.h"

Suite *suite_fragment(void);

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

// ---- the PTX ISA's formulas ---------------------------------------------------------------------

static int group(int lane) { return (lane % 32) >> 2; }
static int in_group(int lane) { return lane % 4; }
static int warp(int lane) { return lane / 32; }

typedef struct Place {
  int row, col;
} Place;
typedef Place PtxFormula(int lane, int i);

// mma.m8n8k4 with .f64
static Place a_m8n8k4_f64(int lane, int i) { return (Place){group(lane), in_group(lane) + 0 * i}; }
static Place b_m8n8k4_f64(int lane, int i) { return (Place){in_group(lane) + 0 * i, group(lane)}; }
static Place c_m8n8k4_f64(int lane, int i) {
  return (Place){group(lane), in_group(lane) * 2 + (i & 1)};
}

// mma.m8n8k4 with .f16: "row = %laneid % 4 if %laneid < 16, (%laneid % 4) + 4 otherwise"
static int of_quad(int lane) { return lane < 16 ? lane % 4 : lane % 4 + 4; }
static Place a_884_row(int lane, int i) { return (Place){of_quad(lane), i}; }
static Place a_884_col(int lane, int i) { return (Place){lane < 16 ? i % 4 : i % 4 + 4, lane % 4}; }
static Place b_884_row(int lane, int i) { return (Place){lane % 4, lane < 16 ? i : i + 4}; }
static Place b_884_col(int lane, int i) { return (Place){i, of_quad(lane)}; }
static Place c_884_f16(int lane, int i) { return (Place){of_quad(lane), i}; }
static Place c_884_f32(int lane, int i) {
  const int x = (lane & 1) + (i & 2);
  return (Place){lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
}

// mma.m16n8k4 with .tf32
static Place a_m16n8k4_tf32(int lane, int i) {
  return (Place){i == 0 ? group(lane) : group(lane) + 8, in_group(lane)};
}
static Place b_m16n8k4_tf32(int lane, int i) {
  return (Place){in_group(lane) + 0 * i, group(lane)};
}

// mma.m16n8k8
static Place a_m16n8k8_f16(int lane, int i) {
  return (Place){i == 0 || i == 1 ? group(lane) : group(lane) + 8, in_group(lane) * 2 + (i & 1)};
}
static Place b_m16n8k8_f16(int lane, int i) { return (Place){in_group(lane) * 2 + i, group(lane)}; }
static Place a_m16n8k8_tf32(int lane, int i) {
  return (Place){i == 0 || i == 2 ? group(lane) : group(lane) + 8,
                 i == 0 || i == 1 ? in_group(lane) : in_group(lane) + 4};
}
static Place b_m16n8k8_tf32(int lane, int i) {
  return (Place){i == 0 ? in_group(lane) : in_group(lane) + 4, group(lane)};
}

// mma.m16n8k16 with floating point type
static Place a_m16n8k16_f16(int lane, int i) {
  bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
  int col = in_group(lane) * 2 + (i & 1);
  return (Place){upper ? group(lane) : group(lane) + 8, i < 4 ? col : col + 8};
}
static Place b_m16n8k16_f16(int lane, int i) {
  int row = in_group(lane) * 2 + (i & 1);
  return (Place){i < 2 ? row : row + 8, group(lane)};
}

// mma.m16n8k16 with integer type (and with 8-bit floating point)
static Place a_m16n8k16_s8(int lane, int i) {
  return (Place){i < 4 ? group(lane) : group(lane) + 8, in_group(lane) * 4 + (i & 3)};
}
static Place b_m16n8k16_s8(int lane, int i) { return (Place){in_group(lane) * 4 + i, group(lane)}; }

// mma.m16n8k32 with 8-bit types
static Place a_m16n8k32_s8(int lane, int i) {
  bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
  int col = in_group(lane) * 4 + (i & 3);
  return (Place){upper ? group(lane) : group(lane) + 8, i < 8 ? col : col + 16};
}
static Place b_m16n8k32_s8(int lane, int i) {
  int row = in_group(lane) * 4 + (i & 3);
  return (Place){i < 4 ? row : row + 16, group(lane)};
}

// mma.m16n8k64 with e2m1
static Place a_m16n8k64_e2m1(int lane, int i) {
  bool upper = (0 <= i && i < 8) || (16 <= i && i < 24);
  int col = in_group(lane) * 8 + (i & 7);
  return (Place){upper ? group(lane) : group(lane) + 8, i < 16 ? col : col + 32};
}
static Place b_m16n8k64_e2m1(int lane, int i) {
  int row = in_group(lane) * 8 + (i & 7);
  return (Place){i < 8 ? row : row + 32, group(lane)};
}

// The accumulators of every mma.m16n8k*
static Place c_m16n8(int lane, int i) {
  return (Place){i < 2 ? group(lane) : group(lane) + 8, in_group(lane) * 2 + (i & 1)};
}

// wgmma.mma_async: the figures of m64nNk16, m64nNk8 and m64nNk32. Warp w has rows 16·w to 16·w
// + 15.
static Place a_wgmma_k16(int lane, int i) {
  Place at = a_m16n8k16_f16(lane % 32, i);
  return (Place){16 * warp(lane) + at.row, at.col};
}
static Place a_wgmma_k8(int lane, int i) {
  Place at = a_m16n8k8_tf32(lane % 32, i);
  return (Place){16 * warp(lane) + at.row, at.col};
}
static Place a_wgmma_k32(int lane, int i) {
  Place at = a_m16n8k32_s8(lane % 32, i);
  return (Place){16 * warp(lane) + at.row, at.col};
}
static Place d_wgmma(int lane, int i) {
  return (Place){16 * warp(lane) + group(lane) + 8 * (i / 2 % 2),
                 8 * (i / 4) + in_group(lane) * 2 + i % 2};
}

// sparse mma.m16n8k32 with .f16 and .bf16, m16n8k16 with .tf32, m16n8k64 with 8-bit types: B. A is
// stored as that of a half of the depth.
static Place b_sp_m16n8k32_f16(int lane, int i) {
  const int row = in_group(lane) * 2 + (i & 1);
  return (Place){i < 2 ? row : i < 4 ? row + 8 : i < 6 ? row + 16 : row + 24, group(lane)};
}
static Place b_sp_m16n8k16_tf32(int lane, int i) {
  return (Place){in_group(lane) + i * 4, group(lane)};
}
static Place b_sp_m16n8k64_s8(int lane, int i) {
  const int row = in_group(lane) * 4 + (i & 3);
  return (Place){i < 4 ? row : i < 8 ? row + 16 : i < 12 ? row + 32 : row + 48, group(lane)};
}

// tcgen05.ld.32x32b: a row is a lane of tensor memory, a column its register.
static Place d_tcgen05(int lane, int i) { return (Place){lane, i}; }

typedef struct Layout {
  const char *atom;
  AtomOperand operand;
  int rows, cols, values, registers;
  PtxFormula *formula;
} Layout;

static const Layout layouts[] = {
    {"m8n8k4.f64", ATOM_A, 8, 4, 1, 1, a_m8n8k4_f64},
    {"m8n8k4.f64", ATOM_B, 4, 8, 1, 1, b_m8n8k4_f64},
    {"m8n8k4.f64", ATOM_C, 8, 8, 2, 2, c_m8n8k4_f64},
    {"m8n8k4.f16", ATOM_A, 8, 4, 4, 2, a_884_row},
    {"m8n8k4.f16", ATOM_B, 4, 8, 4, 2, b_884_col},
    {"m8n8k4.f16", ATOM_C, 8, 8, 8, 8, c_884_f32},
    {"m8n8k4.f16.f16", ATOM_C, 8, 8, 8, 4, c_884_f16},
    {"m8n8k4.row.row.f16", ATOM_A, 8, 4, 4, 2, a_884_row},
    {"m8n8k4.row.row.f16", ATOM_B, 4, 8, 4, 2, b_884_row},
    {"m8n8k4.col.col.f16", ATOM_A, 8, 4, 4, 2, a_884_col},
    {"m8n8k4.col.col.f16", ATOM_B, 4, 8, 4, 2, b_884_col},
    {"m8n8k4.col.row.f16", ATOM_A, 8, 4, 4, 2, a_884_col},
    {"m8n8k4.col.row.f16", ATOM_B, 4, 8, 4, 2, b_884_row},
    {"m8n8k4.col.row.f16.f16", ATOM_C, 8, 8, 8, 4, c_884_f16},
    {"m16n8k4.tf32", ATOM_A, 16, 4, 2, 2, a_m16n8k4_tf32},
    {"m16n8k4.tf32", ATOM_B, 4, 8, 1, 1, b_m16n8k4_tf32},
    {"m16n8k4.tf32", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k8.f16", ATOM_A, 16, 8, 4, 2, a_m16n8k8_f16},
    {"m16n8k8.f16", ATOM_B, 8, 8, 2, 1, b_m16n8k8_f16},
    {"m16n8k8.f16", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k8.f16.f16", ATOM_C, 16, 8, 4, 2, c_m16n8},
    {"m16n8k8.bf16", ATOM_A, 16, 8, 4, 2, a_m16n8k8_f16},
    {"m16n8k8.bf16", ATOM_B, 8, 8, 2, 1, b_m16n8k8_f16},
    {"m16n8k8.bf16", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k8.tf32", ATOM_A, 16, 8, 4, 4, a_m16n8k8_tf32},
    {"m16n8k8.tf32", ATOM_B, 8, 8, 2, 2, b_m16n8k8_tf32},
    {"m16n8k8.tf32", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k16.f16", ATOM_A, 16, 16, 8, 4, a_m16n8k16_f16},
    {"m16n8k16.f16", ATOM_B, 16, 8, 4, 2, b_m16n8k16_f16},
    {"m16n8k16.f16", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k16.f16.f16", ATOM_C, 16, 8, 4, 2, c_m16n8},
    {"m16n8k16.bf16", ATOM_A, 16, 16, 8, 4, a_m16n8k16_f16},
    {"m16n8k16.bf16", ATOM_B, 16, 8, 4, 2, b_m16n8k16_f16},
    {"m16n8k16.bf16", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k16.s8", ATOM_A, 16, 16, 8, 2, a_m16n8k16_s8},
    {"m16n8k16.s8", ATOM_B, 16, 8, 4, 1, b_m16n8k16_s8},
    {"m16n8k16.s8", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k16.e4m3", ATOM_A, 16, 16, 8, 2, a_m16n8k16_s8},
    {"m16n8k16.e5m2", ATOM_B, 16, 8, 4, 1, b_m16n8k16_s8},
    {"m16n8k32.s8", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"m16n8k32.s8", ATOM_B, 32, 8, 8, 2, b_m16n8k32_s8},
    {"m16n8k32.s8", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k32.e4m3", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"m16n8k32.e4m3", ATOM_B, 32, 8, 8, 2, b_m16n8k32_s8},
    {"m16n8k32.e4m3", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k32.e4m3.f16", ATOM_C, 16, 8, 4, 2, c_m16n8},
    {"m16n8k32.e5m2", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"m16n8k32.e5m2", ATOM_B, 32, 8, 8, 2, b_m16n8k32_s8},
    {"m16n8k32.e5m2", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k32.mxf8", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"m16n8k32.mxf8", ATOM_B, 32, 8, 8, 2, b_m16n8k32_s8},
    {"m16n8k32.mxf8", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k32.mxf8e5m2", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"m16n8k64.mxf4", ATOM_A, 16, 64, 32, 4, a_m16n8k64_e2m1},
    {"m16n8k64.mxf4", ATOM_B, 64, 8, 16, 2, b_m16n8k64_e2m1},
    {"m16n8k64.mxf4", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"m16n8k64.nvfp4", ATOM_A, 16, 64, 32, 4, a_m16n8k64_e2m1},
    {"m16n8k64.nvfp4", ATOM_B, 64, 8, 16, 2, b_m16n8k64_e2m1},
    {"wgmma.m64n256k16.f16", ATOM_A, 64, 16, 8, 4, a_wgmma_k16},
    {"wgmma.m64n256k16.f16", ATOM_C, 64, 256, 128, 128, d_wgmma},
    {"wgmma.m64n256k16.f16.f16", ATOM_C, 64, 256, 128, 64, d_wgmma},
    {"wgmma.m64n8k16.bf16", ATOM_A, 64, 16, 8, 4, a_wgmma_k16},
    {"wgmma.m64n8k16.bf16", ATOM_C, 64, 8, 4, 4, d_wgmma},
    {"wgmma.m64n24k16.bf16", ATOM_C, 64, 24, 12, 12, d_wgmma},
    {"wgmma.m64n184k16.f16", ATOM_C, 64, 184, 92, 92, d_wgmma},
    {"wgmma.m64n128k8.tf32", ATOM_A, 64, 8, 4, 4, a_wgmma_k8},
    {"wgmma.m64n128k8.tf32", ATOM_C, 64, 128, 64, 64, d_wgmma},
    {"wgmma.m64n64k32.e4m3", ATOM_A, 64, 32, 16, 4, a_wgmma_k32},
    {"wgmma.m64n64k32.e5m2", ATOM_C, 64, 64, 32, 32, d_wgmma},
    {"wgmma.m64n96k32.s8", ATOM_A, 64, 32, 16, 4, a_wgmma_k32},
    {"wgmma.m64n96k32.s8", ATOM_C, 64, 96, 48, 48, d_wgmma},
    {"sp.m16n8k16.f16", ATOM_A, 16, 8, 4, 2, a_m16n8k8_f16},
    {"sp.m16n8k16.f16", ATOM_B, 16, 8, 4, 2, b_m16n8k16_f16},
    {"sp.m16n8k16.f16.f16", ATOM_C, 16, 8, 4, 2, c_m16n8},
    {"sp.m16n8k32.f16", ATOM_A, 16, 16, 8, 4, a_m16n8k16_f16},
    {"sp.m16n8k32.f16", ATOM_B, 32, 8, 8, 4, b_sp_m16n8k32_f16},
    {"sp.m16n8k16.bf16", ATOM_A, 16, 8, 4, 2, a_m16n8k8_f16},
    {"sp.m16n8k32.bf16", ATOM_B, 32, 8, 8, 4, b_sp_m16n8k32_f16},
    {"sp.m16n8k8.tf32", ATOM_A, 16, 4, 2, 2, a_m16n8k4_tf32},
    {"sp.m16n8k8.tf32", ATOM_B, 8, 8, 2, 2, b_m16n8k8_tf32},
    {"sp.m16n8k16.tf32", ATOM_A, 16, 8, 4, 4, a_m16n8k8_tf32},
    {"sp.m16n8k16.tf32", ATOM_B, 16, 8, 4, 4, b_sp_m16n8k16_tf32},
    {"sp.m16n8k32.s8", ATOM_A, 16, 16, 8, 2, a_m16n8k16_s8},
    {"sp.m16n8k32.s8", ATOM_B, 32, 8, 8, 2, b_m16n8k32_s8},
    {"sp.m16n8k64.s8", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"sp.m16n8k64.s8", ATOM_B, 64, 8, 16, 4, b_sp_m16n8k64_s8},
    {"sp.m16n8k64.s8", ATOM_C, 16, 8, 4, 4, c_m16n8},
    {"sp.m16n8k64.e4m3", ATOM_A, 16, 32, 16, 4, a_m16n8k32_s8},
    {"sp.m16n8k64.e5m2", ATOM_B, 64, 8, 16, 4, b_sp_m16n8k64_s8},
    {"wgmma.sp.m64n256k32.f16", ATOM_A, 64, 16, 8, 4, a_wgmma_k16},
    {"wgmma.sp.m64n256k32.f16.f16", ATOM_C, 64, 256, 128, 64, d_wgmma},
    {"wgmma.sp.m64n24k32.bf16", ATOM_C, 64, 24, 12, 12, d_wgmma},
    {"wgmma.sp.m64n128k16.tf32", ATOM_A, 64, 8, 4, 4, a_wgmma_k8},
    {"wgmma.sp.m64n64k64.e4m3", ATOM_A, 64, 32, 16, 4, a_wgmma_k32},
    {"wgmma.sp.m64n64k64.e5m2", ATOM_C, 64, 64, 32, 32, d_wgmma},
    {"wgmma.sp.m64n96k64.s8", ATOM_A, 64, 32, 16, 4, a_wgmma_k32},
    {"tcgen05.m128n256k16.f16", ATOM_C, 128, 256, 256, 256, d_tcgen05},
    {"tcgen05.m128n8k16.bf16", ATOM_C, 128, 8, 8, 8, d_tcgen05},
    {"tcgen05.m128n200k8.tf32", ATOM_C, 128, 200, 200, 200, d_tcgen05},
    {"tcgen05.m128n64k32.e4m3", ATOM_C, 128, 64, 64, 64, d_tcgen05},
    {"tcgen05.m128n128k32.e5m2", ATOM_C, 128, 128, 128, 128, d_tcgen05},
    {"tcgen05.m128n128k32.mxf8", ATOM_C, 128, 128, 128, 128, d_tcgen05},
    {"tcgen05.m128n256k32.mxf8e5m2", ATOM_C, 128, 256, 256, 256, d_tcgen05},
    {"tcgen05.m128n64k64.mxf4", ATOM_C, 128, 64, 64, 64, d_tcgen05},
    {"tcgen05.m128n128k64.nvfp4", ATOM_C, 128, 128, 128, 128, d_tcgen05},
};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

START_TEST(test_every_cell_agrees_with_the_ptx_isa) {
  const Layout *layout = &layouts[_i];
  Atom atom = parse(layout->atom);
  FragmentPacking packing = fragment_packing(&atom, layout->operand);
  ck_assert_int_eq(packing.n_values, layout->values);
  ck_assert_int_eq(packing.n_registers, layout->registers);
  FragmentMap map = fragment_map(&atom, layout->operand);
  ck_assert_int_eq(map.rows, layout->rows);
  ck_assert_int_eq(map.cols, layout->cols);
  ck_assert_int_eq(map.n_lanes * map.n_values, map.rows * map.cols * atom.products);
  for (int lane = 0; lane < map.n_lanes; lane++)
    for (int i = 0; i < layout->values; i++) {
      Place want = layout->formula(lane, i);
      FragmentElement got = fragment_element(&atom, layout->operand, lane, i);
      ck_assert_msg(got.row == want.row && got.col == want.col,
                    "%s %s lane %d value %d: [%d][%d], not [%d][%d]", layout->atom,
                    atom_operand_name(layout->operand), lane, i, got.row, got.col, want.row,
                    want.col);
    }
}
END_TEST

// Block Scaling for mma.sync: with thread-id-a 0 the first two lanes of each four give the factors
// of rows groupID and groupID + 8, with thread-id-b 0 the first gives that of column groupID; byte
// i of a lane's register, from byte-id on, is that of the i-th block of K.
START_TEST(test_factors_lie_in_the_first_lanes_of_each_four) {
  static const struct {
    const char *atom;
    int blocks;
  } scaled[] = {
      {"m16n8k32.mxf8", 1}, {"m16n8k32.mxf8e5m2", 1}, {"m16n8k64.mxf4", 2}, {"m16n8k64.nvfp4", 4}};
  for (size_t s = 0; s < sizeof scaled / sizeof *scaled; s++) {
    Atom atom = parse(scaled[s].atom);
    const int blocks = scaled[s].blocks;
    ck_assert_int_eq(atom_scales(&atom), blocks);
    for (int i = 0; i < blocks; i++) {
      for (int row = 0; row < 16; row++) {
        FragmentOwner owner = fragment_owner(&atom, ATOM_SFA, row, i);
        ck_assert_int_eq(owner.lane, row % 8 * 4 + row / 8);
        ck_assert_int_eq(owner.value, i);
      }
      for (int col = 0; col < 8; col++) {
        FragmentOwner owner = fragment_owner(&atom, ATOM_SFB, i, col);
        ck_assert_int_eq(owner.lane, col * 4);
        ck_assert_int_eq(owner.value, i);
      }
    }
    ck_assert_int_eq(fragment_packing(&atom, ATOM_SFA).n_registers, 1);
  }
  Atom plain = parse("m16n8k32.e4m3");
  ck_assert_int_eq(atom_scales(&plain), 0);
  ck_assert(!atom_in_registers(&plain, ATOM_SFA));
}
END_TEST

// In units of bytes m16n8k64 of 4 bits is m16n8k32 of 8, lane for lane, and as many operations.
START_TEST(test_units_are_bytes) {
  Atom four = parse("m16n8k64.nvfp4"), eight = parse("m16n8k32.mxf8"), bytes = four;
  atom_in_units(&bytes);
  ck_assert_int_eq(bytes.k, 32);
  ck_assert_int_eq(bytes.bits, 8);
  ck_assert_int_eq(atom_flop(&bytes), atom_flop(&four));
  ck_assert_int_eq(atom_scales(&bytes), 4);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    FragmentMap a = fragment_map(&bytes, (AtomOperand)operand);
    FragmentMap b = fragment_map(&eight, (AtomOperand)operand);
    ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
  }
  atom_in_elements(&bytes);
  ck_assert_int_eq(memcmp(&bytes, &four, sizeof four), 0);
}
END_TEST

START_TEST(test_maps_read_both_ways) {
  const Layout *layout = &layouts[_i];
  Atom atom = parse(layout->atom);
  FragmentMap map = fragment_map(&atom, layout->operand);
  int *times = ARENA_ARRAY(arena, int, map.n_lanes *map.n_values);
  for (int row = 0; row < map.rows; row++)
    for (int col = 0; col < map.cols; col++) {
      FragmentOwner owner = fragment_owner(&atom, layout->operand, row, col);
      ck_assert_int_lt(owner.lane, map.n_lanes);
      ck_assert_int_lt(owner.value, map.n_values);
      for (int quad = 0; quad < atom.products; quad++)
        times[(owner.lane + 4 * quad) * map.n_values + owner.value]++;
      FragmentElement back = fragment_map_element(&map, owner.lane, owner.value);
      ck_assert_int_eq(back.row, row);
      ck_assert_int_eq(back.col, col);
    }
  for (int i = 0; i < map.n_lanes * map.n_values; i++) ck_assert_int_eq(times[i], 1);
}
END_TEST

// CuTe's names of Volta's instruction: N of A is column-major, T of B is row-major.
START_TEST(test_names_of_four_products) {
  static const char *const names[][2] = {
      {"SM70_8x8x4_F32F16F16F32_TN", "m8n8k4.f16"},
      {"SM70_8x8x4_F32F16F16F32_NT", "m8n8k4.col.row.f16"},
      {"SM70_8x8x4_F16F16F16F16_NN", "m8n8k4.col.col.f16.f16"},
      {"SM70_8x8x4_F16F16F16F16_TT", "m8n8k4.row.row.f16.f16"},
      {"m8n8k4.row.col.f16", "m8n8k4.f16"},
      {"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", "m8n8k4.col.row.f16"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ck_assert_str_eq(parse(names[i][0]).name, names[i][1]);
  const Atom atom = parse("m8n8k4.f16");
  ck_assert_int_eq(atom_flop(&atom), 2048);
  LdMatrix load;
  ck_assert(!fragment_ldmatrix(&atom, ATOM_A, true, 1, &load));
  const FragmentMap sums = fragment_map(&atom, ATOM_C);
  const FragmentRow row = fragment_row(&sums, 5);
  ck_assert_int_eq(row.n_lanes, 2);
  ck_assert_int_eq(row.lane[0], 17);
  ck_assert_int_eq(row.lane[1], 19);
}
END_TEST

// Every row of the table appears above with each operand it has in registers.
START_TEST(test_every_row_of_the_table_is_compared) {
  for (int i = 0; i < atom_count; i++) {
    const Atom *row = &atom_table[i];
    const char *tail = strchr(row->name, 'k');
    int compared = 0;
    for (int j = 0; j < N_LAYOUTS; j++) {
      Atom atom = parse(layouts[j].atom);
      compared += atom.lanes == row->lanes && atom.sparse == row->sparse &&
                  strcmp(strchr(atom.name, 'k'), tail) == 0;
    }
    ck_assert_msg(compared > 0, "%s is not compared", row->name);
  }
}
END_TEST

// CUTLASS's ELayout_64x64, ELayout_64x32 and ELayout_64x16: thread (2, 2, 8, 4) and value to
// m + 64 · k. Thread and value are of the metadata of 8-, 16- and 32-bit elements of wgmma.
static const struct {
  const char *atom, *of_warp;
  int thread[4], chunk, n[2], step[2];
} e_layouts[] = {
    {"wgmma.sp.m64n256k64.e4m3", "sp.m16n8k64.e4m3", {8, 2048, 1, 16}, 4, {32, 1}, {64, 0}},
    {"wgmma.sp.m64n256k32.f16", "sp.m16n8k32.f16", {1024, 0, 1, 16}, 4, {16, 2}, {64, 8}},
    {"wgmma.sp.m64n256k16.tf32", "sp.m16n8k16.tf32", {512, 0, 1, 16}, 2, {8, 2}, {64, 8}},
};

START_TEST(test_metadata_lie_as_cutlass_has_them) {
  const Atom atom = parse(e_layouts[_i].atom), of_warp = parse(e_layouts[_i].of_warp);
  const int *t = e_layouts[_i].thread, *n = e_layouts[_i].n, *step = e_layouts[_i].step;
  const int chunk = e_layouts[_i].chunk, per_half = n[0] / chunk;
  for (int lane = 0; lane < 128; lane++)
    for (int v = 0; v < n[0] * n[1]; v++) {
      const int at = (lane & 1) * t[0] + (lane >> 1 & 1) * t[1] + (lane >> 2 & 7) * t[2] +
                     (lane >> 5) * t[3] + v % n[0] * step[0] + v / n[0] * step[1];
      const int nibble = v / n[0] * per_half + v % n[0] / chunk;
      const FragmentElement got = fragment_element(&atom, ATOM_META, lane, nibble);
      ck_assert_int_eq(got.row, at % 64);
      ck_assert_int_eq(got.col, at / 64 / chunk);
      if (lane >= 32) continue;
      const FragmentElement own = fragment_element(&of_warp, ATOM_META, lane, nibble);
      ck_assert(own.row == got.row && own.col == got.col);
    }
}
END_TEST

// Each element of metadata has a lane that supplies it, which is one of those of selector 0.
START_TEST(test_metadata_come_from_the_first_lanes) {
  for (int i = 0; i < atom_count; i++) {
    const Atom *atom = &atom_table[i];
    ck_assert_int_eq(atom_in_lanes(atom, ATOM_META), atom->sparse);
    if (!atom->sparse) continue;
    const FragmentMap map = fragment_map(atom, ATOM_META);
    const int chunk = atom->bits == 32 ? 2 : 4, words = map.rows * map.cols / 8;
    ck_assert_int_eq(map.cols * chunk, atom->k);
    for (int row = 0; row < map.rows; row++)
      for (int col = 0; col < map.cols; col++) {
        const FragmentOwner owner = fragment_map_owner(&map, row, col);
        const FragmentElement back = fragment_map_element(&map, owner.lane, owner.value);
        ck_assert(back.row == row && back.col == col);
        ck_assert_int_lt(owner.lane % 4, 4 * words / map.n_lanes);
      }
  }
}
END_TEST

// The element list that the article on mma.sync gives for lane 0 of A.
START_TEST(test_lane_0_of_a_of_m16n8k16) {
  static const Place want[] = {{0, 0}, {0, 1}, {8, 0}, {8, 1}, {0, 8}, {0, 9}, {8, 8}, {8, 9}};
  Atom atom = parse("m16n8k16.f16");
  for (int i = 0; i < 8; i++) {
    FragmentElement at = fragment_element(&atom, ATOM_A, 0, i);
    ck_assert_int_eq(at.row, want[i].row);
    ck_assert_int_eq(at.col, want[i].col);
  }
}
END_TEST

// What a pass does with the coefficients: sums over bits, each bit read with a shift.
START_TEST(test_the_map_is_a_sum_over_bits) {
  Atom atom = parse("m16n8k16.f16");
  FragmentMap map = fragment_map(&atom, ATOM_B);
  ck_assert_int_eq(map.n_lane_bits, 5);
  ck_assert_int_eq(map.n_value_bits, 2);
  static const int row_of_lane[] = {2, 4, 0, 0, 0}, col_of_lane[] = {0, 0, 1, 2, 4};
  for (int b = 0; b < 5; b++) {
    ck_assert_int_eq(map.row_of_lane_bit[b], row_of_lane[b]);
    ck_assert_int_eq(map.col_of_lane_bit[b], col_of_lane[b]);
  }
  ck_assert_int_eq(map.row_of_value_bit[0], 1);
  ck_assert_int_eq(map.row_of_value_bit[1], 8);
  ck_assert_int_eq(map.col_of_value_bit[0] + map.col_of_value_bit[1], 0);
}
END_TEST

// Every row of every operand in registers: its lanes have all of its elements, nobody else has one,
// and after the last step each has met all the others.
START_TEST(test_rows_are_shared_by_their_lanes) {
  const Layout *layout = &layouts[_i];
  Atom atom = parse(layout->atom);
  FragmentMap map = fragment_map(&atom, layout->operand);
  for (int index = 0; index < map.rows; index++) {
    const FragmentRow row = fragment_row(&map, index);
    ck_assert_int_eq(row.n_lanes * row.n_values, map.cols);
    ck_assert_int_eq(row.n_lanes, 1 << row.n_steps);
    for (int i = 0; i < row.n_lanes; i++) {
      ck_assert_uint_eq(fragment_row_combined(&row, i, 0), UINT32_C(1) << i);
      ck_assert_uint_eq(fragment_row_combined(&row, i, row.n_steps),
                        (uint32_t)((UINT64_C(1) << row.n_lanes) - 1));
      for (int v = 0; v < row.n_values; v++)
        ck_assert_int_eq(fragment_map_element(&map, row.lane[i], row.value[v]).row, index);
    }
  }
}
END_TEST

// The formulas that are shown, evaluated, give the map and its inverse: the lane of product 0.
static void check_formulas(const Atom *atom, AtomOperand operand) {
  static const FormulaName names[] = {{"lane", 0}, {"v", 1}, {"row", 2}, {"col", 3}};
  FragmentMap map = fragment_map(atom, operand);
  FragmentFormulas texts = fragment_formulas(arena, &map);
  const Formula *row = formula_parse(arena, texts.row, names, 4, &diags);
  const Formula *col = formula_parse(arena, texts.col, names, 4, &diags);
  const Formula *lane = formula_parse(arena, texts.lane, names, 4, &diags);
  const Formula *value = formula_parse(arena, texts.value, names, 4, &diags);
  ck_assert_msg(diags.count == 0, "%s", diags_text(arena, &diags));
  for (int l = 0; l < map.n_lanes; l++)
    for (int v = 0; v < map.n_values && !(l & (map.product_lanes | map.idle_lanes)); v++) {
      FragmentElement at = fragment_map_element(&map, l, v);
      int64_t place[] = {l, v, at.row, at.col}, got[4];
      const char *why;
      ck_assert(formula_eval(lane, place, &got[0], &why));
      ck_assert(formula_eval(value, place, &got[1], &why));
      ck_assert(formula_eval(row, place, &got[2], &why));
      ck_assert(formula_eval(col, place, &got[3], &why));
      ck_assert_msg(memcmp(got, place, sizeof got) == 0, "%s lane %d value %d: lane = %s, v = %s",
                    atom->name, l, v, texts.lane, texts.value);
    }
}

START_TEST(test_formulas) {
  const Atom atom = parse(layouts[_i].atom);
  check_formulas(&atom, layouts[_i].operand);
}
END_TEST

// N of 96 and 240 have halves that are no powers of two; N of 64 and 256 have quarters that are.
START_TEST(test_formulas_of_tensor_memory) {
  static const char *const names[] = {"tcgen05.cta2.m256n240k16.f16", "tcgen05.cta2.m128n96k16.f16",
                                      "tcgen05.cta2.m128n240k8.tf32", "tcgen05.ws.m128n64k16.f16",
                                      "tcgen05.ws.m64n256k32.e4m3",   "tcgen05.ws.m32n64k16.bf16",
                                      "tcgen05.ws.m32n256k32.e5m2",   "tcgen05.m64n24k16.f16"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const Atom atom = parse(names[i]);
    check_formulas(&atom, ATOM_C);
  }
}
END_TEST

START_TEST(test_formulas_read_as_the_ptx_isa_writes_them) {
  Atom atom = parse("m16n8k16.f16");
  FragmentMap map = fragment_map(&atom, ATOM_A);
  FragmentFormulas texts = fragment_formulas(arena, &map);
  ck_assert_str_eq(texts.row, "lane / 4 + v / 2 % 2 * 8");
  ck_assert_str_eq(texts.col, "lane % 4 * 2 + v % 2 + v / 4 * 8");
  ck_assert_str_eq(texts.lane, "row % 8 * 4 + col / 2 % 4");
  ck_assert_str_eq(texts.value, "row / 8 * 2 + col % 2 + col / 8 * 4");
  atom = parse("m8n8k4.f64");
  map = fragment_map(&atom, ATOM_A);
  ck_assert_str_eq(fragment_formulas(arena, &map).value, "0");
}
END_TEST

// Only sums in tensor memory, and atoms that make several products, have lanes to be told of.
START_TEST(test_lanes_are_told_of_tensor_memory_alone) {
  static const struct {
    const char *atom;
    AtomOperand operand;
    const char *says;  // how it begins
  } rows[] = {
      {"m16n8k16.f16", ATOM_A, NULL},
      {"m16n8k16.f16", ATOM_C, NULL},
      {"m8n8k4.f16", ATOM_C, "the warp makes 4 products"},
      {"tcgen05.m64n24k16.f16", ATOM_A, NULL},
      {"tcgen05.m64n24k16.f16", ATOM_C, "tensor memory, data path layout"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Atom atom = parse(rows[i].atom);
    const char *said = fragment_lanes_text(arena, &atom, rows[i].operand);
    ck_assert_msg(rows[i].says ? said && str_starts(said, rows[i].says) : !said, "%s: %s",
                  rows[i].atom, said ? said : "nothing");
  }
}
END_TEST

Suite *suite_fragment(void) {
  Suite *suite = suite_create("fragment");
  TCase *tc = tcase_create("fragment");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_loop_test(tc, test_every_cell_agrees_with_the_ptx_isa, 0, N_LAYOUTS);
  tcase_add_test(tc, test_factors_lie_in_the_first_lanes_of_each_four);
  tcase_add_test(tc, test_units_are_bytes);
  tcase_add_loop_test(tc, test_maps_read_both_ways, 0, N_LAYOUTS);
  tcase_add_test(tc, test_every_row_of_the_table_is_compared);
  tcase_add_test(tc, test_names_of_four_products);
  tcase_add_loop_test(tc, test_metadata_lie_as_cutlass_has_them, 0, 3);
  tcase_add_test(tc, test_metadata_come_from_the_first_lanes);
  tcase_add_test(tc, test_lane_0_of_a_of_m16n8k16);
  tcase_add_test(tc, test_the_map_is_a_sum_over_bits);
  tcase_add_loop_test(tc, test_rows_are_shared_by_their_lanes, 0, N_LAYOUTS);
  tcase_add_loop_test(tc, test_formulas, 0, N_LAYOUTS);
  tcase_add_test(tc, test_formulas_of_tensor_memory);
  tcase_add_test(tc, test_formulas_read_as_the_ptx_isa_writes_them);
  tcase_add_test(tc, test_lanes_are_told_of_tensor_memory_alone);
  suite_add_tcase(suite, tc);
  return suite;
}
