// Program → tiles, by walking what each warpgroup comes by.
//
// The corner of a tile is the operand's own index expression, evaluated for the first lane of a
// warpgroup; so what is shown is what the emitter prints. Worked example, A_s [3 x 128 x 64] bf16
// with m_w in 0..2, k_i in 0..4: corners (0, 0), (0, 16), … (64, 48), at bytes 0, 32, … 8288.
#include "model/readings/place/tile_read.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/ir/warp_walk.h"

enum { READS_MAX = 512, WARPS = 4, CHUNK_BYTES = 16, CORE_ROWS = 8 };

typedef struct Finder {
  Arena *arena;
  AtomOperand operand;
  TileReads *out;
  TileRead *read;
  const Op *op;
  const Expr *corner;
  bool held;  // the operand comes from registers
} Finder;

static const Access *access_of(const Op *op, AtomOperand operand) {
  return operand == ATOM_A ? &op->src : &op->src2;
}

static bool is_uneven(void *context, const Op *op, const Var *var) {
  const Finder *finder = context;
  if (!op_reads_tiles(op->kind)) return false;
  const Access *access = access_of(op, finder->operand);
  for (int d = 0; d < access->buffer->rank; d++)
    if (expr_uses(access->idx[d], var)) return true;
  return false;
}

// In a pair of CTAs each has half of B's tile, and the rows of A that its own sums are of.
static int rows_of(const Op *op, AtomOperand operand) {
  if (operand == ATOM_A) return op->atom->m;
  return op->atom->n / (op->cta_group == 2 ? 2 : 1);
}

static void start_with(Finder *finder, const WarpVisit *visit) {
  const Op *op = &visit->stmt->op;
  const Access *access = access_of(op, finder->operand);
  finder->op = op;
  finder->corner = matrix_tile_corner(finder->arena, access);
  finder->out->slab = access->buffer;
  finder->out->said = op->tile[finder->operand];
  finder->out->op = op;
  finder->out->shape = (TileShape){finder->operand, rows_of(op, finder->operand), op->atom->k,
                                   dtype_bytes(access->buffer->type)};
}

static int64_t first_lane(const Expr *expr, const int64_t *env) {
  int64_t value[LANES];
  expr_eval_warp(expr, env, value);
  return value[0];
}

static TileRead read_of(const Finder *finder, const WarpVisit *visit) {
  const Buffer *slab = finder->out->slab;
  const Access *access = access_of(finder->op, finder->operand);
  int last = slab->rank - 1;
  int64_t fast = first_lane(access->idx[last], visit->env);
  int64_t slow = first_lane(access->idx[last - 1], visit->env);
  if (slab->panel) fast += slab->panel * first_lane(access->idx[last - 2], visit->env);
  bool trans = finder->out->said.trans;
  int64_t corner = first_lane(finder->corner, visit->env);
  return (TileRead){.asker = finder->out->by_thread ? visit->warp : visit->warp / WARPS,
                    .start = slab->offset_bytes + corner * dtype_bytes(slab->type),
                    .row = trans ? fast : slow,
                    .k = trans ? slow : fast};
}

static void look(void *context, const WarpVisit *visit) {
  Finder *finder = context;
  const bool first = finder->out->by_thread || visit->warp % WARPS == 0;
  if (!op_reads_tiles(visit->stmt->op.kind) || !first) return;
  const Buffer *buffer = access_of(&visit->stmt->op, finder->operand)->buffer;
  finder->held |= buffer->space == SPACE_REGISTER;
  if (buffer->space != SPACE_SHARED || buffer->rank < 2 || !visit->active[0]) return;
  if (!finder->op) start_with(finder, visit);
  if (&visit->stmt->op != finder->op || finder->out->n == READS_MAX) return;
  TileRead read = read_of(finder, visit);
  for (int i = 0; i < finder->out->n; i++)
    if (finder->read[i].start == read.start) return;
  finder->read[finder->out->n++] = read;
}

static const char *why_none(const Finder *finder, const Atom *atom) {
  if (!atom || !atom_reads_tiles(atom))
    return "This kernel has no descriptors: FMA and mma.sync take their operands from registers. "
           "wgmma (sm_90) and tcgen05 (sm_100) read tiles from shared memory by descriptors. To "
           "see one, type\n"
           "\n"
           ":state ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,BK=4,WM=2\n"
           "\n"
           "and press u to come back. ATOM_N is the width of the atom.";
  if (finder->held)
    return "A comes from registers here, by ldmatrix. A_REGS=0 lets wgmma read A from shared "
           "memory; o shows B.";
  return "No descriptor can describe this slab: its rows must be as long as the swizzle, without "
         "a pad.";
}

TileReads tile_reads(Arena *arena, const Model *model, AtomOperand operand) {
  static const WarpVisitor visitor = {.visit = look, .is_uneven = is_uneven};
  TileReads out = {.shape.operand = operand};
  Finder finder = {.arena = arena, .operand = operand, .out = &out};
  const Atom *atom = program_atom(model->program);
  if (atom && atom_reads_tiles(atom)) {
    out.by_thread = atom_is_of_thread(atom);
    finder.read = ARENA_ARRAY(arena, TileRead, READS_MAX);
    warp_walk(arena, model->program, &visitor, &finder);
  }
  if (out.n) out.meant = matrix_tile_of(model->program, finder.op, operand);
  if (!out.said.is_described) out.n = 0;
  out.read = finder.read;
  out.why = out.n ? NULL : why_none(&finder, atom);
  return out;
}

static SmemDescriptor descriptor_of(const TileReads *reads, const MatrixTile *tile, int index) {
  enum { WGMMA = 90, TCGEN05 = 100 };
  return matrix_tile_descriptor(tile, reads->read[index].start, reads->by_thread ? TCGEN05 : WGMMA);
}

SmemDescriptor tile_read_descriptor(const TileReads *reads, int index) {
  return descriptor_of(reads, &reads->said, index);
}

DescriptorTile tile_read_shape(const TileReads *reads) {
  return (DescriptorTile){reads->said.trans, reads->shape.rows, reads->shape.element_bytes, 0};
}

// Buffers that a descriptor can describe have no pads: the swizzle is its own inverse, and what is
// left are the digits of the offset.
TileHolder tile_read_holder(const TileReads *reads, int64_t byte) {
  const Buffer *slab = reads->slab;
  int64_t at = byte - slab->offset_bytes, last = slab->rank - 1;
  if (at < 0 || at >= buffer_bytes(slab)) return (TileHolder){.inside = false};
  at = matrix_tile_swizzled(&reads->meant, byte) - slab->offset_bytes;
  at /= reads->shape.element_bytes;
  int64_t fast = at % slab->dim[last], rest = at / slab->dim[last];
  int64_t slow = rest % slab->dim[last - 1];
  rest /= slab->dim[last - 1];
  if (slab->panel) {
    fast += rest % slab->dim[last - 2] * slab->panel;
    rest /= slab->dim[last - 2];
  }
  bool trans = reads->meant.trans;
  return (TileHolder){true, rest, trans ? fast : slow, trans ? slow : fast};
}

bool tile_read_differs(const TileReads *reads, int index, const SmemDescriptor *word, bool trans,
                       int64_t row, int64_t k) {
  int bytes = reads->shape.element_bytes;
  SmemDescriptor meant = descriptor_of(reads, &reads->meant, index);
  return matrix_tile_address(word, trans, bytes, row, k) !=
         matrix_tile_address(&meant, reads->meant.trans, bytes, row, k);
}

int tile_read_core(const TileReads *reads, bool trans, int64_t row, int64_t k, int *line) {
  int64_t slow = trans ? k : row, fast = (trans ? row : k) * reads->shape.element_bytes;
  int64_t width = (int64_t)(trans ? reads->shape.rows : reads->shape.depth);
  int64_t across = ceil_div(width * reads->shape.element_bytes, CHUNK_BYTES);
  *line = (int)(slow % CORE_ROWS);
  return (int)(slow / CORE_ROWS * across + fast / CHUNK_BYTES);
}
