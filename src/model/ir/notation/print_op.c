// One function for each field of a template; what stands between them is printed as it stands.
//
// Worked example, LOAD's "{dst} = load {src}{width}{guard}":
//   print_dst   a[0]
//   " = load "
//   print_src   A[m_b * 16, k]
//   print_width "   16 B", nothing where one element moves
//   print_guard " if k < 30", nothing where the ranges say so
#include "model/ir/notation/print_op.h"

#include "model/ir/buffer.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

void spans_add_expr(Spans *out, const Expr *expr) {
  Str text = str_new(out->text.arena);
  expr_print(&text, expr);
  spans_add(out, SPAN_INDEX, text.text);
}

typedef struct OpPrinter {
  Spans *out;
  const Program *program;
  const Op *op;
  bool brief;
  int64_t count;  // brief: executions that the row stands for; 0: not said
} OpPrinter;

// "A_s[k_o % 3, lane]"
static void access_print(Spans *out, const Access *access) {
  spans_add(out, SPAN_BUFFER, access->buffer->name);
  spans_add(out, SPAN_PLAIN, "[");
  for (int d = 0; d < access->buffer->rank; d++) {
    if (d) spans_add(out, SPAN_PLAIN, ", ");
    spans_add_expr(out, access->idx[d]);
  }
  spans_add(out, SPAN_PLAIN, "]");
  if (!access->rank) return;
  spans_add(out, SPAN_KEYWORD, " of rank ");
  spans_add_expr(out, access->rank);
}

// ---- operands -----------------------------------------------------------------------------------

// "acc[8×8]": the part of a register buffer that all executions reach together.
static void print_part(const OpPrinter *p, const Buffer *buffer) {
  int64_t n = p->count * (p->op->width > 0 ? p->op->width : 1);
  spans_add(p->out, SPAN_BUFFER, buffer->name);
  if (buffer->space != SPACE_REGISTER) return;
  if (n == buffer_elements(buffer) && buffer->rank == 2)
    spans_printf(p->out, SPAN_PLAIN, "[%lld×%lld]", (long long)buffer->dim[0],
                 (long long)buffer->dim[1]);
  else if (n > 1)
    spans_printf(p->out, SPAN_PLAIN, "[%lld]", (long long)n);
}

static void print_operand(const OpPrinter *p, const Access *access) {
  if (p->brief)
    print_part(p, access->buffer);
  else
    access_print(p->out, access);
}

static void print_dst(const OpPrinter *p) { print_operand(p, &p->op->dst); }
static void print_src(const OpPrinter *p) { print_operand(p, &p->op->src); }

static void print_src2(const OpPrinter *p) {
  if (p->brief)
    spans_add(p->out, SPAN_BUFFER, p->op->src2.buffer->name);
  else
    access_print(p->out, &p->op->src2);
}

static void print_name(const OpPrinter *p) {
  spans_add(p->out, SPAN_BUFFER, p->op->src.buffer->name);
}

// Global memory is at one side alone.
static void print_guard(const OpPrinter *p) {
  Arena *arena = p->out->text.arena;
  const Expr *guard = access_guard(arena, &p->op->dst);
  if (!guard) guard = access_guard(arena, &p->op->src);
  if (!guard) return;
  spans_add(p->out, SPAN_PLAIN, " ");
  spans_add(p->out, SPAN_KEYWORD, "if");
  spans_add(p->out, SPAN_PLAIN, " ");
  spans_add_expr(p->out, guard);
}

// ---- numbers and words --------------------------------------------------------------------------

static void print_number(const OpPrinter *p, const char *before, int64_t number,
                         const char *behind) {
  spans_add(p->out, SPAN_PLAIN, before);
  spans_printf(p->out, SPAN_NUMBER, "%lld", (long long)number);
  spans_add(p->out, SPAN_PLAIN, behind);
}

static void print_value(const OpPrinter *p) {
  spans_printf(p->out, SPAN_NUMBER, "%.15g", p->op->value);  // of no finite number: "-inf"
}

static void print_width(const OpPrinter *p) {
  const Buffer *buffer = p->op->dst.buffer;
  if (p->op->width > 1)
    print_number(p, "   ", (int64_t)p->op->width * dtype_bytes(buffer->type), " B");
}

static void print_wide(const OpPrinter *p) {
  if (p->op->width > 1) print_number(p, "   x ", p->op->width, "");
}

static void print_id(const OpPrinter *p) {
  if (!p->op->id) return;
  spans_add(p->out, SPAN_PLAIN, " ");
  spans_add_expr(p->out, p->op->id);
}

static void print_atom(const OpPrinter *p) { spans_add(p->out, SPAN_ATOM, p->op->atom->name); }

static void print_scales(const OpPrinter *p) {
  static const char *const before[] = {"   scaled by ", " and "};
  for (int i = 0; i < 2 && p->op->scale[i].buffer; i++) {
    spans_add(p->out, SPAN_KEYWORD, before[i]);
    access_print(p->out, &p->op->scale[i]);
  }
}

// "   A by 128B lbo 16 sbo 1024   B by 128B trans lbo 8192 sbo 1024", "   tile by none lbo 512 sbo
// 128"
static void print_tiles(const OpPrinter *p) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    const MatrixTile *tile = &p->op->tile[operand];
    if (!tile->is_described) continue;
    const bool factors = op_moves_factors(p->op->kind);
    spans_printf(p->out, SPAN_PLAIN, "   %s by ",
                 factors ? "tile" : atom_operand_name((AtomOperand)operand));
    spans_add(p->out, SPAN_KEYWORD, matrix_tile_swizzle(tile));
    if (tile->trans) spans_add(p->out, SPAN_KEYWORD, " trans");
    print_number(p, " lbo ", tile->lbo, "");
    print_number(p, " sbo ", tile->sbo, "");
  }
}

static void print_groups(const OpPrinter *p) {
  if (p->brief)
    print_number(p, "", p->op->groups, "");
  else if (p->op->groups)
    print_number(p, "at most ", p->op->groups, p->op->groups == 1 ? " group is" : " groups are");
  else
    spans_add(p->out, SPAN_PLAIN, "no group is");
}

static void print_box(const OpPrinter *p) {
  print_number(p, "", p->op->box[0], " x ");
  print_number(p, "", p->op->box[1], "");
}

static void print_arrivals(const OpPrinter *p) {
  print_number(p, "", p->op->arrivals, p->op->arrivals == 1 ? " arrival" : " arrivals");
}

static void print_pair(const OpPrinter *p) {
  if (p->op->cta_group > 1) print_number(p, "   cta_group ", p->op->cta_group, "");
}

static void print_idesc(const OpPrinter *p) {
  if (p->op->idesc) spans_printf(p->out, SPAN_NUMBER, "   idesc 0x%08x", p->op->idesc);
}

static void print_arrow(const OpPrinter *p) { spans_add(p->out, SPAN_ARROW, "<-"); }
static void print_at_most(const OpPrinter *p) { spans_add(p->out, SPAN_AT_MOST, "<="); }

// ---- templates ----------------------------------------------------------------------------------

static void print_attribute(const OpPrinter *p, int i) {
  const Attribute *attribute = &op_attributes[i];
  const int64_t *number = attribute_number(p->op, i);
  const bool *flag = attribute_flag(p->op, i);
  const Expr *const *expr = attribute_expr(p->op, i);
  if (number && (*number || attribute->kind == KIND_NUMBER))
    print_number(p, attribute->before, *number, attribute->behind);
  if (flag && *flag) spans_add(p->out, SPAN_KEYWORD, attribute->before);
  if (!expr || !*expr) return;
  spans_add(p->out, SPAN_KEYWORD, attribute->before);
  spans_add_expr(p->out, *expr);
}

// NULL: an attribute with words in its row.
static void (*const field_printers[FIELD_COUNT])(const OpPrinter *) = {
#define X(id, help) print_##id,
    OP_FIELD_TABLE(X)
#undef X
        [FIELD_id] = print_id,
    [FIELD_groups] = print_groups,
    [FIELD_arrivals] = print_arrivals,
};

static void print_part_of_text(const OpPrinter *p, const OpPart *part) {
  if (part->is_field && !field_printers[part->field])
    print_attribute(p, (int)part->field - FIELD_ATTRIBUTES);
  else if (part->is_field)
    field_printers[part->field](p);
  else
    spans_add_words(p->out, part->text, part->length);
}

void op_print(Spans *out, const Program *program, const Op *op, bool full) {
  const OpPrinter p = {.out = out, .program = program, .op = op};
  const char *at = op_text(op->kind);
  for (OpPart part = {0}; op_text_next(&at, &part);)
    if (full || !part.full) print_part_of_text(&p, &part);
}

void op_print_brief(Spans *out, const Program *program, const Op *op, int64_t count, bool roomy) {
  const OpPrinter p = {.out = out, .program = program, .op = op, .brief = true, .count = count};
  const char *at = op_brief(op->kind);
  for (OpPart part = {0}; op_text_next(&at, &part);)
    if (roomy || !part.roomy) print_part_of_text(&p, &part);
}
