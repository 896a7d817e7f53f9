// tcgen05.cp, and the scale factors of block-scaled products.
//
//   tcgen05_cp(tensor_at(tensor_begin, 0, 256), tile_of(SFA_s, …));
//   tcgen05_mma_nvfp4(d, a, b, idesc, tensor_at(tensor_begin, 0, 256), tensor_at(…, 272), keep);
//
// A copy takes 32 rows of 16 bytes that a descriptor finds, the factors of 128 rows of A or columns
// of B, four of each: bytes 4 * c … 4 * c + 3 of row l go to column c, lane l, of each quarter of
// the lanes. A product finds the factors of row r in column r / 32, lane r % 32, from the byte that
// the ID names (PTX ISA, tcgen05.mma, Scale Factor A ID); every quarter looks into its own copy.
//
// Copies and products of one thread are carried out in the order in which they are asked for. But
// the ISA promises that only for a product behind a copy (Pipelined Instructions). A copy behind a
// product, or behind another copy, needs a commit and a wait for it: all accesses to the old
// contents must be over, by any thread.
#include "model/ir/matrix_tile.h"
#include "model/ir/problem.h"
#include "model/ir/stmt.h"
#include "model/ops/tcgen05_inside.h"

enum { WORD_BYTES = FACTORS_ALONG };

// ---- check --------------------------------------------------------------------------------------

// Words of four factors, in lanes and columns.
static const char *place_fault(Arena *arena, const Buffer *buffer) {
  if (buffer->rank == 3 && buffer->dim[2] == WORD_BYTES && buffer_is_factors(buffer)) return NULL;
  return arena_printf(arena, "factors come in words of four, and %s has none", buffer->name);
}

static const char *copy_fault(Arena *arena, const Program *program, const Code *code) {
  const Op *op = &code->stmt->op;
  const char *fault = place_fault(arena, op->dst.buffer);
  if (!fault) fault = tcgen05_group_fault(arena, program, op);
  if (fault) return fault;
  if (!operand_is_uniform(&code->dst) || !operand_is_uniform(&code->src))
    return "all lanes must name the same tile of factors, but this differs by lane";
  const Buffer *from = op->src.buffer;
  if (from->space == SPACE_GLOBAL)
    return from->rank == 3 && from->dim[2] == FACTOR_COLUMNS
               ? NULL
               : arena_printf(arena, "%s is not divided into tiles of 128 rows", from->name);
  if (op->tile[0].is_described) return NULL;
  return arena_printf(arena, "no descriptor can describe the layout of %s", from->name);
}

const char *tcgen05_factors_fault(Arena *arena, const Code *code) {
  const char *fault = NULL;
  for (int i = 0; i < 2 && code->scale[i].buffer && !fault; i++) {
    fault = place_fault(arena, code->scale[i].buffer);
    if (!fault && !operand_is_uniform(&code->scale[i]))
      fault = "all lanes must name the same factors, but these differ by lane";
  }
  return fault;
}

// Row r, byte b of a tile is entry 16 * r + b.
static void prepare_copy(Arena *arena, const Program *program, Code *code) {
  TileCode *tile = &code->tile[0];
  const Op *op = &code->stmt->op;
  tile->rows = FACTOR_LANES;
  tile->depth = FACTOR_LANE_BYTES;
  if (op->src.buffer->space == SPACE_GLOBAL) return;
  const MatrixTile meant = matrix_tile_of(program, op, ATOM_A);
  int32_t *at = ARENA_ARRAY(arena, int32_t, FACTOR_TILE_BYTES);
  for (int64_t i = 0; i < FACTOR_TILE_BYTES; i++)
    at[i] =
        (int32_t)matrix_tile_offset(&op->tile[0], 1, i / FACTOR_LANE_BYTES, i % FACTOR_LANE_BYTES);
  tile->at = at;
  tile->swizzle = op->tile[0];
  const bool of_a = op->src.buffer->role == ROLE_SLAB_SFA;
  const TileShape shape = {of_a ? ATOM_SFA : ATOM_SFB, tile->rows, tile->depth, 1};
  tile->wrong = matrix_tile_difference(arena, &shape, &op->tile[0], &meant);
}

// ---- copying ------------------------------------------------------------------------------------

static int column_of(const Buffer *buffer, int64_t at) {
  return buffer->column + (int)(at / WORD_BYTES % TENSOR_COLUMNS);
}

static double global_factor(const Machine *m, const Code *code, const int64_t *index, int i) {
  const Memory *memory = &m->memory[code->src.buffer->id];
  const Buffer *buffer = memory->buffer;
  const int64_t row = index[1] + i / FACTOR_COLUMNS, column = index[2] + i % FACTOR_COLUMNS;
  if (index[0] >= buffer->dim[0] || row >= buffer->dim[1] || column >= buffer->dim[2]) return 0;
  const int64_t at = index[0] * buffer->stride[0] + row * buffer->stride[1] + column;
  return number_read(memory->type, memory_at(memory, at));
}

static void read_tile(Machine *m, const Warp *w, const Code *code, const TensorWork *work,
                      double *out) {
  if (code->src.buffer->space != SPACE_GLOBAL) {
    tile_read_shared(m, w, code, NULL, 0, 0, work->corner[0], (TilePart){0, FACTOR_LANES}, out);
    return;
  }
  for (int i = 0; i < FACTOR_TILE_BYTES; i++) out[i] = global_factor(m, code, work->index[0], i);
}

// The four factors of a lane become its 32 bits of the column.
static void fill_column(Row *row, DType type, const double *tile, int column) {
  for (int lane = 0; lane < FACTOR_LANES; lane++) {
    const double *from = &tile[lane * FACTOR_LANE_BYTES + column * WORD_BYTES];
    uint32_t word = 0;
    for (int i = 0; i < WORD_BYTES; i++) {
      uint8_t byte;
      number_write(type, &byte, from[i]);
      word |= (uint32_t)byte << 8 * i;
    }
    row->whole[lane] = (int32_t)word;
  }
}

void tcgen05_copy_factors(Machine *m, const Warp *w, const TensorWork *work) {
  const Code *code = &m->code->code[work->code];
  double tile[FACTOR_TILE_BYTES];
  EACH_RANK(rank, tcgen05_ranks(w, &code->stmt->op)) {
    interp_at_rank(m, (int)rank);
    read_tile(m, w, code, work, tile);
    for (int quarter = 0; quarter < TENSOR_QUARTERS; quarter++)
      for (int column = 0; column < FACTOR_TILE_COLUMNS; column++)
        fill_column(&m->own->tensor.row[quarter][work->column + column], code->dst.buffer->type,
                    tile, column);
  }
  interp_at_rank(m, w->rank);
}

static bool starts_column(Machine *m, const Warp *w, const Code *code, int64_t at) {
  if (at / WORD_BYTES / TENSOR_COLUMNS == 0 && at % WORD_BYTES == 0) return true;
  interp_report(m, FINDING_OUT_OF_BOUNDS, w, -1, code->stmt, code->dst.buffer, at,
                "fills whole columns from lane 0, but this is byte %d of lane %d",
                (int)(at % WORD_BYTES), (int)(at / WORD_BYTES / TENSOR_COLUMNS));
  return false;
}

// For the block at hand: its slab is written, its columns are there, and no access to them is open.
static bool ask_copy_here(Machine *m, const Warp *w, const Code *code, TensorWork *work) {
  const TensorReach reach = {0, TENSOR_QUARTERS, work->column, FACTOR_TILE_COLUMNS,
                             code->dst.buffer};
  const TileCode *tile = &code->tile[0];
  if (m->rank != w->rank) interp_reach_rank(m, w, code, m->rank);
  if (!tmem_has(m, w, code, code->dst.buffer, &reach)) return false;
  const Touch now = tcgen05_touch(m, w, code);
  work->corner[0] = interp_scalar(w, &tile->corner);
  for (int d = 0; d < code->src.buffer->rank; d++)
    work->index[0][d] = interp_scalar(w, &tile->index[d]);
  if (tile->wrong)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, code->src.buffer, 0, "%s", tile->wrong);
  const bool shared = code->src.buffer->space == SPACE_SHARED;
  if (shared && !tile_ask(m, w, code, &now, tmem_agent(m, w), 0, work->corner[0])) return false;
  tmem_write(m, w, code, &reach, &now, tmem_agent(m, w));
  return true;
}

static void run_copy(Machine *m, Warp *w, const Code *code) {
  tcgen05_alone(m, w, code, "each lane copies the factors again");
  const int64_t at = interp_scalar(w, &code->dst.offset);
  if (!starts_column(m, w, code, at)) return;
  TensorWork work = {.code = (int)(code - m->code->code),
                     .copies = true,
                     .column = column_of(code->dst.buffer, at)};
  bool whole = true;
  EACH_RANK(rank, tcgen05_ranks(w, &code->stmt->op)) {
    interp_at_rank(m, (int)rank);
    whole = whole && ask_copy_here(m, w, code, &work);
  }
  interp_at_rank(m, w->rank);
  if (!whole) return;
  tmem_ask(m, w, &work);
  tcgen05_asked(m, w);
}

// ---- of a product -------------------------------------------------------------------------------

// Columns that the factors of an operand take.
static int columns_of(const Atom *atom, int operand) {
  const int rows = operand == ATOM_A ? atom->m : atom->n;
  return (rows + FACTOR_LANES - 1) / FACTOR_LANES;
}

// With 2X there are two places in a word, with 4X one.
static void check_id(Machine *m, const Warp *w, const Code *code, int operand, int64_t at) {
  const int scales = atom_scales(code->stmt->op.atom), id = (int)(at % WORD_BYTES);
  if (id % scales == 0) return;
  interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, code->scale[operand].buffer, at,
                "takes the factors of %s by the ID %d, but with scale_vec::%dX the ID is %s",
                atom_operand_name((AtomOperand)operand), id, scales, scales == 2 ? "0 or 2" : "0");
}

static bool ask_operand(Machine *m, const Warp *w, const Code *code, int operand,
                        TensorWork *work) {
  const Operand *scale = &code->scale[operand];
  const int64_t at = interp_scalar(w, &scale->offset);
  const int n = columns_of(code->stmt->op.atom, operand);
  const TensorReach reach = {0, TENSOR_QUARTERS, column_of(scale->buffer, at), n, scale->buffer};
  work->factors[operand] = at;
  check_id(m, w, code, operand, at);
  if (!tmem_has(m, w, code, scale->buffer, &reach)) return false;
  const Touch now = tcgen05_touch(m, w, code);
  if (!tmem_read(m, w, code, &reach, &now, tmem_agent(m, w))) return false;
  tmem_multiplied(m, &reach, &now, tmem_agent(m, w));
  return true;
}

bool tcgen05_ask_factors(Machine *m, const Warp *w, const Code *code, TensorWork *work) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++)
    if (code->scale[operand].buffer && !ask_operand(m, w, code, operand, work)) return false;
  return true;
}

// The factors of a row or column, as a quarter of the lanes has them.
static void read_row(const Machine *m, const Code *code, const TensorWork *work, int operand,
                     int quarter, int row, double out[TCGEN05_SCALES_MAX]) {
  const Buffer *buffer = code->scale[operand].buffer;
  const int64_t at = work->factors[operand];
  const int column = column_of(buffer, at) + row / FACTOR_LANES;
  const uint32_t word =
      column < TENSOR_COLUMNS
          ? (uint32_t)m->own->tensor.row[quarter][column].whole[row % FACTOR_LANES]
          : 0;
  for (int s = 0; s < atom_scales(code->stmt->op.atom); s++) {
    const uint8_t byte = (uint8_t)(word >> 8 * ((at + s) % WORD_BYTES));
    out[s] = number_read(buffer->type, &byte);
  }
}

void tcgen05_read_factors(const Machine *m, const Code *code, const TensorWork *work,
                          TensorFactors *out) {
  for (int row = 0; row < TENSOR_LANES; row++)
    read_row(m, code, work, ATOM_A, row / FACTOR_LANES, row, out->a[row]);
  for (int quarter = 0; quarter < TENSOR_QUARTERS; quarter++)
    for (int n = 0; n < code->stmt->op.atom->n; n++)
      read_row(m, code, work, ATOM_B, quarter, n, out->b[quarter][n]);
}

// ---- rules --------------------------------------------------------------------------------------

static const char *const help_of_copy[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "the thread that issues the products issues this copy first: the factors are in place when "
        "the products begin"};
static const char *const copies[ROLE_COUNT] = {
    [ROLE_TENSOR_SFA] = "copy the factors of A to tensor memory",
    [ROLE_TENSOR_SFB] = "copy the factors of B to tensor memory"};

const OpRules rules_T_CP = {.text = {.write = tcgen05_emit_cp, .purposes = copies},
                            {.run = run_copy, .fault = copy_fault, .prepare = prepare_copy},
                            help_of_copy};
