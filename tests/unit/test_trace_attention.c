// The element tracer through two products: a score becomes an operand where it lies, and keys and
// values come from their own rows, at every rung of attention.
#include <check.h>

#include "base/random.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/trace.h"
#include "property.h"

Suite *suite_trace_attention(void);

// Every rung of attention, smaller, causal on the second round; on the first without the order of
// tiles that only causal attention has.
enum { ATTENTION_RUNGS = 20, NAIVE = 12, LOOKED_AT = 12 };

static const Model *attention_of(int rung, bool causal) {
  const Ladder *ladder = property_read_ladder("ladders/attention.json");
  ck_assert_int_eq(ladder->n_rungs, ATTENTION_RUNGS);
  Schedule schedule = ladder->rung[rung].schedule;
  Diags diags = diags_new(property_arena);
  ck_assert(schedule_parse(
      &schedule,
      causal ? "HEADS=2,M=512,N=512,CAUSAL=1" : "HEADS=2,M=400,N=512,CAUSAL=0,TILE_ORDER=group",
      &diags));
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(property_arena, &model->diags));
  return model;
}

// What lane and value have, by the tables of the fragments: rows of queries go to the lanes of a
// group of four, of a warpgroup's atom 16 rows to each warp.
static void is_owner(const Model *model, const TraceMove *move, AtomOperand operand, int64_t row,
                     int64_t col, const TracePlace *place) {
  const Atom *atom = model->program->product[operand == ATOM_A].atom;
  FragmentOwner owner = fragment_owner(atom, operand, (int)(row % atom->m),
                                       (int)(col % (operand == ATOM_A ? atom->k : atom->n)));
  ck_assert_int_eq(move->thread % (atom_warps(atom) * LANES), owner.lane);
  ck_assert_int_eq(place->index[place->buffer->rank - 1], owner.value);
}

// S[q][key] is where the sums' map says, becomes P[q][key] where operand A's map says, and no lane
// asks another one: both traces are the same move. O[q][d] goes where its address says.
START_TEST(a_score_becomes_an_operand) {
  const Model *model = attention_of(_i % ATTENTION_RUNGS, _i >= ATTENTION_RUNGS);
  const Program *program = model->program;
  const Grid *grid = grid_build(property_arena, model);
  if (program->n_kernels > 1) {  // S is another kernel's, and a matrix
    ck_assert_int_eq(_i % ATTENTION_RUNGS, NAIVE);
    return;
  }
  uint64_t random = (uint64_t)_i + 1;
  for (int i = 0; i < LOOKED_AT; i++) {
    int64_t q = random_between(&random, 0, program->problem.m - 1);
    int64_t key = random_between(&random, 0, 511),
            d = random_between(&random, 0, program->problem.k - 1);
    int64_t cta = grid_owner(grid, q / grid->tile_m, 0, 0);
    Trace scores[ATOM_OPERANDS], output[ATOM_OPERANDS];
    trace_product(property_arena, program, cta, (TraceAt){q, key, d, 0}, scores);
    trace_product(property_arena, program, cta, (TraceAt){q, d, key, 1}, output);
    ck_assert_int_eq(scores[ATOM_C].n_moves, 1);
    ck_assert_int_eq(output[ATOM_A].n_moves, 1);
    const TraceMove *becomes = &scores[ATOM_C].move[0];
    is_owner(model, becomes, ATOM_C, q, key, &becomes->from);
    is_owner(model, becomes, ATOM_A, q, key, &becomes->to);
    ck_assert_int_eq(becomes->from.offset, output[ATOM_A].move[0].from.offset);
    ck_assert_int_eq(becomes->to.offset, output[ATOM_A].move[0].to.offset);
    const Trace *o = &output[ATOM_C];
    ck_assert_int_ge(o->n_moves, 1);
    ck_assert_int_eq(o->move[o->n_moves - 1].to.offset, q * program->problem.k + d);
    ck_assert_int_eq(o->move[0].thread / 4, becomes->thread / 4);  // the lanes of a row
  }
}
END_TEST

// K and V come from the rows of the key, whatever block of keys it is in; what is last in
// registers is where operand B's map says.
START_TEST(keys_and_values_come_from_their_rows) {
  const Model *model = attention_of(_i % ATTENTION_RUNGS, _i >= ATTENTION_RUNGS);
  const Program *program = model->program;
  const Grid *grid = grid_build(property_arena, model);
  if (program->n_kernels > 1) {  // S is another kernel's, and a matrix
    ck_assert_int_eq(_i % ATTENTION_RUNGS, NAIVE);
    return;
  }
  uint64_t random = (uint64_t)_i + 77;
  for (int i = 0; i < LOOKED_AT; i++) {
    int64_t q = random_between(&random, 0, program->problem.m - 1);
    int64_t key = random_between(&random, 0, q),
            d = random_between(&random, 0, program->problem.k - 1);
    int64_t cta = grid_owner(grid, q / grid->tile_m, 0, 0);
    for (int product = 0; product < 2; product++) {
      TraceAt at = product ? (TraceAt){q, d, key, 1} : (TraceAt){q, key, d, 0};
      Trace trace = trace_element(property_arena, program, cta, ATOM_B, at);
      ck_assert_int_ge(trace.n_moves, 1);
      ck_assert_int_eq(trace.move[0].from.offset, key * program->problem.k + d);
      const TraceMove *last = &trace.move[trace.n_moves - 1];
      if (last->to.buffer->space != SPACE_REGISTER) continue;
      const Atom *atom = program->product[product].atom;
      FragmentOwner owner =
          fragment_owner(atom, ATOM_B, (int)(at.k % atom->k), (int)(at.j % atom->n));
      ck_assert_int_eq(last->thread % LANES, owner.lane);
      ck_assert_int_eq(last->to.index[last->to.buffer->rank - 1], owner.value);
    }
  }
}
END_TEST

Suite *suite_trace_attention(void) {
  Suite *suite = suite_create("trace_attention");
  TCase *tcase = tcase_create("trace_attention");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, a_score_becomes_an_operand, 0, 2 * ATTENTION_RUNGS);
  tcase_add_loop_test(tcase, keys_and_values_come_from_their_rows, 0, 2 * ATTENTION_RUNGS);
  suite_add_tcase(suite, tcase);
  return suite;
}
