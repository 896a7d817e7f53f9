// Finds where one product of the multiplication happens, and writes the sentences about it.
//
// Worked example, fp32, 16 × 16 threads of 8 × 8 cells, element (130, 7, 21): the CTA of tile (1,
// 0); its rows 128 … 255, columns 0 … 127 and slab k 16 … 31; the box of warp 0, rows 128 … 143;
// the thread's own 8 × 8 cells; the element.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "tui/session/session.h"
#include "tui/views/places/tiles.h"

void tiles_init(void *state) {
  Tiles *tiles = state;
  tiles->side[0].arena = arena_new("tiles A");
  tiles->side[1].arena = arena_new("tiles");
}

void tiles_done(void *state) {
  Tiles *tiles = state;
  arena_free(tiles->side[0].arena);
  arena_free(tiles->side[1].arena);
}

// ---- regions ------------------------------------------------------------------------------------

static TilesRegion of_box(const TilesRegion *tile, const TileBox *box, int64_t k, int64_t ks) {
  return (TilesRegion){tile->row + box->row, tile->col + box->col, k, box->rows, box->cols, ks};
}

static void find_regions(TilesSide *side) {
  const Program *program = side->model->program;
  Axis *const *axis = side->product->axis;
  const Atom *atom = side->product->atom;
  TilesRegion *region = side->region;
  int64_t each = atom ? atom->k : 1;  // of K in one multiply
  TraceStep slab = {.depth = each};
  trace_k_step(program, side->at, &slab);
  int64_t first = side->at.k - slab.inside, k = first + slab.inside / each * each;
  region[0] =
      (TilesRegion){0, 0, 0, axis[AXIS_M]->extent, axis[AXIS_N]->extent, axis[AXIS_K]->extent};
  region[1] = (TilesRegion){side->cta.row * side->grid->tile_m,
                            side->at.j / side->tile_cols * side->tile_cols,
                            first,
                            side->grid->tile_m,
                            side->tile_cols,
                            slab.depth};
  int64_t row = side->at.i - region[1].row, col = side->at.j - region[1].col;
  TileBox cells = tile_map_atom(side->map, row, col);
  const TileBox *thread = &side->map->of_thread[side->owner.thread];
  region[2] = of_box(&region[1], &side->map->of_warp[side->owner.thread / LANES], k, each);
  region[3] = of_box(&region[1], atom ? &cells : thread, k, each);
  region[4] = (TilesRegion){side->at.i, side->at.j, side->at.k, 1, 1, 1};
}

static bool same_at(const TraceAt *a, const TraceAt *b) {
  return a->i == b->i && a->j == b->j && a->k == b->k && a->product == b->product;
}

static void trace_all(TilesSide *side) {
  memset(side->trace, 0, sizeof side->trace);
  if (side->cta.index < 0) return;
  Arena *scratch = arena_new("trace");
  trace_product(scratch, side->model->program, side->cta.index, side->at, side->trace);
  arena_free(scratch);
}

// The first element of a tile that has neighbours on all sides, with half of K done: the panels of
// A and B are seen to cross the matrices, and the order of the blocks goes on around it.
static void place(Tiles *tiles, const TilesSide *side) {
  tiles->placed = true;
  tiles->at.i = side->grid->rows * 3 / 8 * side->grid->tile_m;
  tiles->at.j = side->board_cols * 3 / 8 * side->tile_cols;
  tiles->at.k = side->product->axis[AXIS_K]->extent / 2;
}

// "Q" of Q in global memory, "S" of the registers S_f.
static void name_operands(TilesSide *side) {
  for (int o = 0; o < ATOM_OPERANDS; o++) {
    const ProductOperand *operand = &side->product->operand[o];
    const Buffer *buffer = program_buffer(side->model->program, operand->global);
    if (!buffer) buffer = program_buffer(side->model->program, operand->registers);
    int length = buffer ? (int)strcspn(buffer->name, "_") : 0;
    snprintf(side->name[o], sizeof side->name[o], "%.*s", length, length ? buffer->name : "");
  }
}

static void look_at_product(TilesSide *side, int product) {
  const Program *program = side->model->program;
  arena_reset(side->arena);
  side->product = &program->product[product];
  side->map = tile_map_build(side->arena, program, product);
  side->tile_cols = side->product == side->grid->product ? side->grid->tile_n : side->map->cols;
  side->board_cols = ceil_div(side->product->axis[AXIS_N]->extent, side->tile_cols);
  name_operands(side);
}

// A program that computes its products one after the other has a kernel for each; the grid is that
// of the last one.
static int product_at(const Program *program, int wanted) {
  int product = wanted < program->n_products ? wanted : program->n_products - 1;
  return program->product[product].kernel == program->main_kernel ? product
                                                                  : program->n_products - 1;
}

static TraceAt within(const TilesSide *side, TraceAt at) {
  Axis *const *axis = side->product->axis;
  return (TraceAt){clamp_index(at.i, axis[AXIS_M]->extent), clamp_index(at.j, axis[AXIS_N]->extent),
                   clamp_index(at.k, axis[AXIS_K]->extent), at.product};
}

void tiles_follow(Tiles *tiles, int index, const Picture *picture, const Grid *grid) {
  TilesSide *side = &tiles->side[index];
  const int product = product_at(picture->model->program, tiles->at.product);
  const bool new_picture = side->serial != picture->serial;
  side->model = picture->model;
  side->serial = picture->serial;
  side->grid = grid;
  if (new_picture || side->at.product != product) look_at_product(side, product);
  if (!tiles->placed) place(tiles, side);
  tiles->at.product = product;
  TraceAt at = within(side, tiles->at);
  if (index == 1) tiles->at = at;
  if (!new_picture && same_at(&side->at, &at)) return;
  side->at = at;
  side->cta = (GridCta){-1, at.i / grid->tile_m, at.j / grid->tile_n, at.k / grid->k_part};
  if (tiles_of_scores(side)) side->cta.col = side->cta.split = 0;
  side->cta.index = grid_owner(grid, side->cta.row, side->cta.col, side->cta.split);
  side->owner = tile_map_owner(side->map, at.i % grid->tile_m, at.j % side->tile_cols);
  trace_all(side);
  find_regions(side);
}

bool tiles_of_scores(const TilesSide *side) { return side->product != side->grid->product; }

bool tiles_is_hidden(const TilesSide *side, int64_t row, int64_t key) {
  const Problem *p = &side->model->program->problem;
  return p->causal && key > row + p->n - p->m;
}

bool tiles_cell_is_hidden(const TilesSide *side, int64_t row, int64_t col) {
  return tiles_of_scores(side) && tiles_is_hidden(side, row, col);
}

// ---- what stands out ----------------------------------------------------------------------------

bool tiles_stands_out(const TilesSide *side, int level, int64_t row, int64_t col) {
  const TilesRegion *tile = &side->region[1], *out = &side->region[level + 1];
  bool in_box = row >= out->row && row < out->row + out->rows && col >= out->col &&
                col < out->col + out->cols;
  if (!in_box || level == 0 || level == TILES_LEVELS - 1) return in_box;
  TileOwner owner = tile_map_owner(side->map, row - tile->row, col - tile->col);
  if (level == 1) return owner.thread / LANES == side->owner.thread / LANES;
  return side->product->atom || owner.thread == side->owner.thread;
}

const char *tiles_level_name(const TilesHalf *half, int level, char out[48]) {
  const TilesSide *side = half->side;
  char text[48];
  if (level == 0) snprintf(out, 48, "%s", side->name[ATOM_C]);
  if (level == 1 && side->cta.index >= 0)
    snprintf(out, 48, "CTA %lld", (long long)grid_block(side->grid, side->cta.index));
  else if (level == 1)
    snprintf(out, 48, "CTA of tile %lld, %lld", (long long)side->cta.row, (long long)side->cta.col);
  if (level == 2) snprintf(out, 48, "warp %d", side->owner.thread / LANES);
  if (level == 3 && side->product->atom)
    snprintf(out, 48, "atom %.40s", side->product->atom->name);
  else if (level == 3)
    snprintf(out, 48, "lane %d", side->owner.thread % LANES);
  if (level == 4)
    snprintf(out, 48, "%s", tile_map_register_text(side->map, side->owner.value, text));
  return out;
}

Style tiles_level_style(const TilesHalf *half, int level) {
  bool atom = half->side->product->atom != NULL;
  const Style styles[] = {STYLE_TIER_BLOCK, STYLE_TIER_WARP,
                          atom ? STYLE_TIER_ATOM : STYLE_TIER_THREAD, STYLE_TIER_REGISTER};
  return styles[level];
}

// ---- sentences ----------------------------------------------------------------------------------

static const char *place_text(Arena *arena, const TracePlace *place) {
  Str out = str_new(arena);
  str_printf(&out, "%s[", place->buffer->name);
  for (int d = 0; d < place->buffer->rank; d++)
    str_printf(&out, "%s%lld", d ? ", " : "", (long long)place->index[d]);
  str_printf(&out, "]");
  return out.text;
}

static const char *shared_text(Arena *arena, const TracePlace *place) {
  return arena_printf(arena, "%s byte %lld bank %d", place_text(arena, place),
                      (long long)trace_address(place), trace_bank(place));
}

// ", r1 high" of an atom's operand; "" where a value has a register to itself.
static const char *register_text(Arena *arena, const TilesSide *side, AtomOperand operand,
                                 const TracePlace *place) {
  static const char *const halves[] = {"low", "high"};
  const Atom *atom = side->product->atom;
  if (!atom) return "";
  FragmentPacking packing = fragment_packing(atom, operand);
  int value = (int)place->index[place->buffer->rank - 1] % packing.n_values;
  int reg = value / packing.per_register, part = value % packing.per_register;
  if (packing.per_register == 1) return arena_printf(arena, ", r%d", reg);
  if (packing.per_register == 2) return arena_printf(arena, ", r%d %s", reg, halves[part]);
  return arena_printf(arena, ", r%d byte %d", reg, part);
}

static const char *others_text(Arena *arena, int n_threads) {
  if (n_threads <= 1) return "";
  return arena_printf(arena, "; for %d threads", n_threads);
}

static const char *output_text(Arena *arena, const TilesSide *side, const Trace *trace) {
  const TraceMove *last = &trace->move[trace->n_moves - 1];
  const char *to = place_text(arena, &last->to);
  if (last->to.buffer->space == SPACE_REGISTER)
    return arena_printf(arena, "after exp2 → %s of the same thread: operand A of the next product",
                        to);
  long long byte = last->to.offset * dtype_bytes(last->to.buffer->type);
  const char *carrier = op_carrier(last->stmt->op.kind);
  if (trace->n_moves > 1)
    return arena_printf(arena, "through %s, then %s%sthread %d → %s",
                        shared_text(arena, &trace->move[0].to), carrier ? carrier : "",
                        carrier ? ", " : "", last->thread, to);
  if (op_facts(last->stmt->op.kind)->action == ACTION_ADD)
    return arena_printf(arena, "→ %s byte %lld by red.global.add, as %lld splits do", to, byte,
                        (long long)side->grid->splits);
  return arena_printf(arena, "→ %s byte %lld, %d B at once", to, byte,
                      last->stmt->op.width * dtype_bytes(last->to.buffer->type));
}

// A grid of more CTAs than are mapped, in an order that is not simply rows.
static TilesText lost_text(TilesText text, const TilesSide *side) {
  if (side->cta.index < 0) text.where = "the grid is too large to find the CTA of this tile";
  return text;
}

static TilesText c_text(Arena *arena, const TilesSide *side) {
  const Trace *trace = &side->trace[ATOM_C];
  TilesText text = {.name = arena_printf(arena, "%s[%lld][%lld]", side->name[ATOM_C],
                                         (long long)side->at.i, (long long)side->at.j)};
  text.where = text.how = "";
  if (trace->n_moves == 0) return lost_text(text, side);
  const TraceMove *first = &trace->move[0];
  const char *hidden =
      tiles_cell_is_hidden(side, side->at.i, side->at.j) ? "; hidden from this query" : "";
  const char *wave = side->cta.index < 0
                         ? ""
                         : arena_printf(arena, "CTA %lld, %s %lld, ",
                                        (long long)grid_block(side->grid, side->cta.index),
                                        grid_words(side->grid).wave,
                                        (long long)grid_wave(side->grid, side->cta.index) + 1);
  text.where = arena_printf(arena, "%swarp %d lane %d: %s%s%s", wave, first->thread / LANES,
                            first->thread % LANES, place_text(arena, &first->from),
                            register_text(arena, side, ATOM_C, &first->from), hidden);
  text.how = output_text(arena, side, trace);
  return text;
}

// "cp.async, thread 40", "TMA, thread 0", "TMA, producer's thread 256"
static const char *carrier_text(Arena *arena, const TilesSide *side, const TraceMove *in) {
  const char *carrier = op_carrier(in->stmt->op.kind), *by = carrier ? carrier : "registers";
  bool produces = in->thread >= side->map->n_threads;
  return arena_printf(arena, "%s, %sthread %d", by, produces ? "producer's " : "", in->thread);
}

// How the element came into the slab, or that there is none.
static const char *arrival_text(Arena *arena, const TilesSide *side, const Trace *trace) {
  const TraceMove *in = &trace->move[0];
  bool held = trace->move[trace->n_moves - 1].to.buffer->space == SPACE_REGISTER;
  if (in->from.buffer->space == SPACE_REGISTER)
    return arena_printf(arena, "← exp2 of %s, a sum of the same thread: no shuffle",
                        place_text(arena, &in->from));
  if (trace->n_moves == 1 && held)
    return arena_printf(arena, "straight from global memory, %d B at once",
                        in->stmt->op.width * dtype_bytes(in->from.buffer->type));
  const char *when = in->k_o < 0 ? "prologue" : arena_printf(arena, "k_o %lld", (long long)in->k_o);
  TraceStep step = {0};
  trace_k_step(side->model->program, side->at, &step);
  const char *slab = shared_text(arena, &trace->move[trace->n_moves - 1 - held].to);
  const char *which = side->grid->heads ? "block of keys" : "slab";
  const bool all_keys = tiles_of_scores(side) && trace->operand == ATOM_A;  // Q stays
  return arena_printf(arena, "%s ← %s, %s%s", slab, carrier_text(arena, side, in), when,
                      all_keys
                          ? ", for all keys"
                          : arena_printf(arena, "; %s %lld", which, (long long)step.iteration));
}

static const char *row_text(Arena *arena, const TraceMove *move) {
  if (move->address_lane < 0) return "";
  return arena_printf(arena, "; row of lane %d", move->address_lane);
}

static const char *read_text(Arena *arena, const TilesSide *side, const Trace *trace) {
  if (!atom_is_of_thread(side->product->atom))
    return "in no register: wgmma reads the slab by a descriptor";
  if (trace->cta == side->cta.index)
    return "in no register: tcgen05 reads the slab by a descriptor";
  return arena_printf(arena,
                      "in no register: tcgen05 reads it from the slab of CTA %lld, the other of "
                      "the pair, by the same descriptor",
                      (long long)grid_block(side->grid, trace->cta));
}

TilesText tiles_text(Arena *arena, const TilesSide *side, AtomOperand operand) {
  if (operand == ATOM_C) return c_text(arena, side);
  const Trace *trace = &side->trace[operand];
  bool a = operand == ATOM_A;
  TilesText text = {.name = arena_printf(arena, "%s[%lld][%lld]", side->name[operand],
                                         (long long)(a ? side->at.i : side->at.k),
                                         (long long)(a ? side->at.k : side->at.j))};
  text.where = text.how = "";
  if (trace->n_moves == 0) return lost_text(text, side);
  const TraceMove *last = &trace->move[trace->n_moves - 1];
  text.how = arrival_text(arena, side, trace);
  if (last->to.buffer->space != SPACE_REGISTER) {
    text.where = read_text(arena, side, trace);
    return text;
  }
  text.where =
      arena_printf(arena, "warp %d lane %d: %s%s%s%s", last->thread / LANES, last->thread % LANES,
                   place_text(arena, &last->to), register_text(arena, side, operand, &last->to),
                   row_text(arena, last), others_text(arena, last->n_threads));
  return text;
}
