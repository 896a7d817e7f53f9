// The body of k_o, iteration 0, loop by loop, as a list of events; events as rows of a table.
//
// An event belongs to a column: copy, wait, barrier, read, multiply. Events of one column gather in
// a row; one that belongs further left begins the next row. So a pipelined body with a register
// buffer of 4 k-steps comes out as
//
//   cp.async k_o + 2 | wait | barrier | LDSM step 1 → set 1 | MMA step 0, set 0
//                                     | LDSM step 2 → set 0 | MMA step 1, set 1
//                                     | LDSM step 3 → set 1 | MMA step 2, set 0
//                      ≤ 1    barrier | LDSM step 0 of k_o + 1 → set 0 | MMA step 3, set 1
//
// With TMA the wait is that for the mbarrier of the slab, and of a copy's boxes each counts as one
// instruction. A producer's iteration is walked by its one thread and makes the first row.
//
// Which k-step a read is of follows from its own index along K, which slab from the slot of the
// ring (slot = slab, for iteration 0). A multiply is of the k-step that its registers were read
// for.
#include "model/readings/time/steps.h"

#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/derive.h"
#include "model/readings/rules/knob_use.h"
#include "model/words/fragment.h"

enum { COLUMN_COPY, COLUMN_WAIT, COLUMN_BARRIER, COLUMN_READ, COLUMN_MULTIPLY };
enum { SETS_MAX = 1024, REGISTER_BYTES = 4 };
enum { READ_LDSM = 1, READ_LDS = 2, READ_LDG = 4, READ_KINDS = 8 };

// A and B may come by different instructions.
static const char *const read_names[READ_KINDS] = {NULL,  "LDSM",     "LDS",     "LDSM LDS",
                                                   "LDG", "LDSM LDG", "LDS LDG", "LDSM LDS LDG"};

typedef struct Walk {
  const Program *program;
  int64_t *env;
  Steps *steps;
  Step *row;   // [STEPS_MAX]
  int column;  // of the last event
  int reads;   // READ_… that were met
  int loaded;  // the slab that was last loaded to registers
  // The k-step that a set of a product's registers holds: those of A, or of B where A is no copy
  // of anything, as the weights of attention.
  int of_set[PRODUCTS_MAX][SETS_MAX];
} Walk;

static int atom_depth(const Program *program) {
  return program_atom(program) ? program_atom(program)->k : 1;
}

static const Step empty = {.copy_slab = STEP_NONE,
                           .wait = STEP_NONE,
                           .read_first = STEP_NONE,
                           .read_last = STEP_NONE,
                           .read_slab = STEP_NONE,
                           .read_set = STEP_NONE,
                           .multiply_first = STEP_NONE,
                           .multiply_last = STEP_NONE,
                           .multiply_set = STEP_NONE};

// The row of an event; NULL when there are too many.
static Step *row_of(Walk *walk, int column) {
  Steps *steps = walk->steps;
  if (steps->n == 0 || column < walk->column) {
    if (steps->n == STEPS_MAX) steps->cut = true;
    if (steps->cut) return NULL;
    walk->row[steps->n++] = empty;
  }
  walk->column = column;
  return steps->cut ? NULL : &walk->row[steps->n - 1];
}

// ---- where an access lies -----------------------------------------------------------------------

static int64_t index_at(const Walk *walk, const Access *access, int dimension) {
  return expr_eval(access->idx[dimension], walk->env);
}

// The dimension along K of a global operand, or of a slab behind its slot.
static int k_dimension(const Program *program, const Buffer *buffer) {
  const Product *product = program_product_of(program, buffer->role);
  int operand = product_operand(product, buffer->role);
  if (buffer->space == SPACE_GLOBAL) return operand_axis(operand, 1) == AXIS_K ? 1 : 0;
  return buffer->rank - (slab_runs_along_k(product, operand, buffer) ? 1 : 2);
}

// How far along K an access lies, panels passed over included.
static int64_t k_index(const Walk *walk, const Access *access) {
  const Buffer *buffer = access->buffer;
  int k = k_dimension(walk->program, buffer);
  int64_t index = index_at(walk, access, k);
  if (buffer->panel && k == buffer->rank - 1)
    index += index_at(walk, access, buffer->rank - 3) * buffer->panel;
  return index;
}

static int slot_of(const Walk *walk, const Access *slab) {
  return buffer_is_ring(slab->buffer) ? (int)index_at(walk, slab, 0) : 0;
}

// Copies of the fragment registers are told apart by an index in front of the usual ones.
static int set_of(const Walk *walk, const Access *fragment) {
  int plain = program_atom(walk->program) ? 2 : 1;
  return fragment->buffer->rank > plain ? (int)index_at(walk, fragment, 0) : STEP_NONE;
}

static void widen(int *first, int *last, int value) {
  if (*first == STEP_NONE || value < *first) *first = value;
  if (value > *last) *last = value;
}

static int *step_of_set(Walk *walk, BufferRole role, int set) {
  const Product *product = program_product_of(walk->program, role);
  return &walk->of_set[product - walk->program->product][set > 0 ? set % SETS_MAX : 0];
}

// The operand by whose reads a product's steps are told.
static AtomOperand telling(const Program *program, BufferRole role) {
  const Product *product = program_product_of(program, role);
  return product->operand[ATOM_A].registers == ROLE_FRAG_P ? ATOM_B : ATOM_A;
}

// ---- events -------------------------------------------------------------------------------------

// A row copies one slab.
static Step *copy_row(Walk *walk, int slab) {
  Step *row = row_of(walk, COLUMN_COPY);
  if (row && row->copy_slab != STEP_NONE && row->copy_slab != slab) {
    walk->column = COLUMN_MULTIPLY;
    row = row_of(walk, COLUMN_COPY);
  }
  if (row) row->copy_slab = slab;
  return row;
}

static void add_copy(Walk *walk, const Op *op) {
  int64_t k = k_index(walk, &op->src);
  walk->loaded = (int)(k / axis_tile(&walk->program->axis[AXIS_K]));
  const char *carrier = op_carrier(op->kind);
  walk->steps->copy_name = carrier ? carrier : "LDG";
  Step *row = copy_row(walk, walk->loaded);
  if (row) row->n_copies++;
}

static void add_store(Walk *walk, const Op *op) {
  bool ring = buffer_is_ring(op->dst.buffer);
  Step *row = copy_row(walk, ring ? slot_of(walk, &op->dst) : walk->loaded);
  if (row) row->n_stores++;
}

static void add_read(Walk *walk, const Op *op) {
  const Buffer *from = op->src.buffer;
  Steps *steps = walk->steps;
  bool ldmatrix = op_is_collective(op->kind), global = from->space == SPACE_GLOBAL;
  walk->reads |= ldmatrix ? READ_LDSM : global ? READ_LDG : READ_LDS;
  steps->n_reads++;
  double registers = (double)op->width * dtype_bytes(from->type) / REGISTER_BYTES;
  steps->moved += ldmatrix ? (double)op->matrices : registers;
  if (steps->products == 0) steps->reads_before++;
  Step *row = row_of(walk, COLUMN_READ);
  int step = (int)k_index(walk, &op->src);
  step /= atom_depth(walk->program);
  int set = set_of(walk, &op->dst);
  const BufferRole role = op->dst.buffer->role;
  if (product_operand(program_product_of(walk->program, role), role) ==
      (int)telling(walk->program, role))
    *step_of_set(walk, role, set) = step;
  if (!row) return;
  row->n_reads++;
  widen(&row->read_first, &row->read_last, step);
  row->read_set = set;
  row->read_slab = global ? 0 : slot_of(walk, &op->src);
}

static void add_multiply(Walk *walk, const Op *op) {
  const Atom *atom = op->atom;
  walk->steps->multiply_name = op_reads_tiles(op->kind)     ? "WGMMA"
                               : op_is_collective(op->kind) ? "MMA"
                                                            : "FMA";
  enum { ROWS = 8, ROW_BITS = 128 };
  double products = 1;
  if (atom)
    products = (double)atom->m / ROWS * atom->n / ROWS * ((double)atom->k * atom->bits / ROW_BITS);
  walk->steps->products += products;
  Step *row = row_of(walk, COLUMN_MULTIPLY);
  if (!row) return;
  bool tiles = op_reads_tiles(op->kind);
  const BufferRole role = op->dst.buffer->role;
  const Access *told = telling(walk->program, role) == ATOM_A ? &op->src : &op->src2;
  int set = tiles ? STEP_NONE : set_of(walk, told);
  int step = tiles ? (int)k_index(walk, &op->src2) / atom_depth(walk->program)
                   : *step_of_set(walk, role, set);
  row->n_multiplies++;
  widen(&row->multiply_first, &row->multiply_last, step);
  row->multiply_set = set;
}

static void add_mbarrier(Walk *walk, const Op *op) {
  bool waits = op_facts(op->kind)->action == ACTION_WAIT;
  Step *row = row_of(walk, waits ? COLUMN_WAIT : COLUMN_BARRIER);
  if (!row) return;
  if (waits)
    row->mbarrier = op->dst.buffer->name;
  else
    row->arrive = true;
}

// Groups of copies are closed, and waited for; those of wgmma are waited for.
static void add_group(Walk *walk, const Op *op) {
  bool waits = op_facts(op->kind)->action == ACTION_WAIT;
  bool multiplies = op_facts(op->kind)->family == FAMILY_WGMMA;
  if (multiplies && !waits) return;  // closed with the row that multiplies
  Step *row = row_of(walk, waits ? COLUMN_WAIT : COLUMN_COPY);
  if (row && waits) row->wait = (int)op->groups;
  if (row && waits) row->wait_multiplies = multiplies;
  if (row && !waits) row->commit = true;
}

static void add_barrier(Walk *walk, const Stmt *stmt) {
  Step *row = row_of(walk, COLUMN_BARRIER);
  if (!row) return;
  row->barrier = true;
  row->why = stmt->note;
}

static void add_move(Walk *walk, const Op *op) {
  // Weights become an operand where they lie: nothing is read.
  const bool from_memory = op->src.buffer && op->src.buffer->space != SPACE_REGISTER;
  if (from_memory && op->dst.buffer && buffer_is_fragment(op->dst.buffer)) add_read(walk, op);
  bool fetches = op_is_async_copy(op->kind) && op->src.buffer->space == SPACE_GLOBAL &&
                 !buffer_is_factors(op->src.buffer);  // which come with their slab
  if (fetches || (op->dst.buffer && buffer_is_staging(op->dst.buffer))) add_copy(walk, op);
  if (op->src.buffer && buffer_is_staging(op->src.buffer)) add_store(walk, op);
}

static void add_wait_or_signal(Walk *walk, const Op *op) {
  if (op_facts(op->kind)->completes == COMPLETES_BY_GROUP)
    add_group(walk, op);
  else if (op_takes_mbarrier(op->kind))
    add_mbarrier(walk, op);
}

static void add_op(Walk *walk, const Stmt *stmt) {
  const Op *op = &stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  if (action == ACTION_MOVE) add_move(walk, op);
  if (action == ACTION_MULTIPLY) add_multiply(walk, op);
  if (action == ACTION_MEET) add_barrier(walk, stmt);
  if (action == ACTION_WAIT || action == ACTION_SIGNAL) add_wait_or_signal(walk, op);
}

static void walk_list(Walk *walk, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LET) walk->env[list->var->id] = expr_eval(list->expr, walk->env);
    if (list->kind == STMT_OP) add_op(walk, list);
    if (list->kind == STMT_IF && expr_eval(list->expr, walk->env)) walk_list(walk, list->body);
    if (list->kind != STMT_LOOP) continue;
    for (int64_t i = 0; i < list->var->extent; i++) {
      walk->env[list->var->id] = i;
      walk_list(walk, list->body);
    }
    walk->env[list->var->id] = 0;
  }
}

static void start(Walk *walk, const Launch *launch, int64_t thread) {
  const Program *program = walk->program;
  if (program->any_thread) walk->env[program->any_thread->id] = thread;
  walk->env[program->persistent.grid->id] = 1;
  for (int l = 0; l < launch->n_lets; l++)
    walk->env[launch->let[l]->var->id] = expr_eval(launch->let[l]->expr, walk->env);
}

// A producer's operations are one row, whatever their order.
static void walk_producer(Walk *walk, const Launch *launch) {
  const Stmt *role = launch->body;
  while (role && !stmt_is_role(role, WORK_FETCHES)) role = role->next;
  if (!role) return;
  start(walk, launch, launch->n_threads);
  walk_list(walk, stmt_find_tier(role->body, TIER_SERIAL_OUTER)->body);
  const char *mbarrier = walk->row[0].mbarrier;
  walk->row[0] = walk->row[walk->steps->n - 1];
  walk->row[0].mbarrier = mbarrier;
  walk->row[0].produces = true;
  walk->steps->n = 1;
  walk->column = COLUMN_MULTIPLY;
}

Steps derive_steps(Arena *arena, const Program *program) {
  Steps steps = {.n_registers = program_registers(program, ROLE_FRAG_A) +
                                program_registers(program, ROLE_FRAG_B)};
  const Stmt *k_o = program_outer_k_loop(program);
  if (!k_o) return steps;
  Walk walk = {.program = program, .steps = &steps};
  walk.env = ARENA_ARRAY(arena, int64_t, program->n_vars);
  walk.row = ARENA_ARRAY(arena, Step, STEPS_MAX);
  Launch launch = kernel_launch(program_main(program));
  walk_producer(&walk, &launch);
  start(&walk, &launch, 0);
  walk_list(&walk, k_o->body);
  const Buffer *slab = program_buffer(program, ROLE_SLAB_A);
  if (!slab) slab = program_buffer(program, ROLE_SLAB_B);
  if (slab) steps.n_slots = buffer_is_ring(slab) ? (int)slab->dim[0] : 1;
  steps.step = walk.row;
  steps.read_name = read_names[walk.reads];
  return steps;
}

double steps_intensity(const Steps *steps) {
  return steps->moved > 0 ? steps->products / steps->moved : 0;
}

// ---- safe load points ---------------------------------------------------------------------------

// "k_o + 2", "k_o", "k_o - 1"
static const char *slab_name(Arena *arena, int ahead) {
  if (ahead == 0) return "k_o";
  return arena_printf(arena, "k_o %c %d", ahead < 0 ? '-' : '+', ahead < 0 ? -ahead : ahead);
}

const char *steps_say_safe(Arena *arena, const Steps *steps, const Step *step) {
  if (steps->n_slots == 0 || step->copy_slab == STEP_NONE) return "";
  const char *slab = slab_name(arena, step->copy_slab);
  if (step->n_copies && !step->n_stores && str_equal(steps->copy_name, "LDG"))
    return arena_printf(arena, "slab %s goes to registers first: safe anywhere", slab);
  const char *before = slab_name(arena, step->copy_slab - steps->n_slots);
  const char *when = step->produces ? "once every consumer warp has arrived at empty"
                                    : "after the barrier that follows its last read";
  return arena_printf(arena, "%s lands in the slot of %s: safe %s", slab, before, when);
}
