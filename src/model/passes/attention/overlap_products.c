// One product behind the other, and the softmax between → both products of two blocks of keys in
// flight under the softmax (FlashAttention-3: pipelining inside of a warpgroup, and ping-pong).
//
// Requires: fuse, warp_specialize, each product as one group of wgmma. Ensures: the loop over
// blocks of keys asks for the scores of the next block and then for O of this one; rows are weighed
// when the first group has ended and the second may not have. The first block's scores stand in
// front of the loop, the last block's O behind it. Preserves: what the producer does, who fetches K
// and V in the same order; the rows, which see block after block.
//
// Worked example, three blocks, S the products of scores, W the weighing, O those of values:
//   before   S0 W0 O0  S1 W1 O1  S2 W2 O2
//   after    S0 W0 | S1 O0 W1 | S2 O1 W2 | O2     O0 is waited for behind W1, O1 behind W2
//
// The wait for O, its rescaling and the weights as operand A begin a turn of the loop and do not
// end one: where powers of two and that wait stand in one piece of straight code, the assembler
// moves the wait up in front of the powers, to rescale between them (nvcc 13.0, sm_90a), and
// nothing is weighed under a product.
//
// ROLE_SCHEDULE=pingpong: warpgroups ask for both products of a block in turns (asking_turns.h).
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/attention/asking_turns.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_MMA_GROUPS;

// The statements from *list on up to one, which is the last of them, cut out.
static Stmt *take_through(Stmt **list, Stmt *last) {
  Stmt *first = *list;
  *list = last->next;
  last->next = NULL;
  return first;
}

static Stmt *take_through_op(Stmt **list, OpKind kind, BufferRole role) {
  return take_through(list, *stmt_find_link(list, kind, role));
}

// Holds what the loop over blocks of keys does, in its order.
typedef struct Parts {
  Stmt *ask_scores;    // waits for K, fence, wgmma, commit
  Stmt *scores_there;  // wait for the group, and the release of K
  Stmt *weigh;         // rows of scores, and the sums of weights
  Stmt *rescale;       // O
  Stmt *wait_values;   // for V
  Stmt *relayout;      // weights as operand A
  Stmt *ask_values;    // fence, wgmma, commit
  Stmt *values_there;  // wait for the group
  Stmt *release;       // of V
} Parts;

static Parts take_apart(Stmt **list) {
  Parts parts = {.ask_scores = take_through_op(list, OP_WG_COMMIT, ROLE_COUNT),
                 .scores_there = take_through_op(list, OP_MBAR_ARRIVE, ROLE_EMPTY)};
  Stmt **rescale = stmt_find_link(list, OP_MUL, ROLE_ACC);
  parts.rescale = stmt_cut(rescale);
  parts.wait_values = stmt_cut(stmt_find_link(list, OP_MBAR_WAIT, ROLE_FULL));
  parts.relayout = stmt_cut(stmt_find_link(list, OP_CONVERT, ROLE_FRAG_P));
  Stmt **values = stmt_find_link(list, OP_WG_FENCE, ROLE_COUNT);
  parts.ask_values = take_through_op(values, OP_WG_COMMIT, ROLE_COUNT);
  parts.values_there = take_through_op(values, OP_WG_WAIT, ROLE_COUNT);
  parts.release = stmt_cut(values);
  parts.weigh = *list;
  *list = NULL;
  return parts;
}

static Stmt *noted(Stmt *list, const char *note) {
  list->note = note;
  return list;
}

// ---- the loop -----------------------------------------------------------------------------------

// O of the block before is there, and was summed with the maximum of that block.
static Stmt *take_over(Program *program, const Parts *parts) {
  return stmt_list(stmt_copy_list(program, parts->rescale),
                   stmt_copy_list(program, parts->relayout), NULL);
}

static Stmt *ask_for_both(Program *program, const Parts *parts, const Stmt *walk, const Expr *next,
                          const AskingTurns *turns) {
  Stmt *scores = stmt_copy_for(program, parts->ask_scores, walk->var, next);
  if (turns->begin)
    stmt_insert(stmt_find_link(&scores, OP_WG_FENCE, ROLE_COUNT),
                stmt_copy_list(program, turns->begin));
  Stmt *values = stmt_list(stmt_copy_list(program, parts->wait_values),
                           stmt_copy_list(program, parts->ask_values),
                           turns->end ? stmt_copy_list(program, turns->end) : NULL, NULL);
  return stmt_list(scores, noted(values, "O of this block stands behind the next one's scores"),
                   NULL);
}

// The first block's scores, in front of the loop; `hide` says which are hidden, NULL: none.
static Stmt *first_scores(Program *program, const Parts *parts, const Stmt *walk,
                          const Stmt *hide) {
  const Expr *zero = ex_const(program->arena, 0);
  Stmt *hidden = hide ? stmt_copy_for(program, hide, walk->var, zero) : NULL;
  if (hidden && hidden->kind == STMT_IF && expr_is_const(hidden->expr, 0)) hidden = NULL;
  Stmt *weigh = stmt_copy_for(program, parts->weigh, walk->var, zero);
  return stmt_list(stmt_copy_for(program, parts->ask_scores, walk->var, zero),
                   stmt_copy_for(program, parts->scores_there, walk->var, zero),
                   hidden ? hidden : weigh, hidden ? weigh : NULL, NULL);
}

// The last block's O, behind it.
static Stmt *last_values(Program *program, const Parts *parts, const Stmt *walk, const Expr *last) {
  return stmt_list(stmt_copy_list(program, parts->values_there), take_over(program, parts),
                   stmt_copy_for(program, parts->wait_values, walk->var, last),
                   stmt_copy_for(program, parts->ask_values, walk->var, last),
                   stmt_copy_list(program, parts->values_there), NULL);
}

// One turn: O of a block of keys, and the scores of the next; `hide` hides keys there.
static Stmt *turn_of(Program *program, const Parts *parts, const Stmt *walk, Var *next,
                     const AskingTurns *turns, const Stmt *hide) {
  Arena *arena = program->arena;
  const Expr *block = ex_var(arena, next);
  Stmt *there = stmt_copy_for(program, parts->scores_there, walk->var, block);
  there->op.groups = 1;
  Stmt *weigh = stmt_copy_for(program, parts->weigh, walk->var, block);
  if (hide) weigh = stmt_list(stmt_copy_for(program, hide, walk->var, block), weigh, NULL);
  Stmt *turn = stmt_let(program, knob, next, ex_add_const(arena, ex_var(arena, walk->var), 1));
  stmt_list(turn, stmt_copy_list(program, parts->values_there),
            groups_release_before(program, stmt_copy_list(program, parts->release), walk),
            take_over(program, parts), ask_for_both(program, parts, walk, block, turns),
            noted(there, "the scores are there, O is still summed"), weigh, NULL);
  return turn;
}

// ---- turns of which some scores are hidden ------------------------------------------------------

// Tells what hides scores, cut from the beginning of the weighing; NULL: all are seen.
static Stmt *take_hiding(Parts *parts) {
  Stmt **hide = stmt_find_link(&parts->weigh, OP_INIT, ROLE_SCORE);
  return hide ? stmt_cut(hide) : NULL;
}

// The number of blocks of keys that all queries of the block see to the last key, from the first
// on.
static const Expr *seen_blocks(Program *program) {
  Arena *arena = program->arena;
  const Problem *problem = &program->problem;
  const Product *scores = &program->product[0];
  const int64_t keys = axis_tile(scores->axis[AXIS_N]);
  if (!problem->causal) return ex_const(arena, problem->n / keys);
  const Expr *first = axis_outside(program, scores->axis[AXIS_M]);
  return ex_div(arena, ex_add_const(arena, first, problem->n - problem->m + 1), keys);
}

// The most turns that hide some: they begin with the block of keys that has the first query's last
// key, and end with the block that has the last query's.
static int64_t hiding_turns_max(const Program *program, int64_t turns) {
  const Product *scores = &program->product[0];
  const int64_t keys = axis_tile(scores->axis[AXIS_N]);
  const int64_t queries = program->problem.causal ? axis_tile(scores->axis[AXIS_M]) : 1;
  return min64(turns, (queries + keys - 2) / keys + 1);
}

// The turns that ask for scores of which some are hidden stand in a loop of their own behind the
// others, without the condition under which warps jump over the comparisons: a loop that has them
// between its products is serialized by the assembler (nvcc 13.0, sm_90a, C7514), which costs a
// quarter of the speed. Worked example, causal, blocks of 128 queries and of 128 keys: block q_b of
// queries has q_b turns, and the last one hides.
static Stmt *hiding_turns(Program *program, const Stmt *walk, const Expr *last, Var **block) {
  Arena *arena = program->arena;
  const int64_t most = hiding_turns_max(program, walk->var->extent);
  Var *turn = program_var(program, "t_h", VAR_LOOP, walk->var->tier, most);
  *block = program_var(program, "t_s", VAR_LET, walk->var->tier, walk->var->extent);
  const Expr *at = ex_add(arena, walk->end, ex_var(arena, turn));
  Stmt *loop = stmt_loop(program, knob, turn, stmt_let(program, knob, *block, at));
  loop->end = ex_sub(arena, last, walk->end);
  return noted(loop, "blocks of keys of which some are hidden");
}

// The number of turns in front of those.
static Stmt *seeing_turns(Program *program, Stmt *walk, const Expr *last) {
  Arena *arena = program->arena;
  const Expr *zero = ex_const(arena, 0);
  const Expr *turns = ex_add_const(arena, ex_min(arena, seen_blocks(program), last), -1);
  Var *seen = program_var(program, "seen", VAR_LET, walk->var->tier, walk->var->extent);
  walk->end = ex_var(arena, seen);
  return stmt_let(program, knob, seen, ex_select(arena, ex_lt(arena, zero, turns), turns, zero));
}

// ---- the kernel ---------------------------------------------------------------------------------

void overlap_products(Program *program, const Schedule *schedule) {
  Stmt *walk = program_slab_loop(program);
  if (walk->var->extent == 1) return;  // there is no next block
  Parts parts = take_apart(&walk->body);
  const AskingTurns turns = asking_turns(program, schedule);
  const Expr *last = ex_add_const(program->arena, stmt_loop_end(program->arena, walk), -1);
  Var *next = program_var(program, "t_n", VAR_LET, walk->var->tier, walk->var->extent);
  Stmt **list = &kernel_inner(program_main_kernel(program))->body;
  Stmt *hide = take_hiding(&parts);
  stmt_insert(&walk->next, last_values(program, &parts, walk, last));
  stmt_insert(stmt_link_to(list, walk), first_scores(program, &parts, walk, hide));
  asking_turns_begin(program, walk, &turns);
  walk->body = turn_of(program, &parts, walk, next, &turns, NULL);
  walk->end = last;
  if (!hide) return;
  if (hide->kind == STMT_IF) hide = hide->body;
  stmt_insert(stmt_link_to(list, walk), seeing_turns(program, walk, last));
  Var *block;
  Stmt *hiding = hiding_turns(program, walk, last, &block);
  hiding->body->next = stmt_copy_for(program, turn_of(program, &parts, walk, next, &turns, hide),
                                     walk->var, ex_var(program->arena, block));
  stmt_insert(&walk->next, hiding);
}
