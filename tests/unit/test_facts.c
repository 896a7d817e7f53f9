// Every fact that the articles teach, on a screen: how to bring it there, what must stand there,
// and the screen itself for review (tests/golden/facts; without its first and last line, which name
// the views and keys).
//
// 000 to 003 are the articles in the order of the ladders. What is no single screen is held
// elsewhere:
//
//   000  the articles' own knob lines, verbatim        test_knob, article_lines
//   000  104 accumulators, occupancy, 84 KiB           test_pass, the article's tile
//   000  address colouring of the punch card           test_view, banks_lanes and banks_slab
//   000  the guarded accumulate of split-K is a race   test_interp_cli, --break guarded_split
//   001  receivers of every ldmatrix                   test_fragment, test_ldmatrix_receivers
//   002  every formula's ways, the proof of 4          test_banks_solver, test_slab_problem
//   002  66 and 18 MB                                  test_steps, working sets
//   003  1.62 and 0.891, strategies, barriers          test_steps
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "tui/drive.h"
#include "tui/export.h"
#include "tui/view.h"

Suite *suite_facts(void);

enum { SAYS_MAX = 6 };

typedef struct Fact {
  const char *name;     // of the golden file; begins with the article
  const char *teaches;  // in a few words
  const char *ladder, *rung;
  const char *state;  // knobs set on top of the rung; NULL: none
  const char *view, *keys;
  int cols, rows;
  const char *says[SAYS_MAX];
} Fact;

#define TF32_B \
  "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1"

static const Fact facts[] = {
    // ---- 000: from the naive loop to 26×4 cells
    {"000_mixed_radix",
     "an axis is a mixed-radix sum: 24 = 2 · 3 · 4",
     "fp32",
     "naive",
     "M=24,N=24,K=24,BM=3,BN=3,FM=4,FN=4",
     "loops",
     NULL,
     80,
     24,
     {"m = m_b·12 + m_t·4 + m_r", "2 × 3 × 4 for 24"}},
    {"000_26x4",
     "104 sums in a thread, 84 K of shared memory's worth of registers",
     "fp32",
     "final_26x4",
     "M=2048,N=2048,K=2048,TARGET=rtx5090",
     "explore",
     NULL,
     120,
     40,
     {"acc[26×4]", "160 tiles 208×128", "17 %", "84 KiB"}},
    {"000_one_cell",
     "16384 blocks at 67 % load two values for each multiply-add",
     "fp32",
     "paradox",
     "M=2048,N=2048,K=2048,TARGET=rtx5090",
     "loops",
     "s",
     80,
     24,
     {"0.5 computations per transfer"}},
    {"000_occupancy",
     "occupancy is no speed: 67 % take 1404 us, 17 % take 275 us",
     "fp32",
     "paradox",
     NULL,
     "measure",
     NULL,
     100,
     40,
     {"1404 us", "26 x 4: 275 us at 17 %", "8.94 r"}},
    {"000_blocks",
     "16384 blocks of one cell for each thread",
     "fp32",
     "paradox",
     "M=2048,N=2048,K=2048,TARGET=rtx5090",
     "explore",
     NULL,
     100,
     30,
     {"16384 tiles 8×32"}},
    {"000_loads_per_fma",
     "26 × 4 cells: 30 loads for 104 multiply-adds, 0.29",
     "fp32",
     "final_26x4",
     "M=2048,N=2048,K=2048,TARGET=rtx5090",
     "loops",
     "s",
     80,
     24,
     {"3.47 computations", "27 step 0", "104 step 0"}},
    {"000_pad_claim",
     "the pad's claim stands beside model and measurement",
     "fp32",
     "pad_1",
     NULL,
     "measure",
     NULL,
     100,
     40,
     {"the pad is 3.7 x", "faster; the article blames a four-way float4 read", "shared    11088"}},
    {"000_group_m",
     "the preamble that makes blocks walk in groups",
     "fp32",
     "block_order",
     NULL,
     "loops",
     "d G",
     120,
     40,
     {"let m_b = g / 256 * 8 + g % 8", "let n_b = g % 256 / 8"}},
    // ---- 001: hgemm on mma.sync
    {"001_lane_0_of_a",
     "lane 0 of A: [0][0,1] [8][0,1] [0][8,9] [8][8,9]",
     "hgemm",
     "ldmatrix",
     NULL,
     "fragments",
     NULL,
     80,
     24,
     {"lane 0 holds", "r0 [0][0,1]", "r1 [8][0,1]", "r2 [0][8,9]", "r3 [8][8,9]"}},
    {"001_ldmatrix_x4",
     "four 8×8 tiles of .x4 and the lanes that address them",
     "hgemm",
     "ldmatrix",
     NULL,
     "fragments",
     "v",
     80,
     24,
     {"m0 lanes 0-7: [0][0] to [7][0]", "m1 lanes 8-15: [8][0]", "m2 lanes 16-23: [0][8]",
      "m3 lanes 24-31: [8][8]", "m8n8.x4.shared"}},
    {"001_x2_trans",
     "B by .x2.trans: lanes 16 to 31 give no address",
     "hgemm",
     "ldmatrix",
     NULL,
     "fragments",
     "v v Tab",
     80,
     24,
     {"lanes 16-31 give no address", "m8n8.x2.trans.shared"}},
    {"001_eight_way",
     "without a swizzle the eight rows of a matrix meet on one group of banks",
     "hgemm",
     "ldmatrix",
     NULL,
     "banks",
     NULL,
     80,
     24,
     {"8-WAY  32 wavefronts, ideal 4", "lane 7 [c0]", "m1 8 m2 8 m3 8 m4 8"}},
    {"001_swizzle_343",
     "Swizzle<3,4,3> of 128-byte rows: bits 9-7 flip bits 6-4",
     "hgemm",
     "swizzle",
     NULL,
     "swizzle",
     "v v",
     80,
     24,
     {"128 rows of 128 B", "swizzle:3,4,3", "bits 6-4 ⊕= bits 9-7", "bijection      yes"}},
    {"001_swizzled_rows",
     "the same eight rows lie on a diagonal",
     "hgemm",
     "swizzle",
     NULL,
     "banks",
     NULL,
     80,
     24,
     {"free  4 wavefronts, ideal 4", "lane 3  c3  c2  c1 [c0]", "swizzle:3,4,3"}},
    {"001_direct_ties",
     "direct loads cost 32 wavefronts a fragment, as ldmatrix does",
     "hgemm",
     "direct",
     NULL,
     "swizzle",
     NULL,
     80,
     24,
     {"per fragment", "32"}},
    {"001_ldmatrix_ties",
     "one ldmatrix a fragment, 32 wavefronts too",
     "hgemm",
     "ldmatrix",
     NULL,
     "swizzle",
     NULL,
     80,
     24,
     {"per fragment", "32"}},
    {"001_epilogue",
     "the slab of the epilogue is swizzled too",
     "hgemm",
     "staged_epilogue",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"C_s", "now swizzle"}},
    {"001_lines",
     "a slab drawn by 128-byte line: a column before, a diagonal after",
     "hgemm",
     "swizzle",
     NULL,
     "swizzle",
     "v",
     80,
     24,
     {"L3   [c0] c1  c2  c3", "L3    c3  c2  c1 [c0]", "no layout  8 wavefronts",
      "now  1 wavefront"}},
    // ---- 002: tf32
    {"002_a_swizzle",
     "col ^ (((row >> 1) & 3) << 2) makes A free on rows of 16 floats",
     "tf32",
     "bt",
     "LAYOUT_A=xor:'col ^ (((row >> 1) & 3) << 2)'",
     "swizzle",
     "j",
     80,
     24,
     {"A_s 128 rows of 64 B", "now xor:'col", "1024   4    256   1"}},
    {"002_b_32_way",
     "B stored row by row: 32-way",
     "tf32",
     "bt",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"B_s 128 rows of 64 B, tf32, transposed  now none", "2048  32"}},
    {"002_b_16_way",
     "with A's swizzle 16-way",
     "tf32",
     "bt_sixteen_way",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"B_s 128 rows of 64 B", "1024  16"}},
    {"002_b_8_way",
     "by the text's formula 8-way, the read still free",
     "tf32",
     "bt_swizzle",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"now xor:'col ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2)'", "512   8", "128   1"}},
    {"002_cards",
     "store and read of one layout side by side, the weighted total beneath",
     "tf32",
     "bt_swizzle",
     NULL,
     "swizzle",
     "G v v v",
     80,
     24,
     {"store B_s <- r_b  STS", "read b <- B_s", "512 wavefronts in all, worst phase 8",
      "128 wavefronts in all, worst phase 1",
      "weighted total                         2560        640"}},
    {"002_b_printed",
     "by the printed code row >> 2, which costs the read 2-way",
     "tf32",
     "bt",
     "LAYOUT_B=xor:'col ^ (((row >> 2) & 3) << 2)'",
     "swizzle",
     "G",
     80,
     24,
     {"256   2"}},
    {"002_b_4_way",
     "the solver: 4-way with the read free, and why nothing is lower",
     "tf32",
     "bt",
     NULL,
     "swizzle",
     "G s",
     80,
     24,
     {"best xoroff:off ^ ((off >> 2) & 8) ^ ((off >> 4) & 28)", "256   4",
      "total 384, bound 384: optimal", "32 different 16-byte chunks", "xor 640  xoroff 384"}},
    {"002_b_across_rows",
     "a typed layout that also swaps the two rows of a line: 4-way, the read still free",
     "tf32",
     "bt_four_way",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"now xoroff:'off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1)", "256   4",
      "128   1"}},
    {"002_bcf",
     "col ^ ((row & 7) << 3) for plain loads of B",
     "tf32",
     "bcf",
     NULL,
     "swizzle",
     "G",
     80,
     24,
     {"now xor:'col ^ ((row & 7) << 3)'"}},
    {"002_working_set",
     "a group of 8 rows of blocks needs 18 MB in L2 where a row needs 66",
     "tf32",
     "bt_grid",
     NULL,
     "measure",
     "c l",
     100,
     40,
     {"L2 working set", "66 MiB e      18 MiB e"}},
    {"002_intensity_128",
     "a tile of 128 × 128 has 32 FLOP for a byte",
     "tf32",
     "bt",
     NULL,
     "explore",
     NULL,
     120,
     40,
     {"32 FLOP/L2 byte"}},
    {"002_intensity_64x256",
     "one of 64 × 256 has 25.6, 1.25 times less",
     "tf32",
     "bt",
     "WM=1,WN=8",
     "explore",
     NULL,
     120,
     40,
     {"25.6 FLOP/L2 byte"}},
    // ---- 003: fragments
    {"003_along_k",
     "along K each fragment is used once: 1.6 (claim 1.62)",
     "hgemm",
     "ldmatrix",
     "M=512,N=512,K=512,ATOM_KIND=mma_m8n8k4_f64,ACC=f32,LDMATRIX=0,FM=2,FN=8",
     "loops",
     "s",
     80,
     24,
     {"1.6 computations per transfer", "claim (flash attention): 1.62 along K, 0.891 by rows"}},
    {"003_row_by_row",
     "row by row B is read once for every row: 0.89",
     "hgemm",
     "ldmatrix",
     "M=512,N=512,K=512,ATOM_KIND=mma_m8n8k4_f64,ACC=f32,LDMATRIX=0,FM=2,FN=8,FRAG_ORDER=2",
     "loops",
     "s",
     80,
     24,
     {"0.889 computations per transfer", "8 steps 0-3"}},
    {"003_register_buffer",
     "a k-step ahead: what is read while what is multiplied",
     "hgemm",
     "register_buffer",
     NULL,
     "loops",
     "s",
     80,
     24,
     {"12 step 1 → set 1   32 step 0, set 0", "12 step 0' → set 0  32 step 3, set 1",
      "16 cp.async k_o+2"}},
    {"003_load_points",
     "a copy is safe behind the barrier after the last read of its slot",
     "hgemm",
     "multistage",
     NULL,
     "loops",
     "s",
     80,
     24,
     {"k_o + 2 lands where k_o - 1 lay", "all but 1, bar"}},
    {"003_two_barriers",
     "one slab: a barrier behind the copy and one behind the reads",
     "hgemm",
     "ldmatrix",
     NULL,
     "loops",
     "s G",
     80,
     24,
     {"all, bar", "the slab is read to the end"}},
    {"003_block_shapes",
     "registers of each block shape with a slab's fragments up front, and which have no room",
     "hgemm",
     "swizzle",
     "ACC=f32,FRAG_ORDER=1,BK=2,SWIZZLE=2",
     "measure",
     "w",
     80,
     24,
     {"rows of C per thread", "regs spilled", "220", "registers hold the fragments of BK"}},
};
enum { N_FACTS = sizeof facts / sizeof *facts };

static Arena *arena;
static Diags diags;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/facts", 1);
  arena = arena_new("test facts");
  diags = diags_new(arena);
}

static void teardown(void) {
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

// Without the first and the last line.
static const char *middle(const char *screen) {
  char *text = arena_strdup(arena, strchr(screen, '\n') + 1);
  text[strlen(text) - 1] = 0;
  char *last = strrchr(text, '\n');
  last[1] = 0;
  return text;
}

START_TEST(a_fact_is_on_its_screen) {
  const Fact *fact = &facts[_i];
  const SessionOptions options = {.ladder = fact->ladder, .rung = fact->rung};
  Session *session = session_open(&options, &diags);
  ck_assert_msg(session != NULL, "%s: %s", fact->name, diags_text(arena, &diags));
  Canvas *canvas = canvas_new(arena, fact->rows, fact->cols, false);
  if (fact->state)
    ck_assert_msg(session_set_text(session, fact->state, &diags) && !session->now.reasons, "%s: %s",
                  fact->name, diags_text(arena, &diags));
  view_show(session, view_find(fact->view));
  drive_frame(session, canvas);
  if (fact->keys) ck_assert(drive_keys(session, canvas, fact->keys, &diags));
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  const char *screen = export_text(arena, canvas);
  for (int i = 0; i < SAYS_MAX && fact->says[i]; i++)
    ck_assert_msg(strstr(screen, fact->says[i]) != NULL, "%s: \"%s\" is not on\n%.3000s",
                  fact->name, fact->says[i], screen);
  golden_check(arena_printf(arena, "facts/%s.txt", fact->name), middle(screen));
  session_close(session);
}
END_TEST

Suite *suite_facts(void) {
  Suite *suite = suite_create("facts");
  TCase *tc = tcase_create("facts");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, a_fact_is_on_its_screen, 0, N_FACTS);
  suite_add_tcase(suite, tc);
  return suite;
}
