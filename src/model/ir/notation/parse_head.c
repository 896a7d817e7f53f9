// Declarations: the problem first, then the axes, threads, buffers and bounds of the text.
//
// A line begins with its word (`rows` below) and is read up to its end. Values that follow from
// other words of it, or from the problem, are compared: bytes of a slab, extents of the axes.
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/notation/parser.h"
#include "model/ir/notation/print_line.h"

// ---- pieces -------------------------------------------------------------------------------------

Buffer *parse_find_buffer(const Parser *p, const char *name) {
  for (int i = 0; i < p->program->n_buffers; i++)
    if (str_equal(p->program->buffer[i]->name, name)) return p->program->buffer[i];
  return NULL;
}

static const char another_name[] = "a name that no other buffer has";

static const char *new_buffer_name(Parser *p) {
  parse_blanks(p);
  const char *at = p->at, *name = parse_name(p, "the name of a buffer");
  if (name && parse_find_buffer(p, name)) {
    parse_fail_at(p, at, another_name);
    return NULL;
  }
  return name;
}

static bool parse_type(Parser *p, DType *type) {
  parse_blanks(p);
  const char *at = p->at, *name = parse_name(p, "a type: f32, f16, ...");
  if (!name) return false;
  return dtype_find(name, type) || parse_fail_at(p, at, "a type: f32, f16, ...");
}

static Tier parse_tier(Parser *p) {
  for (int i = 0; i < TIER_COUNT; i++)
    if (*tier_name((Tier)i) && parse_maybe(p, tier_name((Tier)i))) return (Tier)i;
  parse_fail(p, "a tier (BLOCK, WARP, THREAD, ...)");  // only noted: a loop may have none
  return TIER_SERIAL;
}

static Var *known_var(Parser *p, const char *name, VarKind kind, Tier tier, int64_t extent) {
  for (KnownVar *known = p->vars; known; known = known->next) {
    Var *var = known->var;
    if (str_equal(var->name, name) && var->kind == kind && var->tier == tier &&
        var->extent == extent)
      return var;
  }
  KnownVar *known = ARENA_NEW(p->arena, KnownVar);
  *known = (KnownVar){program_var(p->program, name, kind, tier, extent), p->vars};
  p->vars = known;
  return known->var;
}

static bool parse_extent(Parser *p, int64_t *extent) {
  return parse_word(p, "in") && parse_word(p, "0..") && parse_number(p, 1, EXTENT_MAX, extent);
}

Var *parse_range(Parser *p, const char *name, VarKind kind) {
  int64_t extent;
  if (!parse_extent(p, &extent)) return NULL;
  return known_var(p, name, kind, parse_tier(p), extent);
}

bool parse_knob(Parser *p, KnobId *knob) {
  *knob = KNOB_NONE;
  if (!parse_word(p, "@")) return false;
  if (parse_maybe(p, "-")) return true;
  const char *at = p->at, *name = parse_name(p, "the name of a knob");
  if (!name) return false;
  *knob = knob_find(name, NULL);
  return *knob != KNOB_NONE || parse_fail_at(p, at, "the name of a knob");
}

// ---- buffers ------------------------------------------------------------------------------------

// "[128 x 16]"
static bool parse_shape(Parser *p, Buffer *buffer) {
  int64_t elements = 1;
  if (!parse_word(p, "[")) return false;
  do {
    const char *at = p->at;
    int64_t *dim = &buffer->dim[buffer->rank];
    if (buffer->rank == RANK_MAX) return parse_fail(p, "at most 4 dimensions");
    if (!parse_number(p, 1, EXTENT_MAX, dim)) return false;
    buffer->rank++;
    elements *= *dim;
    if (elements > VALUE_MAX >> 4) return parse_fail_at(p, at, "a smaller buffer");
  } while (parse_maybe(p, "x"));
  return parse_word(p, "]");
}

static bool parse_role(Parser *p, BufferRole *role) {
  for (int i = ROLE_SCORES; i < ROLE_COUNT; i++) {
    *role = (BufferRole)i;
    if (parse_maybe(p, buffer_role_name(*role))) return true;
  }
  return parse_fail(p, "what the buffer is for: slab_a, acc, frag_b, ...");
}

static bool parse_strides(Parser *p, Buffer *buffer) {
  for (int d = 0; d < buffer->rank; d++)
    if (!parse_number(p, 1, EXTENT_MAX, &buffer->stride[d])) return false;
  return true;
}

// "at 8192": read into the buffer, kept for when all others have been laid out.
static bool parse_place(Parser *p, Buffer *buffer) {
  const char *at = p->at;
  int64_t *bytes = &buffer->offset_bytes;
  if (p->program->n_buffers == BUFFERS_MAX) return parse_fail(p, "at most 24 buffers");
  if (!buffer_is_in_shared(buffer)) return parse_fail(p, "shared memory");
  if (!parse_number(p, 0, 1 << 20, bytes)) return false;
  if (*bytes % buffer_align(buffer))
    return parse_fail_at(p, at, arena_printf(p->arena, "a multiple of %d", buffer_align(buffer)));
  p->place[p->program->n_buffers] = *bytes + 1;
  return true;
}

// Reads the part behind "as": "slab_a strides 2112 16 1 panels 64 @PAD_SMEM".
static bool parse_as(Parser *p, Buffer *buffer, bool typed) {
  if (!parse_role(p, &buffer->role)) return false;
  if (typed && !parse_type(p, &buffer->type)) return false;
  if (parse_maybe(p, "strides") && !parse_strides(p, buffer)) return false;
  int64_t columns = buffer->dim[buffer->rank - 1];  // shorter runs are said by "pad 1 per 4"
  if (parse_maybe(p, "runs") &&
      !(parse_number(p, columns, EXTENT_MAX, &buffer->run) && parse_word(p, "pad") &&
        parse_number(p, 1, 1 << 16, &buffer->run_pad)))
    return false;
  if (parse_maybe(p, "panels") && !parse_number(p, 1, EXTENT_MAX, &buffer->panel)) return false;
  if (parse_maybe(p, "at") && !parse_place(p, buffer)) return false;
  return !parse_peek(p, "@") || parse_knob(p, &buffer->knob);
}

static bool add_buffer(Parser *p, const Buffer *from) {
  if (p->program->n_buffers == BUFFERS_MAX) return parse_fail(p, "at most 24 buffers");
  Buffer *buffer = program_new_buffer(p->program, from->name, from->space, from->role, from->rank,
                                      from->dim, from->knob);
  int id = buffer->id;
  *buffer = *from;
  buffer->id = id;
  return true;
}

// "  pad 4", "  pad 1 per 4"; *row_pad is what a row has of it.
static bool parse_pad(Parser *p, Buffer *buffer, int64_t *row_pad) {
  *row_pad = 0;
  if (!parse_maybe(p, "pad")) return true;
  int64_t columns = buffer->dim[buffer->rank - 1];
  if (buffer->rank < 2) return parse_fail(p, "rows that can have a pad");
  bool negative = parse_maybe(p, "-");  // rows that overlap: a breakage
  if (!parse_number(p, 1, negative ? columns - 1 : 1 << 16, row_pad)) return false;
  if (negative) *row_pad = -*row_pad;
  if (negative || !parse_maybe(p, "per")) return true;
  buffer->run_pad = *row_pad;
  if (!parse_number(p, 1, columns - 1, &buffer->run)) return false;
  *row_pad *= columns / buffer->run;
  return true;
}

// Bits of the byte offset that are xored reach no further than a slab does.
enum { OFFSET_BITS = 24 };

static bool parse_swizzle(Parser *p, Buffer *buffer) {
  if (!parse_maybe(p, "Swizzle")) return true;
  int *base = &buffer->swizzle_base, *shift = &buffer->swizzle_shift;
  const char *at = p->at;
  bool read = parse_word(p, "<") && parse_int(p, 1, 8, &buffer->swizzle_bits) &&
              parse_word(p, ",") && parse_int(p, 0, 8, base) && parse_word(p, ",") &&
              parse_int(p, 1, 8, shift) && parse_word(p, ">");
  if (!read) return false;
  bool whole = 1 << *base >= dtype_bytes(buffer->type) && *shift >= buffer->swizzle_bits;
  return whole || parse_fail_at(p, at, "a swizzle that moves whole elements");
}

// "4..5": the first bit and the number of bits.
static bool parse_bits(Parser *p, int *first, int *n) {
  int last;
  if (!parse_int(p, 0, OFFSET_BITS, first) || !parse_word(p, "..")) return false;
  if (!parse_int(p, *first, OFFSET_BITS, &last)) return false;
  *n = last - *first + 1;
  return true;
}

static bool parse_xor_terms(Parser *p, Buffer *buffer) {
  while (parse_maybe(p, buffer->n_xor ? ", byte bits" : "byte bits")) {
    if (buffer->n_xor == XOR_TERMS_MAX) return parse_fail(p, "at most 16 terms");
    XorTerm *term = &buffer->xor_term[buffer->n_xor++];
    const char *at = p->at;
    int n_from;
    if (!parse_bits(p, &term->to, &term->bits) || !parse_word(p, "^=")) return false;
    if (!parse_bits(p, &term->from, &n_from)) return false;
    int least = term->from < term->to ? term->from : term->to;
    if (n_from != term->bits) return parse_fail_at(p, at, "the same number of bits on both sides");
    if (1 << least < dtype_bytes(buffer->type))
      return parse_fail_at(p, at, "bits above those inside an element");
  }
  return true;
}

// The line says how large a slab is; it must be as its other words have it.
static bool parse_bytes(Parser *p, const Buffer *buffer) {
  Spans wanted = spans_new(p->arena);
  print_bytes(&wanted, buffer_bytes(buffer));
  const char *text = wanted.text.text;
  while (*text == ' ') text++;
  return parse_word(p, text);
}

// Elements that copies of the buffer's strides reach: no larger than a shape may be.
static bool has_places(Parser *p, const Buffer *buffer) {
  int64_t end = 0;
  for (int d = 0; d < buffer->rank; d++) end += buffer->dim[d] * buffer->stride[d];
  return end <= VALUE_MAX >> 4 || parse_fail(p, "smaller strides");
}

static bool parse_shared(Parser *p) {
  Buffer slab = {.space = SPACE_SHARED, .knob = KNOB_NONE};
  int64_t row_pad;
  slab.name = new_buffer_name(p);
  if (!slab.name || !parse_shape(p, &slab) || !parse_type(p, &slab.type)) return false;
  if (!parse_pad(p, &slab, &row_pad)) return false;
  buffer_plain_strides(&slab, row_pad, slab.stride);
  slab.transposed = parse_maybe(p, "transposed");
  if (!parse_swizzle(p, &slab) || !parse_xor_terms(p, &slab)) return false;
  // Strides stand behind the bytes that follow from them.
  Buffer whole = slab;
  const char *bytes = p->at, *as = strstr(bytes, " as ");
  if (!as) return parse_fail_at(p, bytes + strlen(bytes), "\"as\"");
  p->at = as + strlen(" as ");
  if (!parse_as(p, &whole, false) || !has_places(p, &whole) || !parse_end(p)) return false;
  p->at = bytes;
  if (!parse_bytes(p, &whole) || !parse_word(p, "as")) return false;
  p->at += strlen(p->at);
  return add_buffer(p, &whole);
}

// Beside mbarriers lie words of other kinds, each of a role of its own; texts from before that was
// said call them mbarriers too.
static bool parse_beside(Parser *p, const char *word) {
  Buffer bar = {.space = SPACE_BARRIER, .knob = KNOB_NONE, .type = p->program->problem.dtype};
  bar.name = new_buffer_name(p);
  if (!bar.name || !parse_shape(p, &bar)) return false;
  if (bar.rank != 1 || bar.dim[0] > 64) return parse_fail(p, "one dimension of at most 64");
  buffer_plain_strides(&bar, 0, bar.stride);
  if (!parse_word(p, "as") || !parse_as(p, &bar, false) || !has_places(p, &bar)) return false;
  if (word && strcmp(word, buffer_barrier_word(bar.role)) != 0)
    return parse_fail(p, "the role that the line's first word goes with");
  return add_buffer(p, &bar);
}

static bool parse_mbarrier(Parser *p) { return parse_beside(p, NULL); }
static bool parse_address(Parser *p) { return parse_beside(p, "address"); }
static bool parse_list_number(Parser *p) { return parse_beside(p, "number"); }

// "tensor sums [128 x 256] f32  columns 0..256   as sums @ATOM_KIND"
static bool parse_tensor(Parser *p) {
  Buffer tensor = {.space = SPACE_TENSOR, .knob = KNOB_NONE};
  tensor.name = new_buffer_name(p);
  if (!tensor.name || !parse_shape(p, &tensor)) return false;
  const int64_t columns = tensor.dim[1];
  if (tensor.rank < 2 || tensor.rank > 3 || tensor.dim[0] != TENSOR_LANES ||
      columns > TENSOR_COLUMNS)
    return parse_fail(p, "128 lanes of at most 512 columns");
  if (!parse_type(p, &tensor.type)) return false;
  if (dtype_bytes(tensor.type) * buffer_column_elements(&tensor) != 4)
    return parse_fail(p, "columns of 32 bits");
  buffer_plain_strides(&tensor, 0, tensor.stride);
  if (!parse_word(p, "columns") ||
      !parse_int(p, 0, (int)(TENSOR_COLUMNS - columns), &tensor.column) || !parse_word(p, ".."))
    return false;
  const int64_t end = tensor.column + columns;
  int64_t said;
  return parse_number(p, end, end, &said) && parse_word(p, "as") && parse_as(p, &tensor, false) &&
         add_buffer(p, &tensor);
}

// Tells what kernels of attention hand on: one buffer of each kind.
static bool parse_temporary(Parser *p, Buffer *global) {
  static const BufferRole roles[] = {ROLE_SCORES, ROLE_WEIGHTS, ROLE_ROW_SUMS};
  const char *at = p->at;
  if (!parse_as(p, global, false) || !has_places(p, global)) return false;
  for (int i = 0; i < 3; i++)
    if (roles[i] == global->role && !program_buffer(p->program, global->role))
      return add_buffer(p, global);
  return parse_fail_at(p, at, "scores, weights or row_sums, each of them once");
}

static bool parse_global(Parser *p) {
  Buffer global = {.space = SPACE_GLOBAL, .knob = KNOB_NONE};
  global.name = new_buffer_name(p);
  if (!global.name || !parse_shape(p, &global) || !parse_type(p, &global.type)) return false;
  buffer_plain_strides(&global, 0, global.stride);
  if (!parse_word(p, "as")) return false;
  if (p->program->problem.kind == PROBLEM_ATTENTION) return parse_temporary(p, &global);
  bool is_first = !program_buffer(p->program, ROLE_PARTIAL);
  if (!is_first || !parse_peek(p, "partial"))
    return parse_fail(p, is_first ? "\"partial\"" : "one buffer for partial sums");
  return parse_as(p, &global, false) && has_places(p, &global) && add_buffer(p, &global);
}

// The buffers first, then of each what it is.
static bool parse_registers(Parser *p) {
  Buffer buffer[BUFFERS_MAX];
  int n = 0;
  if (parse_at_end(p)) return true;
  do {
    if (n == BUFFERS_MAX) return parse_fail(p, "at most 24 buffers");
    const char *at = p->at;
    buffer[n] = (Buffer){.space = SPACE_REGISTER, .knob = KNOB_NONE};
    buffer[n].name = new_buffer_name(p);
    for (int i = 0; i < n && buffer[n].name; i++)
      if (str_equal(buffer[i].name, buffer[n].name)) return parse_fail_at(p, at, another_name);
    if (!buffer[n].name || !parse_shape(p, &buffer[n])) return false;
    n++;
  } while (parse_comma(p));
  if (!parse_word(p, "as")) return false;
  for (int i = 0; i < n; i++) {
    buffer_plain_strides(&buffer[i], 0, buffer[i].stride);
    if ((i && !parse_word(p, ",")) || !parse_as(p, &buffer[i], true)) return false;
    if (!has_places(p, &buffer[i]) || !add_buffer(p, &buffer[i])) return false;
  }
  return true;
}

// ---- the problem, its axes and threads ----------------------------------------------------------

// "A[512 x 512] f16 column-major" with rows × columns as given; 0: whatever the text says.
static bool parse_matrix(Parser *p, const char *name, int64_t *rows, int64_t *columns, DType *type,
                         bool *column_major) {
  int64_t *dim[2] = {rows, columns};
  if (!parse_word(p, name)) return false;
  for (int d = 0; d < 2; d++) {
    int64_t lo = *dim[d] ? *dim[d] : 1, hi = *dim[d] ? *dim[d] : EXTENT_MAX >> 4;
    if (!parse_word(p, d ? "x" : "[") || !parse_number(p, lo, hi, dim[d])) return false;
  }
  if (!parse_word(p, "]") || !parse_type(p, type)) return false;
  if (column_major) *column_major = parse_maybe(p, "column-major");
  return true;
}

// "Q[2 x 64 x 32] f16": 0 stands for whatever the text says.
static bool parse_heads(Parser *p, const char *name, int64_t *heads, int64_t *rows, int64_t *depth,
                        DType *type) {
  int64_t *dim[3] = {heads, rows, depth};
  if (!parse_word(p, name)) return false;
  for (int d = 0; d < 3; d++) {
    int64_t lo = *dim[d] ? *dim[d] : 1, hi = *dim[d] ? *dim[d] : EXTENT_MAX >> 8;
    if (!parse_word(p, d ? "x" : "[") || !parse_number(p, lo, hi, dim[d])) return false;
  }
  return parse_word(p, "]") && parse_type(p, type);
}

static bool parse_attention(Parser *p) {
  Problem problem = {.kind = PROBLEM_ATTENTION};
  DType k_type, v_type;
  bool read =
      parse_heads(p, "O", &problem.heads, &problem.m, &problem.k, &problem.out) &&
      parse_word(p, "=") && parse_word(p, "softmax") &&
      parse_heads(p, "Q", &problem.heads, &problem.m, &problem.k, &problem.dtype) &&
      parse_word(p, "*") && parse_heads(p, "K", &problem.heads, &problem.n, &problem.k, &k_type) &&
      parse_word(p, "*") && parse_heads(p, "V", &problem.heads, &problem.n, &problem.k, &v_type);
  if (!read) return false;
  if (k_type != problem.dtype || v_type != problem.dtype)
    return parse_fail(p, "Q, K and V of one type");
  problem.causal = parse_maybe(p, "causal");
  if (problem.causal && problem.n < problem.m)
    return parse_fail(p,
                      "the same number of keys and "
                      "queries");
  if (!parse_word(p, ", sums") || !parse_type(p, &problem.acc)) return false;
  p->program = program_new(p->arena, problem);
  return true;
}

// "6xbf16": what products of f32 are made of.
static bool parse_split(Parser *p, Problem *problem) {
  if (problem->dtype != DTYPE_F32) return parse_fail(p, "A and B in f32, which is what is split");
  for (int kind = SPLIT_NONE + 1; kind < SPLIT_KINDS; kind++) {
    if (!parse_maybe(p, split_facts((SplitKind)kind)->name)) continue;
    problem->split = (SplitKind)kind;
    return true;
  }
  return parse_fail(p, "a split: 3xtf32, 3xbf16, 6xbf16 or 9xbf16");
}

static bool parse_problem(Parser *p) {
  if (parse_peek(p, "O")) return parse_attention(p);
  Problem problem = {0};
  DType b_type;
  bool read =
      parse_matrix(p, "C", &problem.m, &problem.n, &problem.out, NULL) && parse_word(p, "=") &&
      parse_matrix(p, "A", &problem.m, &problem.k, &problem.dtype, &problem.a_col) &&
      parse_word(p, "*") && parse_matrix(p, "B", &problem.k, &problem.n, &b_type, &problem.b_col);
  if (!read) return false;
  if (b_type != problem.dtype) return parse_fail(p, "A and B of one type");
  problem.k *= dtype_elements(problem.dtype);
  if (problem.k % max_int(dtype_scale(problem.dtype).elements, 1))
    return parse_fail(p, "whole blocks of elements that share a factor");
  if (!parse_word(p, ", sums") || !parse_type(p, &problem.acc)) return false;
  problem.factor_tiles = dtype_is_scaled(problem.dtype) && parse_maybe(p, ", factors in tiles");
  if (parse_maybe(p, ", split") && !parse_split(p, &problem)) return false;
  p->program = program_new(p->arena, problem);
  return true;
}

static bool parse_digit(Parser *p, Axis *axis) {
  if (axis->n_digits == DIGITS_MAX) return parse_fail(p, "at most 16 digits");
  Digit *digit = &axis->digit[axis->n_digits++];
  VarKind kind = parse_maybe(p, "let") ? VAR_LET : VAR_LOOP;
  const char *name = parse_name(p, "a variable");
  if (!name) return false;
  digit->var = parse_range(p, name, kind);
  return digit->var && parse_word(p, "by") && parse_number(p, 1, EXTENT_MAX, &digit->weight);
}

static bool parse_axis(Parser *p) {
  const bool matmul = p->program->problem.kind == PROBLEM_MATMUL;
  const int n_axes = p->program->n_axes;
  int a = 0;
  while (a < n_axes && !parse_maybe(p, p->program->axis[a].name)) a++;
  if (a == n_axes)
    return parse_fail(
        p, matmul ? "\"m\", \"n\" or \"k\"" : "\"q\", \"t\", \"e\", \"u\", \"d\" or \"h\"");
  Axis *axis = &p->program->axis[a];
  if (axis->n_digits) return parse_fail(p, "an axis that was not said before");
  int64_t extent = axis->extent;
  if (!parse_word(p, "in") || !parse_word(p, "0..") || !parse_number(p, extent, extent, &extent))
    return false;
  if (!parse_word(p, ":")) return false;
  do {
    if (!parse_digit(p, axis)) return false;
  } while (parse_comma(p));
  return true;
}

enum { THREADS_MAX = 1024 };

static Var *parse_thread_var(Parser *p) {
  const char *name = parse_name(p, "a variable");
  int64_t extent;
  if (!name || !parse_word(p, "in") || !parse_word(p, "0..")) return NULL;
  if (!p->threads_at) {
    p->threads_line = p->at_line;
    p->threads_at = p->at;
  }
  if (!parse_number(p, 1, THREADS_MAX, &extent)) return NULL;
  return program_var(p->program, name, VAR_THREAD, TIER_THREAD, extent);
}

static bool parse_threads(Parser *p) {
  p->program->thread = parse_thread_var(p);
  if (!p->program->thread || !parse_comma(p)) return p->program->thread != NULL;
  p->program->any_thread = parse_thread_var(p);
  return p->program->any_thread != NULL;
}

static bool parse_work(Parser *p, RoleWork *work) {
  for (int i = 0; i < WORK_COUNT; i++) {
    *work = (RoleWork)i;
    if (parse_maybe(p, role_work_name(*work))) return true;
  }
  return parse_fail(p, "\"fetches\" or \"multiplies\"");
}

static bool parse_one_role(Parser *p, WarpRole *role) {
  int64_t end;
  if (!(role->name = parse_name(p, "a name")) || !parse_word(p, "threads") ||
      !parse_number(p, 0, THREADS_MAX - 1, &role->first_thread) || !parse_word(p, "..") ||
      !parse_number(p, role->first_thread + 1, THREADS_MAX, &end) || !parse_work(p, &role->work))
    return false;
  role->n_threads = end - role->first_thread;
  parse_blanks(p);
  if (!isdigit((unsigned char)*p->at)) return true;
  return parse_number(p, 1, 255, &role->registers) && parse_word(p, "registers");
}

// Moved to the main kernel at the end, as the launch bounds are.
static bool parse_roles(Parser *p) {
  Kernel *kernel = &p->program->kernel[0];
  do {
    if (kernel->n_roles == ROLES_MAX) return parse_fail(p, "at most 8 roles");
    WarpRole *role = ARENA_NEW(p->arena, WarpRole);
    if (!parse_one_role(p, role)) return false;
    kernel->role[kernel->n_roles++] = role;
  } while (parse_comma(p));
  return true;
}

static bool parse_lane(Parser *p) {
  const char *name = parse_name(p, "a variable");
  Var *lane = name ? parse_range(p, name, VAR_LOOP) : NULL;
  for (int i = 0; i < p->program->n_products; i++) p->program->product[i].lane = lane;
  return lane;
}

// A line for each product, in their order.
static bool parse_values(Parser *p) {
  Product *product = parser_product(p), *end = product + p->program->n_products;
  while (product < end - 1 && product->operand[ATOM_C].value) product++;
  for (int i = 0; i < ATOM_OPERANDS; i++) {
    ProductOperand *operand = &product->operand[i];
    if (i && !parse_word(p, ",")) return false;
    if (parse_maybe(p, "none")) continue;
    const char *name = parse_name(p, "a variable, or \"none\"");
    if (!name || !(operand->value = parse_range(p, name, VAR_LOOP))) return false;
    if (!parse_word(p, "by") || !parse_int(p, 1, 64, &operand->value_width)) return false;
  }
  return true;
}

static bool parse_bounds(Parser *p) {
  int *blocks = &p->program->kernel[0].min_blocks;  // moved to the main kernel at the end
  if (!parse_int(p, 1, 32, blocks)) return false;
  return parse_word(p, *blocks == 1 ? "block on an SM" : "blocks on an SM");
}

static bool parse_asked(Parser *p) {
  return parse_number(p, 1, INT32_MAX, &p->program->smem_asked) &&
         parse_word(p, "bytes of shared memory");
}

// ---- lines --------------------------------------------------------------------------------------

static const struct {
  const char *word;
  bool (*parse)(Parser *);
} rows[] = {{"axis", parse_axis},
            {"thread", parse_threads},
            {"roles", parse_roles},
            {"lane", parse_lane},
            {"values", parse_values},
            {"global", parse_global},
            {"shared", parse_shared},
            {"mbarrier", parse_mbarrier},
            {"address", parse_address},
            {"number", parse_list_number},
            {"tensor", parse_tensor},
            {"registers", parse_registers},
            {"temporaries", parse_registers},
            {"launch bounds: room for", parse_bounds},
            {"the launch asks for", parse_asked}};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

// *is_one: whether the line is a declaration at all.
static bool parse_declaration(Parser *p, bool *is_one) {
  for (int i = 0; i < N_ROWS; i++) {
    *is_one = parse_maybe(p, rows[i].word);
    if (*is_one) return rows[i].parse(p) && parse_end(p);
  }
  return true;
}

static bool all_axes(Parser *p) {
  for (int a = 0; a < p->program->n_axes; a++)
    if (p->program->axis[a].n_digits == 0)
      return parse_fail(p, arena_printf(p->arena, "\"axis %s\"", p->program->axis[a].name));
  return true;
}

bool parse_head(Parser *p) {
  if (!parse_word(p, "problem") || !parse_problem(p) || !parse_end(p)) return false;
  for (bool is_one = true; is_one;) {
    parse_next_line(p);
    if (!parse_declaration(p, &is_one)) return false;
  }
  if (!p->threads_at) return parse_fail(p, "\"thread\"");
  return all_axes(p);
}
