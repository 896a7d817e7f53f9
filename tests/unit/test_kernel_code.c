// The loops of a cubin: written by hand, damaged, and as NVRTC makes them.
#include <check.h>
#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/kernel_code.h"
#include "model/ir/program.h"
#include "model/readings/cost/calibration.h"

Suite *suite_kernel_code(void);

enum { BYTES = 16 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- a cubin by hand ----------------------------------------------------------------------------

enum {
  FFMA = 0x223,
  LDG = 0x981,
  LDS = 0x984,
  LDL = 0x983,
  STL = 0x387,
  BRA = 0x947,
  IADD3 = 0x210
};

typedef struct Instruction {
  int opcode, stall;
  int opens;  // a scoreboard; 7: none
  int waits;  // bits
  int back;   // of a branch: how many instructions its target lies before it; less than 0: behind
} Instruction;

typedef struct Cubin {
  size_t n;
  unsigned char *bytes;
} Cubin;

static void put_instruction(unsigned char *to, const Instruction *from) {
  uint64_t low = (uint64_t)from->opcode, high = 0;
  if ((from->opcode & 0xFFF) == BRA) {
    const int64_t distance = -(int64_t)(from->back + 1) * BYTES / 4;
    low |= (uint64_t)(distance & 0xFF) << 16 | (uint64_t)(distance >> 8) << 34;
    high |= (uint64_t)(distance >> 8) >> 30 & 0x3FFFF;
  }
  high |= (uint64_t)from->stall << 41 | (uint64_t)from->opens << 46 | UINT64_C(7) << 49 |
          (uint64_t)from->waits << 52;
  memcpy(to, &low, sizeof low);
  memcpy(to + sizeof low, &high, sizeof high);
}

static Cubin cubin_of(const Instruction *code, int n) {
  static const char names[] = "\0.shstrtab\0.text.other\0.text.k";
  enum { OF_NAMES = 1, OF_K = 23 };
  Cubin out = {.n = sizeof(Elf64_Ehdr) + sizeof names + (size_t)n * BYTES + 3 * sizeof(Elf64_Shdr)};
  out.bytes = malloc(out.n);
  ck_assert_ptr_nonnull(out.bytes);
  const Elf64_Off at_names = sizeof(Elf64_Ehdr), at_code = at_names + sizeof names,
                  at_sections = at_code + (size_t)n * BYTES;
  const Elf64_Ehdr head = {.e_ident = {0x7F, 'E', 'L', 'F'},
                           .e_shoff = at_sections,
                           .e_shnum = 3,
                           .e_shstrndx = 1,
                           .e_shentsize = sizeof(Elf64_Shdr)};
  const Elf64_Shdr sections[3] = {
      {.sh_type = SHT_NULL},
      {.sh_name = OF_NAMES, .sh_type = SHT_STRTAB, .sh_offset = at_names, .sh_size = sizeof names},
      {.sh_name = OF_K,
       .sh_type = SHT_PROGBITS,
       .sh_offset = at_code,
       .sh_size = (size_t)n * BYTES}};
  memcpy(out.bytes, &head, sizeof head);
  memcpy(out.bytes + at_names, names, sizeof names);
  for (int i = 0; i < n; i++) put_instruction(out.bytes + at_code + i * BYTES, &code[i]);
  memcpy(out.bytes + at_sections, sections, sizeof sections);
  return out;
}

static CompiledCode read_code(const Instruction *code, int n) {
  const Cubin cubin = cubin_of(code, n);
  const CompiledCode out = kernel_reading(cubin.bytes, cubin.n, "k").code;
  free(cubin.bytes);
  return out;
}

// Two values loaded together, or one after the other: one wait for memory a turn, or two.
START_TEST(loads_that_stand_together_are_waited_for_once) {
  static const Instruction together[] = {{LDG, 2, 0, 0, 0},
                                         {LDG, 2, 1, 0, 0},
                                         {FFMA, 4, 7, 1, 0},
                                         {FFMA, 4, 7, 2, 0},
                                         {BRA, 5, 7, 0, 4}};
  static const Instruction apart[] = {{LDG, 2, 0, 0, 0},
                                      {FFMA, 4, 7, 1, 0},
                                      {LDG, 2, 1, 0, 0},
                                      {FFMA, 4, 7, 2, 0},
                                      {BRA, 5, 7, 0, 4}};
  const CompiledLoop one = read_code(together, 5).inner, two = read_code(apart, 5).inner;
  ck_assert_int_eq(one.multiplies, 2);
  ck_assert_int_eq(one.instructions, 5);
  ck_assert_double_eq(one.near_clocks, COMPILED_NEAR_CLOCKS + 4 + 4 + 5);
  ck_assert_double_eq(one.far_clocks - one.near_clocks, COMPILED_FAR_CLOCKS - COMPILED_NEAR_CLOCKS);
  ck_assert_double_eq(two.far_clocks - two.near_clocks,
                      2 * (COMPILED_FAR_CLOCKS - COMPILED_NEAR_CLOCKS));
}
END_TEST

START_TEST(the_loop_around_has_what_is_its_own) {
  static const Instruction code[] = {{IADD3, 4, 7, 0, 0}, {STL, 1, 7, 0, 0}, {FFMA, 4, 7, 0, 0},
                                     {FFMA, 4, 7, 0, 0},  {BRA, 5, 7, 0, 2}, {FFMA, 4, 7, 0, 0},
                                     {BRA, 5, 7, 0, 5}};
  const CompiledCode its = read_code(code, 7);
  ck_assert_int_eq(its.inner.multiplies, 2);
  ck_assert_int_eq(its.inner.instructions, 3);
  ck_assert_int_eq(its.inner.spills, 0);
  ck_assert_int_eq(its.outer.multiplies, 1);
  ck_assert_int_eq(its.outer.instructions, 3);
  ck_assert_int_eq(its.outer.spills, 1);
  ck_assert_double_eq(its.inner.near_clocks, 13);
}
END_TEST

// ptxas puts the second try of a wait behind the kernel's end. Its branch back into the middle of
// the loop around makes no loop, though it would be shorter than that one.
START_TEST(a_wait_behind_the_end_is_no_loop) {
  enum { EXIT = 0x94d, ALWAYS = 7 << 12 };
  static const Instruction code[] = {
      {IADD3, 4, 7, 0, 0},          // 0: the loop around begins
      {IADD3, 4, 7, 0, 0},          //
      {IADD3, 4, 7, 0, 0},          //
      {BRA, 5, 7, 0, -6},           // 3: the wait failed, on to 9
      {FFMA, 4, 7, 0, 0},           // 4: the loop that multiplies
      {BRA, 5, 7, 0, 1},            // 5: back to 4
      {IADD3, 4, 7, 0, 0},          //
      {BRA, 5, 7, 0, 7},            // 7: back to 0
      {EXIT | ALWAYS, 5, 7, 0, 0},  //
      {BRA, 5, 7, 0, 0},            // 9: tries again
      {BRA | ALWAYS, 5, 7, 0, 6},   // 10: back to 4
  };
  const CompiledCode its = read_code(code, 11);
  ck_assert_int_eq(its.inner.multiplies, 1);
  ck_assert_int_eq(its.inner.instructions, 2);
  ck_assert_int_eq(its.outer.instructions, 6);
}
END_TEST

START_TEST(code_without_a_loop_is_one_turn) {
  static const Instruction code[] = {{LDS, 2, 0, 0, 0}, {FFMA, 4, 7, 1, 0}, {FFMA, 4, 7, 0, 0}};
  const CompiledCode its = read_code(code, 3);
  ck_assert_int_eq(its.inner.multiplies, 2);
  ck_assert_int_eq(its.inner.instructions, 3);
  ck_assert_int_eq(its.outer.instructions, 0);
  ck_assert_double_eq(its.inner.near_clocks, 29 + 4 + 4);
  static const Instruction none[] = {{IADD3, 4, 7, 0, 0}, {BRA, 5, 7, 0, 1}};
  ck_assert_int_eq(read_code(none, 2).inner.multiplies, 0);
}
END_TEST

// Spills in front of the loop that multiplies, in it, and behind it.
START_TEST(spills_stand_where_they_stand) {
  static const Instruction code[] = {{STL, 1, 7, 0, 0},  {STL, 1, 7, 0, 0},  {LDL, 1, 0, 0, 0},
                                     {FFMA, 4, 7, 1, 0}, {STL, 1, 7, 0, 0},  {BRA, 5, 7, 0, 3},
                                     {LDL, 1, 0, 0, 0},  {IADD3, 4, 7, 0, 0}};
  const Cubin cubin = cubin_of(code, 8);
  const CompiledSpills at = kernel_reading(cubin.bytes, cubin.n, "k").spills;
  free(cubin.bytes);
  ck_assert_int_eq(at.before.stores, 2);
  ck_assert_int_eq(at.before.loads, 0);
  ck_assert_int_eq(at.loop.stores, 1);
  ck_assert_int_eq(at.loop.loads, 1);
  ck_assert_int_eq(at.behind.loads, 1);
}
END_TEST

// Until sm_90 a branch has its whole distance in one place: the same loop, as sm_86 has it.
START_TEST(branches_of_older_architectures_are_read) {
  static const Instruction code[] = {{IADD3, 4, 7, 0, 0}, {FFMA, 4, 7, 0, 0}, {BRA, 5, 7, 0, 1}};
  Cubin cubin = cubin_of(code, 3);
  Elf64_Ehdr head;
  memcpy(&head, cubin.bytes, sizeof head);
  head.e_machine = EM_CUDA;
  head.e_flags = 0x6005604;
  head.e_ident[EI_ABIVERSION] = 8;
  memcpy(cubin.bytes, &head, sizeof head);
  const uint64_t low = BRA | (uint64_t)(-2 * BYTES / 4) << 34, high = UINT64_C(5) << 41 | 0x3FFFF;
  unsigned char *branch = memmem(cubin.bytes, cubin.n, "\x47\x09", 2);
  ck_assert_ptr_nonnull(branch);
  memcpy(branch, &low, sizeof low);
  memcpy(branch + sizeof low, &high, sizeof high);
  const CompiledCode its = kernel_reading(cubin.bytes, cubin.n, "k").code;
  free(cubin.bytes);
  ck_assert_int_eq(its.inner.multiplies, 1);
  ck_assert_int_eq(its.inner.instructions, 2);
}
END_TEST

START_TEST(damaged_cubins_have_no_code) {
  static const Instruction code[] = {{FFMA, 4, 7, 0, 0}, {BRA, 5, 7, 0, 1}};
  const Cubin cubin = cubin_of(code, 2);
  ck_assert_int_eq(kernel_reading(cubin.bytes, cubin.n, "k").code.inner.multiplies, 1);
  ck_assert_int_eq(kernel_reading(cubin.bytes, cubin.n, "nobody").code.inner.multiplies, 0);
  ck_assert_int_eq(kernel_reading(NULL, 0, "k").code.inner.multiplies, 0);
  for (size_t n = 0; n < cubin.n; n++) {
    unsigned char *cut = malloc(n ? n : 1);
    memcpy(cut, cubin.bytes, n);
    ck_assert_int_eq(kernel_reading(cut, n, "k").code.inner.multiplies, 0);
    free(cut);
  }
  for (size_t i = 0; i < cubin.n; i++)
    for (int bit = 0; bit < 8; bit++) {
      cubin.bytes[i] ^= (unsigned char)(1 << bit);
      (void)kernel_reading(cubin.bytes, cubin.n, "k").code;
      cubin.bytes[i] ^= (unsigned char)(1 << bit);
    }
  free(cubin.bytes);
}
END_TEST

START_TEST(loops_are_read_from_their_text_or_not_at_all) {
  const CompiledCode its = {{64, 100, 2, 310.5, 1602}, {0, 40, 0, 120, 120}};
  CompiledCode read;
  ck_assert(compiled_code_read(compiled_code_text(arena, &its), &read));
  ck_assert_mem_eq(&read.inner.multiplies, &its.inner.multiplies, 3 * sizeof(int));
  ck_assert_double_eq(read.inner.far_clocks, 1602);
  ck_assert_int_eq(read.outer.instructions, 40);
  static const char *const good[] = {"200 100 0 310.5 1602 80 40 0 120 120", "0 0 0 0 0 0 0 0 0 0",
                                     "1 1 7 5 5 0 0 0 0 999999999"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ck_assert_msg(compiled_code_read(good[i], &read), "%s", good[i]);
    CompiledCode again;
    ck_assert(compiled_code_read(compiled_code_text(arena, &read), &again));
    ck_assert_str_eq(compiled_code_text(arena, &again), good[i]);
  }
  static const char *const bad[] = {"",
                                    "1",
                                    "64 100 2 310.5 1602 0 40 0 120",
                                    "a b",
                                    "64 100 2 310.5 1602 0 40 0 120 120 7",
                                    "64 100 -2 310.5 1602 0 40 0 120 120",
                                    "64 100 2 1602 310.5 0 40 0 120 120",
                                    "64 100 2 nan nan 0 40 0 120 120",
                                    "201 100 2 310.5 1602 0 40 0 120 120",
                                    "-1 100 2 310.5 1602 0 40 0 120 120",
                                    "64 100 2 -0.5 1602 0 40 0 120 120",
                                    "64 100 2 310.5 1e9 0 40 0 120 120",
                                    "64 100 2 310.5 1602 81 40 0 120 120",
                                    "64 100 2 310.5 1602 0 40 -1 120 120",
                                    "64 100 2 310.5 1602 0 40 0 120 119",
                                    "999 100 2 310.5 1602 0 40 0 120 120"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_msg(!compiled_code_read(bad[i], &read), "%s", bad[i]);
    ck_assert_int_eq(read.inner.instructions, 0);
  }
}
END_TEST

static int read_length(const Instruction *code, int n, const char *kernel) {
  const Cubin cubin = cubin_of(code, n);
  const int out = kernel_reading(cubin.bytes, cubin.n, kernel).instructions;
  free(cubin.bytes);
  return out;
}

// The branch to itself and the NOPs behind the end are no instructions of the kernel; a NOP inside
// is, and so is a loop at its end.
START_TEST(a_length_leaves_out_what_fills_up) {
  enum { NOP = 0x918, ITSELF = 0 };
  static const Instruction filled[] = {{FFMA, 4, 7, 0, 0}, {NOP, 1, 7, 0, 0},
                                       {FFMA, 4, 7, 0, 0}, {BRA, 5, 7, 0, ITSELF},
                                       {NOP, 1, 7, 0, 0},  {NOP, 1, 7, 0, 0}};
  static const Instruction loop[] = {{FFMA, 4, 7, 0, 0}, {BRA, 5, 7, 0, 1}};
  ck_assert_int_eq(read_length(filled, 6, "k"), 3);
  ck_assert_int_eq(read_length(loop, 2, "k"), 2);
  ck_assert_int_eq(read_length(loop, 2, "another"), -1);
}
END_TEST

// What ptxas does not count as spilled is not told as a spill, whatever is stored to local memory.
START_TEST(a_store_to_the_stack_is_no_spill) {
  static const Instruction code[] = {{STL, 1, 7, 0, 0}, {FFMA, 4, 7, 0, 0}, {BRA, 5, 7, 0, 1}};
  static const struct {
    int stores, loads, told;
  } cases[] = {{0, 0, 0}, {4, 0, 1}, {0, 4, 1}, {-1, -1, 1}};
  const Cubin cubin = cubin_of(code, 3);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CompileResult result = {.cubin = cubin.bytes, .cubin_bytes = cubin.n, .n_kernels = 1};
    result.kernels[0] = (KernelResources){
        .name = "k", .spill_store_bytes = cases[i].stores, .spill_load_bytes = cases[i].loads};
    compile_read_cubin(&result);
    const CompiledSpills *is = &result.kernels[0].spills;
    ck_assert_int_eq(is->before.stores + is->loop.stores, cases[i].told);
    ck_assert_int_eq(result.kernels[0].instructions, 3);
  }
  free(cubin.bytes);
}
END_TEST

// ---- as NVRTC makes it --------------------------------------------------------------------------

// All that a warp multiplies in a slab is whole turns of the loops that were read.
static bool check_state(const TargetTable *targets, const char *text) {
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(arena, &diags));
  const Model *model = model_build(arena, targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", text, diags_text(arena, &model->diags));
  const Plan *plan = plan_from_model(arena, model, "");
  const CompileResult *result = compile_once(arena, plan, COMPILE_CUBIN);
  if (!result->compiler) return false;
  ck_assert_msg(result->ok, "%s", result->error);
  const CompiledCode *code = &result->kernels[model->program->main_kernel].code;
  const CalibrationBasis basis = calibration_basis(model);
  const double of_slab = basis.traffic.slab_fma / basis.multiply_fma /
                         (double)basis.resources.n_consumers,
               turns = (of_slab - code->outer.multiplies) / code->inner.multiplies,
               slabs = basis.traffic.flop / 2 / basis.traffic.slab_fma /
                       (double)basis.resources.n_blocks,
               alone = of_slab * slabs / code->inner.multiplies;
  const bool whole = turns >= 1 && fabs(turns - round(turns)) < 1e-9,
             whole_alone = alone >= 1 && fabs(alone - round(alone)) < 1e-9;
  ck_assert_msg(code->inner.multiplies > 0 && (whole || whole_alone),
                "%s: %g multiplies a slab, loops of %d and %d", text, of_slab,
                code->inner.multiplies, code->outer.multiplies);
  return true;
}

START_TEST(compiled_loops_make_all_multiplies) {
  static const char *const states[] = {
      "M=1024,N=1024,K=1024,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,VECTORIZE=1",
      "M=1024,N=1024,K=1024,BM=16,BN=16,FM=1,FN=1,BK=32,STAGE=10,UNROLL_K=4",
      "M=1024,N=1024,K=1024,DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=2,"
      "STAGE=11,LDMATRIX=1",
      "M=1024,N=1024,K=1024,DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=2,FN=4,BK=4,"
      "STAGE=11,LDMATRIX=1,UNROLL_K=1"};
  Diags diags = diags_new(arena);
  TargetTable targets;
  const EmbeddedFile *embedded = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, embedded->text, embedded->size, &diags, &targets));
  int n = 0;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) n += check_state(&targets, states[i]);
  bool found;
  nvrtc_describe(arena, &found);
  if (found) ck_assert_int_eq(n, (int)(sizeof states / sizeof *states));
}
END_TEST

Suite *suite_kernel_code(void) {
  Suite *suite = suite_create("kernel_code");
  TCase *cases = tcase_create("kernel_code");
  tcase_add_checked_fixture(cases, setup, teardown);
  tcase_set_timeout(cases, 120);
  tcase_add_test(cases, loads_that_stand_together_are_waited_for_once);
  tcase_add_test(cases, the_loop_around_has_what_is_its_own);
  tcase_add_test(cases, a_wait_behind_the_end_is_no_loop);
  tcase_add_test(cases, code_without_a_loop_is_one_turn);
  tcase_add_test(cases, spills_stand_where_they_stand);
  tcase_add_test(cases, branches_of_older_architectures_are_read);
  tcase_add_test(cases, damaged_cubins_have_no_code);
  tcase_add_test(cases, loops_are_read_from_their_text_or_not_at_all);
  tcase_add_test(cases, a_store_to_the_stack_is_no_spill);
  tcase_add_test(cases, a_length_leaves_out_what_fills_up);
  tcase_add_test(cases, compiled_loops_make_all_multiplies);
  suite_add_tcase(suite, cases);
  return suite;
}
