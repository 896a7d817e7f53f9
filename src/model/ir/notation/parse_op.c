// Operations: each row of op.def is tried, by one function for each field of its template.
//
// Worked example, "a[0] = load A[m, k]   16 B": INIT's template fails at "load", which is no
// number, STORE's too, for it is no buffer; LOAD's goes to the end. Where no template does, the
// report says the words that the one that came furthest expected.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/notation/parser.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

typedef struct OpParser {
  Parser *p;
  Op *op;
  unsigned spaces;  // of the operand being read
} OpParser;

// ---- operands -----------------------------------------------------------------------------------

static const char *space_words(Parser *p, unsigned spaces) {
  static const char *const words[] = {[SPACE_GLOBAL] = "in global memory",
                                      [SPACE_SHARED] = "in shared memory",
                                      [SPACE_REGISTER] = "in registers",
                                      [SPACE_BARRIER] = "of mbarriers",
                                      [SPACE_TENSOR] = "in tensor memory"};
  Str out = str_new(p->arena);
  str_add(&out, "a buffer");
  for (int i = 0, n = 0; i < SPACE_COUNT; i++)
    if (spaces & 1u << i) str_printf(&out, "%s %s", n++ ? " or" : "", words[i]);
  return out.text;
}

// Offsets stay far from overflowing, and below 0 there is nothing.
static bool parse_index(Parser *p, Access *access, int d, int64_t *reach) {
  const char *at = p->at;
  int64_t far;
  access->idx[d] = parse_expr(p);
  if (!access->idx[d]) return false;
  if (access->idx[d]->lo < 0) return parse_fail_at(p, at, "an index that is never negative");
  bool wide = __builtin_mul_overflow(access->idx[d]->hi, access->buffer->stride[d], &far);
  if (wide || (*reach += far) > VALUE_MAX) return parse_fail_at(p, at, "a smaller index");
  return true;
}

// For shared memory alone: "A_s[0, lane] of rank 1 - m_c".
static bool parse_rank(OpParser *o, Access *access) {
  Parser *p = o->p;
  if (!buffer_is_in_shared(access->buffer) || !parse_maybe(p, "of rank")) return true;
  parse_blanks(p);
  const char *at = p->at;
  access->rank = parse_expr(p);
  if (!access->rank) return false;
  bool is_one = access->rank->lo >= 0 && access->rank->hi < CLUSTER_MAX;
  return is_one || parse_fail_at(p, at, "the number of a block in its cluster: 0 to 15");
}

static bool parse_access(OpParser *o, Access *access) {
  Parser *p = o->p;
  int64_t reach = 0;
  parse_blanks(p);
  const char *at = p->at, *what = space_words(p, o->spaces), *name = parse_name(p, what);
  access->buffer = name ? parse_find_buffer(p, name) : NULL;
  if (!name) return false;
  if (!access->buffer || !(o->spaces & 1u << access->buffer->space))
    return parse_fail_at(p, at, what);
  for (int d = 0; d < access->buffer->rank; d++)
    if (!parse_word(p, d ? "," : "[") || !parse_index(p, access, d, &reach)) return false;
  return parse_word(p, "]") && parse_rank(o, access);
}

static bool parse_dst(OpParser *o) { return parse_access(o, &o->op->dst); }
static bool parse_src(OpParser *o) { return parse_access(o, &o->op->src); }
static bool parse_src2(OpParser *o) { return parse_access(o, &o->op->src2); }

// A loop that was made shorter may leave one behind that always holds.
static bool parse_idle_guard(Parser *p) {
  if (!parse_maybe(p, "if")) return true;
  const char *at = p->at;
  const Expr *guard = parse_expr(p);
  if (!guard) return false;
  return expr_is_const(guard, 1) || parse_fail_at(p, at, "no condition, or one that always holds");
}

// The guard follows from the indices: a guard that is written must be that one.
static bool parse_guard(OpParser *o) {
  const Expr *guard = access_guard(o->p->arena, &o->op->dst);
  if (!guard) guard = access_guard(o->p->arena, &o->op->src);
  if (!guard) return parse_idle_guard(o->p);
  if (parse_maybe(o->p, "if")) return parse_same_expr(o->p, guard);
  Str missing = str_new(o->p->arena);
  str_add(&missing, "\"if ");
  expr_print(&missing, guard);
  str_add_char(&missing, '"');
  return parse_fail(o->p, missing.text);
}

// ---- numbers and words --------------------------------------------------------------------------

#define VALUE_FAR 1e9  // it is said in every type
enum { WIDTH_MAX = 128 };

static bool parse_value(OpParser *o) {
  parse_blanks(o->p);
  const char *at = o->p->at;
  if (parse_maybe(o->p, "-inf")) {
    o->op->value = (double)-INFINITY;
    return true;
  }
  if (!isdigit((unsigned char)*at) && *at != '-') return parse_fail(o->p, "a number");
  size_t n = strspn(at, "+-.0123456789e");
  char *end, *copy = arena_strndup(o->p->arena, at, n);
  o->op->value = strtod(copy, &end);
  bool small = o->op->value > -VALUE_FAR && o->op->value < VALUE_FAR;
  if (end == copy || !small) return parse_fail(o->p, "a number below 1e9");
  o->p->at += end - copy;
  return true;
}

static bool parse_width(OpParser *o) {
  Parser *p = o->p;
  parse_blanks(p);
  if (!isdigit((unsigned char)*p->at)) return true;
  const char *at = p->at;
  int bytes, each = dtype_bytes(o->op->dst.buffer->type);
  if (!parse_int(p, 1, WIDTH_MAX * each, &bytes)) return false;
  const char *what = arena_printf(p->arena, "a multiple of %d from %d on", each, 2 * each);
  if (bytes % each || bytes == each) return parse_fail_at(p, at, what);
  o->op->width = bytes / each;
  return parse_word(p, "B");
}

static bool parse_wide(OpParser *o) {
  return !parse_maybe(o->p, "x") || parse_int(o->p, 2, WIDTH_MAX, &o->op->width);
}

// ---- attributes ---------------------------------------------------------------------------------

static bool parse_own_number(OpParser *o, int i) {
  int64_t *to = (int64_t *)(uintptr_t)attribute_number(o->op, i);
  return parse_number(o->p, op_attributes[i].least, op_attributes[i].most, to);
}

static bool parse_own_expr(OpParser *o, int i) {
  const Expr **to = (const Expr **)(uintptr_t)attribute_expr(o->op, i);
  const char *at = o->p->at;
  *to = parse_expr(o->p);
  if (!*to) return false;
  const bool fits = (*to)->lo >= op_attributes[i].least && (*to)->hi <= op_attributes[i].most;
  return fits || parse_fail_at(o->p, at, op_attributes[i].wanted);
}

// The words of a row without the blanks at their ends.
static const char *words_of(const OpParser *o, const char *text) {
  size_t n = strlen(text), first = strspn(text, " ");
  while (n > first && text[n - 1] == ' ') n--;
  return arena_strndup(o->p->arena, text + first, n - first);
}

static bool parse_attribute(OpParser *o, int i) {
  const Attribute *attribute = &op_attributes[i];
  const char *before = words_of(o, attribute->before), *behind = words_of(o, attribute->behind);
  const bool may_lack = attribute->kind == KIND_MAYBE || attribute->kind == KIND_MAYBE_EXPR;
  bool *flag = (bool *)(uintptr_t)attribute_flag(o->op, i);
  if (flag) *flag = parse_maybe(o->p, before);
  if (flag || (may_lack && !parse_maybe(o->p, before))) return true;
  const bool taken = attribute_expr(o->op, i) ? parse_own_expr(o, i) : parse_own_number(o, i);
  return taken && (!*behind || parse_word(o->p, behind));
}

// The block's own barrier has no number.
static bool parse_id(OpParser *o) {
  if (parse_at_end(o->p) || parse_peek(o->p, "of") || parse_peek(o->p, "@")) return true;
  return parse_own_expr(o, ATTRIBUTE_ID_id);
}

// The product that the operation at hand is a part of, by what it writes.
static Product *product_at(const OpParser *o) {
  const Program *program = o->p->program;
  const Buffer *to = o->op->dst.buffer;
  const Product *product = to ? program_product_of(program, to->role) : program_product(program);
  return &o->p->program->product[product - program->product];
}

// One atom for each product.
static bool parse_atom(OpParser *o) {
  Parser *p = o->p;
  parse_blanks(p);
  const char *at = p->at;
  size_t n = 0;
  while (isalnum((unsigned char)at[n]) || at[n] == '.' || at[n] == '_') n++;
  const char *name = arena_strndup(p->arena, at, n);
  Atom *atom = ARENA_NEW(p->arena, Atom);
  Diags unused = diags_new(p->arena);
  if (n == 0 || !atom_parse(name, atom, &unused) || !str_equal(atom->name, name))
    return parse_fail(p, "an atom: m16n8k16.f16, ...");
  atom_in_units(atom);
  Product *product = product_at(o);
  if (!product->atom) product->atom = atom;
  if (!str_equal(product->atom->name, name))
    return parse_fail(p, arena_printf(p->arena, "\"%s\", as before", product->atom->name));
  o->op->atom = product->atom;
  p->at += n;
  return true;
}

static bool parse_scales(OpParser *o) {
  if (!parse_maybe(o->p, "scaled by")) return true;
  return parse_access(o, &o->op->scale[ATOM_A]) && parse_word(o->p, "and") &&
         parse_access(o, &o->op->scale[ATOM_B]);
}

enum { STRIDE_END = 1 << 18 };  // bytes that a field of a descriptor cannot say

static bool parse_stride(Parser *p, const char *word, int64_t *out) {
  if (!parse_word(p, word)) return false;
  const char *at = p->at;
  if (!parse_number(p, 0, STRIDE_END - 1, out)) return false;
  return *out % 16 == 0 || parse_fail_at(p, at, "a multiple of 16 bytes");
}

static bool parse_tile(OpParser *o, MatrixTile *tile) {
  static const char *const names[] = {"none", "32B", "64B", "128B"};
  int swizzle = 0;
  while (swizzle < 4 && !parse_maybe(o->p, names[swizzle])) swizzle++;
  if (swizzle == 4) return parse_fail(o->p, "a swizzle: none, 32B, 64B, 128B");
  *tile = (MatrixTile){.is_described = true, .swizzle = swizzle};
  tile->trans = parse_maybe(o->p, "trans");
  return parse_stride(o->p, "lbo", &tile->lbo) && parse_stride(o->p, "sbo", &tile->sbo);
}

static bool parse_tiles(OpParser *o) {
  if (op_moves_factors(o->op->kind))
    return !parse_maybe(o->p, "tile by") || parse_tile(o, &o->op->tile[0]);
  if (parse_maybe(o->p, "A by") && !parse_tile(o, &o->op->tile[ATOM_A])) return false;
  return !parse_maybe(o->p, "B by") || parse_tile(o, &o->op->tile[ATOM_B]);
}

static bool parse_groups(OpParser *o) {
  if (parse_maybe(o->p, "no group is")) return true;
  if (!parse_peek(o->p, "at most")) return parse_fail(o->p, "\"no group is\" or \"at most\"");
  if (!parse_word(o->p, "at most") || !parse_own_number(o, ATTRIBUTE_ID_groups)) return false;
  return parse_word(o->p, o->op->groups == 1 ? "group is" : "groups are");
}

static bool parse_box(OpParser *o) {
  return parse_number(o->p, 1, 256, &o->op->box[0]) && parse_word(o->p, "x") &&
         parse_number(o->p, 1, 256, &o->op->box[1]);
}

static bool parse_arrivals(OpParser *o) {
  return parse_own_number(o, ATTRIBUTE_ID_arrivals) &&
         parse_word(o->p, o->op->arrivals == 1 ? "arrival" : "arrivals");
}

static bool parse_pair(OpParser *o) {
  if (!parse_maybe(o->p, "cta_group")) return true;
  return parse_int(o->p, 1, 2, &o->op->cta_group);
}

static bool parse_idesc(OpParser *o) {
  enum { HEXADECIMAL = 16, DIGITS_MOST = 8 };
  if (!parse_maybe(o->p, "idesc")) return true;
  parse_blanks(o->p);
  char *end;
  const char *at = o->p->at;
  const unsigned long word = strtoul(at, &end, HEXADECIMAL);
  if (!str_starts(at, "0x") || end - at < 3 || end - at > DIGITS_MOST + 2)
    return parse_fail(o->p, "32 bits: 0x08400490");
  o->op->idesc = (uint32_t)word;
  o->p->at = end;
  return true;
}

// ---- templates ----------------------------------------------------------------------------------

// The others are attributes with words in their row, and fields of rows of the screen, which are
// never read back.
static bool (*const field_parsers[FIELD_COUNT])(OpParser *) = {
    [FIELD_dst] = parse_dst,       [FIELD_src] = parse_src,       [FIELD_src2] = parse_src2,
    [FIELD_value] = parse_value,   [FIELD_width] = parse_width,   [FIELD_wide] = parse_wide,
    [FIELD_guard] = parse_guard,   [FIELD_id] = parse_id,         [FIELD_atom] = parse_atom,
    [FIELD_groups] = parse_groups, [FIELD_box] = parse_box,       [FIELD_arrivals] = parse_arrivals,
    [FIELD_tiles] = parse_tiles,   [FIELD_scales] = parse_scales, [FIELD_pair] = parse_pair,
    [FIELD_idesc] = parse_idesc,
};

static bool parse_field(OpParser *o, OpField field) {
  if (field_parsers[field]) return field_parsers[field](o);
  return parse_attribute(o, (int)field - FIELD_ATTRIBUTES);
}

// The words between two fields, without the blanks at their ends; a field may follow at once.
static bool parse_words(Parser *p, const OpPart *part, bool field_follows) {
  const char *begin = part->text, *end = part->text + part->length;
  bool glued = field_follows && end[-1] != ' ';
  while (begin < end && *begin == ' ') begin++;
  while (end > begin && end[-1] == ' ') end--;
  const char *words = arena_strndup(p->arena, begin, (size_t)(end - begin));
  if (!*words) return true;
  if (!glued) return parse_word(p, words);
  parse_blanks(p);
  if (!str_starts(p->at, words)) return parse_fail(p, arena_printf(p->arena, "\"%s\"", words));
  p->at += strlen(words);
  return true;
}

// The spaces in which the operand may lie: op.def's, which tells a load from a store.
static unsigned spaces_of(OpKind kind, OpField field) {
  const OpFacts *facts = op_facts(kind);
  const bool beside_dst = field == FIELD_dst || field == FIELD_scales;
  return beside_dst           ? facts->dst.spaces
         : field == FIELD_src ? facts->src.spaces
                              : facts->src2.spaces;
}

static bool parse_template(Parser *p, OpKind kind, Op *op) {
  *op = (Op){.kind = kind, .width = 1};
  OpParser o = {.p = p, .op = op};
  const char *at = op_text(kind);
  for (OpPart part = {0}; op_text_next(&at, &part);) {
    o.spaces = spaces_of(kind, part.field);
    if (part.is_field ? !parse_field(&o, part.field) : !parse_words(p, &part, *at == '{'))
      return false;
  }
  return parse_at_end(p) || parse_peek(p, "@") || parse_fail(p, "the end of the line");
}

bool parse_op(Parser *p, Op *op) {
  const char *begin = p->at;
  Product *product = p->program->product;
  const Atom *atom[PRODUCTS_MAX];
  for (int i = 0; i < PRODUCTS_MAX; i++) atom[i] = product[i].atom;
  for (int kind = 0; kind < OP_COUNT; kind++) {
    p->at = begin;
    p->n_operators = 0;
    if (parse_template(p, (OpKind)kind, op)) return true;
    for (int i = 0; i < PRODUCTS_MAX; i++) product[i].atom = atom[i];
  }
  return false;
}
