// Facts about who has what: which thread keeps which cell of C, which block which tile, which lane
// which element of a fragment.
//
// Cells are found by running the statement that stores the accumulators, for one thread: hardware
// digits and LETs from the block and thread index, every loop around the store walked through, and
// the two sides' own index expressions evaluated. So this is the emitter's arithmetic, whatever the
// groups, patches and atoms. Worked example, 8 × 8 cells in 16 × 16 threads, thread 37 of block 0:
//   m_t = 37 / 16 = 2, n_t = 37 % 16 = 5, acc[3, 2] is stored to C[2·8 + 3, 5·8 + 2] = C[19, 42]
//
// Tiles are found from the axes: the digits of the block alone say where a tile begins.
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/fact_compute.h"
#include "model/fragment.h"
#include "model/rewrite.h"

// ---- cells of C ---------------------------------------------------------------------------------

typedef struct Cell {
  int64_t row, col;  // of C
  int n_acc;
  int64_t acc[RANK_MAX];
} Cell;

// Called for every cell; true ends the walk.
typedef bool CellVisit(const Cell *cell, void *context);

typedef struct StoreWalk {
  const Program *program;
  Launch launch;
  const Stmt *store;
  int64_t *env;
  CellVisit *visit;
  void *context;
} StoreWalk;

static bool is_store(const Stmt *stmt) {
  if (stmt->kind != STMT_OP) return false;
  bool stores = stmt->op.kind == OP_STORE || stmt->op.kind == OP_ATOMIC_ADD;
  if (!stores || !stmt->op.src.buffer || stmt->op.src.buffer->role != ROLE_ACC) return false;
  return stmt->op.dst.buffer->role == ROLE_C || stmt->op.dst.buffer->role == ROLE_PARTIAL;
}

static const Stmt *find_store(const Stmt *list) {
  for (; list; list = list->next) {
    if (is_store(list)) return list;
    const Stmt *inner = list->body ? find_store(list->body) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

static bool visit_store(StoreWalk *walk) {
  const Access *dst = &walk->store->op.dst, *src = &walk->store->op.src;
  Cell cell = {.n_acc = src->buffer->rank};
  int first = dst->buffer->rank - 2;  // partial sums have the split in front
  cell.row = expr_eval(dst->idx[first], walk->env);
  cell.col = expr_eval(dst->idx[first + 1], walk->env);
  for (int d = 0; d < cell.n_acc; d++) cell.acc[d] = expr_eval(src->idx[d], walk->env);
  for (int i = 0; i < walk->store->op.width; i++) {
    if (walk->visit(&cell, walk->context)) return true;
    cell.col++;
    cell.acc[cell.n_acc - 1]++;
  }
  return false;
}

static bool walk_list(StoreWalk *walk, const Stmt *list);

static bool walk_loop(StoreWalk *walk, const Stmt *loop) {
  for (int64_t i = 0; i < loop->var->extent; i++) {
    walk->env[loop->var->id] = i;
    if (walk_list(walk, loop->body)) return true;
  }
  return false;
}

// Only what leads to the store.
static bool walk_list(StoreWalk *walk, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LET) walk->env[list->var->id] = expr_eval(list->expr, walk->env);
    if (list == walk->store && visit_store(walk)) return true;
    if (!list->body || !find_store(list->body)) continue;
    bool enters = list->kind != STMT_IF || expr_eval(list->expr, walk->env);
    if (list->kind == STMT_LOOP ? walk_loop(walk, list) : enters && walk_list(walk, list->body))
      return true;
  }
  return false;
}

static void set_digits(int64_t *env, const HardwareDigit *digit, int n, int64_t index) {
  for (int d = 0; d < n; d++)
    env[digit[d].var->id] = index / digit[d].stride % digit[d].var->extent;
}

// Hardware digits and the LETs between them.
static void enter(const Program *program, const Launch *launch, int64_t *env, int64_t block,
                  int64_t thread) {
  env[program->block->id] = block;
  env[program->thread->id] = thread;
  set_digits(env, launch->block, launch->n_block_digits, block);
  set_digits(env, launch->thread, launch->n_thread_digits, thread);
  for (int i = 0; i < launch->n_lets; i++)
    env[launch->let[i]->var->id] = expr_eval(launch->let[i]->expr, env);
}

static bool begin_walk(const FactScene *scene, StoreWalk *walk, Diags *diags) {
  const Program *program = scene->model->program;
  const Kernel *kernel = &program->kernel[program->main_kernel];
  walk->program = program;
  walk->launch = kernel_launch(kernel);
  walk->store = find_store(walk->launch.body);
  walk->env = ARENA_ARRAY(scene->arena, int64_t, program->n_vars);
  if (!walk->store) diag_add(diags, "fact", "C leaves through a slab here: EPILOGUE=0 stores it");
  return walk->store != NULL;
}

static bool walk_thread(StoreWalk *walk, int64_t thread) {
  enter(walk->program, &walk->launch, walk->env, 0, thread);
  return walk_list(walk, walk->launch.body);
}

static bool is_wanted(const Cell *cell, void *context) {
  const Cell *wanted = context;
  return cell->row == wanted->row && cell->col == wanted->col;
}

bool fact_owner(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Cell wanted;
  StoreWalk walk = {.visit = is_wanted, .context = &wanted};
  const Axis *axis = scene->model->program->axis;
  bool ok = begin_walk(scene, &walk, diags);
  ok = fact_int(args->word[0], 0, axis_tile(&axis[AXIS_M]) - 1, "ROW", &wanted.row, diags) && ok;
  ok = fact_int(args->word[1], 0, axis_tile(&axis[AXIS_N]) - 1, "COL", &wanted.col, diags) && ok;
  for (int64_t thread = 0; ok && thread < walk.launch.n_threads; thread++) {
    value->number = (double)thread;
    if (walk_thread(&walk, thread)) return true;
  }
  if (ok) diag_add(diags, "fact", "no thread of block 0 stores that cell");
  return false;
}

static bool has_accumulator(const Cell *cell, void *context) {
  Cell *wanted = context;
  for (int d = 0; d < cell->n_acc; d++)
    if (cell->acc[d] != wanted->acc[d]) return false;
  wanted->row = cell->row;
  wanted->col = cell->col;
  return true;
}

// THREAD and as many indices as the accumulators have.
static bool find_cell(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  Cell wanted;
  int64_t thread;
  StoreWalk walk = {.visit = has_accumulator, .context = &wanted};
  if (!begin_walk(scene, &walk, diags)) return false;
  const Buffer *acc = walk.store->op.src.buffer;
  if (acc->rank != args->n - 1) {
    diag_add(diags, "fact", "acc has %d indices here: %s asks for it", acc->rank,
             acc->rank == 2 ? "cell" : "cell_mma");
    return false;
  }
  bool ok = fact_int(args->word[0], 0, walk.launch.n_threads - 1, "THREAD", &thread, diags);
  for (int d = 0; d < acc->rank; d++)
    ok = fact_int(args->word[d + 1], 0, acc->dim[d] - 1, "index of acc", &wanted.acc[d], diags) &&
         ok;
  if (!ok) return false;
  if (!walk_thread(&walk, thread)) diag_add(diags, "fact", "that accumulator is never stored");
  value->pair[0] = wanted.row;
  value->pair[1] = wanted.col;
  return true;
}

bool fact_cell(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  return find_cell(scene, args, value, diags);
}
bool fact_cell_mma(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  return find_cell(scene, args, value, diags);
}

// ---- tiles of the grid --------------------------------------------------------------------------

enum { GRID_MAX = 1 << 22 };

typedef struct Grid {
  const Program *program;
  Launch launch;
  const Expr *row, *col;  // where a block's tile begins
  int64_t *env, tile_m, tile_n, tiles_m, tiles_n;
} Grid;

static bool grid_of(const FactScene *scene, Grid *out, Diags *diags) {
  const Program *program = scene->model->program;
  const Axis *m = &program->axis[AXIS_M], *n = &program->axis[AXIS_N];
  Grid grid = {.program = program,
               .launch = kernel_launch(&program->kernel[program->main_kernel]),
               .row = axis_expr(scene->arena, m),
               .col = axis_expr(scene->arena, n),
               .env = ARENA_ARRAY(scene->arena, int64_t, program->n_vars),
               .tile_m = axis_tile(m),
               .tile_n = axis_tile(n)};
  grid.tiles_m = ceil_div(m->extent, grid.tile_m);
  grid.tiles_n = ceil_div(n->extent, grid.tile_n);
  *out = grid;
  if (grid.launch.n_blocks <= GRID_MAX && grid.tiles_m <= GRID_MAX && grid.tiles_n <= GRID_MAX)
    return true;
  diag_add(diags, "fact", "%lld blocks are too many to look at one by one: at most %d",
           (long long)grid.launch.n_blocks, GRID_MAX);
  return false;
}

// With thread 0 and every loop at 0, the axes say where the tile begins.
static void locate(const Grid *grid, int64_t block, int64_t *row, int64_t *col) {
  enter(grid->program, &grid->launch, grid->env, block, 0);
  *row = expr_eval(grid->row, grid->env) / grid->tile_m;
  *col = expr_eval(grid->col, grid->env) / grid->tile_n;
}

bool fact_tile_of(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Grid grid;
  int64_t block;
  if (!grid_of(scene, &grid, diags)) return false;
  if (!fact_int(args->word[0], 0, grid.launch.n_blocks - 1, "BLOCK", &block, diags)) return false;
  locate(&grid, block, &value->pair[0], &value->pair[1]);
  return true;
}

bool fact_block_of(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Grid grid;
  int64_t row, col, at_row, at_col;
  if (!grid_of(scene, &grid, diags)) return false;
  bool ok = fact_int(args->word[0], 0, grid.tiles_m - 1, "ROW", &row, diags);
  if (!fact_int(args->word[1], 0, grid.tiles_n - 1, "COL", &col, diags) || !ok) return false;
  for (int64_t block = 0; block < grid.launch.n_blocks; block++) {
    locate(&grid, block, &at_row, &at_col);
    value->number = (double)block;
    if (at_row == row && at_col == col) return true;
  }
  diag_add(diags, "fact", "no block computes that tile");
  return false;
}

// Rows and columns of tiles that the first blocks touch.
static bool count_panels(const FactScene *scene, const FactArgs *args, int64_t *rows, int64_t *cols,
                         Diags *diags) {
  Grid grid;
  int64_t blocks, row, col;
  if (!grid_of(scene, &grid, diags)) return false;
  if (!fact_int(args->word[0], 1, grid.launch.n_blocks, "BLOCKS", &blocks, diags)) return false;
  bool *row_seen = ARENA_ARRAY(scene->arena, bool, grid.tiles_m);
  bool *col_seen = ARENA_ARRAY(scene->arena, bool, grid.tiles_n);
  *rows = *cols = 0;
  for (int64_t block = 0; block < blocks; block++) {
    locate(&grid, block, &row, &col);
    *rows += !row_seen[row];
    *cols += !col_seen[col];
    row_seen[row] = col_seen[col] = true;
  }
  return true;
}

bool fact_panels(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  int64_t rows, cols;
  if (!count_panels(scene, args, &rows, &cols, diags)) return false;
  value->number = (double)(rows + cols);
  return true;
}

bool fact_working_set(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  const Program *program = scene->model->program;
  int64_t rows, cols;
  if (!count_panels(scene, args, &rows, &cols, diags)) return false;
  double lines =
      (double)(rows * axis_tile(&program->axis[AXIS_M]) + cols * axis_tile(&program->axis[AXIS_N]));
  value->number = lines * (double)program->problem.k * dtype_bytes(program->problem.dtype) / 0x1p20;
  return true;
}

// ---- fragments ----------------------------------------------------------------------------------

// ATOM and, with more than one argument, OPERAND.
static bool read_fragment(const FactArgs *args, Atom *atom, AtomOperand *operand, Diags *diags) {
  if (!atom_parse(args->word[0], atom, diags)) return false;
  *operand = ATOM_A;
  if (args->n < 2) return true;
  for (int i = 0; i < ATOM_OPERANDS; i++) {
    *operand = (AtomOperand)i;
    if (str_equal(args->word[1], atom_operand_name(*operand)) && atom_in_registers(atom, *operand))
      return true;
  }
  diag_add(diags, "fact", "\"%s\" is no operand that %s keeps in registers",
           str_sanitise(diags->arena, args->word[1]), atom->name)
      ->nearest = "A";
  return false;
}

bool fact_lane(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Atom atom;
  AtomOperand operand;
  int64_t row, col;
  (void)scene;
  if (!read_fragment(args, &atom, &operand, diags)) return false;
  FragmentMap map = fragment_map(&atom, operand);
  bool ok = fact_int(args->word[2], 0, map.rows - 1, "ROW", &row, diags);
  if (!fact_int(args->word[3], 0, map.cols - 1, "COL", &col, diags) || !ok) return false;
  value->number = fragment_map_owner(&map, (int)row, (int)col).lane;
  return true;
}

bool fact_element(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Atom atom;
  AtomOperand operand;
  int64_t lane, v;
  (void)scene;
  if (!read_fragment(args, &atom, &operand, diags)) return false;
  FragmentMap map = fragment_map(&atom, operand);
  bool ok = fact_int(args->word[2], 0, map.n_lanes - 1, "LANE", &lane, diags);
  if (!fact_int(args->word[3], 0, map.n_values - 1, "VALUE", &v, diags) || !ok) return false;
  FragmentElement element = fragment_map_element(&map, (int)lane, (int)v);
  value->pair[0] = element.row;
  value->pair[1] = element.col;
  return true;
}

bool fact_values(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Atom atom;
  AtomOperand operand;
  (void)scene;
  if (!read_fragment(args, &atom, &operand, diags)) return false;
  value->number = fragment_map(&atom, operand).n_values;
  return true;
}

bool fact_atom_flop(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  Atom atom;
  AtomOperand operand;
  (void)scene;
  if (!read_fragment(args, &atom, &operand, diags)) return false;
  value->number = (double)atom_flop(&atom);
  return true;
}

bool fact_ldmatrix_lane(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  int64_t matrix, row;
  (void)scene;
  bool ok = fact_int(args->word[0], 0, LDMATRIX_MATRICES_MAX - 1, "MATRIX", &matrix, diags);
  if (!fact_int(args->word[1], 0, LDMATRIX_ROWS - 1, "ROW", &row, diags) || !ok) return false;
  value->number = ldmatrix_addressing_lane((int)matrix, (int)row);
  return true;
}

bool fact_ldmatrix_receiver(const FactScene *scene, const FactArgs *args, FactValue *value,
                            Diags *diags) {
  int64_t row, col;
  (void)scene;
  bool ok = fact_int(args->word[0], 0, LDMATRIX_ROWS - 1, "ROW", &row, diags);
  if (!fact_int(args->word[1], 0, LDMATRIX_ROW_BYTES / 2 - 1, "COL", &col, diags) || !ok)
    return false;
  value->number = ldmatrix_receiver(false, (int)row, (int)col).lane;
  return true;
}
