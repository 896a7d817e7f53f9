// Which repairs of machine code are tried by one bit alone: registers and guards whose numbers
// differ in one bit.
//
//   k15 with LOP3.LUT R15, R10, 0x3fc instead of R11    R11 = 1011b, R15 = 1111b
//   0x750 reads R11, which nobody has written            so that 0x710 should write it
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "machine/mc_cubin.h"
#include "machine/mc_repair.h"
#include "machine_case.h"

Suite *suite_machine_repair(void);

enum { WRITER = 0x710 / 16, READER = 0x750 / 16, TRIALS_MOST = 4096 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const PtxModule *planted(void) {
  static const char was[] = "LOP3.LUT R11, R10, 0x3fc", is[] = "LOP3.LUT R15, R10, 0x3fc";
  size_t bytes = 0, length = 0;
  char *cubin = machine_case_file(arena, "k15", ".cubin", &bytes),
       *listing = machine_case_file(arena, "k15", ".sass", &length);
  char *at = strstr(listing, was);
  ck_assert_ptr_nonnull(at);
  memcpy(at, is, sizeof is - 1);
  Diags diags = diags_new(arena);
  McCubin of;
  ck_assert(mc_cubin_read(arena, cubin, bytes, &of));
  const PtxModule *module =
      machine_case_read(arena, cubin, bytes, listing, of.kernels[0].name, &diags);
  ck_assert_ptr_nonnull(module);
  return module;
}

typedef struct Counted {
  int left;  // trials until one is said to be right
} Counted;

static bool leaves(void *self, const PtxModule *module, int64_t *lanes) {
  (void)module;
  *lanes = 0;
  return ((Counted *)self)->left-- == 0;
}

// The trial of this number, as if it made the code right.
static McRepair trial(const PtxModule *module, int number, McRepairWhere where) {
  static const int hints[] = {WRITER, READER};
  return mc_repair(arena, module, leaves, &(Counted){number}, hints, 2, INT64_MAX / 2, where);
}

// The number that an instruction's bits have of a register or a predicate.
static int number_of(PtxArg reg) {
  if (reg >= MC_FRAME_T) return (reg - MC_FRAME_T) % MC_FRAME_UP;
  return reg < MC_FRAME_UR ? reg - MC_FRAME_R : reg - MC_FRAME_UR;
}

static bool is_one_bit(const McRepair *r) {
  return __builtin_popcount((unsigned)(number_of(r->was) ^ number_of(r->is))) == 1;
}

START_TEST(test_one_bit_is_one_bit) {
  const PtxModule *module = planted();
  int n = 0, guards = 0, registers = 0;
  for (McRepair r; n < TRIALS_MOST && (r = trial(module, n, MC_REPAIR_ONE_BIT)).found; n++) {
    const bool is_opposite = r.kind == MC_REPAIR_GUARD && r.was == r.is;
    ck_assert_msg(is_opposite || is_one_bit(&r), "0x%x: %s", 16 * r.pc, mc_repair_text(arena, &r));
    ck_assert_int_lt(r.pc, module->n_code);
    guards += r.kind == MC_REPAIR_GUARD && !is_opposite;
    registers += r.kind != MC_REPAIR_GUARD;
  }
  ck_assert_msg(n < TRIALS_MOST && guards > 0 && registers > 0, "%d guards, %d registers", guards,
                registers);
}
END_TEST

// What is tried by one bit is tried without that limit, too, and more beside it.
START_TEST(test_the_planted_bit_is_among_them) {
  const PtxModule *module = planted();
  for (int where = MC_REPAIR_ONE_BIT; where <= MC_REPAIR_NAMED; where++) {
    bool has_it = false;
    int others = 0;
    for (int n = 0; n < TRIALS_MOST && !(has_it && others); n++) {
      const McRepair r = trial(module, n, (McRepairWhere)where);
      if (!r.found) break;
      has_it |= r.kind == MC_REPAIR_RESULT && r.pc == WRITER && r.was == 15 && r.is == 11;
      others += r.kind != MC_REPAIR_GUARD && !is_one_bit(&r);
    }
    ck_assert(has_it && (others > 0) == (where == MC_REPAIR_NAMED));
  }
}
END_TEST

typedef struct Tried {
  const PtxModule *module;
  int pc[TRIALS_MOST], n;
} Tried;

// Notes which instruction is another one, and calls none of them right.
static bool note(void *self, const PtxModule *module, int64_t *lanes) {
  Tried *t = self;
  *lanes = 0;
  for (int pc = 0; pc < module->n_code && t->n < TRIALS_MOST; pc++)
    if (module->code[pc].run != t->module->code[pc].run && (!t->n || t->pc[t->n - 1] != pc))
      t->pc[t->n++] = pc;
  return false;
}

// Instructions in front of the one that is named, from the nearest on, then those behind it; then
// the same way once more for what registers held before.
START_TEST(test_a_sweep_goes_by_the_distance) {
  static const int hints[] = {READER};
  Tried *t = ARENA_NEW(arena, Tried);
  t->module = planted();
  mc_repair(arena, t->module, note, t, hints, 1, INT64_MAX / 2, MC_REPAIR_SWEEP);
  int last = -1, turns = 0, in_front = 0;
  for (int i = 0; i < t->n; i++) {
    const int at = t->pc[i] <= READER ? READER - t->pc[i] : t->pc[i];
    turns += at < last;
    in_front += turns == 1 && t->pc[i] < READER;
    last = at;
  }
  ck_assert_msg(turns == 1 && in_front > 0, "%d turns, %d tried, %d in front", turns, t->n,
                in_front);
}
END_TEST

Suite *suite_machine_repair(void) {
  Suite *suite = suite_create("machine_repair");
  TCase *tcase = tcase_create("one bit");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_one_bit_is_one_bit);
  tcase_add_test(tcase, test_the_planted_bit_is_among_them);
  tcase_add_test(tcase, test_a_sweep_goes_by_the_distance);
  suite_add_tcase(suite, tcase);
  return suite;
}
