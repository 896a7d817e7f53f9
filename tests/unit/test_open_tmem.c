// Tensor memory and registers: the shapes of tcgen05.ld and .st against CuTe's layouts of them
// (Copy_Traits of SM100_TMEM_LOAD_16dp64b…, in bits), products whose sums are not known, and sparse
// ones and those of few bits against the sums of the ISA's layouts (9.7.16.10.8, 9.7.16.10.3).
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"
#include "tile_fill.h"

Suite *suite_open_tmem(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

enum { COLUMNS = 32, LANES = 32 };

// A layout of bits: of a thread by its digits, of a register by its digits; W is the bits of a
// lane.
typedef struct Shape {
  const char *name;
  int bits, times, registers;
  int thread[3], thread_at[3], value[3], value_at[3];  // extents, and where; -1: W · 8; -2: W
  int half;                                            // .16x32bx2: columns between the halves
  bool packs;
} Shape;

enum { ROWS8 = -1, ROW = -2, HALF = -3 };

static const Shape shapes[] = {
    {"16x64b", 64, 4, 4, {2, 2, 8}, {ROWS8, 32, ROW}, {4}, {64}, 0, false},
    {"16x128b", 128, 2, 4, {4, 8}, {32, ROW}, {2, 2}, {ROWS8, 128}, 0, false},
    {"16x256b", 256, 2, 8, {4, 8}, {64, ROW}, {2, 2, 2}, {32, ROWS8, 256}, 0, false},
    {"16x32bx2", 64, 4, 4, {16, 2}, {ROW, HALF}, {4}, {32}, 8, false},
    {"16x64b", 64, 2, 2, {2, 2, 8}, {ROWS8, 32, ROW}, {2}, {64}, 0, true},
    {"16x128b", 128, 4, 8, {4, 8}, {32, ROW}, {2, 4}, {ROWS8, 128}, 0, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int place(const Shape *s, const int extent[3], const int at[3], int index) {
  const int row = s->bits * s->times;
  int bits = 0;
  for (int d = 0; d < 3 && extent[d]; d++) {
    const int digit = index % extent[d];
    index /= extent[d];
    bits += digit * (at[d] == ROWS8  ? 8 * row
                     : at[d] == ROW  ? row
                     : at[d] == HALF ? 32 * s->half
                                     : at[d]);
  }
  return bits;
}

// The cell of a register: lane and column of 32 bits. The halves of .16x32bx2 lie apart in memory.
static void cell(const Shape *s, int thread, int r, int *lane, int *column) {
  const int row = s->bits * s->times;
  const int threads = s->half ? place(s, (int[3]){16}, (int[3]){ROW}, thread % 16)
                              : place(s, s->thread, s->thread_at, thread);
  const int bits = threads + place(s, s->value, s->value_at, r);
  *lane = bits / row;
  *column = bits % row / 32 + (s->half && thread >= 16 ? s->half : 0);
}

static void add_list(Str *out, const char *prefix, int n) {
  str_printf(out, "{");
  for (int i = 0; i < n; i++) str_printf(out, "%s%%%s%d", i ? ", " : "", prefix, i);
  str_printf(out, "}");
}

static const char *head_text(void) {
  return ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 a, .param "
         ".u64 b)\n{\n.reg .b32 %v<64>, %w<64>, %r<16>;\n.reg .b64 %rd<16>;\n.shared .align 128 "
         ".b8 s[16];\n"
         "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [b];\nmul.wide.u32 %rd1, %r0, 32;\nadd.s64 "
         "%rd0, %rd0, %rd1;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;\n"
         "bar.sync 0;\nld.shared.u32 %r1, [s];\n";
}
static const char tail_text[] = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;\nret;\n}\n";

// Cell (lane, column) has lane · 256 + column, or what it had where nobody wrote.
static void fill(Str *out) {
  for (int c = 0; c < COLUMNS; c++) str_printf(out, "mad.lo.u32 %%v%d, %%r0, 256, %d;\n", c, c);
  str_printf(out, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%r1], ");
  add_list(out, "v", COLUMNS);
  str_printf(out, ";\ntcgen05.wait::st.sync.aligned;\n");
}

static void move(Str *out, const Shape *s, bool is_store) {
  const char *half = s->half ? arena_printf(arena, ", %d", s->half) : "";
  const char *packs = !s->packs ? "" : is_store ? ".unpack::16b" : ".pack::16b";
  str_printf(out, "tcgen05.%s.sync.aligned.%s.x%d%s.b32 ", is_store ? "st" : "ld", s->name,
             s->times, packs);
  if (is_store) str_printf(out, "[%%r1]%s, ", half);
  add_list(out, "w", s->registers);
  if (!is_store) str_printf(out, ", [%%r1]%s", half);
  str_printf(out, ";\ntcgen05.wait::%s.sync.aligned;\n", is_store ? "st" : "ld");
}

static void put(Str *out, const char *prefix, int first, int n) {
  for (int r = 0; r < n; r++)
    str_printf(out, "st.global.u32 [%%rd0+%d], %%%s%d;\n", 4 * r, prefix, first + r);
}

START_TEST(test_loads_have_the_cells_of_cute) {
  const Shape *s = &shapes[_i];
  Str text = str_new(arena);
  str_printf(&text, "%s", head_text());
  fill(&text);
  move(&text, s, false);
  put(&text, "w", 0, s->registers);
  str_printf(&text, "%s", tail_text);
  const PtxKernel k = ptx_kernel_run(arena, text.text, "k", LANES, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(k.machine), 0);
  for (int t = 0; t < LANES; t++)
    for (int r = 0; r < s->registers; r++) {
      int lane, column;
      cell(s, t, r, &lane, &column);
      const uint32_t value = (uint32_t)(lane * 256 + column),
                     first = (uint32_t)(lane * 256 + 2 * column);
      ck_assert_msg(k.out[t * 8 + r] == (s->packs ? first | (first + 1) << 16 : value),
                    "%s: thread %d, register %d: 0x%x", s->name, t, r, k.out[t * 8 + r]);
    }
}
END_TEST

// Column 3 of each lane, behind a store of thread · 16 + register into every cell of the shape.
START_TEST(test_stores_have_the_same_cells) {
  const Shape *s = &shapes[_i];
  Str text = str_new(arena);
  str_printf(&text, "%s", head_text());
  fill(&text);
  for (int r = 0; r < s->registers; r++)
    str_printf(&text, "mad.lo.u32 %%w%d, %%r0, 16, %d;\n", r, 65536 * 7 + r);
  move(&text, s, true);
  str_printf(&text, "tcgen05.ld.sync.aligned.32x32b.x32.b32 ");
  add_list(&text, "v", COLUMNS);
  str_printf(&text, ", [%%r1];\ntcgen05.wait::ld.sync.aligned;\n");
  put(&text, "v", 0, 8);
  str_printf(&text, "%s", tail_text);
  const PtxKernel k = ptx_kernel_run(arena, text.text, "k", LANES, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  uint32_t expected[LANES][COLUMNS];
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < COLUMNS; c++) expected[lane][c] = (uint32_t)(lane * 256 + c);
  for (int t = 0; t < LANES; t++)
    for (int r = 0; r < s->registers; r++) {
      int lane, column;
      cell(s, t, r, &lane, &column);
      const uint32_t value = (uint32_t)(65536 * 7 + t * 16 + r);
      if (s->packs) expected[lane][2 * column] = value & 0xffff;
      expected[lane][s->packs ? 2 * column + 1 : column] = s->packs ? value >> 16 : value;
    }
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < 8; c++)
      ck_assert_msg(k.out[lane * 8 + c] == expected[lane][c],
                    "%s: lane %d, column %d: 0x%x, not 0x%x", s->name, lane, c, k.out[lane * 8 + c],
                    expected[lane][c]);
}
END_TEST

// ---- products -----------------------------------------------------------------------------------

// One product of 128 x 32 into columns 0 to 31 with A and B all ones, and a copy of factors behind
// them; the first column of each lane goes out, and one that nobody multiplied.
#define PRODUCT(more, instruction, idesc)                                                       \
  "shr.u32 %r20, %t, 5;\nsetp.eq.u32 %p7, %r20, 0;\nsetp.eq.u32 %p0, %t, 0;\nmov.u32 %r1, s;\n" \
  "mad.lo.u32 %r2, %t, 16, %r1;\nmov.u32 %r3, 0x3c003c00;\n"                                    \
  "st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};\n"                                             \
  "st.shared.v4.u32 [%r2+1024], {%r3, %r3, %r3, %r3};\n"                                        \
  "@%p0 mbarrier.init.shared.b64 [s+4088], 1;\n"                                                \
  "@%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4080], 64;\n"                \
  "fence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"           \
  "tcgen05.fence::after_thread_sync;\nld.shared.u32 %r4, [s+4080];\n"                           \
  "shl.b32 %r8, %r20, 21;\nadd.u32 %r8, %r8, %r4;\nmov.u32 %r12, 0x3c003c00;\n"                 \
  "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r8+48], {%r12, %r12, %r12, %r12, %r12, %r12, %r12, " \
  "%r12};\ntcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"   \
  "tcgen05.fence::after_thread_sync;\n"                                                         \
  "mov.b64 %rd3, 0x0000400800080000;\nmov.u32 %r5, " idesc                                      \
  ";\nsetp.ne.u32 %p1, 0, 0;\n"                                                                 \
  "add.u32 %r7, %r4, 32;\nadd.u32 %r9, %r4, 48;\n@!%p0 bra ON;\n" more instruction              \
  "\n"                                                                                          \
  "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+4088];\n"           \
  "ON: mbarrier.try_wait.parity.shared.b64 %p3, [s+4088], 0;\n@!%p3 bra ON;\n"                  \
  "tcgen05.fence::after_thread_sync;\n"                                                         \
  "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r8];\n"                                      \
  "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r11}, [%r8+48];\n"                                   \
  "tcgen05.wait::ld.sync.aligned;\nst.global.u32 [%o], %r10;\nst.global.u32 [%o+1024], %r11;\n" \
  "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"        \
  "@%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n"

#define COPY "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r7], %rd3;\n"

static const struct {
  const char *name, *body, *why;  // why D is unknown; NULL: it is 16
} products[] = {
    {"plain",
     PRODUCT("", "tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd3, %rd3, %r5, %p1;", "0x8080010"),
     NULL},
    {"with A in tensor memory",
     PRODUCT("", "tcgen05.mma.cta_group::1.kind::f16 [%r4], [%r9], %rd3, %r5, %p1;", "0x8080010"),
     NULL},
    {"of 64 rows",
     PRODUCT("", "tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd3, %rd3, %r5, %p1;", "0x4080010"),
     NULL},
    {"with hints",
     PRODUCT("",
             "tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r4], %rd3, %rd3, %r5, %p1;",
             "0x8080010"),
     NULL},
    {"of a sparse A with 64 rows",
     PRODUCT(COPY, "tcgen05.mma.sp.cta_group::1.kind::f16 [%r4], %rd3, %rd3, [%r7], %r5, %p1;",
             "0x4080014"),
     "a product of a sparse A with M = 64"},
};
enum { PRODUCTS = sizeof products / sizeof *products };

START_TEST(test_products_go_on) {
  const PtxKernel k =
      ptx_kernel_run(arena, ptx_kernel_text(arena, products[_i].body), NULL, 128, in);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && !f, "%s: %s %s", products[_i].name,
                f ? ptx_finding_names[f->kind] : "", f && f->text ? f->text : "");
  // With 64 rows, rows 16 to 31 of each quarter of the lanes are none of D's.
  const bool half = strstr(products[_i].name, "64 rows") != NULL;
  const char *why = NULL;
  for (int pc = 0; pc < k.module->n_code; pc++)
    if (strstr(k.module->code[pc].row->needs, "mma")) why = ptx_machine_unknown_why(k.machine, pc);
  ck_assert_msg(!products[_i].why == !why && (!why || !strcmp(why, products[_i].why)), "%s: %s",
                products[_i].name, why ? why : "known");
  for (int t = 0; t < 128; t++) {
    const uint64_t at = k.out_address + 4 * (uint64_t)t;
    const bool is_sum = !(half && t % 32 >= 16);
    ck_assert_int_eq(ptx_machine_unknown_bytes(k.machine, at, 4), why && is_sum ? 4 : 0);
    ck_assert_int_eq(ptx_machine_unknown_bytes(k.machine, at + 1024, 4), 0);
    if (!why && is_sum) ck_assert_uint_eq(k.out[t], 0x41800000);
    ck_assert_uint_eq(k.out[256 + t], 0x3c003c00);
  }
}
END_TEST

// ---- sparse, and of few bits --------------------------------------------------------------------

// D = A · B, 128 x 16, of tiles that threads fill with bits of a hash: 32 bytes of K in each row of
// A, as many in B or twice as many. Metadata are words of the first argument, two for each lane.
static const struct {
  const char *name, *kind;
  TileCode a, b;
  bool sparse;
  uint32_t idesc;  // its types and selector
} tiles[] = {
    {"f16", "f16", HALF_F16, HALF_F16, false, 0},
    {"sparse f16", "f16", HALF_F16, HALF_F16, true, 0},
    {"sparse f16 with selector 1", "f16", HALF_F16, HALF_F16, true, 1},
    {"sparse e4m3 by e5m2", "f8f6f4", CODE_E4M3, CODE_E5M2, true, 1 << 10},
    {"sparse e2m1 by e3m2", "f8f6f4", CODE_E2M1, CODE_E3M2, true, 5 << 7 | 4 << 10},
    {"e2m3 by e2m1", "f8f6f4", CODE_E2M3, CODE_E2M1, false, 3 << 7 | 5 << 10},
    {"e3m2 by e4m3", "f8f6f4", CODE_E3M2, CODE_E4M3, false, 4 << 7},
};
enum { TILES = sizeof tiles / sizeof *tiles, TILE_ROWS = 128, TILE_COLS = 16, TILE_K = 64 };

enum { B_AT = 4096, TAIL = 12288, B_BASE = 100000 };

static const char *tile_text(int i) {
  const int chunks = tiles[i].sparse ? 4 : 2;
  const uint32_t idesc = tiles[i].idesc | (tiles[i].sparse ? 4u : 0) | 1u << 4 |
                         (TILE_COLS / 8) << 17 | (TILE_ROWS / 16) << 24;
  return arena_printf(
      arena,
      ".shared .align 128 .b8 s[%d];\n%ssetp.lt.u32 %%p5, %%t, %d;\n@!%%p5 bra FILLED;\n%sFILLED:\n"
      "shr.u32 %%r20, %%t, 5;\nsetp.eq.u32 %%p7, %%r20, 0;\nsetp.eq.u32 %%p0, %%t, 0;\n"
      "@%%p0 mbarrier.init.shared.b64 [s+%d], 1;\n"
      "@%%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+%d], 64;\n"
      "fence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
      "tcgen05.fence::after_thread_sync;\nld.shared.u32 %%r4, [s+%d];\n"
      "shl.b32 %%r8, %%r20, 21;\nadd.u32 %%r8, %%r8, %%r4;\n"
      "ld.global.u32 %%r12, [%%i];\nld.global.u32 %%r13, [%%i+512];\n"
      "tcgen05.st.sync.aligned.32x32b.x2.b32 [%%r8+32], {%%r12, %%r13};\n"
      "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
      "tcgen05.fence::after_thread_sync;\nadd.u32 %%r7, %%r4, 32;\n"
      "mov.u32 %%r20, s;\nshr.u32 %%r20, %%r20, 4;\ncvt.u64.u32 %%rd3, %%r20;\n"
      "add.u64 %%rd4, %%rd3, 0x0000%04x00080%03x;\nadd.u64 %%rd3, %%rd3, 0x0000401000080000;\n"
      "mov.u32 %%r5, 0x%x;\nsetp.ne.u32 %%p1, 0, 0;\n@!%%p0 bra ON;\n"
      "tcgen05.mma%s.cta_group::1.kind::%s [%%r4], %%rd3, %%rd4, %s%%r5, %%p1;\n"
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+%d];\n"
      "ON: mbarrier.try_wait.parity.shared.b64 %%p3, [s+%d], 0;\n@!%%p3 bra ON;\n"
      "tcgen05.fence::after_thread_sync;\n"
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%%r10, %%r11, %%r12, %%r13, %%r14, %%r15, %%r16, "
      "%%r17}, [%%r8+%d];\ntcgen05.wait::ld.sync.aligned;\nshl.b32 %%r20, %%t, 5;\n"
      "cvt.u64.u32 %%rd5, %%r20;\nadd.u64 %%rd5, %%rd5, %%out;\n"
      "st.global.v4.u32 [%%rd5], {%%r10, %%r11, %%r12, %%r13};\n"
      "st.global.v4.u32 [%%rd5+16], {%%r14, %%r15, %%r16, %%r17};\n"
      "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
      "@%%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r4, 64;\n",
      TAIL + 64, tile_fill(arena, tiles[i].a, 0, 2, 0), TILE_COLS,
      tile_fill(arena, tiles[i].b, B_AT, chunks, B_BASE), TAIL, TAIL + 16, TAIL + 16,
      0x4000 + chunks * 128 / 16, B_AT / 16, idesc, tiles[i].sparse ? ".sp" : "", tiles[i].kind,
      tiles[i].sparse ? "[%r7], " : "", TAIL, TAIL, 8 * (i % 2));
}

static const uint32_t choices[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};

// Which elements of row `row` are stored, as their columns; and the metadata that say so: of 16
// bits for rows r and r + 8 of 16 in one word, its lane by the half of the columns; of 8 bits in
// the row's own lane.
static void give_metadata(int i, int columns[TILE_ROWS][TILE_K / 2]) {
  const bool halves = tiles[i].a == HALF_F16;
  const int chunks = halves ? 8 : 16, selector = (int)tiles[i].idesc & 3 & -(int)halves;
  memset(in, 0, sizeof in);
  for (int row = 0; row < TILE_ROWS; row++)
    for (int c = 0; c < chunks; c++) {
      const uint32_t choice = choices[tile_hash(CODE_E2M1, (uint32_t)(row * 64 + c)) / 64 % 6];
      const int lane = halves ? row / 16 * 16 + c / 4 * 8 + row % 8 : row;
      const int column = halves ? selector : c / 8;
      const int bit = halves ? row / 8 % 2 * 16 + c % 4 * 4 : c % 8 * 4;
      in[column * 128 + lane] |= choice << bit;
      columns[row][2 * c] = c * 4 + (int)(choice & 3);
      columns[row][2 * c + 1] = c * 4 + (int)(choice >> 2);
    }
}

START_TEST(test_tiles_of_few_bits_and_half_of_a) {
  static int columns[TILE_ROWS][TILE_K / 2];
  if (tiles[_i].sparse) give_metadata(_i, columns);
  const int stored = tiles[_i].a == HALF_F16 ? 16 : 32;
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, tile_text(_i)), NULL, 128, in);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && !f, "%s: %s %s", tiles[_i].name,
                f ? ptx_finding_names[f->kind] : "", f && f->text ? f->text : "");
  ck_assert_int_eq(ptx_machine_unknown_bytes(k.machine, k.out_address, 4096), 0);
  for (int row = 0; row < TILE_ROWS; row++)
    for (int c = 0; c < 8; c++) {
      const double sum = tile_product(tiles[_i].a, (uint32_t)row * 16, tiles[_i].b,
                                      (uint32_t)(B_BASE + (c + 8 * (_i % 2)) * 16),
                                      tiles[_i].sparse ? columns[row] : NULL, stored);
      float got;
      memcpy(&got, &k.out[row * 8 + c], sizeof got);
      ck_assert_msg((double)got == (double)(float)sum, "%s: D[%d, %d] is %g, not %g",
                    tiles[_i].name, row, c, (double)got, sum);
    }
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/tmem.txt"); }
END_TEST

Suite *suite_open_tmem(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_tmem");
  TCase *tcase = tcase_create("tmem");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_loads_have_the_cells_of_cute, 0, SHAPES);
  tcase_add_loop_test(tcase, test_stores_have_the_same_cells, 0, SHAPES);
  tcase_add_loop_test(tcase, test_products_go_on, 0, PRODUCTS);
  tcase_add_loop_test(tcase, test_tiles_of_few_bits_and_half_of_a, 0, TILES);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
