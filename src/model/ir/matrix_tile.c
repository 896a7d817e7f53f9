// Descriptors follow from strides: of panels, of eight rows.
#include "model/ir/matrix_tile.h"

#include <assert.h>

#include "banks/layouts/instruction_descriptor.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { ARCH_TCGEN05 = 100 };
enum { CHUNK_BYTES = 16, CORE_ROWS = 8, CHUNK_BITS = 4, PATTERN_SHIFT = 3 };

// Rows of the slab, and the bytes of one in its panel.
typedef struct PanelShape {
  int64_t rows, row_bytes;
} PanelShape;

static PanelShape panel_shape(const Buffer *slab) {
  int last = slab->rank - 1;
  return (PanelShape){slab->dim[last - 1], slab->dim[last] * dtype_bytes(slab->type)};
}

// Tells what no descriptor can say: a pad, a typed layout, rows that are not as long as the
// swizzle.
static bool can_describe(const Buffer *slab) {
  int last = slab->rank - 1;
  bool dense = slab->stride[last] == 1 && slab->stride[last - 1] == slab->dim[last];
  bool plain = !slab->n_xor && !slab->run_pad && !slab->transposed && dense;
  bool pattern = !slab->swizzle_bits ||
                 (slab->swizzle_base == CHUNK_BITS && slab->swizzle_shift == PATTERN_SHIFT);
  return plain && pattern && panel_shape(slab).row_bytes == CHUNK_BYTES << slab->swizzle_bits;
}

bool matrix_tile_runs_across(const Program *program, const Buffer *slab, AtomOperand operand) {
  const Product *product = program_product_of(program, slab->role);
  return product->operand[operand].column_major == (operand == ATOM_A);
}

// Rows of 16 bytes that follow each other; a next chunk of a row would be in the next tile, which
// is not looked at.
static MatrixTile factors_tile(const Buffer *slab) {
  const int last = slab->rank - 1;
  const bool dense = slab->space == SPACE_SHARED && slab->rank >= 2 &&
                     slab->dim[last] == FACTOR_COLUMNS &&
                     slab->stride[last - 1] == FACTOR_COLUMNS && slab->stride[last] == 1 &&
                     !buffer_is_permuted(slab) && !slab->run_pad;
  return (MatrixTile){
      .is_described = dense, .lbo = FACTOR_TILE_BYTES, .sbo = CORE_ROWS * CHUNK_BYTES};
}

MatrixTile matrix_tile_of(const Program *program, const Op *op, AtomOperand operand) {
  if (op_moves_factors(op->kind)) return factors_tile(op->src.buffer);
  const Buffer *slab = operand == ATOM_A ? op->src.buffer : op->src2.buffer;
  if (!slab || slab->space != SPACE_SHARED || slab->rank < 2 || !can_describe(slab))
    return (MatrixTile){.is_described = false};
  PanelShape panel = panel_shape(slab);
  int64_t next_panel = panel.rows * panel.row_bytes, next_core = CORE_ROWS * panel.row_bytes;
  bool plain = slab->swizzle_bits == 0;
  MatrixTile tile = {.is_described = true,
                     .trans = matrix_tile_runs_across(program, slab, operand),
                     .swizzle = slab->swizzle_bits};
  // Without a swizzle a panel is a chunk wide, and which of the two strides steps over panels
  // depends on what runs along them: LBO steps along K where K runs fastest, and so does it where
  // it does not, down the rows of the slab.
  bool lbo_steps_panels = plain != tile.trans;
  if (!plain && !tile.trans)
    tile.lbo = CHUNK_BYTES;  // not looked at; 1 is the usual value
  else
    tile.lbo = lbo_steps_panels ? next_panel : next_core;
  tile.sbo = plain && tile.trans ? next_panel : next_core;
  return tile;
}

static void describe(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP) return;
  if (op_moves_factors(stmt->op.kind))
    stmt->op.tile[ATOM_A] = matrix_tile_of(context, &stmt->op, ATOM_A);
  if (!op_reads_tiles(stmt->op.kind)) return;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++)
    stmt->op.tile[operand] = matrix_tile_of(context, &stmt->op, (AtomOperand)operand);
  const Program *program = context;
  if (!atom_is_of_thread(stmt->op.atom)) return;
  const bool both = stmt->op.tile[ATOM_A].is_described && stmt->op.tile[ATOM_B].is_described;
  stmt->op.idesc = both ? matrix_tile_instruction(program->arena, &stmt->op) : 0;
}

void program_describe_tiles(Program *program) {
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, describe, program);
}

SmemDescriptor matrix_tile_descriptor(const MatrixTile *tile, int64_t start, int arch) {
  const DescriptorSwizzle *swizzle = descriptor_swizzle_at(tile->swizzle);
  const bool later = arch == ARCH_TCGEN05;
  return (SmemDescriptor){.arch = arch,
                          .start = start,
                          .lbo = tile->lbo,
                          .sbo = tile->sbo,
                          .swizzle = swizzle,
                          .swizzle_code = swizzle->code[later],
                          .fixed = {later, 0}};
}

MatrixTile matrix_tile_decode(const SmemDescriptor *descriptor, bool trans) {
  return (MatrixTile){.is_described = true,
                      .trans = trans,
                      .swizzle = (int)(descriptor->swizzle - descriptor_swizzle_at(0)),
                      .lbo = descriptor->lbo,
                      .sbo = descriptor->sbo};
}

uint64_t matrix_tile_bits(const MatrixTile *tile, int arch) {
  const SmemDescriptor descriptor = matrix_tile_descriptor(tile, 0, arch);
  return smem_descriptor_encode(&descriptor);
}

// ---- tcgen05's instruction descriptor
// ------------------------------------------------------------

// The kinds of types that have an atom.
static const InstructionKind *kind_of(const Atom *atom) {
  static const struct {
    const char *type, *kind;
  } kinds[] = {{"f16", "f16"},       {"bf16", "f16"},          {"tf32", "tf32"},
               {"e4m3", "f8f6f4"},   {"e5m2", "f8f6f4"},       {"s8", "i8"},
               {"mxf8", "mxf8f6f4"}, {"mxf8e5m2", "mxf8f6f4"}, {"mxf4", "mxf4"},
               {"nvfp4", "mxf4nvf4"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (str_equal(kinds[i].type, atom->type)) return instruction_kind_find(kinds[i].kind);
  return NULL;
}

// Sums are of 32 bits where factors are, and elements of 4 bits run along K: no field says it.
static const char *fields_of(Arena *arena, const Op *op, const InstructionKind *kind) {
  const Atom *atom = op->atom;
  DType type = DTYPE_F32;
  dtype_find(atom->type, &type);
  Str out = str_new(arena);
  str_printf(&out, "a=%s,b=%s", dtype_element(type), dtype_element(type));
  if (dtype_is_scaled(type))
    str_printf(&out, ",scale=%s", dtype_name(dtype_scale(type).type));
  else
    str_printf(&out, ",d=%s", atom->acc);
  if (kind->format != INSTRUCTION_SCALED_4)
    str_printf(&out, ",ta=%s,tb=%s", op->tile[ATOM_A].trans ? "mn" : "k",
               op->tile[ATOM_B].trans ? "mn" : "k");
  str_printf(&out, ",m=%d,n=%d", atom->m * (op->cta_group > 1 ? op->cta_group : 1), atom->n);
  return out.text;
}

uint32_t matrix_tile_instruction(Arena *arena, const Op *op) {
  const InstructionKind *kind = op->atom ? kind_of(op->atom) : NULL;
  if (!kind) return 0;
  InstructionDescriptor out;
  Diags diags = diags_new(arena);
  const bool legal =
      instruction_descriptor_parse(arena, kind->name, fields_of(arena, op, kind), &out, &diags);
  assert(legal);
  return legal ? out.word : 0;
}

bool matrix_tile_instruction_said(const Op *op, InstructionDescriptor *out) {
  const InstructionKind *kind = op->atom && op->idesc ? kind_of(op->atom) : NULL;
  if (kind) *out = (InstructionDescriptor){kind, op->idesc};
  return kind != NULL;
}

const char *matrix_tile_instruction_field(Arena *arena, const Op *op,
                                          const InstructionDescriptor *said,
                                          const InstructionField *field) {
  static const char *const ids[] = {[ATOM_A] = "sfa", [ATOM_B] = "sfb"};
  for (int i = ATOM_A; i <= ATOM_B; i++) {
    if (!op->scale[i].buffer || !str_equal(field->name, ids[i])) continue;
    const Expr *id = op->scale[i].idx[op->scale[i].buffer->rank - 1];
    if (expr_is_const(id, id->lo)) return arena_printf(arena, "%lld", (long long)id->lo);
    return atom_scales(op->atom) > 1 ? "0, 2" : "0-3";
  }
  return instruction_field_text(arena, said, field);
}

const char *matrix_tile_instruction_difference(Arena *arena, const Op *op, uint32_t meant) {
  const InstructionKind *kind = op->atom ? kind_of(op->atom) : NULL;
  if (!kind || op->idesc == meant) return NULL;
  const InstructionDescriptor said = {kind, op->idesc}, ought = {kind, meant};
  for (int i = 0; i < instruction_field_count(kind); i++) {
    const InstructionField *field = instruction_field_at(kind, i);
    const char *is = instruction_field_text(arena, &said, field);
    const char *be = instruction_field_text(arena, &ought, field);
    if (str_equal(is, be)) continue;
    return arena_printf(arena, "has %s = %s in its instruction descriptor 0x%08x, but needs %s",
                        field->name[0] ? field->name : "reserved bits", is, op->idesc, be);
  }
  return arena_printf(arena, "has the instruction descriptor 0x%08x, but needs 0x%08x", op->idesc,
                      meant);
}

const char *matrix_tile_swizzle(const MatrixTile *tile) {
  return descriptor_swizzle_at(tile->swizzle)->name;
}

// K-major   row / 8 · SBO + row % 8 · panel + bytes along K, of which LBO steps 16 without a
// swizzle MN-major  panels of M or N by LBO and eight of K by SBO; without a swizzle the other way
// round
int64_t matrix_tile_offset(const MatrixTile *tile, int element_bytes, int64_t row, int64_t k) {
  int64_t panel = (int64_t)CHUNK_BYTES << tile->swizzle, bytes = k * element_bytes;
  if (!tile->trans) {
    int64_t along = tile->swizzle ? bytes : bytes / CHUNK_BYTES * tile->lbo + bytes % CHUNK_BYTES;
    return row / CORE_ROWS * tile->sbo + row % CORE_ROWS * panel + along;
  }
  int64_t across = row * element_bytes;
  int64_t panels = tile->swizzle ? tile->lbo : tile->sbo;
  int64_t cores = tile->swizzle ? tile->sbo : tile->lbo;
  return across / panel * panels + across % panel + k / CORE_ROWS * cores + k % CORE_ROWS * panel;
}

int64_t matrix_tile_swizzled(const MatrixTile *tile, int64_t address) {
  int64_t mask = ((int64_t)1 << tile->swizzle) - 1;
  return address ^ (address >> (CHUNK_BITS + PATTERN_SHIFT) & mask) << CHUNK_BITS;
}

const Expr *matrix_tile_corner(Arena *arena, const Access *access) {
  Buffer plain = *access->buffer;
  plain.swizzle_bits = plain.n_xor = 0;
  Access at = *access;
  at.buffer = &plain;
  return access_offset(arena, &at);
}

int64_t matrix_tile_placed(const SmemDescriptor *descriptor, const MatrixTile *tile,
                           int64_t offset) {
  int64_t pattern = (int64_t)descriptor->base_offset << (CHUNK_BITS + PATTERN_SHIFT);
  int64_t turns = 1 << (CHUNK_BITS + 2 * PATTERN_SHIFT);  // keeps the difference above 0
  return matrix_tile_swizzled(tile, descriptor->start + offset - pattern + turns) + pattern - turns;
}

int64_t matrix_tile_address(const SmemDescriptor *descriptor, bool trans, int element_bytes,
                            int64_t row, int64_t k) {
  const MatrixTile tile = matrix_tile_decode(descriptor, trans);
  return matrix_tile_placed(descriptor, &tile, matrix_tile_offset(&tile, element_bytes, row, k));
}

const char *matrix_tile_difference(Arena *arena, const TileShape *shape, const MatrixTile *said,
                                   const MatrixTile *meant) {
  const char *name = atom_operand_name(shape->operand);
  const char *across = shape->operand == ATOM_A ? "M" : "N";
  if (!said->is_described || !meant->is_described) return NULL;
  if (said->trans != meant->trans)
    return arena_printf(arena, "reads %s as a tile that runs along %s", name,
                        said->trans ? across : "K");
  if (said->swizzle != meant->swizzle)
    return arena_printf(arena, "reads %s as swizzled by %s, but it is swizzled by %s", name,
                        matrix_tile_swizzle(said), matrix_tile_swizzle(meant));
  for (int64_t row = 0; row < shape->rows; row++)
    for (int64_t k = 0; k < shape->depth; k++) {
      int64_t is = matrix_tile_offset(said, shape->element_bytes, row, k);
      int64_t ought = matrix_tile_offset(meant, shape->element_bytes, row, k);
      if (is == ought) continue;
      return arena_printf(arena,
                          "finds %s %lld, k %lld of %s %lld bytes after the first element, but "
                          "it lies %lld after it",
                          shape->operand == ATOM_A ? "m" : "n", (long long)row, (long long)k, name,
                          (long long)is, (long long)ought);
    }
  return NULL;
}
