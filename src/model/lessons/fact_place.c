// Facts about places: the thread that keeps a cell of C, the block that has a tile, the lane that
// has an element of a fragment.
//
// Nothing is worked out here: cells come from tile_map.h, tiles and panels from grid.h, elements
// from fragment.h. Worked example, 8 × 8 cells in 16 × 16 threads, thread 37 of block 0:
//   m_t = 37 / 16 = 2, n_t = 37 % 16 = 5, acc[3, 2] is C[2·8 + 3, 5·8 + 2] = C[19, 42]
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_input.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/lessons/fact_compute.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/tile_map.h"
#include "model/words/fragment.h"

// ---- cells of C ---------------------------------------------------------------------------------

bool fact_owner(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const TileMap *map = tile_map_build(scene->arena, scene->model->program, 0);
  int64_t row, col;
  bool ok = fact_int(args->word[0], 0, map->rows - 1, "ROW", &row, diags);
  if (!fact_int(args->word[1], 0, map->cols - 1, "COL", &col, diags) || !ok) return false;
  value->number = tile_map_owner(map, row, col).thread;
  return true;
}

static bool find_cell(const TileMap *map, int64_t thread, int64_t accumulator, FactValue *value) {
  for (int64_t i = 0; i < map->rows * map->cols; i++) {
    if (map->thread[i] != thread || map->value[i] != accumulator) continue;
    value->pair[0] = i / map->cols;
    value->pair[1] = i % map->cols;
    return true;
  }
  return false;
}

// THREAD and one index for each dimension of the accumulators.
static bool cell_of(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const TileMap *map = tile_map_build(scene->arena, scene->model->program, 0);
  const Buffer *acc = program_buffer(scene->model->program, ROLE_ACC);
  if (acc->rank != args->n - 1) {
    diag_add(diags, "fact", "acc has %d indices here: %s asks for it", acc->rank,
             acc->rank == 2 ? "cell" : "cell_mma");
    return false;
  }
  int64_t thread, index, accumulator = 0;
  bool ok = fact_int(args->word[0], 0, map->n_threads - 1, "THREAD", &thread, diags);
  for (int d = 0; d < acc->rank; d++) {
    ok = fact_int(args->word[d + 1], 0, acc->dim[d] - 1, "index of acc", &index, diags) && ok;
    if (ok) accumulator += index * acc->stride[d];
  }
  if (!ok || find_cell(map, thread, accumulator, value)) return ok;
  diag_add(diags, "fact", "this accumulator is never stored");
  return false;
}

bool fact_cell(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  return cell_of(scene, args, value, diags);
}
bool fact_cell_mma(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  return cell_of(scene, args, value, diags);
}

// ---- digits -------------------------------------------------------------------------------------

// The digit of AXIS that the loop variable VAR is; NULL after a finding that names those there are.
static const Digit *find_digit(const FactScene *scene, const char *axis_name, const char *var,
                               const Axis **axis, Diags *diags) {
  const Program *program = scene->model->program;
  const char *names[AXIS_COUNT * DIGITS_MAX];
  int n = 0;
  for (int a = 0; a < AXIS_COUNT; a++) {
    *axis = &program->axis[a];
    if (!str_equal((*axis)->name, axis_name)) continue;
    for (int d = 0; d < (*axis)->n_digits; d++) {
      names[n] = (*axis)->digit[d].var->name;
      if (str_equal(names[n++], var)) return &(*axis)->digit[d];
    }
  }
  Diag *diag = diag_add(diags, "fact", "%s has no digit \"%s\" here",
                        str_sanitise(diags->arena, axis_name), str_sanitise(diags->arena, var));
  diag->nearest = n ? nearest_name(var, names, n) : "m";
  return NULL;
}

bool fact_digit(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Axis *axis;
  int64_t index;
  const Digit *digit = find_digit(scene, args->word[0], args->word[2], &axis, diags);
  if (!digit || !fact_int(args->word[1], 0, axis->extent - 1, "INDEX", &index, diags)) return false;
  value->number = (double)(index / digit->weight % digit->var->extent);
  return true;
}

bool fact_weight(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Axis *axis;
  const Digit *digit = find_digit(scene, args->word[0], args->word[1], &axis, diags);
  if (digit) value->number = (double)digit->weight;
  return digit != NULL;
}

// ---- tiles, whatever the kernel's is ------------------------------------------------------------

// A step along K fetches a column of the tile's rows and a row of its columns, for a product each.
static bool tile_reuse(const FactArgs *args, int first, double *out, Diags *diags) {
  int64_t rows, cols;
  bool ok = fact_int(args->word[first], 1, 1 << 20, "ROWS", &rows, diags);
  if (!fact_int(args->word[first + 1], 1, 1 << 20, "COLS", &cols, diags) || !ok) return false;
  *out = (double)(rows * cols) / (double)(rows + cols);
  return true;
}

bool fact_tile_reuse(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)scene;
  return tile_reuse(args, 0, &value->number, diags);
}

bool fact_tile_ratio(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  double first, second;
  (void)scene;
  if (!tile_reuse(args, 0, &first, diags) || !tile_reuse(args, 2, &second, diags)) return false;
  value->number = first / second;
  return true;
}

// A figure as it is printed: 0.889 is what "0.889" may stand for, and 0.8894.
static bool prints_as(double number, const char *figure) {
  const char *point = strchr(figure, '.');
  const int digits = point ? (int)strlen(point + 1) : 0;
  return fabs(number - strtod(figure, NULL)) <= 0.5 * pow(10, -digits);
}

// Rows of fragments one by one, or slices along K: by rows each fragment of B comes once for each.
bool fact_reuse_shapes(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  enum { SIDE_MAX = 64 };
  (void)scene, (void)diags;
  value->number = 0;
  for (int m = 1; m <= SIDE_MAX; m++)
    for (int n = 1; n <= SIDE_MAX; n++)
      value->number += prints_as((double)n / (n + 1), args->word[0]) &&
                       prints_as((double)m * n / (m + n), args->word[1]);
  return true;
}

// ---- tiles of the grid --------------------------------------------------------------------------

bool fact_tile_of(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Grid *grid = grid_outline(scene->arena, scene->model);
  int64_t block;
  if (!fact_int(args->word[0], 0, grid->n_ctas - 1, "BLOCK", &block, diags)) return false;
  GridCta cta[GRID_BATCH];
  grid_ctas(grid, block, cta);
  value->pair[0] = cta[0].row;
  value->pair[1] = cta[0].col;
  return true;
}

bool fact_block_of(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Grid *grid = grid_build(scene->arena, scene->model);
  int64_t row, col;
  bool ok = fact_int(args->word[0], 0, grid->rows - 1, "ROW", &row, diags);
  if (!fact_int(args->word[1], 0, grid->cols - 1, "COL", &col, diags) || !ok) return false;
  int64_t cta = grid_owner(grid, row, col, 0);
  value->number = (double)cta;
  if (cta < 0)
    diag_add(diags, "fact", "%lld blocks in an order of their own are too many to look at",
             (long long)grid->n_ctas);
  return cta >= 0;
}

static bool window_of(const FactScene *scene, const FactArgs *args, GridWindow *window,
                      Diags *diags) {
  const Grid *grid = grid_outline(scene->arena, scene->model);
  int64_t blocks, most = min64(grid->n_ctas, GRID_WINDOW_MAX);
  if (!fact_int(args->word[0], 1, most, "BLOCKS", &blocks, diags)) return false;
  *window = grid_window(scene->arena, grid, 0, blocks);
  return true;
}

bool fact_panels(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  GridWindow window;
  if (!window_of(scene, args, &window, diags)) return false;
  value->number = (double)(window.a_panels + window.b_panels);
  return true;
}

bool fact_working_set(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  GridWindow window;
  if (!window_of(scene, args, &window, diags)) return false;
  value->number = (double)window.bytes / 0x1p20;
  return true;
}

bool fact_l2_share(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  GridWindow window;
  if (!window_of(scene, args, &window, diags)) return false;
  value->number = 100 * (double)window.bytes / (double)scene->model->target->l2_bytes;
  return true;
}

// ---- splits that meet ---------------------------------------------------------------------------

bool fact_adds_per_cell(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  const Grid *grid = grid_outline(scene->arena, scene->model);
  (void)args, (void)diags;
  value->number = grid->adds ? (double)grid->splits : 0;
  return true;
}

bool fact_atomic_adds(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  const Axis *axis = scene->model->program->axis;
  double cells = (double)axis[AXIS_M].extent * (double)axis[AXIS_N].extent;
  fact_adds_per_cell(scene, args, value, diags);
  value->number *= cells;
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
  diag_add(diags, "fact", "\"%s\" is not an operand that %s keeps in registers",
           str_sanitise(diags->arena, args->word[1]), atom->name)
      ->nearest = "A";
  return false;
}

static bool count_addresses(const FactArgs *args, BankCount *out, Diags *diags) {
  int64_t addr[BANK_LANES];
  const BankOp *op = bank_input_op(args->word[0], diags);
  if (!op || !bank_input_addresses(op, args->word[1], addr, diags)) return false;
  *out = banks_count(op, addr);
  if (!out->known) diag_add(diags, "fact", "no wavefronts are known of %s", op->name);
  return out->known;
}

bool fact_address_wavefronts(const FactScene *scene, const FactArgs *args, FactValue *value,
                             Diags *diags) {
  BankCount count;
  (void)scene;
  if (!count_addresses(args, &count, diags)) return false;
  value->number = count.wavefronts;
  return true;
}

bool fact_address_ideal(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  BankCount count;
  (void)scene;
  if (!count_addresses(args, &count, diags)) return false;
  value->number = count.ideal;
  return true;
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

bool fact_atoms_in(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  static const char *const names[] = {"M", "N", "K"};
  Atom atom;
  int64_t extent[3];
  (void)scene;
  if (!atom_parse(args->word[0], &atom, diags)) return false;
  const int own[] = {atom.m, atom.n, atom.k};
  value->number = 1;
  for (int i = 0; i < 3; i++) {
    if (!fact_int(args->word[i + 1], 1, 1 << 20, names[i], &extent[i], diags)) return false;
    value->number *= (double)ceil_div(extent[i], own[i]);
  }
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
