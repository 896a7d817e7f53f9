// Extents are those of the axes: a block has what its loop over slabs does not count, a warp what
// the WARP digits leave of it. Registers are those of the buffer that the product reads or adds up.
//
// Worked example, attention of 64 queries by 64 keys a turn, 4 warps, head dimension 128,
// m16n8k16: Q is 64 × 128, a warp's share 16 × 128, 2 × 16 fragments; with FRAG_BUFFER=2 the
// registers are [2 x 1 x 8] of 16 bit: two sets of 16 × 16, one of eight steps each.
#include "model/readings/place/block_tiles.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"

enum { FRAGMENT_ROWS = 8, FRAGMENT_BYTES = 16 };

// Warps, or warpgroups, side by side along an axis.
static int64_t warps_along(const Axis *axis) {
  int64_t warps = 1;
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_WARP) warps *= axis->digit[i].var->extent;
  return warps;
}

static TileExtents extents_of(AtomOperand operand, int64_t m, int64_t n, int64_t k) {
  return operand == ATOM_A   ? (TileExtents){m, k}
         : operand == ATOM_B ? (TileExtents){k, n}
                             : (TileExtents){m, n};
}

// "Q" of Q in global memory, "S" of the registers S_f.
static const char *name_of(Arena *arena, const Program *program, const ProductOperand *operand) {
  const Buffer *buffer = program_buffer(program, operand->global);
  if (!buffer) buffer = program_buffer(program, operand->registers);
  if (!buffer) return "";
  return arena_printf(arena, "%.*s", (int)strcspn(buffer->name, "_"), buffer->name);
}

static void look_at_slab(BlockTile *tile, const Program *program, const ProductOperand *operand) {
  const Buffer *slab = program_buffer(program, operand->slab);
  if (!slab || slab->space != SPACE_SHARED) return;
  int64_t elements = tile->block.rows * tile->block.cols;
  int64_t all = 1;
  for (int d = 0; d < slab->rank; d++) all *= slab->dim[d];
  tile->slots = (int)max64(1, all / elements);
  tile->slot_bytes = buffer_bytes(slab) / tile->slots;
}

// How deep one set is: registers that hold less than the warp's share hold whole steps of it.
static void look_at_registers(BlockTile *tile, const Product *product, const Buffer *registers) {
  if (!registers || registers->space != SPACE_REGISTER) return;
  const int lanes = product->atom ? atom_warps(product->atom) * LANES : 1;
  const int64_t each = product->atom ? product->atom->k : 1;
  int64_t elements = 1;
  for (int d = 0; d < registers->rank; d++) elements *= registers->dim[d];
  tile->registers = (int)(ceil_div(elements * dtype_bytes(registers->type), 4));
  tile->sets = 1;
  tile->held = tile->warp;
  int64_t *depth = tile->operand == ATOM_A ? &tile->held.cols : &tile->held.rows;
  if (tile->operand == ATOM_C || elements * lanes >= tile->warp.rows * tile->warp.cols) return;
  tile->steps = (int)ceil_div(*depth, each);
  tile->sets =
      (int)max64(1, elements * lanes * *depth / (tile->warp.rows * tile->warp.cols * each));
  *depth = each;
}

static BlockTile tile_of(Arena *arena, const Program *program, int index, AtomOperand operand) {
  const Product *product = &program->product[index];
  const ProductOperand *of = &product->operand[operand];
  Axis *const *axis = product->axis;
  int64_t m = axis_tile(axis[AXIS_M]), n = axis_tile(axis[AXIS_N]), k = axis_tile(axis[AXIS_K]);
  const Buffer *registers = program_buffer(program, of->registers);
  BlockTile tile = {
      .name = name_of(arena, program, of),
      .product = index,
      .operand = operand,
      .column_major = of->column_major,
      .block = extents_of(operand, m, n, k),
      .warp = extents_of(operand, m / warps_along(axis[AXIS_M]), n / warps_along(axis[AXIS_N]), k),
      .steps = 1};
  int across = FRAGMENT_BYTES / dtype_bytes(problem_operand_type(&program->problem));  // along k
  tile.unit = extents_of(operand, FRAGMENT_ROWS, FRAGMENT_ROWS, across);
  look_at_slab(&tile, program, of);
  look_at_registers(&tile, product, registers);
  return tile;
}

BlockTiles block_tiles(Arena *arena, const Program *program) {
  const Atom *atom = program_atom(program);
  BlockTiles tiles = {.group_warps = atom ? atom_warps(atom) : 1};
  for (int p = 0; p < program->n_products; p++)
    for (int o = 0; o < ATOM_OPERANDS && program->product[p].kernel == program->main_kernel; o++)
      tiles.tile[tiles.n++] = tile_of(arena, program, p, (AtomOperand)o);
  return tiles;
}

TileExtents block_tile_fragments(const BlockTile *tile, TileExtents of) {
  return (TileExtents){ceil_div(of.rows, tile->unit.rows), ceil_div(of.cols, tile->unit.cols)};
}
