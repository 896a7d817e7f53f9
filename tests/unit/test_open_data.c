// Which lanes have a value that follows from loaded data: lane 5 loads, the others do not, and the
// value goes through registers, predicates, branches, shared memory and other lanes. An access at
// such a value says so (PtxAccess), and is not counted in advance.
#include <check.h>
#include <string.h>

#include "ptx_kernel.h"

Suite *suite_open_data(void);

enum { LANES = 32 };
#define LANE(l) (1u << (l))
#define ALL 0xffffffffu

// %r1 is lane 5's word of the input, and the lane's number elsewhere; %r2 is the lane's number, %r3
// the lane's cell of shared memory, which holds its number; %p1 says whether %r1 is over 100. What
// a body puts into %r0 is looked at.
static const char before[] =
    "setp.eq.u32 %p5, %t, 5;\nmov.u32 %r1, %t;\n@%p5 ld.global.b32 %r1, [%i];\nmov.u32 %r2, %t;\n"
    "mov.u32 %r3, s;\nadd.u32 %r3, %r3, %t4;\nst.shared.b32 [%r3], %r2;\n"
    "setp.gt.u32 %p1, %r1, 100;\nmov.u32 %r0, 0;\nbar.warp.sync -1;\n";

static const struct {
  const char *body;
  uint32_t lanes;
} rows[] = {
    {"mov.u32 %r0, 7;", 0},
    {"mov.u32 %r0, %r1;", LANE(5)},
    {"add.u32 %r0, %r2, %t;", 0},
    {"mad.lo.u32 %r0, %r2, %r1, %t;", LANE(5)},
    {"mul.wide.u32 %rd0, %r1, 4; cvt.u32.u64 %r0, %rd0;", LANE(5)},
    {"mov.b64 %rd0, {%r2, %r1}; mov.b64 {%r4, %r0}, %rd0;", LANE(5)},
    {"selp.u32 %r0, 1, 2, %p1;", LANE(5)},
    {"and.pred %p2, %p1, %p5; selp.u32 %r0, 1, 2, %p2;", LANE(5)},
    {"@%p1 mov.u32 %r0, 1;", LANE(5)},
    // A branch on data: what any lane sets on its ways follows from it, what is set behind it does
    // not.
    {"@%p1 bra L; mov.u32 %r0, 1; bra M; L: mov.u32 %r0, 2; M: mov.u32 %r4, 0;", ALL},
    {"@%p1 bra L; mov.u32 %r4, 1; bra M; L: mov.u32 %r4, 2; M: mov.u32 %r0, 3;", 0},
    // Shared memory, cell by cell and byte by byte.
    {"ld.shared.b32 %r0, [%r3];", 0},
    {"st.shared.b32 [%r3], %r1; ld.shared.b32 %r0, [%r3];", LANE(5)},
    {"st.shared.b32 [%r3], %r1; bar.warp.sync -1; xor.b32 %r4, %t, 1; shl.b32 %r4, %r4, 2; "
     "mov.u32 %r5, s; add.u32 %r5, %r5, %r4; ld.shared.b32 %r0, [%r5];",
     LANE(4)},
    {"st.shared.b32 [%r3], %r1; st.shared.b32 [%r3], %r2; ld.shared.b32 %r0, [%r3];", 0},
    {"st.shared.u8 [%r3+1], %r1; ld.shared.u16 %r0, [%r3];", LANE(5)},
    {"st.shared.u8 [%r3+1], %r1; ld.shared.u8 %r0, [%r3];", 0},
    {"st.shared.u8 [%r3+1], %r1; ld.shared.u16 %r0, [%r3+2];", 0},
    {"st.shared.u8 [%r3+3], %r1; ld.shared.b32 %r0, [%r3];", LANE(5)},
    // A vector is one access: all of it is data, where one of its registers is.
    {"add.u32 %r5, %r3, %t4; st.shared.v2.b32 [%r5+1024], {%r2, %r1}; "
     "ld.shared.b32 %r0, [%r5+1024];",
     LANE(5)},
    {"add.u32 %r5, %r3, %t4; st.shared.v2.b32 [%r5+1024], {%r2, %r1}; "
     "ld.shared.b32 %r0, [%r5+1028];",
     LANE(5)},
    // An atomic operation gives and leaves what those before it made of the cell.
    {"red.shared.add.u32 [%r3], %r1; ld.shared.b32 %r0, [%r3];", ALL},
    {"st.shared.b32 [%r3], %r1; atom.shared.add.u32 %r0, [%r3], 1;", ALL},
    {"atom.shared.add.u32 %r4, [%r3], %r1; ld.shared.b32 %r0, [%r3];", ALL},
    // Global memory is data, whoever wrote it.
    {"ld.global.b32 %r0, [%i];", ALL},
    {"cp.async.ca.shared.global [%r3], [%i], 4; cp.async.wait_all; ld.shared.b32 %r0, [%r3];", ALL},
    {"@%p5 cp.async.ca.shared.global [%r3], [%i], 4; cp.async.wait_all; ld.shared.b32 %r0, [%r3];",
     LANE(5)},
    // Rows of 16 bytes: the first eight hold the words of lanes 0 to 31, the next ones of no data.
    {"st.shared.b32 [%r3], %r1; st.shared.b32 [%r3+128], %r2; bar.warp.sync -1; shl.b32 %r4, %t, "
     "4; "
     "and.b32 %r4, %r4, 127; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; "
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r5];",
     ALL},
    {"st.shared.b32 [%r3], %r1; st.shared.b32 [%r3+128], %r2; bar.warp.sync -1; shl.b32 %r4, %t, "
     "4; "
     "and.b32 %r4, %r4, 127; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; "
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r5+128];",
     0},
    {"st.shared.b32 [%r3], %r1; st.shared.b32 [%r3+128], %r2; bar.warp.sync -1; shl.b32 %r4, %t, "
     "4; "
     "xor.b32 %r4, %r4, 128; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; "
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r4}, [%r5];",
     0},
    {"st.shared.b32 [%r3], %r1; st.shared.b32 [%r3+128], %r2; bar.warp.sync -1; shl.b32 %r4, %t, "
     "4; "
     "xor.b32 %r4, %r4, 128; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; "
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r0}, [%r5];",
     ALL},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Seen {
  int n;          // stores to the output
  uint32_t data;  // lanes, a bit each, whose store has an address that follows from data
} Seen;

// Lane l's store is the l-th: each one is of one lane.
static void see(void *self, const PtxAccess *access) {
  Seen *seen = self;
  if (!access->is_store || access->space != PTX_SPACE_GLOBAL) return;
  ck_assert(access->mask == LANE(seen->n));
  seen->data |= (uint32_t)access->data_addresses << seen->n++;
}

static const char *program(Arena *arena, const char *body) {
  const char *text = arena_printf(arena,
                                  "%s%s\nand.b32 %%r0, %%r0, 3;\nshl.b32 %%r0, %%r0, 2;\n"
                                  "cvt.u64.u32 %%rd20, %%r0;\nadd.u64 %%rd20, %%rd20, %%out;\n",
                                  before, body);
  for (int lane = 0; lane < LANES; lane++)
    text = arena_printf(arena, "%ssetp.eq.u32 %%p6, %%t, %d;\n@%%p6 st.global.b32 [%%rd20], 0;\n",
                        text, lane);
  return ptx_kernel_text(arena, text);
}

START_TEST(data_goes_with_the_value) {
  Arena *arena = arena_new("test");
  Diags diags = diags_new(arena);
  const char *text = program(arena, rows[_i].body);
  uint32_t in[PTX_KERNEL_WORDS];
  Seen seen = {0};
  ptx_kernel_numbers(in);
  PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {LANES, 1, 1}, .budget = 1 << 20};
  PtxMachine *m =
      ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags), &launch, &diags);
  const uint64_t from = ptx_machine_buffer(m, "in", sizeof in, in, PTX_CONTENT_GIVEN);
  const uint64_t to = ptx_machine_buffer(m, "out", sizeof in, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(m, 0, &from, 8);
  ptx_machine_param(m, 1, &to, 8);
  ptx_machine_watch(m, see, &seen);
  ck_assert_msg(ptx_machine_run(m, 0, 0, 0) == PTX_DONE && ptx_machine_findings(m) == 0, "%s",
                rows[_i].body);
  ck_assert_int_eq(seen.n, LANES);
  ck_assert_msg(seen.data == rows[_i].lanes, "%s: lanes %08x, wanted %08x", rows[_i].body,
                seen.data, rows[_i].lanes);
  arena_free(arena);
}
END_TEST

Suite *suite_open_data(void) {
  Suite *suite = suite_create("open_data");
  TCase *tcase = tcase_create("data");
  tcase_add_loop_test(tcase, data_goes_with_the_value, 0, ROWS);
  suite_add_tcase(suite, tcase);
  return suite;
}
