// Scale factors of tcgen05: global memory → shared memory → tensor memory, where a product finds
// them.
//
// They lie in tiles of 128 rows and four factors, 512 bytes in one piece, wherever they are in
// memory. A box of TMA brings the tiles of a slab, whose bytes count at full like those of A and B.
// tcgen05.cp spreads a tile over four columns: row r goes to lane r % 32 of column r / 32, its four
// factors side by side in the 32 bits of it, and the other three quarters of the lanes get copies.
// The thread that asks for the products asks for these copies in front of them: what it asks for
// comes in that order (PTX ISA, tcgen05, Pipelined Instructions: cp, then mma).
//
// The way back is not so: nothing but a commit says that a product has read its factors. So the
// words of a slab that is multiplied stay until the commit for its slot has arrived, and with roles
// every slot of the ring has columns of its own.
//
//   column   ((g * slots + slot) * words + word) * columns of a word + atom's
//   word     the four factors of a row that come together: 4 / (factors of a step) steps share one
//   ID       factors of a step * (step % steps of a word)
//
// Worked example, mxf8, 128 x 256, slabs of four steps of 32 in a ring of three: a slab has one
// word for each row, SFA 4 columns and SFB 8, 36 for the ring; step 2 multiplies with ID 2. nvfp4:
// a step takes a word by itself, so that a slab of four has 16 and 32 columns, and the ID is 0.
#include "model/passes/tensor/tensor_factors.h"

#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_ATOM_KIND;

bool tensor_has_factors(const Product *product) {
  return atom_is_of_thread(product->atom) && product_is_scaled(product);
}

bool tensor_wants_factors(const Schedule *schedule) {
  const Atom *atom = schedule_atom_row(schedule);
  return atom_is_of_thread(atom) && atom_scales(atom) > 0;
}

// ---- columns ------------------------------------------------------------------------------------

static int64_t words_of_slab(const Schedule *schedule, const Atom *atom) {
  const int64_t *v = schedule->value;
  return v[KNOB_STAGE] ? ceil_div(v[KNOB_BK] * atom_scales(atom), FACTORS_ALONG) : 1;
}

static int64_t slots_of(const Schedule *schedule) {
  return pass_warp_specialize_wanted(schedule) ? schedule->value[KNOB_BUFFER_COUNT] : 1;
}

// Columns of a word of all of a warpgroup's rows, or columns.
static int64_t word_columns(const Schedule *schedule, const Atom *atom, AtomOperand operand) {
  const int64_t *v = schedule->value;
  return operand == ATOM_A ? v[KNOB_FM] * FACTOR_TILE_COLUMNS
                           : v[KNOB_FN] * ceil_div(atom->n, FACTOR_ROWS) * FACTOR_TILE_COLUMNS;
}

static int64_t columns_of(const Schedule *schedule, const Atom *atom, AtomOperand operand) {
  const int64_t *v = schedule->value;
  return v[KNOB_WM] * v[KNOB_WN] * slots_of(schedule) * words_of_slab(schedule, atom) *
         word_columns(schedule, atom, operand);
}

int64_t tensor_factor_columns(const Schedule *schedule) {
  Atom atom;
  if (!tensor_wants_factors(schedule) || !schedule_atom_is(schedule, &atom)) return 0;
  return columns_of(schedule, &atom, ATOM_A) + columns_of(schedule, &atom, ATOM_B);
}

// ---- in tensor memory ---------------------------------------------------------------------------

static BufferRole tensor_role(int operand) {
  return operand == ATOM_A ? ROLE_TENSOR_SFA : ROLE_TENSOR_SFB;
}

void tensor_factor_buffers(Program *program, Product *product, const Schedule *schedule,
                           int64_t column) {
  static const char *const names[] = {"sfa", "sfb"};
  if (!tensor_has_factors(product)) return;
  slab_drop_buffers(program, ROLE_FRAG_SFA, ROLE_FRAG_SFB);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    const int64_t columns = columns_of(schedule, product->atom, (AtomOperand)operand);
    const int64_t dim[3] = {TENSOR_LANES, columns, FACTORS_ALONG};
    Buffer *buffer = program_new_buffer(program, names[operand], SPACE_TENSOR, tensor_role(operand),
                                        3, dim, knob);
    buffer->column = (int)column;
    column += columns;
    ProductOperand *at = &product->operand[ATOM_SFA + operand];
    at->registers = buffer->role;
    at->value = program_var(program, arena_printf(program->arena, "w_%c", "ab"[operand]), VAR_LOOP,
                            TIER_REGISTER, words_of_slab(schedule, product->atom));
  }
}

// The atom of the warpgroup along its axis.
static const Var *atoms_of(const Product *product, int operand) {
  return axis_digit(product->axis[operand == ATOM_A ? AXIS_M : AXIS_N], TIER_REGISTER)->var;
}

// Tiles of an atom, and columns of a word of the warpgroup's.
static int64_t tiles_of_atom(const Product *product, int operand) {
  return ceil_div(operand == ATOM_A ? product->atom->m : product->atom->n, FACTOR_ROWS);
}
static int64_t columns_of_word(const Product *product, int operand) {
  return atoms_of(product, operand)->extent * tiles_of_atom(product, operand) * FACTOR_TILE_COLUMNS;
}

// Where the words of the warpgroup at hand begin, of the first slot.
static const Expr *first_column(Program *program, const Product *product, int operand) {
  Arena *arena = program->arena;
  const Var *m = axis_digit(product->axis[AXIS_M], TIER_WARP)->var;
  const Var *n = axis_digit(product->axis[AXIS_N], TIER_WARP)->var;
  const Buffer *buffer = program_buffer(program, tensor_role(operand));
  const Expr *group =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, m), n->extent), ex_var(arena, n));
  return ex_mul_const(arena, group, buffer->dim[1] / product_warps(product));
}

static Access factor_at(Program *program, const Product *product, int operand, int64_t tile) {
  Arena *arena = program->arena;
  const int64_t of_atom = tiles_of_atom(product, operand) * FACTOR_TILE_COLUMNS;
  const Expr *column = ex_mul_const(arena, ex_var(arena, atoms_of(product, operand)), of_atom);
  column = ex_add(arena, first_column(program, product, operand), column);
  return access3(program_buffer(program, tensor_role(operand)), ex_const(arena, 0),
                 ex_add_const(arena, column, tile * FACTOR_TILE_COLUMNS), ex_const(arena, 0));
}

// A copy of each tile of the warpgroup's atoms. The axes give its index in global memory.
static Stmt *copies_of(Program *program, const Product *product, int operand) {
  Buffer *global = program_buffer(program, product->operand[ATOM_SFA + operand].global);
  const Expr *zero = ex_const(program->arena, 0);
  Stmt *all = NULL;
  for (int64_t tile = 0; tile < tiles_of_atom(product, operand); tile++) {
    Op copy = {.kind = OP_T_CP,
               .dst = factor_at(program, product, operand, tile),
               .src = access3(global, zero, zero, zero),
               .factor_tile = tile};
    Stmt *stmt = stmt_op(program, knob, copy);
    all = all ? stmt_list(all, stmt, NULL) : stmt;
  }
  Var *atoms = (Var *)(uintptr_t)atoms_of(product, operand);
  return stmt_wrap_register(program, operand == ATOM_A ? KNOB_FM : KNOB_FN, atoms, all);
}

Stmt *tensor_factor_copies(Program *program, const Product *product) {
  if (!tensor_has_factors(product)) return NULL;
  Stmt *copies = copies_of(program, product, ATOM_A);
  copies->note = "factors are there before the products that are asked for behind them";
  return stmt_list(copies, copies_of(program, product, ATOM_B), NULL);
}

void tensor_find_factors(Program *program, const Product *product, Op *multiply) {
  for (int operand = ATOM_A; operand <= ATOM_B && tensor_has_factors(product); operand++)
    multiply->scale[operand] = factor_at(program, product, operand, 0);
}

// The first of a step's factors in its row.
static const Expr *first_factor(Program *program, const Product *product, const Expr *step) {
  return ex_mul_const(program->arena, step, atom_scales(product->atom));
}

void tensor_factor_step(Program *program, const Product *product, Op *multiply, const Expr *step) {
  const Expr *factor = first_factor(program, product, step);
  for (int operand = ATOM_A; operand <= ATOM_B && tensor_has_factors(product); operand++)
    multiply->scale[operand].idx[2] = ex_mod(program->arena, factor, FACTORS_ALONG);
}

// ---- of a slab ----------------------------------------------------------------------------------

// The list up to its first product.
static Stmt *take_copies(Stmt **list) {
  Stmt *copies = *list, **product = stmt_find_link(list, OP_T_MMA, ROLE_COUNT);
  *list = *product;
  *product = NULL;
  return copies;
}

typedef struct Words {
  Program *program;
  const Product *product;
  const Expr *step;  // of a product
} Words;

// A copy has the word of its loop; a product's word follows from its step.
static void index_word(Access *access, Stmt *stmt, void *context) {
  const Words *words = context;
  Arena *arena = words->program->arena;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (access->buffer->role != tensor_role(operand)) continue;
    const Expr *factor = first_factor(words->program, words->product, words->step);
    const Expr *word = stmt->op.kind == OP_T_CP
                           ? ex_var(arena, words->product->operand[ATOM_SFA + operand].value)
                           : ex_div(arena, factor, FACTORS_ALONG);
    const Expr *column = ex_mul_const(arena, word, columns_of_word(words->product, operand));
    access->idx[1] = ex_add(arena, access->idx[1], column);
  }
}

// Steps that share a word: what a copy is for, word by word.
static Stmt *each_word(Program *program, const Product *product, Stmt *copy, const Stmt *k_i) {
  Arena *arena = program->arena;
  const int operand = stmt_find_op(copy, OP_T_CP, ROLE_TENSOR_SFA) ? ATOM_A : ATOM_B;
  Var *word = product->operand[ATOM_SFA + operand].value;
  const int64_t steps = FACTORS_ALONG / atom_scales(product->atom);
  stmt_substitute(program, copy, k_i->var, ex_mul_const(arena, ex_var(arena, word), steps));
  Stmt *all = stmt_wrap_register(program, KNOB_BK, word, copy);
  all->unroll = all == copy ? copy->unroll : UNROLL_FULL;
  return all;
}

Stmt *tensor_factors_of_slab(Program *program, const Product *product, Stmt **list,
                             const Stmt *k_i) {
  if (!tensor_has_factors(product)) return NULL;
  Words words = {program, product, ex_var(program->arena, k_i->var)};
  stmt_each_access(*list, index_word, &words);
  Stmt *copies = take_copies(list), *all = NULL;
  const char *note = copies->note;
  while (copies) {
    Stmt *next = copies->next;
    copies->next = NULL;
    copies->note = NULL;
    Stmt *each = each_word(program, product, copies, k_i);
    all = all ? stmt_list(all, each, NULL) : each;
    copies = next;
  }
  all->note = note;
  return all;
}

// ---- in shared memory ---------------------------------------------------------------------------

typedef struct Slab {
  Program *program;
  const Product *product;
  Buffer *slab;
  int operand;
  int64_t words;
  const Expr *slot;  // NULL: no ring
} Slab;

static const Axis *axis_of(const Product *product, int operand) {
  return product->axis[operand == ATOM_A ? AXIS_M : AXIS_N];
}

static Access in_slab(const Slab *s, const Expr *row) {
  const Expr *zero = ex_const(s->program->arena, 0);
  return s->slot ? access3(s->slab, s->slot, row, zero) : access2(s->slab, row, zero);
}

// The copies take their tile from the slab.
static void read_slab(Access *access, Stmt *stmt, void *context) {
  const Slab *s = context;
  Arena *arena = s->program->arena;
  const ProductOperand *operand = &s->product->operand[ATOM_SFA + s->operand];
  if (access->buffer->role != operand->global || stmt->op.kind != OP_T_CP) return;
  const Expr *inside = axis_inside(s->program, axis_of(s->product, s->operand));
  const Expr *tile = ex_add_const(arena, ex_div(arena, inside, FACTOR_ROWS), stmt->op.factor_tile);
  const Expr *at =
      ex_add(arena, ex_mul_const(arena, tile, s->words), ex_var(arena, operand->value));
  *access = in_slab(s, ex_mul_const(arena, at, FACTOR_TILE_ROWS));
}

static Buffer *new_slab(Program *program, const Product *product, int operand, int64_t tiles,
                        int64_t slots) {
  const ProductOperand *at = &product->operand[ATOM_SFA + operand];
  const int64_t words = at->value->extent;
  const int64_t dim[3] = {slots, tiles * words * FACTOR_TILE_ROWS, FACTOR_COLUMNS};
  const char *name =
      arena_printf(program->arena, "%s_s", program_buffer(program, at->global)->name);
  const bool ring = slots > 1;
  return program_new_buffer(program, name, SPACE_SHARED, at->slab, ring ? 3 : 2,
                            ring ? dim : dim + 1, KNOB_TMA);
}

// One box for each tile of 128 rows, all of its words.
static Stmt *boxes_of(const Slab *s, Access full, int64_t tiles, KnobId by) {
  Program *program = s->program;
  Arena *arena = program->arena;
  const Product *product = s->product;
  const Problem *problem = &program->problem;
  const int64_t units = problem_depth(problem) / problem_scales(problem);
  Var *tile = program_var(program, arena_printf(arena, "t_%c", "ab"[s->operand]), VAR_LOOP,
                          TIER_REGISTER, tiles);
  const Expr *row = axis_outside(program, axis_of(product, s->operand));
  const Expr *factor = ex_div(arena, axis_outside(program, product->axis[AXIS_K]), units);
  const Expr *idx[3];
  layout_factor_index(
      arena, row, ex_mul_const(arena, ex_div(arena, factor, FACTORS_ALONG), FACTORS_ALONG), idx);
  Buffer *global = program_buffer(program, product->operand[ATOM_SFA + s->operand].global);
  const Expr *first = ex_mul_const(arena, ex_var(arena, tile), s->words * FACTOR_TILE_ROWS);
  Op op = {.kind = OP_TMA_LOAD,
           .dst = in_slab(s, first),
           .src = access3(global, ex_add(arena, idx[0], ex_var(arena, tile)), idx[1], idx[2]),
           .src2 = full,
           .box = {s->words * FACTOR_TILE_ROWS, FACTOR_COLUMNS}};
  return stmt_wrap_register(program, by, tile, stmt_op(program, by, op));
}

Stmt *tensor_factor_boxes(Program *program, const Product *product, int operand, Stmt *k_o,
                          Access full, KnobId by) {
  if (!tensor_has_factors(product)) return NULL;
  const int64_t tiles = ceil_div(axis_tile(axis_of(product, operand)), FACTOR_ROWS);
  const int64_t slots = full.buffer->dim[0];
  Slab s = {program,
            product,
            new_slab(program, product, operand, tiles, slots),
            operand,
            product->operand[ATOM_SFA + operand].value->extent,
            slots > 1 ? full.idx[0] : NULL};
  stmt_each_access(k_o->body, read_slab, &s);
  return boxes_of(&s, full, tiles, by);
}

// ---- with roles ---------------------------------------------------------------------------------

typedef struct Ring {
  Program *program;
  const Expr *slot;
  int64_t slots;
} Ring;

static void index_slot(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Ring *ring = context;
  const BufferRole role = access->buffer->role;
  if (role != ROLE_TENSOR_SFA && role != ROLE_TENSOR_SFB) return;
  Arena *arena = ring->program->arena;
  const Product *product = program_product(ring->program);
  const int64_t columns = access->buffer->dim[1] / (product_warps(product) * ring->slots);
  access->idx[1] = ex_add(arena, access->idx[1], ex_mul_const(arena, ring->slot, columns));
}

void tensor_factor_slot(Program *program, Stmt *list, const Expr *slot, int64_t slots) {
  Ring ring = {program, slot, slots};
  stmt_each_access(list, index_slot, &ring);
}
