// Fragments by plain loads → fragments by ldmatrix.
//
// Requires: stage. Ensures: each fragment of a staged operand is read by one LDMATRIX, or two
// fragments of B by one (.x4, LDMATRIX = 2). Lane l gives the address of one 16-byte row; registers
// arrive as the atom wants them (fragment.h). Where B lies with n running along the row it is transposed
// on the way (.trans), which elements of 16 bits alone can be; others keep their plain loads.
//
// Worked example, A of m16n8k16: lane l addresses row l % 16, column l / 16 · 8, instead of eight
// 4-byte loads whose rows are 8 apart.
#include "model/fragment.h"
#include "model/passes.h"

static const KnobId knob = KNOB_LDMATRIX;

bool pass_ldmatrix_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_LDMATRIX] > 0 && schedule->value[KNOB_STAGE] != 0 &&
         schedule->value[KNOB_ATOM_KIND] != 0;
}

static Access row_address(Program *program, Buffer *slab, int operand, const LdMatrix *load) {
  Arena *arena = program->arena;
  OperandAxes axes = operand_axes(operand);
  const Expr *lane = ex_var(arena, program->lane);
  const Expr *row = bits_expr(arena, lane, load->row_of_lane_bit, load->n_lane_bits);
  const Expr *column = bits_expr(arena, lane, load->col_of_lane_bit, load->n_lane_bits);
  return slab_access(program, slab,
                     ex_add(arena, axis_inside(program, &program->axis[axes.row]), row),
                     ex_add(arena, axis_inside(program, &program->axis[axes.column]), column));
}

static void replace_reads(Program *program, int operand, BufferRole role, BufferRole fragment_role,
                          int n_fragments) {
  Arena *arena = program->arena;
  Buffer *slab = program_buffer(program, role), *fragment = program_buffer(program, fragment_role);
  LdMatrix load;
  bool along_k = operand == ATOM_A || (slab && slab->transposed);
  if (!slab ||
      !fragment_ldmatrix(program->atom, (AtomOperand)operand, along_k, n_fragments, &load))
    return;
  Var *atoms = program->axis[operand == ATOM_A ? AXIS_M : AXIS_N].digit[2].var;
  Op op = {.kind = OP_LDMATRIX,
           .dst = access2(fragment, ex_var(arena, atoms), ex_const(arena, 0)),
           .src = row_address(program, slab, operand, &load),
           .count = load.n_matrices,
           .trans = load.trans};
  Stmt *read = stmt_op(program, knob, op);
  Var *groups = atoms;
  if (n_fragments > 1) {  // atom n_r becomes group n_p's first
    groups = program_var(program, "n_p", VAR_LOOP, TIER_REGISTER, atoms->extent / n_fragments);
    substitute(program, read, atoms, ex_mul_const(arena, ex_var(arena, groups), n_fragments));
  }
  Stmt *k_i = find_tier(main_kernel(program)->body, TIER_STAGE_INNER);
  Stmt **link = find_link(&k_i->body, OP_LOAD, fragment_role);
  cut(link);
  insert(link, wrap_register(program, knob, groups, read));
}

void pass_ldmatrix(Program *program, const Schedule *schedule) {
  int64_t fn = schedule->value[KNOB_FN];
  bool pairs = schedule->value[KNOB_LDMATRIX] == 2 && fn % 2 == 0;
  replace_reads(program, ATOM_A, ROLE_SLAB_A, ROLE_FRAG_A, 1);
  replace_reads(program, ATOM_B, ROLE_SLAB_B, ROLE_FRAG_B, pairs ? 2 : 1);
}
