// Operands from global memory → slabs in shared memory, fetched once per block.
//
// Requires: tile; k is one SERIAL loop. Ensures: k = … k_o·BK + k_i with k_o SERIAL_OUTER around
// k_i STAGE_INNER; in k_o's body: copies, barrier, k_i loop, barrier; reads of a staged operand
// come from its slab. Preserves: the FMA and the epilogue.
//
// Worked example, a 128 × 128 tile and BK = 16: A_s is [128][16], B_s is [16][128]; 256 threads
// fetch 8 + 8 elements each and then read 16 k-steps from shared memory. With the first barrier no
// thread reads a slab that is still being filled; with the second no thread fills a slab that is
// still being read.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_body.h"
#include "model/words/fragment.h"

bool pass_stage_wanted(const Schedule *schedule) { return schedule->value[KNOB_STAGE] != 0; }

// The k loop becomes k_o around k_i; returns k_o, with the k_i loop alone as its body.
static Stmt *split_k_loop(Program *program, const Product *product, int64_t bk) {
  Axis *k = product->axis[AXIS_K];
  Digit *last = &k->digit[k->n_digits - 1];
  Stmt *loop = stmt_find_loop(program_main_kernel(program)->body, last->var);
  Var *outer =
      program_var(program, "k_o", VAR_LOOP, TIER_SERIAL_OUTER, ceil_div(last->var->extent, bk));
  Var *inner = program_var(program, "k_i", VAR_LOOP, TIER_STAGE_INNER, bk);
  int64_t step = last->weight;  // 1, or the depth of an atom
  *last = (Digit){outer, bk * step};
  k->digit[k->n_digits++] = (Digit){inner, step};
  Stmt *body = stmt_loop(program, KNOB_BK, inner, loop->body);
  loop->var = outer;
  loop->knob = KNOB_BK;
  loop->body = body;
  program_apply_axes(program, product);
  return loop;
}

// How the tensor memory accelerator lays out swizzled rows: none is longer than the swizzle's
// reach, 16 << SWIZZLE bytes. Longer ones are cut into panels, [panels][rows][panel]. Worked
// example, a B slab of 64 × 256 f16 with SWIZZLE=3: four panels of 64 rows of 64 elements. 0: no
// panels.
//
// wgmma finds its tiles in panels, too, with or without a swizzle: chunks of 16 bytes then.
//
// 4-byte values of B that plain loads read, lane / 4 along the row and lane % 4 down the column,
// are cut to 32 bytes and not swizzled: four rows of eight values are one line of 128 bytes.
static int64_t panel_of(const Program *program, const Product *product, int operand,
                        const Schedule *schedule, int64_t columns) {
  int bytes = dtype_bytes(problem_operand_type(&program->problem)),
      reach = 16 << schedule->value[KNOB_SWIZZLE];
  if (operand == ATOM_B && slab_is_read_plainly(program, product)) reach = 32;
  bool pattern = pass_tma_wanted(schedule) && schedule->value[KNOB_SWIZZLE];
  bool cut = (pattern || slabs_are_tiles(product)) && columns > reach / bytes;
  return cut ? reach / bytes : 0;
}

// A slab has its dimensions as the operand lies in global memory: the slow one first.
static Buffer *new_slab(Program *program, const Product *product, int operand,
                        const Schedule *schedule) {
  int slow = product_slow_dimension(product, operand);
  int64_t dim[2] = {axis_tile(product->axis[operand_axis(operand, slow)]),
                    axis_tile(product->axis[operand_axis(operand, 1 - slow)])};
  const Buffer *matrix = program_buffer(program, product->operand[operand].global);
  const char *name = arena_printf(program->arena, "%s_s", matrix->name);
  int64_t panel = panel_of(program, product, operand, schedule, dim[1]);
  int64_t cut[3] = {panel ? dim[1] / panel : 1, dim[0], panel};
  Buffer *slab = program_new_buffer(program, name, SPACE_SHARED, product->operand[operand].slab,
                                    panel ? 3 : 2, panel ? cut : dim, KNOB_STAGE);
  slab->panel = panel;
  return slab;
}

static const Expr *value_part(Program *program, const Product *product, int operand, int dimension,
                              const void *context) {
  (void)context;
  return fragment_part(program, product, operand, dimension);
}

static const Expr *corner_part(Program *program, const Product *product, int operand, int dimension,
                               const void *context) {
  (void)product, (void)operand, (void)dimension, (void)context;
  return ex_const(program->arena, 0);
}

// The fragment's load reads the slab instead of the operand, or the multiplication itself does.
static void read_from_slab(Program *program, const Product *product, int operand, Stmt *k_o,
                           Buffer *slab) {
  Stmt *load = stmt_find_op(k_o->body, OP_LOAD, product->operand[operand].registers);
  const Expr *slow, *fast;
  tile_position(program, product, operand, load ? value_part : corner_part, NULL, &slow, &fast);
  Stmt *reader = load;
  if (!load)
    reader = stmt_find_action(k_o->body, ACTION_MULTIPLY, product->operand[ATOM_C].registers);
  *(load || operand == ATOM_A ? &reader->op.src : &reader->op.src2) =
      slab_access(program, slab, slow, fast);
  if (load) reader->knob = KNOB_STAGE;
}

// Whether no position in the operand depends on the loop: it is the same in all of its turns.
static bool stays(const Product *product, int operand, const Var *loop) {
  for (int dim = 0; dim < 2; dim++) {
    const Axis *axis = product->axis[operand_axis(operand, dim)];
    for (int i = 0; i < axis->n_digits; i++)
      if (axis->digit[i].var == loop) return false;
  }
  return true;
}

// Fused products, whose loops over k-steps stand side by side in one over blocks of keys. What
// stays the same there (Q) is copied once, in front of it; the others in front of their steps, with
// a barrier behind each. The barrier of either product tells that the other's slab is read to the
// end.
static void stage_block(Program *program, const Product *product, const Schedule *schedule) {
  Stmt *walk = program_slab_loop(program), *copies = NULL;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (!program_buffer(program, product->operand[operand].global)) continue;
    Buffer *slab = new_slab(program, product, operand, schedule);
    read_from_slab(program, product, operand, walk, slab);
    int width = copy_width(program, product, operand);
    Copy copy = slab_build_copy(program, product, operand, width, false, KNOB_STAGE);
    Stmt *both = stmt_list(copy.load, copy.store, NULL), **at = &copies;
    if (stays(product, operand, walk->var))
      at = stmt_link_to(&kernel_inner(program_main_kernel(program))->body, walk);
    stmt_insert(at, both);
  }
  stmt_list(copies, slab_fence(program, product, KNOB_STAGE), NULL);
  stmt_list(copies, stmt_barrier(program, KNOB_STAGE, "the slab is filled, the other one read"),
            NULL);
  stmt_insert(stmt_find_multiply(product, &walk->body), copies);
}

void pass_stage(Program *program, Product *product, const Schedule *schedule) {
  if (program->n_products > 1) {
    stage_block(program, product, schedule);
    return;
  }
  Stmt *k_o = split_k_loop(program, product, schedule->value[KNOB_BK]);
  Stmt *loads = NULL, *stores = NULL;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (!operand_chosen(schedule, KNOB_STAGE, operand)) continue;
    Buffer *slab = new_slab(program, product, operand, schedule);
    read_from_slab(program, product, operand, k_o, slab);
    // 16-bit values are copied in pairs or more: half a register cannot be loaded.
    int width = product->atom ? copy_width(program, product, operand) : 1;
    Copy copy = slab_build_copy(program, product, operand, width, false, KNOB_STAGE);
    stmt_insert(loads ? &stmt_last(loads)->next : &loads, copy.load);
    stmt_insert(stores ? &stmt_last(stores)->next : &stores, copy.store);
  }
  Stmt *filled = stmt_barrier(program, KNOB_STAGE, "the slab is filled");
  stmt_list(loads, stores, slab_fence(program, product, KNOB_STAGE), NULL);
  stmt_list(loads, filled, k_o->body,
            stmt_barrier(program, KNOB_STAGE, "the slab is read to the end"), NULL);
  k_o->body = loads;
  if (atom_is_of_thread(product->atom)) tensor_count_steps(program, product);
}
