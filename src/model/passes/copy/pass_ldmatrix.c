// Fragments by plain loads → fragments by ldmatrix.
//
// Requires: stage. Ensures: each fragment of a staged operand is read by one LDMATRIX, or two
// fragments of B by one (.x4, LDMATRIX = 2). Lane l gives the address of one 16-byte row; registers
// arrive as the atom wants them (fragment.h). Where B lies with n running along the row it is
// transposed on the way (.trans), which elements of 16 bits alone can be; others keep their plain
// loads.
//
// Worked example, A of m16n8k16: lane l addresses row l % 16, column l / 16 · 8, instead of eight
// 4-byte loads of rows that are 8 apart.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_LDMATRIX;

bool pass_ldmatrix_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_LDMATRIX] > 0 && schedule->value[KNOB_STAGE] != 0 &&
         schedule->value[KNOB_ATOM_KIND] != 0;
}

static const Expr *address_part(Program *program, const Product *product, int operand,
                                int dimension, const void *context) {
  (void)operand;
  const LdMatrix *load = context;
  const int *of_bit = dimension ? load->col_of_lane_bit : load->row_of_lane_bit;
  return layout_bits_expr(program->arena, ex_var(program->arena, product->lane), of_bit,
                          load->n_lane_bits);
}

static Access row_address(Program *program, const Product *product, int operand, Buffer *slab,
                          const LdMatrix *load) {
  const Expr *slow, *fast;
  tile_position(program, product, operand, address_part, load, &slow, &fast);
  return slab_access(program, slab, slow, fast);
}

static void replace_reads(Program *program, const Product *product, int operand, int n_fragments) {
  Arena *arena = program->arena;
  Buffer *slab = operand_slab(program, product, operand);
  Buffer *fragment = program_buffer(program, product->operand[operand].registers);
  LdMatrix load;
  if (!slab || !fragment ||
      !fragment_ldmatrix(product->atom, (AtomOperand)operand,
                         slab_runs_along_k(product, operand, slab), n_fragments, &load))
    return;
  Var *atoms = axis_digit(product->axis[operand == ATOM_A ? AXIS_M : AXIS_N], TIER_REGISTER)->var;
  Op op = {.kind = OP_LDMATRIX,
           .dst = access2(fragment, ex_var(arena, atoms), ex_const(arena, 0)),
           .src = row_address(program, product, operand, slab, &load),
           .matrices = load.n_matrices,
           .trans = load.trans};
  Stmt *read = stmt_op(program, knob, op);
  Var *groups = atoms;
  if (n_fragments > 1) {  // atom n_r becomes group n_p's first
    groups = program_var(program, axis_digit_name(program, product->axis[AXIS_N], "_p"), VAR_LOOP,
                         TIER_REGISTER, atoms->extent / n_fragments);
    stmt_substitute(program, read, atoms, ex_mul_const(arena, ex_var(arena, groups), n_fragments));
  }
  Stmt *k_i = stmt_find_steps(product, program_main_kernel(program)->body);
  Stmt **link = stmt_find_link(&k_i->body, OP_LOAD, fragment->role);
  stmt_cut(link);
  stmt_insert(link, stmt_wrap_register(program, knob, groups, read));
}

void pass_ldmatrix(Program *program, Product *product, const Schedule *schedule) {
  int64_t fn = axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var->extent;
  bool pairs = schedule->value[KNOB_LDMATRIX] == 2 && fn % 2 == 0;
  replace_reads(program, product, ATOM_A, 1);
  replace_reads(program, product, ATOM_B, pairs ? 2 : 1);
}
