// A step's factors, loaded by the byte or two → four of them by one load, for several steps.
//
// Requires: stage, a block-scaled atom of which a step takes fewer than four factors along K, and
// BK a multiple of the steps that four are for. Ensures: the loads stand under a condition, true in
// the first of those steps; the multiplication takes the bytes that are its own. Preserves: which
// factor is multiplied by what.
//
// Worked example, m16n8k32.mxf8, one factor a step: sfa[m_r, 0] = load SFA[…, k_o * 4 + k_i]
// becomes sfa[m_r, 0] = load SFA[…, k_o * 4]   4 B, if k_i % 4 < 1, and step 2 multiplies with byte
// 2 of it. A lane's four bytes are neighbours in a row of SFA, so that a sector serves eight steps
// either way. It saves three loads of four, and the instructions that put bytes into a register.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_SCALE_WORDS;

enum { WORD_FACTORS = 4 };

bool pass_scale_words_wanted(const Schedule *schedule) {
  Atom atom;
  return schedule->value[knob] && schedule->value[KNOB_STAGE] &&
         schedule_atom_is(schedule, &atom) && atom_scales(&atom) > 0 &&
         atom_scales(&atom) < WORD_FACTORS;
}

// Holds what all steps of a word have in common.
typedef struct Words {
  Program *program;
  const Var *step;
  int64_t steps;        // that a word is for
  const Expr *in_word;  // which of them a step is
  int factors;          // of each
} Words;

static void widen(Op *load, const Words *words) {
  Arena *arena = words->program->arena;
  const Expr *first =
      ex_mul_const(arena, ex_div(arena, ex_var(arena, words->step), words->steps), words->steps);
  load->width = WORD_FACTORS;
  for (int d = 0; d < load->src.buffer->rank; d++)
    load->src.idx[d] = expr_substitute(arena, load->src.idx[d], words->step, first);
}

static void take_bytes(Op *multiply, const Words *words) {
  for (int i = 0; i < 2; i++)
    multiply->scale[i].idx[1] = ex_mul_const(words->program->arena, words->in_word, words->factors);
}

static bool is_factor(const Stmt *stmt) {
  const Buffer *to = stmt->kind == STMT_OP ? stmt->op.dst.buffer : NULL;
  return to && (to->role == ROLE_FRAG_SFA || to->role == ROLE_FRAG_SFB);
}

// The load of a factor, or the loop over a warp's atoms around one.
static bool is_load(const Stmt *stmt) {
  return is_factor(stmt->kind == STMT_LOOP ? stmt->body : stmt);
}

static void rewrite(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Words *words = context;
  if (stmt->kind != STMT_OP) return;
  if (stmt->op.scale[0].buffer) take_bytes(&stmt->op, words);
  if (is_factor(stmt)) widen(&stmt->op, words);
}

void pass_scale_words(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Stmt *k_i = stmt_find_steps(product, program_slab_loop(program)->body);
  const int factors = atom_scales(product->atom);
  const int64_t steps = WORD_FACTORS / factors;
  const Words words = {program, k_i->var, steps, ex_mod(arena, ex_var(arena, k_i->var), steps),
                       factors};
  stmt_walk(k_i->body, rewrite, (void *)(uintptr_t)&words);
  Stmt *loads = NULL, **link = &k_i->body;
  while (*link && !is_load(*link)) link = &(*link)->next;
  while (*link && is_load(*link)) {
    Stmt *load = stmt_cut(link);
    loads = loads ? stmt_list(loads, load, NULL) : load;
  }
  stmt_insert(link, stmt_if(program, knob, ex_lt(arena, words.in_word, ex_const(arena, 1)), loads));
}
