// Formulas from bits: neighbouring bits whose weights double are one field, taken out by a division
// and a remainder and put in its place by a product.
//
//   lane bits 2 3 4 with weights 1 2 4 in the row    →  lane / 4
//   value bit 1 with weight 8 in the row             →  v / 2 % 2 * 8
//
// A field that reaches the top bit of its variable needs no remainder. On the way back a field's
// bits are weights of an axis: 24 and 48 are col / 24, in front of which 1 to 16 are col % 24.
#include "model/readings/place/fragment_text.h"

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/expr.h"
#include "model/ir/role.h"

enum { AXIS_BITS = FRAGMENT_LANE_BITS + FRAGMENT_VALUE_BITS };

// variable / from % count * weight; count 0: it reaches the top.
static void add_field(Str *out, const char *variable, int from, int count, int weight) {
  if (out->length) str_add(out, " + ");
  str_add(out, variable);
  if (from != 1) str_printf(out, " / %d", from);
  if (count) str_printf(out, " %% %d", count);
  if (weight != 1) str_printf(out, " * %d", weight);
}

static void add_fields(Str *out, const char *variable, const int *weight_of_bit, int n_bits) {
  for (int first = 0, end; first < n_bits; first = end) {
    int weight = weight_of_bit[first];
    for (end = first + 1; end < n_bits && weight_of_bit[end] == weight << (end - first); end++) {
    }
    if (weight)
      add_field(out, variable, 1 << first, end == n_bits ? 0 : 1 << (end - first), weight);
  }
}

static const char *formula(Arena *arena, const char *first, const int *first_weights, int n_first,
                           const char *second, const int *second_weights, int n_second) {
  Str out = str_new(arena);
  add_fields(&out, first, first_weights, n_first);
  add_fields(&out, second, second_weights, n_second);
  return out.length ? out.text : "0";
}

// The bits of lane and value that an axis is the sum of, by rising weight.
typedef struct AxisBits {
  int n, weight[AXIS_BITS],
      adds[AXIS_BITS];  // adds: to the owner that is asked for; 0: to the other
} AxisBits;

static void put_bits(AxisBits *axis, const int *weights, int n, bool asked) {
  for (int b = 0; b < n; b++) {
    if (!weights[b]) continue;
    int at = axis->n++;
    for (; at > 0 && axis->weight[at - 1] > weights[b]; at--) {
      axis->weight[at] = axis->weight[at - 1];
      axis->adds[at] = axis->adds[at - 1];
    }
    axis->weight[at] = weights[b];
    axis->adds[at] = asked ? 1 << b : 0;
  }
}

static void add_axis(Str *out, const char *variable, const AxisBits *axis) {
  for (int first = 0, end; first < axis->n; first = end) {
    const int weight = axis->weight[first], adds = axis->adds[first];
    for (end = first + 1; end < axis->n && axis->weight[end] == weight << (end - first) &&
                          axis->adds[end] == adds << (end - first);
         end++) {
    }
    if (adds)
      add_field(out, variable, weight, end < axis->n ? axis->weight[end] / weight : 0, adds);
  }
}

// Lane or value as a formula of row and col.
static const char *inverse(Arena *arena, const FragmentMap *map, bool lane) {
  Str out = str_new(arena);
  AxisBits row = {0}, col = {0};
  put_bits(&row, map->row_of_lane_bit, map->n_lane_bits, lane);
  put_bits(&row, map->row_of_value_bit, map->n_value_bits, !lane);
  put_bits(&col, map->col_of_lane_bit, map->n_lane_bits, lane);
  put_bits(&col, map->col_of_value_bit, map->n_value_bits, !lane);
  add_axis(&out, "row", &row);
  add_axis(&out, "col", &col);
  return out.length ? out.text : "0";
}

FragmentFormulas fragment_formulas(Arena *arena, const FragmentMap *map) {
  int lanes = map->n_lane_bits, values = map->n_value_bits;
  return (FragmentFormulas){.row = formula(arena, "lane", map->row_of_lane_bit, lanes, "v",
                                           map->row_of_value_bit, values),
                            .col = formula(arena, "lane", map->col_of_lane_bit, lanes, "v",
                                           map->col_of_value_bit, values),
                            .lane = inverse(arena, map, true),
                            .value = inverse(arena, map, false)};
}

const char *fragment_lane_text(Arena *arena, const FragmentMap *map, int lane) {
  Str out = str_new(arena);
  for (int v = 0; v < map->n_values; v++) {
    FragmentElement at = fragment_map_element(map, lane, v);
    str_printf(&out, "%s[%d][%d]", v ? " " : "", at.row, at.col);
  }
  return out.text;
}

const char *ldmatrix_matrix_text(Arena *arena, const LdMatrix *load, int matrix) {
  int first = ldmatrix_addressing_lane(matrix, 0), last = first + LDMATRIX_ROWS - 1;
  FragmentElement from = ldmatrix_address(load, first), to = ldmatrix_address(load, last);
  return arena_printf(arena, "lanes %d-%d: [%d][%d] to [%d][%d]", first, last, from.row, from.col,
                      to.row, to.col);
}

// ---- lanes that are no owners -------------------------------------------------------------------

static const char *columns_text(Arena *arena, const FragmentMap *map) {
  const int folds = map->cols / map->n_values;
  if (folds == 1) return "all columns of its row";
  return arena_printf(arena, "%d columns of its row, lane + %d the next %d", map->n_values,
                      TENSOR_LANES / folds, map->n_values);
}

const char *fragment_lanes_text(Arena *arena, const Atom *atom, AtomOperand operand) {
  if (atom_operand_is_scale(operand)) return NULL;
  if (atom->products > 1)
    return arena_printf(arena,
                        "the warp makes %d products: a lane is of product lane / 4 %% %d. The map "
                        "has product 0",
                        atom->products, atom->products);
  if (!atom_is_of_thread(atom) || operand != ATOM_C) return NULL;
  const FragmentMap map = fragment_map(atom, operand);
  return arena_printf(arena, "tensor memory, data path layout %c: a lane has %s%s%s",
                      atom_data_path(atom), columns_text(arena, &map),
                      map.idle_lanes ? "; lanes 16 to 31 of each warp have none" : "",
                      atom->ctas == 2 ? "; lanes from 128 on are those of the second CTA" : "");
}

const char *fragment_lane_note(Arena *arena, const FragmentMap *map, int lane) {
  if (lane & map->idle_lanes) return arena_printf(arena, "lane %d holds nothing", lane);
  const int lowest = map->product_lanes & -map->product_lanes;
  if (!lowest) return NULL;
  return arena_printf(arena, "lane %d is of product %d", lane,
                      (lane & map->product_lanes) / lowest);
}

// ---- rows, and sums that become an operand ------------------------------------------------------

// " values 0 1", " value 3", " values 0 1 4 5 8 9 12 13 … 29"
static void add_numbers(Str *out, const char *what, const int *number, int n) {
  enum { SHOWN = 8 };
  str_printf(out, "%s%s", what, plural_s(n));
  for (int i = 0; i < n && i < SHOWN; i++) str_printf(out, " %d", number[i]);
  if (n > SHOWN) str_printf(out, " … %d", number[n - 1]);
}

const char *fragment_row_text(Arena *arena, const FragmentRow *row) {
  Str out = str_new(arena);
  int bit[FRAGMENT_ROW_STEPS];
  for (int i = 0; i < row->n_steps; i++) bit[i] = log2_up(row->distance[i]);
  str_printf(&out, "row %d lies in ", row->row);
  add_numbers(&out, "lane", row->lane, row->n_lanes);
  if (row->n_steps) add_numbers(&out, ": bit", bit, row->n_steps);
  str_printf(&out, "%s; each has ",
             row->n_steps == 0   ? " alone"
             : row->n_steps == 1 ? " of their numbers has no weight in the row"
                                 : " of their numbers have no weight in the row");
  add_numbers(&out, "value", row->value, row->n_values);
  str_add(&out, " of it");
  return out.text;
}

const char *fragment_step_text(Arena *arena, const FragmentRow *row, int step) {
  Str out = str_new(arena);
  if (step == 0)
    add_numbers(&out, "in each lane, value", row->value, row->n_values);
  else if (row->distance[step - 1] < LANES)
    str_printf(&out, "shfl ^ %d", row->distance[step - 1]);
  else
    str_printf(&out, "warp ^ %d, through shared memory", row->distance[step - 1] / LANES);
  str_printf(&out, ": %d of %d columns", row->n_values << step, row->n_lanes * row->n_values);
  return out.text;
}

// The first element, row by row, that is another lane's as a sum.
static const char *moved_text(Arena *arena, const FragmentMap *sums, const FragmentMap *a) {
  for (int row = 0; row < a->rows; row++)
    for (int col = 0; col < a->cols; col++) {
      const RelayoutElement e = fragment_relayout_element(sums, a, row, col);
      if (!e.kept)
        return arena_printf(arena, "[%d][%d] would go from lane %d to lane %d", row, col,
                            e.sum.lane, e.operand.lane);
    }
  return "but neither N nor K is a multiple of the other";
}

const char *fragment_relayout_text(Arena *arena, const Atom *from, const Atom *next) {
  Relayout map;
  if (!atom_in_lanes(from, ATOM_C) || !atom_in_lanes(next, ATOM_A))
    return arena_printf(arena, "operand A of %s is read from shared or tensor memory", next->name);
  const bool in_place = fragment_relayout(from, next, &map);
  const FragmentMap sums = fragment_map(from, ATOM_C), a = fragment_map(next, ATOM_A);
  return arena_printf(
      arena, "%d of %d elements keep their lane: %s", map.kept, map.elements,
      in_place ? "sums are operand A where they lie" : moved_text(arena, &sums, &a));
}

const char *fragment_relayout_register(Arena *arena, const Atom *from, const Atom *next, int lane,
                                       int step, int reg) {
  if (!atom_in_lanes(next, ATOM_A)) return "";
  const FragmentMap sums = fragment_map(from, ATOM_C), a = fragment_map(next, ATOM_A);
  const int per = fragment_packing(next, ATOM_A).per_register;
  Str out = str_new(arena);
  for (int part = 0; part < per; part++) {
    const FragmentElement at = fragment_map_element(&a, lane, reg * per + part);
    const RelayoutElement e = fragment_relayout_element(&sums, &a, at.row, at.col + step * a.cols);
    if (!e.kept) return "";
    if (part == 0) str_printf(&out, "atom %d v ", e.atom);
    str_printf(&out, "%s%d", part ? "," : "", e.sum.value);
  }
  return out.text;
}
