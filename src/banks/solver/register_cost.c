// Accesses of warps, made from the table of registers and the table of offsets, counted by the bank
// engine one by one.
//
// Registers are grouped by the chunk of memory that they lie in for lane 0 of warp 0; a width holds
// where every other lane has the same registers in one aligned chunk, in the same order. Narrower
// ones are tried until it does.
//
// Worked example, rows of 64 halves and a blocked layout with four registers along the row: chunks
// of 8 bytes, LDS.64.
#include "banks/solver/register_cost.h"

#include <string.h>

#include "banks/layouts/notation.h"
#include "base/whole.h"

enum { CHUNK_BYTES_MAX = 16, WORD_BYTES = 4, MATRIX_ROW_BYTES = 16, PLACES_COUNTED_MAX = 1 << 22 };

typedef struct Counting {
  Arena *arena;
  const RegisterLayout *layout;
  const Layout *memory;
  int elem_bytes;
  int n_registers;       // that are accessed
  const int *registers;  // those that repeat no other
  int width, n_groups;   // bytes of a chunk
  const int *group;      // [n_groups * registers of a chunk]: in the order of memory
} Counting;

static bool refuse(Diags *diags, const RegisterLayout *layout, const char *sentence) {
  diag_add(diags, "layout", "%s: %s", str_sanitise(diags->arena, layout->text), sentence);
  return false;
}

// The byte of an element; -1: the place holds nothing.
static int64_t byte_at(const Counting *c, int warp, int lane, int reg) {
  const int element = register_element(c->layout, (RegisterPlace){{reg, lane, warp, 0}});
  return element < 0 ? -1 : c->memory->offset_of[(int64_t)element * c->elem_bytes];
}

// ---- registers ----------------------------------------------------------------------------------

static bool repeats(const Counting *c, int reg, int earlier) {
  for (int warp = 0; warp < c->layout->n[HOLDER_WARP]; warp++)
    for (int lane = 0; lane < c->layout->n[HOLDER_LANE]; lane++)
      if (byte_at(c, warp, lane, reg) != byte_at(c, warp, lane, earlier)) return false;
  return true;
}

static void find_registers(Counting *c) {
  const int n = c->layout->n[HOLDER_REGISTER];
  int *registers = ARENA_ARRAY(c->arena, int, n);
  int *first = ARENA_ARRAY(c->arena, int, tensor_size(&c->layout->shape));
  memset(first, -1, sizeof *first * (size_t)tensor_size(&c->layout->shape));
  c->n_registers = 0;
  for (int reg = 0; reg < n; reg++) {
    const int element = register_element(c->layout, (RegisterPlace){{reg, 0, 0, 0}});
    const bool again = element >= 0 && first[element] >= 0 && repeats(c, reg, first[element]);
    if (again) continue;
    if (element >= 0) first[element] = reg;
    registers[c->n_registers++] = reg;
  }
  c->registers = registers;
}

// ---- chunks -------------------------------------------------------------------------------------

static bool chunk_holds(const Counting *c, const int *group, int n) {
  for (int warp = 0; warp < c->layout->n[HOLDER_WARP]; warp++)
    for (int lane = 0; lane < c->layout->n[HOLDER_LANE]; lane++) {
      const int64_t first = byte_at(c, warp, lane, group[0]);
      if (n > 1 && (first < 0 || first % (n * c->elem_bytes))) return false;
      for (int i = 1; i < n; i++)
        if (byte_at(c, warp, lane, group[i]) != first + i * c->elem_bytes) return false;
    }
  return true;
}

// The registers of each chunk of lane 0, in the order of memory; false where one is not full.
static bool group_registers(Counting *c, int width) {
  const int n = width / c->elem_bytes;
  int *group = ARENA_ARRAY(c->arena, int, c->n_registers + n);
  int *at_byte = ARENA_ARRAY(c->arena, int, c->memory->storage_bytes + CHUNK_BYTES_MAX);
  memset(at_byte, -1, sizeof *at_byte * (size_t)(c->memory->storage_bytes + CHUNK_BYTES_MAX));
  c->group = group;
  c->width = width;
  c->n_groups = 0;
  for (int i = 0; i < c->n_registers; i++) {
    const int64_t byte = byte_at(c, 0, 0, c->registers[i]);
    if (n == 1) group[c->n_groups++] = c->registers[i];
    if (n > 1 && byte < 0) return false;
    if (byte >= 0) at_byte[byte] = c->registers[i];
  }
  for (int i = 0; n > 1 && i < c->n_registers; i++) {
    const int64_t byte = byte_at(c, 0, 0, c->registers[i]);
    if (byte % width) continue;
    for (int k = 0; k < n; k++)
      if ((group[c->n_groups * n + k] = at_byte[byte + k * c->elem_bytes]) < 0) return false;
    if (!chunk_holds(c, &group[c->n_groups * n], n)) return false;
    c->n_groups++;
  }
  return c->n_groups * n == c->n_registers;
}

static void find_width(Counting *c) {
  int width = CHUNK_BYTES_MAX;
  while (width > c->elem_bytes && !group_registers(c, width)) width /= 2;
  if (width <= c->elem_bytes) group_registers(c, c->elem_bytes);
}

static const BankOp *plain_op(const Counting *c, bool store) {
  return banks_op_find(arena_printf(c->arena, "%s%d", store ? "sts" : "lds", c->width * 8));
}

static void add_access(RegisterAccess *out, const int64_t addr[BANK_LANES]) {
  const BankCount count = banks_count(out->op, addr);
  out->instructions++;
  out->wavefronts += count.wavefronts;
  out->ideal += count.ideal;
}

static void count_plain(const Counting *c, RegisterAccess *out) {
  const int n = c->width / c->elem_bytes;
  for (int warp = 0; warp < c->layout->n[HOLDER_WARP]; warp++)
    for (int group = 0; group < c->n_groups; group++) {
      int64_t addr[BANK_LANES];
      for (int lane = 0; lane < BANK_LANES; lane++)
        addr[lane] = lane < c->layout->n[HOLDER_LANE] ? byte_at(c, warp, lane, c->group[group * n])
                                                      : BANK_INACTIVE;
      add_access(out, addr);
    }
}

// ---- matrices of ldmatrix and stmatrix ----------------------------------------------------------

// Where row `row` of a matrix begins that word `word` (two registers) of all lanes makes up; -1: it
// makes up none. Lane l has word l % 4 of row l / 4; with `trans` halves 2 (l % 4) and the next of
// column l / 4.
static int64_t matrix_row(const Counting *c, int warp, int word, bool trans, int row) {
  enum { HALVES = 2, LANES_OF_ROW = 4, ROWS = 8 };
  const int *pair = &c->registers[word * HALVES];
  const int64_t begin = trans ? byte_at(c, warp, row / HALVES, pair[row % HALVES])
                              : byte_at(c, warp, row * LANES_OF_ROW, pair[0]);
  if (begin < 0 || begin % MATRIX_ROW_BYTES) return -1;
  for (int i = 0; i < ROWS; i++) {
    const int lane = trans ? i * LANES_OF_ROW + row / HALVES : row * LANES_OF_ROW + i / HALVES;
    const int reg = pair[trans ? row % HALVES : i % HALVES];
    if (byte_at(c, warp, lane, reg) != begin + i * c->elem_bytes) return -1;
  }
  return begin;
}

// Up to four matrices to an instruction.
static bool count_matrices(const Counting *c, bool trans, bool store, RegisterAccess *out) {
  enum { ROWS = 8, MATRICES = 4 };
  const int words = c->n_registers / 2;
  if (c->elem_bytes != 2 || c->n_registers % 2 || c->layout->n[HOLDER_LANE] != BANK_LANES)
    return false;
  const BankOp *one =
      banks_op_find(arena_printf(c->arena, "%s_x1%s", store ? "stsm" : "ldsm", trans ? "t" : ""));
  *out = (RegisterAccess){.op = one};
  for (int warp = 0; warp < c->layout->n[HOLDER_WARP]; warp++)
    for (int word = 0; word < words; word++) {
      int64_t addr[BANK_LANES];
      for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
      for (int row = 0; row < ROWS; row++)
        if ((addr[row] = matrix_row(c, warp, word, trans, row)) < 0) return false;
      add_access(out, addr);
    }
  const int wide = words >= MATRICES ? MATRICES : words >= 2 ? 2 : 1;
  out->op = banks_op_find(
      arena_printf(c->arena, "%s_x%d%s", store ? "stsm" : "ldsm", wide, trans ? "t" : ""));
  out->instructions = c->layout->n[HOLDER_WARP] * ceil_div(words, wide);
  return words > 0;
}

static bool comparable(const RegisterLayout *layout, const Layout *memory, Diags *diags) {
  const TensorShape *shape = &layout->shape;
  const LayoutSlab *slab = &memory->slab;
  if (layout->tensor_memory)
    return refuse(diags, layout, "tcgen05.ld loads from tensor memory, not from shared memory");
  if (layout->n[HOLDER_LANE] > BANK_LANES) return refuse(diags, layout, "a warp has 32 lanes");
  if (shape->rank > 2) return refuse(diags, layout, "slabs have two dimensions");
  const int rows = shape->rank == 2 ? shape->extent[0] : 1;
  if (rows != slab->rows || shape->extent[shape->rank - 1] != slab->row_bytes / slab->elem_bytes)
    return refuse(diags, layout, "the layout of shared memory has another shape");
  if (tensor_size(shape) > PLACES_COUNTED_MAX || register_places(layout) > PLACES_COUNTED_MAX)
    return refuse(diags, layout, "more than 2^22 places are not counted");
  return true;
}

bool register_access_count(Arena *arena, const RegisterLayout *layout, const Layout *memory,
                           bool store, RegisterAccesses *out, Diags *diags) {
  Counting c = {
      .arena = arena, .layout = layout, .memory = memory, .elem_bytes = memory->slab.elem_bytes};
  *out = (RegisterAccesses){0};
  if (!comparable(layout, memory, diags)) return false;
  find_registers(&c);
  find_width(&c);
  RegisterAccess *plain = &out->access[out->n++];
  *plain = (RegisterAccess){.op = plain_op(&c, store)};
  if (!plain->op) return refuse(diags, layout, "elements have 1, 2, 4, 8 or 16 bytes");
  count_plain(&c, plain);
  for (int trans = 0; trans < 2; trans++)
    out->n += count_matrices(&c, trans, store, &out->access[out->n]);
  return true;
}

// ---- from registers to registers ----------------------------------------------------------------

const char *register_move_text(MoveKind kind) {
  static const char *const texts[] = {
      [MOVE_NONE] = "nothing moves",
      [MOVE_REGISTERS] = "each thread only renames registers: no instruction",
      [MOVE_LANES] = "lanes of a warp exchange elements: shuffles",
      [MOVE_WARPS] = "warps exchange elements: through shared memory",
      [MOVE_BLOCKS] = "blocks of the cluster exchange elements: through shared memory of others"};
  return texts[kind];
}

// The places of each element, as one list after the other.
typedef struct Index {
  const int *begin;  // [elements + 1]
  const int *place;
} Index;

static Index index_places(Arena *arena, const RegisterLayout *layout) {
  const int n = tensor_size(&layout->shape), places = register_places(layout);
  int *begin = ARENA_ARRAY(arena, int, n + 2), *place = ARENA_ARRAY(arena, int, places + 1);
  memset(begin, 0, sizeof *begin * (size_t)(n + 2));
  for (int i = 0; i < places; i++) {
    const int element = register_element(layout, register_place_at(layout, i));
    if (element >= 0) begin[element + 2]++;
  }
  for (int i = 2; i <= n; i++) begin[i] += begin[i - 1];
  for (int i = 0; i < places; i++) {
    const int element = register_element(layout, register_place_at(layout, i));
    if (element >= 0) place[begin[element + 1]++] = i;
  }
  return (Index){begin, place};
}

// The nearest place that has what the target wants at `at`.
static MoveKind nearest(const RegisterLayout *from, const Index *index, int element,
                        RegisterPlace at, bool *same_register) {
  MoveKind best = MOVE_BLOCKS;
  *same_register = false;
  for (int i = index->begin[element]; i < index->begin[element + 1]; i++) {
    const RegisterPlace has = register_place_at(from, index->place[i]);
    const bool block = has.at[HOLDER_BLOCK] == at.at[HOLDER_BLOCK];
    const bool warp = block && has.at[HOLDER_WARP] == at.at[HOLDER_WARP];
    const bool lane = warp && has.at[HOLDER_LANE] == at.at[HOLDER_LANE];
    const MoveKind kind = lane    ? MOVE_REGISTERS
                          : warp  ? MOVE_LANES
                          : block ? MOVE_WARPS
                                  : MOVE_BLOCKS;
    if (kind < best) best = kind;
    if (lane && has.at[HOLDER_REGISTER] == at.at[HOLDER_REGISTER]) *same_register = true;
  }
  return best;
}

static void add_place(RegisterMove *move, MoveKind kind, bool same) {
  int64_t *const found[] = {[MOVE_REGISTERS] = &move->thread,
                            [MOVE_LANES] = &move->lanes,
                            [MOVE_WARPS] = &move->warps,
                            [MOVE_BLOCKS] = &move->blocks};
  move->places++;
  if (same)
    move->same++;
  else
    ++*found[kind];
  const MoveKind far = same ? MOVE_NONE : kind;
  if (far > move->kind) move->kind = far;
}

// Words that a lane at least receives from others, the most of any lane of each warp.
static void count_shuffles(RegisterMove *move, const int64_t *received, const RegisterLayout *to,
                           int elem_bytes) {
  const int lanes = to->n[HOLDER_LANE];
  const int n = to->n[HOLDER_WARP] * to->n[HOLDER_BLOCK];
  for (int warp = 0; warp < n; warp++) {
    int64_t most = 0;
    for (int lane = 0; lane < lanes; lane++) most = max64(most, received[warp * lanes + lane]);
    move->shuffles += ceil_div(most * elem_bytes, WORD_BYTES);
  }
}

static bool same_shape(const RegisterLayout *a, const RegisterLayout *b) {
  if (a->shape.rank != b->shape.rank) return false;
  for (int dim = 0; dim < a->shape.rank; dim++)
    if (a->shape.extent[dim] != b->shape.extent[dim]) return false;
  return true;
}

static bool through_memory(Arena *arena, const RegisterLayout *from, const RegisterLayout *to,
                           int elem_bytes, RegisterMove *out) {
  const TensorShape *shape = &from->shape;
  const int rows = shape->rank == 2 ? shape->extent[0] : 1;
  LayoutSlab slab = {rows, shape->extent[shape->rank - 1] * elem_bytes, elem_bytes};
  Diags unused = diags_new(arena);
  if (shape->rank > 2 || !layout_check_slab(&slab, &unused)) return false;
  const Layout *memory = layout_read_stages(arena, &slab, "none", &unused);
  return memory && register_access_count(arena, from, memory, true, &out->store, &unused) &&
         register_access_count(arena, to, memory, false, &out->load, &unused);
}

bool register_move_count(Arena *arena, const RegisterLayout *from, const RegisterLayout *to,
                         int elem_bytes, RegisterMove *out, Diags *diags) {
  *out = (RegisterMove){0};
  if (!same_shape(from, to)) return refuse(diags, to, "the other layout has another shape");
  if (from->tensor_memory || to->tensor_memory)
    return refuse(diags, to, "tensor memory is moved by tcgen05.ld and tcgen05.st");
  const int places = register_places(to);
  if (places > PLACES_COUNTED_MAX || register_places(from) > PLACES_COUNTED_MAX)
    return refuse(diags, to, "more than 2^22 places are not counted");
  const Index index = index_places(arena, from);
  int64_t *received = ARENA_ARRAY(arena, int64_t, places / to->n[HOLDER_REGISTER]);
  memset(received, 0, sizeof *received * (size_t)(places / to->n[HOLDER_REGISTER]));
  for (int i = 0; i < places; i++) {
    const RegisterPlace at = register_place_at(to, i);
    const int element = register_element(to, at);
    bool same;
    if (element < 0) continue;
    const MoveKind kind = nearest(from, &index, element, at, &same);
    add_place(out, kind, same);
    received[i / to->n[HOLDER_REGISTER]] += kind == MOVE_LANES;
  }
  if (out->kind == MOVE_LANES) count_shuffles(out, received, to, elem_bytes);
  if (out->kind >= MOVE_WARPS) through_memory(arena, from, to, elem_bytes, out);
  return true;
}
