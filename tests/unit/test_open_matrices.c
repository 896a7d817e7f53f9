// Matrices that a warp loads, multiplies and stores: wmma of every shape, type and order, ldmatrix
// and stmatrix, and bar.red, against the same by hand. What is wanted is computed here from the
// PTX ISA's words alone, element by element.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_matrices(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS], wanted[PTX_KERNEL_WORDS];
static uint32_t seed;

static void setup(void) {
  arena = arena_new("test");
  memset(in, 0, sizeof in);
  memset(wanted, 0, sizeof wanted);
}
static void teardown(void) { arena_free(arena); }

static int draw(int n) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (uint32_t)n);
}

static const char *findings_text(const PtxKernel *k) {
  const char *text = "";
  for (int i = 0; i < ptx_machine_findings(k->machine); i++) {
    const PtxFinding *f = ptx_machine_finding(k->machine, i);
    text = arena_printf(arena, "%s%s of %d bytes at %llx, lanes %x: %s\n", text,
                        ptx_finding_names[f->kind], f->bytes, (unsigned long long)f->address,
                        f->lanes, f->text ? f->text : "");
  }
  return text;
}

static PtxKernel run_body(const char *body, int threads) {
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, threads, in);
  ck_assert_msg(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0, "%s\n%s",
                findings_text(&k), body);
  return k;
}

static void check_out(const PtxKernel *k, const char *body) {
  for (int i = 0; i < PTX_KERNEL_WORDS; i++)
    ck_assert_msg(k->out[i] == wanted[i], "word %d: %08x, wanted %08x\n%s", i, k->out[i], wanted[i],
                  body);
}

// ---- wmma ---------------------------------------------------------------------------------------

typedef enum Type { F16, BF16, TF32, F32, F64, S8, U8, S32 } Type;
static const struct {
  const char *name, *registers;
  int bytes, exponent_bits, mantissa_bits;  // 0: a whole number
} types[] = {{"f16", "b32", 2, 5, 10}, {"bf16", "b32", 2, 8, 7},  {"tf32", "b32", 4, 8, 23},
             {"f32", "f32", 4, 8, 23}, {"f64", "f64", 8, 11, 52}, {"s8", "b32", 1, 0, 0},
             {"u8", "b32", 1, 0, 0},   {"s32", "b32", 4, 0, 0}};

// A whole number in the bits of a type.
static uint64_t bits_of(Type type, int value) {
  const int mantissa = types[type].mantissa_bits, exponents = types[type].exponent_bits;
  const uint64_t size = (uint64_t)(value < 0 ? -value : value);
  if (exponents == 0) return (uint64_t)(int64_t)value;
  if (size == 0) return 0;
  int exponent = 0;
  while (size >> exponent > 1) exponent++;
  const uint64_t bias = (UINT64_C(1) << (exponents - 1)) - 1;
  const uint64_t sign = (uint64_t)(value < 0) << (exponents + mantissa);
  return sign | ((uint64_t)exponent + bias) << mantissa |
         (size ^ UINT64_C(1) << exponent) << (mantissa - exponent);
}

// Registers of A, B, C and D, as the PTX ISA lists them.
static const struct {
  const char *shape;
  int m, n, k;
  Type a, c, d;
  int registers[4];
} products[] = {
    {"m16n16k16", 16, 16, 16, F16, F32, F32, {8, 8, 8, 8}},
    {"m16n16k16", 16, 16, 16, F16, F16, F16, {8, 8, 4, 4}},
    {"m16n16k16", 16, 16, 16, F16, F16, F32, {8, 8, 4, 8}},
    {"m16n16k16", 16, 16, 16, F16, F32, F16, {8, 8, 8, 4}},
    {"m32n8k16", 32, 8, 16, F16, F32, F32, {8, 8, 8, 8}},
    {"m32n8k16", 32, 8, 16, F16, F16, F16, {8, 8, 4, 4}},
    {"m8n32k16", 8, 32, 16, F16, F32, F32, {8, 8, 8, 8}},
    {"m8n32k16", 8, 32, 16, F16, F16, F16, {8, 8, 4, 4}},
    {"m16n16k16", 16, 16, 16, BF16, F32, F32, {4, 4, 8, 8}},
    {"m32n8k16", 32, 8, 16, BF16, F32, F32, {8, 2, 8, 8}},
    {"m8n32k16", 8, 32, 16, BF16, F32, F32, {2, 8, 8, 8}},
    {"m16n16k8", 16, 16, 8, TF32, F32, F32, {4, 4, 8, 8}},
    {"m8n8k4", 8, 8, 4, F64, F64, F64, {1, 1, 2, 2}},
    {"m16n16k16", 16, 16, 16, S8, S32, S32, {2, 2, 8, 8}},
    {"m32n8k16", 32, 8, 16, S8, S32, S32, {4, 1, 8, 8}},
    {"m8n32k16", 8, 32, 16, S8, S32, S32, {1, 4, 8, 8}},
    {"m16n16k16", 16, 16, 16, U8, S32, S32, {2, 2, 8, 8}},
};
enum { PRODUCTS = sizeof products / sizeof *products, ORDERS = 16, PAD = 8, ELEMENTS = 512 };

// A matrix in memory: row by row or column by column, so many elements apart.
typedef struct Matrix {
  Type type;
  int rows, cols, at, stride;  // at: bytes
  bool by_rows;
  int value[ELEMENTS];
} Matrix;

static int bytes_of(const Matrix *x) {
  return x->stride * (x->by_rows ? x->rows : x->cols) * types[x->type].bytes;
}

static Matrix matrix(Type type, int rows, int cols, int at, bool by_rows, int pad) {
  return (Matrix){type, rows, cols, at, (by_rows ? cols : rows) + pad, by_rows, {0}};
}

static void put(const Matrix *x, void *memory) {
  const int bytes = types[x->type].bytes;
  for (int row = 0; row < x->rows; row++)
    for (int col = 0; col < x->cols; col++) {
      const uint64_t bits = bits_of(x->type, x->value[row * x->cols + col]);
      const int place = x->by_rows ? row * x->stride + col : col * x->stride + row;
      memcpy((char *)memory + x->at + place * bytes, &bits, (size_t)bytes);
    }
}

static void fill(Matrix *x) {
  for (int i = 0; i < x->rows * x->cols; i++) x->value[i] = draw(8) - (x->type == U8 ? 0 : 4);
}

// "wmma.load.a… {%a0, …}, [%in+at], stride"
static const char *access_text(const Matrix *x, const char *shape, const char *letter,
                               int registers, bool strided) {
  const bool is_store = *letter == 'd';
  const char *list = arena_printf(
      arena, "{%s}", ptx_kernel_registers(arena, arena_printf(arena, "%%%s", letter), registers));
  const char *place = arena_printf(arena, "[%%%s+%d]", is_store ? "out" : "in", x->at);
  return arena_printf(arena, "wmma.%s.%s.sync.aligned.%s.%s.global.%s %s, %s%s;\n",
                      is_store ? "store" : "load", letter, x->by_rows ? "row" : "col", shape,
                      types[x->type].name, is_store ? place : list, is_store ? list : place,
                      strided ? arena_printf(arena, ", %d", x->stride) : "");
}

// Registers of a matrix, which hold something else before.
static const char *registers_text(Type type, const char *letter, int n) {
  const char *kind = types[type].registers;
  const char *all = kind[0] == 'b' ? "-1" : kind[1] == '3' ? "0fFFFFFFFF" : "0dFFFFFFFFFFFFFFFF";
  const char *text = arena_printf(arena, ".reg .%s %%%s<8>;\n", kind, letter);
  for (int i = 0; i < n; i++)
    text = arena_printf(arena, "%smov.%s %%%s%d, %s;\n", text, kind, letter, i, all);
  return text;
}

static const char *product_text(const Matrix x[4], int p, bool strided) {
  static const char *const letters[] = {"a", "b", "c", "d"};
  const int *n = products[p].registers;
  const char *body = "", *list[4];
  for (int i = 0; i < 4; i++) {
    list[i] = ptx_kernel_registers(arena, arena_printf(arena, "%%%s", letters[i]), n[i]);
    body = arena_printf(arena, "%s%s", body, registers_text(x[i].type, letters[i], n[i]));
  }
  for (int i = 0; i < 3; i++)
    body = arena_printf(arena, "%s%s", body,
                        access_text(&x[i], products[p].shape, letters[i], n[i], strided));
  const char *d = types[x[3].type].name, *a = types[x[0].type].name, *c = types[x[2].type].name;
  const char *names = x[0].type == F16 ? arena_printf(arena, "%s.%s", d, c)
                                       : arena_printf(arena, "%s.%s.%s.%s", d, a, a, c);
  return arena_printf(arena, "%swmma.mma.sync.aligned.%s.%s.%s.%s {%s}, {%s}, {%s}, {%s};\n%s",
                      body, x[0].by_rows ? "row" : "col", x[1].by_rows ? "row" : "col",
                      products[p].shape, names, list[3], list[0], list[1], list[2],
                      access_text(&x[3], products[p].shape, "d", n[3], strided));
}

// Bit i of `orders`: matrix i lies by rows.
static void check_product(int p, int orders, bool strided) {
  const int m = products[p].m, n = products[p].n, k = products[p].k, pad = strided ? PAD : 0;
  static Matrix x[4];
  memset(in, 0, sizeof in);
  memset(wanted, 0, sizeof wanted);
  x[0] = matrix(products[p].a, m, k, 0, orders & 1, pad);
  x[1] = matrix(products[p].a, k, n, bytes_of(&x[0]), orders & 2, pad);
  x[2] = matrix(products[p].c, m, n, x[1].at + bytes_of(&x[1]), orders & 4, pad);
  x[3] = matrix(products[p].d, m, n, 64, orders & 8, pad);
  for (int i = 0; i < 3; i++) fill(&x[i]), put(&x[i], in);
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++) {
      int sum = x[2].value[row * n + col];
      for (int i = 0; i < k; i++) sum += x[0].value[row * k + i] * x[1].value[i * n + col];
      x[3].value[row * n + col] = sum;
    }
  put(&x[3], wanted);
  const char *body = product_text(x, p, strided);
  const PtxKernel kernel = run_body(body, 32);
  check_out(&kernel, body);
}

START_TEST(wmma_multiplies_as_by_hand) {
  seed = (uint32_t)_i;
  for (int orders = 0; orders < ORDERS; orders++, arena_reset(arena))
    check_product(_i, orders, orders % 3 != 0);
}
END_TEST

// Whether the run stopped at an instruction that is not run, or knows nothing of what it gives.
static bool is_refused(const PtxKernel *k) {
  if (k->outcome == PTX_STOPPED) return ptx_kernel_finding(k, PTX_FINDING_NOT_RUN) != NULL;
  for (int pc = 0; pc < k->module->n_code; pc++)
    if (ptx_machine_unknown_why(k->machine, pc)) return true;
  return false;
}

// One register fewer than the ISA lists holds no matrix, and some types have none.
START_TEST(wmma_refuses_what_has_no_room) {
  static const char *const bodies[] = {
      "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0, %r1, %r2}, [%in], 16;",
      "wmma.load.b.sync.aligned.row.m8n32k16.global.s8 {%r0, %r1, %r2}, [%in], 16;",
      ("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6}, "
       "[%in], 16;"),
      "wmma.load.a.sync.aligned.row.m16n16k16.global.e4m3 {%r0, %r1, %r2, %r3}, [%in], 16;",
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%out], {%r0, %r1, %r2}, 16;",
      "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%fd0}, {%fd2}, {%fd3}, {%fd4, %fd5};",
      "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd4};",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++, arena_reset(arena)) {
    const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, bodies[i]), NULL, 32, in);
    ck_assert_msg(is_refused(&k), "%s%s", findings_text(&k), bodies[i]);
  }
}
END_TEST

// ---- ldmatrix, stmatrix -------------------------------------------------------------------------

enum { LANES = 32, ROW_HALVES = 8, ROWS = 8 };

// The address of a row is that of one lane: lane 8 · matrix + row. It is where %t says: 16 bytes
// at 16 · ((5 · lane + 3) % 32).
static int row_of_lane(int lane) { return (5 * lane + 3) % LANES; }
static const char row_address[] =
    "mov.u32 %r20, s;\nmad.lo.u32 %r21, %t, 5, 3;\nand.b32 %r21, %r21, 31;\n"
    "mad.lo.u32 %r20, %r21, 16, %r20;\n";

// Where register `part` of a lane has half `half` of its matrix: an index of halves in shared
// memory (PTX ISA, ldmatrix: thread l holds of row l / 4 elements 2 · (l % 4) and the next one).
static int half_of(int lane, int part, int half, bool trans) {
  const int first = lane / 4, second = 2 * (lane % 4) + half;
  const int row = trans ? second : first, col = trans ? first : second;
  return row_of_lane(ROWS * part + row) * ROW_HALVES + col;
}

static const char *matrices_name(bool store, int n, bool trans) {
  return arena_printf(arena, "%smatrix.sync.aligned.m8n8.x%d%s.shared.b16", store ? "st" : "ld", n,
                      trans ? ".trans" : "");
}

// Rows come into shared memory, the instruction loads n registers, and those go out.
static const char *load_body(const char *name, int n) {
  const char *body = row_address;
  // Each lane stores its word of every 32 into shared memory.
  for (int i = 0; i < 4; i++)
    body = arena_printf(
        arena,
        "%sld.global.b32 %%r22, [%%i+%d];\nmov.u32 %%r23, s;\nadd.u32 %%r23, %%r23, %%t4;\n"
        "st.shared.b32 [%%r23+%d], %%r22;\n",
        body, 128 * i, 128 * i);
  body = arena_printf(arena, "%sbar.sync 0;\n%s {%s}, [%%r20];\n", body, name,
                      ptx_kernel_registers(arena, "%r", n));
  for (int part = 0; part < n; part++)
    body = arena_printf(arena, "%sst.global.b32 [%%o+%d], %%r%d;\n", body, 128 * part, part);
  return body;
}

START_TEST(ldmatrix_gives_each_lane_its_elements) {
  const int n = 1 << _i / 2;
  const bool trans = _i % 2;
  ptx_kernel_numbers(in);
  const uint16_t *halves = (const uint16_t *)in;
  const char *body = load_body(matrices_name(false, n, trans), n);
  for (int part = 0; part < n; part++)
    for (int lane = 0; lane < LANES; lane++)
      wanted[LANES * part + lane] = halves[half_of(lane, part, 0, trans)] |
                                    (uint32_t)halves[half_of(lane, part, 1, trans)] << 16;
  const PtxKernel k = run_body(body, LANES);
  check_out(&k, body);
}
END_TEST

// Thread l holds of row l / 4 elements 4 · (l % 4) to the third behind it, a byte each; a row has
// 16 elements of 4 or 6 bits, lowest first, and a gap.
START_TEST(ldmatrix_unpacks_elements) {
  const int n = 1 << _i / 2, bits = _i % 2 ? 6 : 4;
  ptx_kernel_numbers(in);
  const unsigned char *bytes = (const unsigned char *)in;
  const char *body =
      load_body(arena_printf(arena, "ldmatrix.sync.aligned.m8n16.x%d.shared.b8x16.%s", n,
                             bits == 4 ? "b4x16_p64" : "b6x16_p32"),
                n);
  for (int part = 0; part < n; part++)
    for (int lane = 0; lane < LANES; lane++) {
      const unsigned char *row = bytes + 16 * row_of_lane(ROWS * part + lane / 4);
      uint32_t word = 0;
      for (int bit = 0; bit < 4 * bits; bit++) {
        const int at = 4 * (lane % 4) * bits + bit;
        word |= (uint32_t)(row[at / 8] >> at % 8 & 1) << (bit / bits * 8 + bit % bits);
      }
      wanted[LANES * part + lane] = word;
    }
  const PtxKernel k = run_body(body, LANES);
  check_out(&k, body);
}
END_TEST

START_TEST(stmatrix_puts_each_element_in_its_place) {
  const int n = 1 << _i / 2;
  const bool trans = _i % 2;
  ptx_kernel_numbers(in);
  uint16_t *halves = (uint16_t *)wanted;
  const char *body = row_address;
  for (int part = 0; part < n; part++) {
    body = arena_printf(arena, "%sld.global.b32 %%r%d, [%%i+%d];\n", body, part, 128 * part);
    for (int lane = 0; lane < LANES; lane++)
      for (int half = 0; half < 2; half++)
        halves[half_of(lane, part, half, trans)] = (uint16_t)(in[LANES * part + lane] >> 16 * half);
  }
  body = arena_printf(arena, "%s%s [%%r20], {%s};\nbar.sync 0;\n", body,
                      matrices_name(true, n, trans), ptx_kernel_registers(arena, "%r", n));
  // The rows that were stored are read back, each word by the lane that has it.
  for (int row = 0; row < ROWS * n; row++)
    body = arena_printf(
        arena,
        "%ssetp.lt.u32 %%p1, %%t, 4;\nmov.u32 %%r23, s;\nadd.u32 %%r23, %%r23, %%t4;\n"
        "@%%p1 ld.shared.b32 %%r22, [%%r23+%d];\n@%%p1 st.global.b32 [%%o+%d], %%r22;\n",
        body, 16 * row_of_lane(row), 16 * row_of_lane(row));
  const PtxKernel k = run_body(body, LANES);
  check_out(&k, body);
}
END_TEST

// ---- bar.red ------------------------------------------------------------------------------------

// Three warps vote, the second half of the third one's lanes with the others; `negated`: not p.
START_TEST(bar_red_counts_and_joins) {
  enum { THREADS = 96 };
  static const struct {
    const char *test;  // of %t
    int first, last, step;
  } votes[] = {{"setp.ge.u32 %p1, %t, 0;", 0, 95, 1},
               {"setp.lt.u32 %p1, %t, 0;", 0, -1, 1},
               {"setp.eq.u32 %p1, %t, 40;", 40, 40, 1},
               {"setp.ne.u32 %p1, %t, 95;", 0, 94, 1},
               {"and.b32 %r9, %t, 3;\nsetp.eq.u32 %p1, %r9, 0;", 0, 92, 4}};
  for (size_t v = 0; v < sizeof votes / sizeof *votes; v++)
    for (int negated = 0; negated < 2; negated++, arena_reset(arena)) {
      int n = 0;
      for (int i = votes[v].first; i <= votes[v].last; i += votes[v].step) n++;
      if (negated) n = THREADS - n;
      const char *not = negated ? "!" : "";
      const char *body =
          arena_printf(arena,
                       "%s\nbar.red.popc.u32 %%r0, 1, %s%%p1;\nbar.red.and.pred %%p2, 2, %s%%p1;\n"
                       "bar.red.or.pred %%p3, 3, %s%%p1;\nselp.u32 %%r1, 1, 0, %%p2;\nselp.u32 "
                       "%%r2, 1, 0, %%p3;\n"
                       "st.global.b32 [%%o], %%r0;\nst.global.b32 [%%o+384], %%r1;\nst.global.b32 "
                       "[%%o+768], %%r2;",
                       votes[v].test, not, not, not );
      for (int t = 0; t < THREADS; t++) {
        wanted[t] = (uint32_t)n;
        wanted[THREADS + t] = n == THREADS;
        wanted[2 * THREADS + t] = n > 0;
      }
      const PtxKernel k = run_body(body, THREADS);
      check_out(&k, body);
    }
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/matrices.txt"); }
END_TEST

Suite *suite_open_matrices(void) {
  Suite *suite = suite_create("open_matrices");
  kernel_log_begin();
  TCase *tcase = tcase_create("matrices");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, wmma_multiplies_as_by_hand, 0, PRODUCTS);
  tcase_add_test(tcase, wmma_refuses_what_has_no_room);
  tcase_add_loop_test(tcase, ldmatrix_gives_each_lane_its_elements, 0, 6);
  tcase_add_loop_test(tcase, ldmatrix_unpacks_elements, 0, 6);
  tcase_add_loop_test(tcase, stmatrix_puts_each_element_in_its_place, 0, 6);
  tcase_add_test(tcase, bar_red_counts_and_joins);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}
