// What barriers are for: held against the interpreter, which loses what a barrier guards when it is
// taken away, and against sentences written by hand.
#include <check.h>
#include <string.h>

#include "emit_cases.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/time/barrier_use.h"

Suite *suite_barrier_use(void);

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test barrier uses");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

#define ATTENTION                                                                                 \
  "AUTO=0,PROGRAM=attention,M=32,N=96,K=32,ATOM_KIND=mma_m16n8k16_f16,FUSE=1,STAGE=11,SWIZZLE=2," \
  "LDMATRIX=2,WM=2,FN=4,"
#define MATMUL "AUTO=0,M=40,N=40,K=40,BM=4,BN=8,FM=4,FN=2,BK=8,"

// The uses of all barriers of the block, in their order.
static const struct {
  const char *state, *uses;
} rows[] = {
    {ATTENTION "ASYNC_COPY=1,EAGER_KV=1",
     "Q_s and K_s are filled, V_s read to the end; V_s is filled, K_s read to the end"},
    {MATMUL "STAGE=11", "A_s and B_s are filled; A_s and B_s are read to the end"},
    {MATMUL "STAGE=10", "A_s is filled; A_s is read to the end"},
    {MATMUL "STAGE=11,PIPELINE_STAGES=1,BUFFER_COUNT=2",
     "A_s and B_s are filled; A_s and B_s are filled, A_s and B_s read to the end"},
    {MATMUL "STAGE=11,ASYNC_COPY=1,BUFFER_COUNT=3",
     "A_s and B_s are filled, A_s and B_s read to the end"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

START_TEST(it_names_the_slabs) {
  const Program *program = emit_state(&cases, rows[_i].state)->program;
  const BarrierUses uses = barrier_uses(program);
  const char *all = "";
  for (int i = 0; i < uses.n; i++)
    all = arena_printf(arena, "%s%s%s", all, i ? "; " : "", barrier_use_text(arena, &uses.use[i]));
  ck_assert_str_eq(all, rows[_i].uses);
}
END_TEST

// The link of a statement of the program, by its id.
static Stmt **link_of(Stmt **list, int id) {
  for (; *list; list = &(*list)->next) {
    if ((*list)->id == id) return list;
    Stmt **inside = (*list)->body ? link_of(&(*list)->body, id) : NULL;
    if (inside) return inside;
  }
  return NULL;
}

static bool tells(const InterpCheck *check, const Buffer *buffer) {
  for (int i = 0; i < check->n_findings; i++)
    if (strstr(check->finding[i].text, buffer->name)) return true;
  return false;
}

// Taken away, each barrier is missed by just those slabs that it is said to be for.
START_TEST(its_slabs_are_lost_without_it) {
  const Program *program = emit_state(&cases, rows[_i].state)->program;
  const BarrierUses uses = barrier_uses(program);
  ck_assert_int_gt(uses.n, 0);
  for (int i = 0; i < uses.n; i++) {
    const BarrierUse *use = &uses.use[i];
    Program *without = program_clone(arena, program);
    stmt_cut(link_of(&without->kernel[without->main_kernel].body, use->barrier->id));
    const InterpCheck check = interpret_check(arena, without, &(InterpOptions){.seed = 1});
    ck_assert_msg(!check.ok, "%s: nobody misses barrier %d", rows[_i].state, i);
    bool told = false;
    for (int k = 0; k < use->n_filled; k++) told = told || tells(&check, use->filled[k]);
    for (int k = 0; k < use->n_left; k++) told = told || tells(&check, use->left[k]);
    ck_assert_msg(told, "%s, barrier %d: %s", rows[_i].state, i, check.finding[0].text);
    for (int b = 0; b < program->n_buffers; b++) {
      const Buffer *other = program->buffer[b];
      bool named = strstr(barrier_use_text(arena, use), other->name);
      if (other->space != SPACE_SHARED || named) continue;
      ck_assert_msg(!tells(&check, other), "%s, barrier %d guards %s, too", rows[_i].state, i,
                    other->name);
    }
  }
}
END_TEST

// Consumers' barrier around the epilogue's slab, which no other role meets at.
START_TEST(roles_meet_apart) {
  const Program *program =
      emit_state(&cases,
                 "AUTO=0,TARGET=h200,M=512,N=512,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,"
                 "ATOM_N=128,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=2,WARP_SPECIALIZE=1,"
                 "PERSISTENT=1,EPILOGUE=1,TMA_STORE=1")
          ->program;
  const BarrierUses uses = barrier_uses(program);
  bool filled = false;
  for (int i = 0; i < uses.n; i++) {
    const char *text = barrier_use_text(arena, &uses.use[i]);
    filled = filled || strstr(text, "C_s is filled");
    ck_assert_msg(!strstr(text, "A_s"), "%s", text);
  }
  ck_assert(filled);
}
END_TEST

Suite *suite_barrier_use(void) {
  Suite *suite = suite_create("barrier_use");
  TCase *tc = tcase_create("uses");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_loop_test(tc, it_names_the_slabs, 0, N_ROWS);
  tcase_add_loop_test(tc, its_slabs_are_lost_without_it, 0, N_ROWS);
  tcase_add_test(tc, roles_meet_apart);
  suite_add_tcase(suite, tc);
  return suite;
}
