// Sparse and block-scaled mma.sync, and sparse wgmma, against products by the formulas of the PTX
// ISA, written down here once more: which lane holds which element (9.7.14.5.10 and
// .11, 9.7.14.6.2), which lane's metadata count (9.7.14.6.1 and its figures), which byte of which
// lane's factors (9.7.14.3).
#include <check.h>
#include <math.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx_kernel.h"
#include "tile_fill.h"

Suite *suite_open_scaled(void);

enum { LANES = 32, ROWS = 16, COLS = 8, K_MAX = 128, META = 384, SFA = 416, SFB = 448 };

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];
static uint32_t seed;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static uint32_t draw(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

// ---- numbers ------------------------------------------------------------------------------------

typedef enum Coding {
  S8,
  U8,
  S4,
  U4,
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  E2M1,
  E2M1_IN_8
} Coding;

// A sign, `exponent` bits with this bias, and `fraction` bits.
static double small_float(uint32_t code, int exponent, int fraction, int bias) {
  const int e = (int)(code >> fraction) & ((1 << exponent) - 1);
  const double f = (double)(code & ((1u << fraction) - 1)) / (1 << fraction);
  const double size = e ? ldexp(1 + f, e - bias) : ldexp(f, 1 - bias);
  return code >> (exponent + fraction) & 1 ? -size : size;
}

// A code, and what it stands for; none so large or small that a sum would be rounded.
static uint32_t draw_code(Coding coding, double *value) {
  uint32_t code = draw(256), moderate = draw(64);
  switch (coding) {
    case S8:
      return *value = (int8_t)code, code;
    case U8:
      return *value = code, code;
    case S4:
      return *value = (int)(code & 7) - (int)(code & 8), code & 15;
    case U4:
      return *value = code & 15, code & 15;
    case F16:
      code = 0x3c00 + moderate * 64 + (draw(2) << 15);
      return *value = small_float(code, 5, 10, 15), code;
    case BF16:
      code = 0x3f80 + moderate * 4 + (draw(2) << 15);
      return *value = small_float(code, 8, 7, 127), code;
    case TF32:
      code = 0x3f800000 + (moderate << 17) + (draw(2) << 31);
      return *value = small_float(code, 8, 23, 127), code;
    case E4M3:
      code = moderate + 16 + (draw(2) << 7);
      return *value = small_float(code, 4, 3, 7), code;
    case E5M2:
      code = moderate % 24 + 48 + (draw(2) << 7);
      return *value = small_float(code, 5, 2, 15), code;
    case E3M2:
      return *value = small_float(moderate, 3, 2, 3), moderate | (draw(4) << 6);
    case E2M3:
      return *value = small_float(moderate, 2, 3, 1), moderate | (draw(4) << 6);
    case E2M1:
      return *value = small_float(code & 15, 2, 1, 1), code & 15;
    case E2M1_IN_8:
      return *value = small_float(code & 15, 2, 1, 1), (code & 15) << 2;
  }
  return 0;
}

static int bits_of(Coding coding) {
  return coding == TF32                                   ? 32
         : coding == F16 || coding == BF16                ? 16
         : coding == S4 || coding == U4 || coding == E2M1 ? 4
                                                          : 8;
}

// ---- cases --------------------------------------------------------------------------------------

typedef struct Case {
  const char *words;  // behind mma
  int m, k;
  Coding a, b;
  bool sparse, whole;       // whole: sums are s32
  int factors;              // of a row, along K
  bool ue4m3;               // of what type they are
  int selector, ids[2][2];  // byte-id and thread-id of A and of B
} Case;

#define SP "sp::ordered_metadata.sync.aligned."
#define MX8 "kind::mxf8f6f4.block_scale"
#define MX4 "kind::mxf4.block_scale"
#define NV4 "kind::mxf4nvf4.block_scale"
static const Case cases[] = {
    {"sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, F16, F16, true, .selector = 0},
    {"sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, F16, F16, true, .selector = 3},
    {SP "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, BF16, BF16, true, .selector = 2},
    {SP "m16n8k32.row.col.f32.f16.f16.f32", 16, 32, F16, F16, true, .selector = 0},
    {SP "m16n8k32.row.col.f32.bf16.bf16.f32", 16, 32, BF16, BF16, true, .selector = 1},
    {SP "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, TF32, TF32, true, .selector = 1},
    {SP "m16n8k16.row.col.f32.tf32.tf32.f32", 16, 16, TF32, TF32, true, .selector = 1},
    {SP "m16n8k32.row.col.s32.s8.u8.s32", 16, 32, S8, U8, true, true, .selector = 0},
    {SP "m16n8k32.row.col.s32.u8.s8.s32", 16, 32, U8, S8, true, true, .selector = 1},
    {SP "m16n8k64.row.col.s32.s8.s8.s32", 16, 64, S8, S8, true, true, .selector = 0},
    {SP "m16n8k64.row.col.s32.s4.u4.s32", 16, 64, S4, U4, true, true, .selector = 1},
    {SP "m16n8k128.row.col.s32.u4.s4.s32", 16, 128, U4, S4, true, true, .selector = 0},
    {SP "m16n8k64.row.col.f32.e4m3.e5m2.f32", 16, 64, E4M3, E5M2, .sparse = true},
    {SP "m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", 16, 64, E3M2, E2M1_IN_8, .sparse = true},
    {"sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m3.f32", 16, 32, E2M1_IN_8, E2M3,
     .sparse = false},
    {"sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e3m2.f32", 16, 32, E5M2, E3M2,
     .sparse = false},
    {"sync.aligned.m16n8k32.row.col.s32.s4.u4.s32", 16, 32, S4, U4, .whole = true},
    {"sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", 16, 64, U4, U4, .whole = true},
    {"sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, S4, S4, .whole = true},
    {"sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 8, 16, S8, U8, .whole = true},
    {"sync.aligned.m16n8k32.row.col." MX8 ".f32.e4m3.e5m2.f32.ue8m0", 16, 32, E4M3, E5M2,
     .factors = 1, .ids = {{0, 0}, {0, 0}}},
    {"sync.aligned.m16n8k32.row.col." MX8 ".scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0", 16, 32,
     E2M1_IN_8, E4M3, .factors = 1, .ids = {{3, 1}, {2, 3}}},
    {"sync.aligned.m16n8k32.row.col." MX8 ".scale_vec::1X.f32.e3m2.e2m3.f32.ue8m0", 16, 32, E3M2,
     E2M3, .factors = 1, .ids = {{1, 1}, {3, 1}}},
    {"sync.aligned.m16n8k64.row.col." MX4 ".scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 16, 64, E2M1,
     E2M1, .factors = 2, .ids = {{2, 1}, {0, 2}}},
    {"sync.aligned.m16n8k64.row.col." MX4 ".f32.e2m1.e2m1.f32.ue8m0", 16, 64, E2M1, E2M1,
     .factors = 2, .ids = {{0, 0}, {2, 1}}},
    {"sync.aligned.m16n8k64.row.col." NV4 ".scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 16, 64, E2M1,
     E2M1, .factors = 2, .ids = {{2, 0}, {2, 0}}},
    {"sync.aligned.m16n8k64.row.col." NV4 ".scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 16, 64, E2M1,
     E2M1, .factors = 4, .ue4m3 = true, .ids = {{0, 1}, {0, 3}}},
    {SP "m16n8k64.row.col." MX8 ".scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0", 16, 64, E4M3, E2M1_IN_8,
     true, .factors = 1, .ids = {{1, 1}, {2, 2}}},
    {SP "m16n8k128.row.col." MX4 ".scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 16, 128, E2M1, E2M1,
     true, .factors = 2, .ids = {{2, 1}, {0, 1}}},
    {SP "m16n8k128.row.col." NV4 ".scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 16, 128, E2M1, E2M1,
     true, .factors = 4, .ue4m3 = true, .ids = {{0, 0}, {0, 2}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static double a[ROWS][K_MAX], b[K_MAX][COLS], c[ROWS][COLS];

// ---- registers ----------------------------------------------------------------------------------

static void put(int at, int reg, int lane, int part, int bits, uint32_t code) {
  uint32_t *word = &in[at + LANES * reg + lane];
  if (part == 0) *word = 0;
  *word |= code << part * bits;
}

// "groupID for ai where 0 <= i < 4 || 8 <= i < 12, groupID + 8 otherwise"; the stored columns of a
// lane are its part of `firstcol … lastcol`, half of them.
static int give_a(const Case *t, double stored[ROWS][K_MAX]) {
  const int bits = bits_of(t->a), per = 32 / bits, k = t->sparse ? t->k / 2 : t->k;
  const int halves = t->m / 8, n = t->m * k * bits / 32 / LANES;
  for (int lane = 0; lane < LANES; lane++)
    for (int reg = 0; reg < n; reg++)
      for (int part = 0; part < per; part++) {
        const int row = lane / 4 + reg % halves * 8,
                  col = reg / halves * 4 * per + lane % 4 * per + part;
        put(0, reg, lane, part, bits, draw_code(t->a, &stored[row][col]));
      }
  return n;
}

static int give_b(const Case *t) {
  const int bits = bits_of(t->b), per = 32 / bits, n = t->k * COLS * bits / 32 / LANES;
  for (int lane = 0; lane < LANES; lane++)
    for (int reg = 0; reg < n; reg++)
      for (int part = 0; part < per; part++)
        put(128, reg, lane, part, bits,
            draw_code(t->b, &b[reg * 4 * per + lane % 4 * per + part][lane / 4]));
  return n;
}

static void give_c(const Case *t) {
  for (int lane = 0; lane < LANES; lane++)
    for (int i = 0; i < t->m / 4; i++) {
      const int whole = (int)draw(200) - 100;
      const float single = (float)whole;
      c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = whole;
      if (t->whole)
        in[256 + LANES * i + lane] = (uint32_t)whole;
      else
        memcpy(&in[256 + LANES * i + lane], &single, sizeof single);
    }
}

// ---- metadata -----------------------------------------------------------------------------------

// Figures of 9.7.14.6.2, as "thread of the group of four, lowest bit" of chunk `chunk` of a row.
static void place(const Case *t, int upper, int chunk, int *thread, int *bit) {
  switch (bits_of(t->a) * 1000 + t->k) {
    case 16016:  // one thread: 16 bits for each of two rows
    case 32008:
      *thread = t->selector, *bit = 16 * upper + 4 * chunk;
      return;
    case 16032:  // two: the second has the other half of the columns
    case 32016:
      *thread = 2 * t->selector + chunk / 4, *bit = 16 * upper + 4 * (chunk % 4);
      return;
    case 8032:  // two: the second has the other row
    case 4064:
      *thread = 2 * t->selector + upper, *bit = 4 * chunk;
      return;
    default:  // all four: columns of the lower half in two of them
      *thread = upper + (chunk >= 8 ? 2 : 0), *bit = 4 * (chunk % 8);
  }
}

// Two indices of four, the smaller one first; of tf32 those of the first or of the second element.
static uint32_t draw_choice(const Case *t) {
  static const uint32_t all[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, of_tf32[] = {0x4, 0xe};
  return t->a == TF32 ? of_tf32[draw(2)] : all[draw(6)];
}

static void spread(const Case *t, double stored[ROWS][K_MAX]) {
  const int bits = bits_of(t->a), chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
  for (int i = 0; i < LANES; i++) in[META + i] = 0x33333333;
  for (int row = 0; row < ROWS; row++) {
    int from = 0;
    for (int n = 0; n < t->k / chunk; n++) {
      const uint32_t choice = draw_choice(t);
      int thread, bit;
      place(t, row / 8, n, &thread, &bit);
      uint32_t *word = &in[META + row % 8 * 4 + thread];
      *word = (*word & ~(15u << bit)) | choice << bit;
      double *to = &a[row][n * chunk];
      const int first = (int)choice & 3, second = (int)choice >> 2;
      if (bits == 32) {
        to[first / 2] = stored[row][from++];
        continue;
      }
      for (int e = 0; e < chunk / 4; e++) to[first * chunk / 4 + e] = stored[row][from++];
      for (int e = 0; e < chunk / 4; e++) to[second * chunk / 4 + e] = stored[row][from++];
    }
  }
}

// ---- factors ------------------------------------------------------------------------------------

static double draw_factor(const Case *t, uint32_t *code) {
  *code = t->ue4m3 ? 0x28 + draw(24) : 124 + draw(7);
  return t->ue4m3 ? small_float(*code, 4, 3, 7) : ldexp(1, (int)*code - 127);
}

// "thread-id-a 0: the first two of each four lanes give rows groupID and groupID + 8, 1: the other
// two; thread-id-b: this one of four gives column groupID", from byte-id on.
static void give_factors(const Case *t) {
  for (int i = 0; i < LANES; i++) in[SFA + i] = in[SFB + i] = 0x81828384;
  for (int n = 0; n < t->factors; n++) {
    const int from = n * t->k / t->factors, to = (n + 1) * t->k / t->factors;
    for (int row = 0; row < ROWS + COLS; row++) {
      const bool of_a = row < ROWS;
      const int col = row - ROWS, *ids = t->ids[of_a ? 0 : 1], shift = 8 * (ids[0] + n);
      uint32_t code, *word = of_a ? &in[SFA + row % 8 * 4 + 2 * ids[1] + row / 8]
                                  : &in[SFB + col * 4 + ids[1]];
      const double factor = draw_factor(t, &code);
      *word = (*word & ~(0xffu << shift)) | code << shift;
      for (int k = from; k < to; k++) *(of_a ? &a[row][k] : &b[k][col]) *= factor;
    }
  }
}

// ---- the kernel ---------------------------------------------------------------------------------

static PtxKernel run(const Case *t, int n_a, int n_b) {
  const int n_c = t->m / 4;
  const char *more = "";
  if (t->sparse) more = arena_printf(arena, ", %%e0, 0x%x", (unsigned)t->selector);
  if (t->factors)
    more = arena_printf(arena, "%s, %%x0, {%d, %d}, %%y0, {%d, %d}", more, t->ids[0][0],
                        t->ids[0][1], t->ids[1][0], t->ids[1][1]);
  const char *body = arena_printf(
      arena,
      ".reg .b32 %%a<4>, %%b<4>, %%c<4>, %%e<1>, %%x<1>, %%y<1>;\n%s%s%s%s%s%s"
      "mma.%s {%s}, {%s}, {%s}, {%s}%s;\n",
      ptx_kernel_loads(arena, "%a", n_a, 0), ptx_kernel_loads(arena, "%b", n_b, 128),
      ptx_kernel_loads(arena, "%c", n_c, 256), ptx_kernel_loads(arena, "%e", 1, META),
      ptx_kernel_loads(arena, "%x", 1, SFA), ptx_kernel_loads(arena, "%y", 1, SFB), t->words,
      ptx_kernel_registers(arena, "%c", n_c), ptx_kernel_registers(arena, "%a", n_a),
      ptx_kernel_registers(arena, "%b", n_b), ptx_kernel_registers(arena, "%c", n_c), more);
  for (int i = 0; i < n_c; i++)
    body = arena_printf(arena, "%sst.global.b32 [%%o+%d], %%c%d;\n", body, 128 * i, i);
  return ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, LANES, in);
}

START_TEST(test_products_are_those_of_the_isa) {
  const Case *t = &cases[_i];
  seed = 77 + (uint32_t)_i;
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  static double stored[ROWS][K_MAX];
  const int n_a = give_a(t, stored), n_b = give_b(t);
  give_c(t);
  if (t->sparse)
    spread(t, stored);
  else
    memcpy(a, stored, sizeof a);
  if (t->factors) give_factors(t);
  const PtxKernel kernel = run(t, n_a, n_b);
  ck_assert_msg(kernel.outcome == PTX_DONE, "%s: %s", t->words,
                kernel.outcome == PTX_STOPPED ? ptx_machine_finding(kernel.machine, 0)->text : "");
  ck_assert_msg(ptx_machine_unknown_bytes(kernel.machine, kernel.out_address, 512) == 0, "%s",
                t->words);
  for (int lane = 0; lane < LANES; lane++)
    for (int i = 0; i < t->m / 4; i++) {
      const int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2;
      double sum = c[row][col];
      for (int k = 0; k < t->k; k++) sum += a[row][k] * b[k][col];
      const uint32_t got = kernel.out[LANES * i + lane];
      float value;
      memcpy(&value, &got, sizeof value);
      ck_assert_msg((t->whole ? (double)(int32_t)got : (double)value) == (double)(float)sum,
                    "%s: row %d col %d: %g, not %g", t->words, row, col,
                    t->whole ? (double)(int32_t)got : (double)value, sum);
    }
}
END_TEST

// Equal indices choose no two elements, and 0x1 is no value of ordered metadata: the sums are
// unknown, and the run goes on.
START_TEST(test_metadata_that_mean_nothing) {
  static const struct {
    int of;
    uint32_t word;
    bool known;
  } words[] = {{0, 0x44444444, true},  {0, 0x11111111, true}, {0, 0x44444404, false},
               {0, 0x4444444a, false}, {4, 0x66666666, true}, {4, 0x11111111, false},
               {5, 0xe4e4e4e4, true},  {5, 0x88888888, false}};
  for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
    const Case *t = &cases[words[n].of];
    memset(in, 0, sizeof in);
    for (int i = 0; i < LANES; i++) in[META + i] = words[n].word;
    const PtxKernel kernel = run(t, t->k * bits_of(t->a) / 128, t->k * bits_of(t->b) / 128);
    ck_assert_int_eq(kernel.outcome, PTX_DONE);
    const bool known = ptx_machine_unknown_bytes(kernel.machine, kernel.out_address, 512) == 0;
    ck_assert_msg(known == words[n].known, "%s with %08x", t->words, words[n].word);
  }
}
END_TEST

// ---- wgmma --------------------------------------------------------------------------------------

// D = A · B, 64 x 16, of tiles that threads fill; each warp's lanes have the metadata of its 16
// rows.
static const struct {
  const char *types;
  TileCode a, b;
  bool sparse;
  int k, selector;
} products[] = {
    {"f32.f16.f16", HALF_F16, HALF_F16, false, 16, 0},
    {"f32.f16.f16", HALF_F16, HALF_F16, true, 32, 0},
    {"f32.f16.f16", HALF_F16, HALF_F16, true, 32, 1},
    {"f32.e4m3.e5m2", CODE_E4M3, CODE_E5M2, false, 32, 0},
    {"f32.e5m2.e4m3", CODE_E5M2, CODE_E4M3, true, 64, 0},
};
enum { PRODUCTS = sizeof products / sizeof *products, WG_ROWS = 64, WG_COLS = 16 };
enum { B_AT = 4096, B_BASE = 100000 };

static const char *wgmma_text(int i) {
  const bool sparse = products[i].sparse;
  const int chunks = sparse ? 4 : 2;
  return arena_printf(
      arena,
      ".shared .align 128 .b8 s[8192];\nsetp.lt.u32 %%p4, %%t, 64;\n@!%%p4 bra A_FILLED;\n%s"
      "A_FILLED:\nsetp.lt.u32 %%p5, %%t, 16;\n@!%%p5 bra FILLED;\n%sFILLED:\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nld.global.u32 %%r1, [%%i];\n"
      "mov.u32 %%r20, s;\nshr.u32 %%r20, %%r20, 4;\ncvt.u64.u32 %%rd3, %%r20;\n"
      "add.u64 %%rd4, %%rd3, 0x0000%04x00080%03x;\nadd.u64 %%rd3, %%rd3, 0x0000001000080000;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async%s.sync.aligned.m64n16k%d.%s {%%f0, %%f1, %%f2, %%f3, %%f4, %%f5, %%f6, "
      "%%f7}, "
      "%%rd3, %%rd4, %s0, 1, 1%s;\nwgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\nshl.b32 %%r20, %%t, 5;\ncvt.u64.u32 %%rd5, %%r20;\n"
      "add.u64 %%rd5, %%rd5, %%out;\nst.global.v4.f32 [%%rd5], {%%f0, %%f1, %%f2, %%f3};\n"
      "st.global.v4.f32 [%%rd5+16], {%%f4, %%f5, %%f6, %%f7};\n",
      tile_fill(arena, products[i].a, 0, 2, 0),
      tile_fill(arena, products[i].b, B_AT, chunks, B_BASE), chunks * 128 / 16, B_AT / 16,
      sparse ? ".sp" : "", products[i].k, products[i].types,
      sparse ? arena_printf(arena, "%%r1, %d, ", products[i].selector) : "",
      products[i].a == HALF_F16 ? ", 0, 0" : "");
}

START_TEST(test_wgmma_of_half_of_a) {
  static int columns[WG_ROWS][64];
  static const uint32_t choices[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  const bool halves = products[_i].a == HALF_F16;
  memset(in, 0, sizeof in);
  for (int row = 0; row < WG_ROWS; row++)
    for (int n = 0; n < products[_i].k / 4; n++) {
      const uint32_t choice = choices[tile_hash(CODE_E2M1, (uint32_t)(row * 64 + n)) / 64 % 6];
      const int upper = row / 8 % 2, base = row / 16 * 32 + row % 8 * 4;
      const int lane = base + (halves ? 2 * products[_i].selector + n / 4 : upper + n / 8 * 2);
      in[lane] |= choice << (halves ? 16 * upper + 4 * (n % 4) : 4 * (n % 8));
      columns[row][2 * n] = n * 4 + (int)(choice & 3);
      columns[row][2 * n + 1] = n * 4 + (int)(choice >> 2);
    }
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, wgmma_text(_i)), NULL, 128, in);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && !f, "%s: %s", products[_i].types,
                f && f->text ? f->text : "");
  const int stored = halves ? 16 : 32;
  for (int t = 0; t < 128; t++)
    for (int v = 0; v < 8; v++) {
      const int row = t / 32 * 16 + t % 32 / 4 + v / 2 % 2 * 8, col = v / 4 * 8 + t % 4 * 2 + v % 2;
      const double sum = tile_product(products[_i].a, (uint32_t)row * 16, products[_i].b,
                                      (uint32_t)(B_BASE + col * 16),
                                      products[_i].sparse ? columns[row] : NULL, stored);
      float got;
      memcpy(&got, &k.out[t * 8 + v], sizeof got);
      ck_assert_msg((double)got == (double)(float)sum, "%s: D[%d, %d] is %g, not %g",
                    products[_i].types, row, col, (double)got, sum);
    }
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/scaled.txt"); }
END_TEST

Suite *suite_open_scaled(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_scaled");
  TCase *tcase = tcase_create("mma");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_products_are_those_of_the_isa, 0, CASES);
  tcase_add_test(tcase, test_metadata_that_mean_nothing);
  tcase_add_loop_test(tcase, test_wgmma_of_half_of_a, 0, PRODUCTS);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
