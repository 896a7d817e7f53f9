// Tiles of a persistent kernel in row order → in patches, or along a Hilbert curve (tile_place.c).
//
// Requires: persistent. Ensures: m_b and n_b are other LETs over t, in each role that has them.
// Preserves: which tiles there are; with SPLITK the parts of K stay outermost.
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_tile_order_wanted(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  bool groups =
      tile_order_is_grouped(v[KNOB_TILE_ORDER]) && (v[KNOB_GROUP_M] > 1 || v[KNOB_GROUP_N] > 1);
  return pass_persistent_wanted(schedule) && (groups || v[KNOB_TILE_ORDER] == ORDER_HILBERT);
}

typedef struct Reorder {
  Program *program;
  const Product *product;
  TilePlace place;
} Reorder;

// Gives the LET of a digit of the grid another value; NULL where the axis has one tile.
static Stmt **rebind(Stmt *tiles, const Axis *axis, KnobId knob, const Expr *value) {
  Stmt **link = &tiles->body;
  while (*link && (*link)->var != axis->digit[0].var) link = &(*link)->next;
  if (!*link) return NULL;
  (*link)->expr = value;
  (*link)->knob = knob;
  return link;
}

// In the loop over tiles, of each role, and where else the place of one is said.
static void reorder(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Reorder *to = context;
  const TilePlace *place = &to->place;
  if (!stmt->body) return;
  Stmt **n = rebind(stmt, to->product->axis[AXIS_N], place->knob_n, place->column);
  Stmt **m = rebind(stmt, to->product->axis[AXIS_M], place->knob_m, place->row);
  if (place->let && (m || n)) stmt_insert(m ? m : n, stmt_copy_list(to->program, place->let));
}

void pass_tile_order(Program *program, Product *product, const Schedule *schedule) {
  int64_t tiles = tiles_along(product, AXIS_M) * tiles_along(product, AXIS_N);
  const Stmt *loop = kernel_launch(program_main_kernel(program)).tiles;
  const Var *number = program->persistent.tile ? program->persistent.tile : loop->var;
  const Expr *tile = ex_mod(program->arena, ex_var(program->arena, number), tiles);
  bool hilbert = schedule->value[KNOB_TILE_ORDER] == ORDER_HILBERT;
  Reorder to = {program, product,
                hilbert ? tile_place_hilbert(program, product, tile)
                        : tile_place_grouped(program, product, schedule, tile)};
  for (int i = 0; i < program->n_kernels; i++) stmt_walk(program->kernel[i].body, reorder, &to);
}
