// all loads, then all multiplies → each load of A next to the multiplies that need it.
//
// Requires: register_tile. Ensures: where the load of a and the multiply run over the same REGISTER
// variable, the two loops are one, load first. Preserves: the load of b in front.
//
// Worked example, FM = 26: instead of 26 loads and then 104 multiplies, 26 times one load and four
// multiplies. Compilers schedule the two forms alike at any level but -O0; the knob exists to show
// it. With an atom a row is a fragment of A, and one is held at a time: FM = 4 takes 4 registers
// for a of m16n8k16, not 16.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static Stmt **fma_link(Program *program, const Product *product, Stmt ***a_load) {
  const Axis *k = product->axis[AXIS_K];
  Stmt *fma_parent =
      stmt_find_loop(program_main_kernel(program)->body, k->digit[k->n_digits - 1].var);
  *a_load = stmt_find_read(product, ATOM_A, &fma_parent->body);
  return stmt_find_multiply(product, &fma_parent->body);
}

typedef struct First {
  const Buffer *fragment;
  const Expr *index;
} First;

static void at_first(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const First *first = context;
  if (access->buffer == first->fragment) access->idx[0] = first->index;
}

// All fragments of A take the place of the first.
static void keep_one(Program *program, Buffer *a, Stmt *read, Stmt *multiply) {
  First first = {a, ex_const(program->arena, 0)};
  a->dim[0] = 1;
  a->knob = KNOB_INTERLEAVE_LOADS;
  stmt_each_access(read, at_first, &first);
  stmt_each_access(multiply, at_first, &first);
}

bool pass_interleave_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_INTERLEAVE_LOADS] && schedule->value[KNOB_FM] > 1 &&
         schedule->value[KNOB_FRAG_BUFFER] == 1 &&
         !(schedule->value[KNOB_ATOM_KIND] && schedule->value[KNOB_FRAG_ORDER]);
}

void pass_interleave(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Stmt **load;
  Stmt *fma = *fma_link(program, product, &load);
  Stmt *loop = *load;
  if (loop->kind != STMT_LOOP || fma->kind != STMT_LOOP || loop->var != fma->var) return;
  Buffer *a = program_buffer(program, product->operand[ATOM_A].registers);
  if (product->atom) keep_one(program, a, loop->body, fma->body);
  stmt_cut(load);
  stmt_insert(&fma->body, loop->body);
  fma->knob = KNOB_INTERLEAVE_LOADS;
}
