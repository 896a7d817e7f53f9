// Steps that take an instruction's place in the text, not its effect, and numbers that become
// plainer.
//
//   mov.u32 %r1, %tid.x;  mov.u32 %r5, %tid.x;      one of them, %r1 in place of %r5
//   mov.b32 %r7, 60;  add.s32 %r8, %r1, %r7;        add.s32 %r8, %r1, 60;
//   st.shared.f32 [%r8+60], %f1;                    [%r8+0]
//   ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];  ld.global.f32 %f1, [%rd1];
#include <string.h>

#include "base/str.h"
#include "cli/open/against/reduce_parts.h"
#include "ptx/module/ptx_lex.h"

static PtxArg register_of(const Scratch *s, const PtxGroup *g) { return s->module->args[g->at]; }

static bool is_written_once(const Scratch *s, int at, PtxArg reg) {
  return !scratch_is_written(s, 0, at, reg) && !scratch_is_written(s, at + 1, s->t.n_insts, reg);
}

// ---- the same result ----------------------------------------------------------------------------

// Several results: registers of the same number of operands, by the same words behind them.
static const char *behind_results(const Scratch *s, int at) {
  const char *text = scratch_piece(s, at)->text, *brace = strchr(text, '}');
  return brace ? brace : text;
}

static bool has_same_words(const Scratch *s, int a, int b) {
  const char *x = scratch_piece(s, a)->text, *y = scratch_piece(s, b)->text;
  const size_t n = strcspn(x, " ");
  return strncmp(x, y, n) == 0 && str_equal(behind_results(s, a), behind_results(s, b));
}

// Loads of one vector into two: they are the same where nothing but stores to other memory stands
// between, which the trial tells.
static bool put_vector(Scratch *s, int at, int earlier) {
  const PtxGroup *g = &scratch_inst(s, at)->groups[0], *h = &scratch_inst(s, earlier)->groups[0];
  if (!g->written || !h->written || g->n < 2 || g->n != h->n || !has_same_words(s, at, earlier))
    return false;
  const char *mine = scratch_piece(s, at)->text, *its = scratch_piece(s, earlier)->text;
  mine = strchr(mine, '{');
  its = strchr(its, '{');
  if (!mine || !its) return false;
  char *of = arena_strdup(s->arena, mine + 1), *to = arena_strdup(s->arena, its + 1);
  of[strcspn(of, "}")] = to[strcspn(to, "}")] = '\0';
  scratch_piece(s, at)->kept = false;
  char *save_of = NULL, *save_to = NULL;
  for (char *a = strtok_r(of, ", ", &save_of), *b = strtok_r(to, ", ", &save_to); a && b;
       a = strtok_r(NULL, ", ", &save_of), b = strtok_r(NULL, ", ", &save_to))
    scratch_put(s, at, a, b);
  return true;
}

static bool put_earlier(Scratch *s, const FlowRun *flow, int at) {
  const PtxInst *inst = scratch_inst(s, at);
  const PtxGroup *g = scratch_result(inst);
  if (!g) {
    for (int i = 0; i < at && inst->n_groups; i++)
      if (scratch_inst(s, i)->n_groups && put_vector(s, at, i)) return true;
    return false;
  }
  if (!flow->has_run[at] || !is_written_once(s, at, register_of(s, g))) return false;
  for (int i = 0; i < at; i++) {
    const PtxGroup *h = scratch_result(scratch_inst(s, i));
    if (!h || h->kind != g->kind || scratch_bits(s, h) != scratch_bits(s, g) ||
        flow->all[i] != flow->all[at] || !flow->has_run[i] || !scratch_piece(s, i)->kept ||
        !is_written_once(s, i, register_of(s, h)))
      continue;
    const char *mine = piece_operand(s->arena, scratch_piece(s, at), 0),
               *its = piece_operand(s->arena, scratch_piece(s, i), 0);
    if (!mine || !its || str_equal(mine, its)) continue;
    scratch_piece(s, at)->kept = false;
    scratch_put(s, at, mine, its);
    return true;
  }
  return false;
}

bool edit_same(const Reduce *r, Scratch *s, int at, int n) {
  (void)n;
  FlowRun flow;
  if (at >= s->t.n_insts || !scratch_run(r, s, &flow)) return false;
  if (at >= 0) return put_earlier(s, &flow, at);
  bool changed = false;
  for (int i = 1; i < s->t.n_insts; i++) changed |= put_earlier(s, &flow, i);
  return changed;
}

// ---- numbers ------------------------------------------------------------------------------------

typedef struct Number {
  int at, n;  // in the text of its piece
  uint64_t bits;
} Number;

enum { NUMBERS_MOST = 8 };

static int numbers_of(const Piece *p, Number out[NUMBERS_MOST]) {
  int n = 0;
  PtxLexer lexer = ptx_lexer(p->text, strlen(p->text));
  for (PtxToken t = ptx_next(&lexer); t.kind != PTX_TOKEN_END; t = ptx_next(&lexer))
    if ((t.kind == PTX_TOKEN_INT || t.kind == PTX_TOKEN_F32) && n < NUMBERS_MOST)
      out[n++] = (Number){(int)(t.text - p->text), t.length, t.bits};
  return n;
}

static void set_number(Scratch *s, Piece *p, const Number *number, uint64_t bits, bool is_float) {
  piece_set_text(s->arena, p,
                 arena_printf(s->arena, is_float ? "%.*s0f%08llX%s" : "%.*s%llu%s", number->at,
                              p->text, (unsigned long long)bits, p->text + number->at + number->n));
  s->rewritten = true;
}

static bool is_float_at(const Piece *p, const Number *n) {
  return n->n > 1 && (p->text[n->at + 1] | 32) == 'f';
}

static void zero_everywhere(Scratch *s, uint64_t was) {
  for (int i = 0; i < s->t.n_insts; i++) {
    Number each[NUMBERS_MOST];
    Piece *p = scratch_piece(s, i);
    for (int k = numbers_of(p, each) - 1; k >= 0; k--)
      if (each[k].bits == was && !is_float_at(p, &each[k])) set_number(s, p, &each[k], 0, false);
  }
}

// Memory that has not come yet is 0, so a float of 1 shows more than one of 0.
bool edit_plain(const Reduce *r, Scratch *s, int at, int n) {
  (void)r;
  enum { EVERYWHERE, HERE, ONE_LESS, HALF, SHIFTS = 32, ONE_F32 = 0x3f800000 };
  Number of[NUMBERS_MOST];
  Piece *piece = scratch_piece(s, at);
  const int nth = n / EDIT_WAYS, how = n % EDIT_WAYS;
  if (!piece || nth >= numbers_of(piece, of)) return false;
  const uint64_t was = of[nth].bits;
  const bool is_float = is_float_at(piece, &of[nth]);
  if (is_float != (was == 0) || (is_float && how != HERE)) return false;
  if ((how > HERE && was < 3) || (how == ONE_LESS && was >= SHIFTS)) return false;
  const uint64_t plain[] = {0, is_float ? ONE_F32 : 0, was - 1, was / 2};
  if (how == EVERYWHERE)
    zero_everywhere(s, was);
  else
    set_number(s, piece, &of[nth], plain[how], is_float);
  return true;
}

bool edit_twin(const Reduce *r, Scratch *s, int at, int n) {
  (void)r;
  const PtxInst *inst = scratch_inst(s, at);
  Number mine[NUMBERS_MOST], its[NUMBERS_MOST];
  Piece *piece = scratch_piece(s, at);
  if (!inst || !inst->row || str_equal(inst->row->name, "mov") || numbers_of(piece, mine) != 1)
    return false;
  for (int i = 0; i < s->t.n_insts; i++) {
    const PtxInst *other = scratch_inst(s, i);
    if (i == at || other->row != inst->row || numbers_of(scratch_piece(s, i), its) != 1) continue;
    if (its[0].bits == mine[0].bits || n-- > 0) continue;
    set_number(s, piece, &mine[0], its[0].bits, is_float_at(piece, &mine[0]));
    return true;
  }
  return false;
}

// ---- numbers in place of registers --------------------------------------------------------------

// The number that an instruction moves; false: it does something else.
static bool moved_number(const Scratch *s, int at, uint64_t *bits) {
  const PtxInst *inst = scratch_inst(s, at);
  const Piece *piece = scratch_piece(s, at);
  const PtxGroup *g = scratch_result(inst);
  Number numbers[NUMBERS_MOST];
  if (!g || g->kind != PTX_GROUP_VALUE || !inst->row || !str_equal(inst->row->name, "mov") ||
      piece->text[0] == '@' || !is_written_once(s, at, register_of(s, g)))
    return false;
  const char *source = piece_operand(s->arena, piece, 1);
  if (!source || !strchr("-0123456789", *source) || numbers_of(piece, numbers) != 1) return false;
  *bits = *source == '-' ? 0 - numbers[0].bits : numbers[0].bits;
  return true;
}

static bool is_word(const PieceWord *at, const char *word) {
  return (size_t)at->n == strlen(word) && memcmp(at->at, word, strlen(word)) == 0;
}

static bool has_word(const Piece *p, const char *word) {
  for (int i = 0; i < p->n_words; i++)
    if (is_word(&p->words[i], word)) return true;
  return false;
}

// Addresses and vectors want registers.
static bool wants_register(const Piece *p, const char *word) {
  for (int i = 0; i < p->n_words; i++) {
    int depth = 0;
    if (!is_word(&p->words[i], word)) continue;
    for (const char *c = p->text; c < p->words[i].at; c++)
      depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
    if (depth > 0) return true;
  }
  return false;
}

static bool put_number(Scratch *s, int at) {
  uint64_t bits = 0;
  if (!moved_number(s, at, &bits)) return false;
  const char *name = piece_operand(s->arena, scratch_piece(s, at), 0);
  for (int i = 0; i < s->t.n_insts; i++)
    if (i != at && wants_register(scratch_piece(s, i), name)) return false;
  for (int i = 0; i < s->t.n_insts; i++) {
    Piece *p = scratch_piece(s, i);
    if (i == at || !has_word(p, name)) continue;
    const char *text = strstr(p->text, ".f32 ") ? arena_printf(s->arena, "0f%08X", (unsigned)bits)
                       : strstr(p->text, ".f64 ")
                           ? arena_printf(s->arena, "0d%016llX", (unsigned long long)bits)
                           : arena_printf(s->arena, "%llu", (unsigned long long)bits);
    piece_set_text(s->arena, p, piece_with(s->arena, p, name, text));
  }
  scratch_piece(s, at)->kept = false;
  s->rewritten = true;
  return true;
}

bool edit_inline(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)n;
  if (at >= 0) return at < s->t.n_insts && put_number(s, at);
  bool changed = false;
  for (int i = 0; i < s->t.n_insts; i++) changed |= put_number(s, i);
  return changed;
}

// ---- vectors ------------------------------------------------------------------------------------

// "ld.global.v4.f32 {a, b, c, d}, [x];": the nth for all. A vector that stays one keeps its braces.
bool edit_scalar(const Reduce *r, Scratch *s, int at, int n) {
  (void)r;
  Piece *p = scratch_piece(s, at);
  const char *width = p ? strstr(p->text, ".v") : NULL, *open = p ? strchr(p->text, '{') : NULL,
             *close = open ? strchr(open, '}') : NULL;
  if (!width || !close || width > open || !strchr("248", width[2])) return false;
  char *of = arena_strndup(s->arena, open + 1, (size_t)(close - open - 1)), *save = NULL;
  const char *element[EDIT_ELEMENTS * 2] = {NULL};
  int count = 0;
  for (char *e = strtok_r(of, ", ", &save); e && count < EDIT_ELEMENTS * 2;
       e = strtok_r(NULL, ", ", &save))
    element[count++] = e;
  if (n >= count) return false;
  const bool is_load = scratch_inst(s, at)->groups[0].written;
  piece_set_text(s->arena, p,
                 arena_printf(s->arena, "%.*s%.*s%s%s", (int)(width - p->text), p->text,
                              (int)(open - width - 3), width + 3, element[n], close + 1));
  for (int i = 0; i < count && is_load; i++)
    if (i != n) scratch_put(s, at + 1, element[i], element[n]);
  s->rewritten = true;
  return true;
}
