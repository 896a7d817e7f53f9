// A line → 32 addresses → a slab with one site → the solver → the user's own words again.
//
// The pitch of the rows is found by trying: a factor L of the expression is read as L + 1, and what
// every lane's value grows by is its row. It is a pitch when what a lane has beyond L * row begins
// a whole access inside the row. Worked example, (tid % 8) * 32 + lane / 8: with 33 lane 9 goes
// from 33 to 34, so it is in row 1, at column 33 - 32 = 1. The 8 stands after a '%' or a '/' and is
// no factor.
//
// A layout becomes an expression so: a pad is another factor, or "i + i / 32 * 4" where there is
// none; a swizzle is a shift and a mask of the index itself, since both are powers of two; the
// solver's xor speaks of row and col, which are i / L and i % L. Each is computed for all lanes and
// costed before it is offered.
#include "banks/solver/own_access.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_paste.h"
#include "banks/engine/formula.h"
#include "banks/engine/unit.h"
#include "base/str.h"
#include "base/whole.h"

enum { UNITS_SHOWN = 4, FLOAT_UNIT = 2, ROWS_MAX = 4096 };

const char *own_access_unit(int n) { return n < UNITS_SHOWN ? unit_table[n].name : NULL; }

// ---- the line -----------------------------------------------------------------------------------

// The first word of *at; NULL at the end. Quotes around a word are taken off.
static const char *peek_word(Arena *arena, const char *at, const char **end) {
  at += strspn(at, " \t\r\n");
  if (*at == '\'' || *at == '"') {
    const char *close = strchr(at + 1, *at);
    if (!close) close = at + strlen(at);
    *end = close + (*close != '\0');
    return arena_strndup(arena, at + 1, (size_t)(close - at - 1));
  }
  size_t n = strcspn(at, " \t\r\n");
  *end = at + n;
  return n ? arena_strndup(arena, at, n) : NULL;
}

static void set_unit(OwnAccess *out, int unit) {
  out->unit = unit_table[unit].name;
  out->input.unit_bytes = unit_table[unit].bytes;
}

static bool take_warp(Arena *arena, const char **at, OwnAccess *out) {
  const char *end, *number = peek_word(arena, *at, &end);
  int warp, used = 0;
  if (!number || sscanf(number, "%4d%n", &warp, &used) != 1 || number[used]) return false;
  if (warp < 0 || warp > 31) return false;
  out->input.warp = warp;
  *at = end;
  return true;
}

// Reads the words in front of the text; "--addr" ends them, and means bytes unless a unit was
// named.
static const char *take_words(Arena *arena, const char *at, OwnAccess *out, bool *unit_named) {
  const char *end, *word;
  for (; (word = peek_word(arena, at, &end)); at = end) {
    if (str_equal(word, "--addr")) {
      if (!*unit_named) set_unit(out, 0);
      *unit_named = true;
      const char *text = peek_word(arena, end, &at);
      bool more = text && at[strspn(at, " ")];
      return !text || more ? end + strspn(end, " ") : text;
    }
    const int unit = unit_find(word);
    const BankOp *op = bank_input_op_find(word);
    if (op) out->input.op = op;
    if (op || str_equal(word, "--op")) continue;
    if (str_equal(word, "warp") && take_warp(arena, &end, out)) continue;
    if (unit < 0) break;
    set_unit(out, unit);
    *unit_named = true;
  }
  return at + strspn(at, " \t\r\n");
}

// ---- rows ---------------------------------------------------------------------------------------

// The text with another number in place of `n` characters at `at`.
static const char *with_number(Arena *arena, const char *text, const char *at, size_t n,
                               int64_t number) {
  return arena_printf(arena, "%.*s%" PRId64 "%s", (int)(at - text), text, number, at + n);
}

static bool is_factor(const char *text, const char *at, size_t n) {
  const char *before = at;
  while (before > text && isspace((unsigned char)before[-1])) before--;
  const char *after = at + n + strspn(at + n, " \t");
  bool divides = before > text && strchr("%/", before[-1]);
  return !divides && ((before > text && before[-1] == '*') || *after == '*');
}

// A number in the text that may be a pitch, and where it stands.
typedef struct Factor {
  const char *at;
  size_t n;
  int64_t value;
} Factor;

static bool next_factor(const char *text, const char **from, Factor *out) {
  for (const char *at = *from; *at;) {
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.') n++;
    size_t digits = strspn(at, "0123456789");
    *out = (Factor){at, n, digits > 0 && digits == n && n < 7 ? atoi(at) : 0};
    *from = at += n ? n : 1;
    if (out->value > 1 && is_factor(text, out->at, n)) return true;
  }
  return false;
}

// Rows of the slab, and where each lane is in them, in units.
typedef struct Rows {
  Factor pitch;  // at NULL: there is none
  int64_t row[BANK_LANES], col[BANK_LANES];
} Rows;

static bool is_pitch(const OwnAccess *own, const Factor *factor, const int64_t *value,
                     const int64_t *grown, Rows *out) {
  int units = max_int(1, own->input.op->bytes / own->input.unit_bytes);
  bool moves = false;
  if (factor->value % own->step != 0) return false;
  for (int lane = 0; lane < own->input.op->n_addresses; lane++) {
    if (value[lane] == BANK_INACTIVE) continue;
    out->row[lane] = grown[lane] - value[lane];
    out->col[lane] = value[lane] - factor->value * out->row[lane];
    if (out->row[lane] < 0 || out->row[lane] >= ROWS_MAX) return false;
    if (out->col[lane] < 0 || out->col[lane] + units > factor->value) return false;
    moves |= out->row[lane] > 0;
  }
  out->pitch = *factor;
  return moves;
}

// The largest factor that is a pitch.
static Rows find_rows(Arena *scratch, const OwnAccess *own) {
  Rows best = {.pitch = {.value = 0}};
  Diags unused = diags_new(scratch);
  int64_t value[BANK_LANES], grown[BANK_LANES];
  if (!own->expression || !bank_input_values(&own->input, own->text, value, &unused)) return best;
  const char *from = own->text;
  for (Factor factor; next_factor(own->text, &from, &factor);) {
    const char *text = with_number(scratch, own->text, factor.at, factor.n, factor.value + 1);
    Rows rows = {.pitch = {.value = 0}};
    if (factor.value > best.pitch.value && bank_input_values(&own->input, text, grown, &unused) &&
        is_pitch(own, &factor, value, grown, &rows))
      best = rows;
  }
  return best;
}

// ---- the slab -----------------------------------------------------------------------------------

// Rows as they are written, the ones that lanes reach, up to a power of two.
static bool slab_of_rows(OwnAccess *own, const Rows *rows, LayoutSlab *slab, int64_t *base) {
  int64_t last = 0;
  for (int lane = 0; lane < own->input.op->n_addresses; lane++)
    if (own->addr[lane] >= 0) last = max64(last, rows->row[lane]);
  own->row = (int)rows->pitch.value;
  const int unit = own->input.unit_bytes;
  *slab = (LayoutSlab){1 << log2_up(last + 1), own->row * unit, own->step * unit};
  *base = 0;
  return (int64_t)slab->rows * slab->row_bytes <= BANK_SMEM_BYTES_MAX;
}

// A window of lines around the touched bytes, a power of two long and aligned to it, so that bits
// of an address and of an offset in the window are the same.
static bool slab_of_lines(OwnAccess *own, LayoutSlab *slab, int64_t *base) {
  int64_t first = INT64_MAX, last = 0, bytes = BANK_LINE_BYTES;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (own->addr[lane] < 0) continue;
    first = min64(first, own->addr[lane]);
    last = max64(last, own->addr[lane]);
  }
  while (first / bytes != last / bytes) bytes *= 2;
  own->row = BANK_LINE_BYTES / own->input.unit_bytes;
  const int elem_bytes = own->step * own->input.unit_bytes;
  *slab = (LayoutSlab){(int)(bytes / BANK_LINE_BYTES), BANK_LINE_BYTES, elem_bytes};
  *base = first / bytes * bytes;
  return bytes <= BANK_SMEM_BYTES_MAX;
}

// ---- back into words ----------------------------------------------------------------------------

// "swizzle:2,4,3" of bytes as a term of the index.
static const char *swizzle_words(Arena *arena, const OwnAccess *own, const char *layout) {
  int bits, base, shift, unit = log2_up(own->input.unit_bytes);
  if (sscanf(layout, "swizzle:%d,%d,%d", &bits, &base, &shift) != 3 || base < unit) return NULL;
  return arena_printf(arena, "%s ^ ((%s >> %d) & %d)", own->name, own->name, shift,
                      ((1 << bits) - 1) << (base - unit));
}

// The words of the index that stand for a name of the solver's formula.
static const char *name_words(Arena *arena, const OwnAccess *own, char name, bool first) {
  const char *i = own->name;
  if (name == 'r') return arena_printf(arena, "(%s / %d)", i, own->row);
  if (own->step > 1 && (first || name == 'o'))
    return arena_printf(arena, "(%s / %d)", i, own->step);
  if (first || name == 'o') return i;
  if (own->step > 1) return arena_printf(arena, "(%s %% %d / %d)", i, own->row, own->step);
  return arena_printf(arena, "(%s %% %d)", i, own->row);
}

// A formula of row, col or off as one of the index. Its first name alone is all of it: col lies in
// the low bits, and the row bits above it stay.
static const char *formula_words(Arena *arena, const OwnAccess *own, const char *formula) {
  Str out = str_new(arena);
  bool first = true;
  for (const char *at = formula; *at;) {
    size_t n = 0;
    while (isalpha((unsigned char)at[n])) n++;
    if (n == 0) {
      str_add_char(&out, *at++);
      continue;
    }
    str_add(&out, name_words(arena, own, *at, first));
    first = false;
    at += n;
  }
  return own->step > 1 ? arena_printf(arena, "(%s) * %d", out.text, own->step) : out.text;
}

// The expression to write for a layout; NULL where no expression can say it.
static const char *expression_of(Arena *arena, const OwnAccess *own, const Rows *rows,
                                 OwnLayout *out) {
  const char *colon = strchr(out->layout, ':');
  if (!colon) return NULL;
  if (str_starts(out->layout, "swizzle")) return swizzle_words(arena, own, out->layout);
  if (!str_starts(out->layout, "pad")) return formula_words(arena, own, colon + 1);
  out->pad = atoi(colon + 1) * own->step;
  out->whole = own->pitch;
  if (own->pitch)
    return with_number(arena, own->text, rows->pitch.at, rows->pitch.n,
                       rows->pitch.value + out->pad);
  return arena_printf(arena, "%s + %s / %d * %d", own->name, own->name, own->row, out->pad);
}

// Computes the addresses that the words mean, lane by lane, checked as if they had been typed.
static bool words_addresses(Arena *scratch, const OwnAccess *own, const OwnLayout *layout,
                            int64_t addr[BANK_LANES]) {
  Diags unused = diags_new(scratch);
  int64_t values[BANK_LANES];
  if (layout->whole) return bank_input_read(&own->input, layout->expression, addr, &unused);
  const FormulaName name = {own->name, 0};
  const Formula *formula = formula_parse(scratch, layout->expression, &name, 1, &unused);
  if (!formula) return false;
  const int unit = own->input.unit_bytes, n = own->input.op->n_addresses;
  for (int lane = 0; lane < n; lane++) {
    const int64_t index = own->addr[lane] < 0 ? 0 : own->addr[lane] / unit;
    const char *why;
    if (!formula_eval(formula, &index, &values[lane], &why)) return false;
    values[lane] = own->addr[lane] < 0 ? BANK_INACTIVE : values[lane] * unit;
  }
  return bank_input_check(own->input.op, values, n, addr, &unused);
}

static void offer(Arena *arena, Arena *scratch, OwnAccess *own, const Rows *rows,
                  const SolverCandidate *candidate) {
  OwnLayout out = {.layout = candidate->layout};
  if (!out.layout || own->n_layouts == OWN_LAYOUTS) return;
  out.expression = expression_of(arena, own, rows, &out);
  if (!out.expression || !words_addresses(scratch, own, &out, out.addr)) return;
  out.count = banks_count(own->input.op, out.addr);
  if (out.count.wavefronts < own->count.wavefronts) own->layout[own->n_layouts++] = out;
}

// The best without a pad, and the best pad.
static void offer_all(Arena *arena, Arena *scratch, OwnAccess *own, const Rows *rows,
                      const SolverResult *result) {
  int best = SOLVER_SWIZZLE;
  for (int f = SOLVER_SWIZZLE; f <= SOLVER_XOROFF; f++)
    if (result->families[f].layout && (!result->families[best].layout ||
                                       result->families[f].total < result->families[best].total))
      best = f;
  offer(arena, scratch, own, rows, &result->families[best]);
  offer(arena, scratch, own, rows, &result->families[SOLVER_PAD]);
}

// Bytes are moved by whole accesses: a pad of one byte would take them apart.
static void solve(Arena *arena, Arena *scratch, OwnAccess *own) {
  own->step = own->input.unit_bytes == 1 ? own->input.op->bytes : 1;
  Rows rows = find_rows(scratch, own);
  LayoutSlab slab;
  int64_t base;
  own->pitch = rows.pitch.at && slab_of_rows(own, &rows, &slab, &base);
  if (!own->pitch && !slab_of_lines(own, &slab, &base)) return;
  int32_t logical[1][BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++)
    logical[0][lane] = own->addr[lane] < 0 ? BANK_INACTIVE : (int32_t)(own->addr[lane] - base);
  const SlabSite site = {.name = "this access",
                         .op = own->input.op,
                         .weight = 1,
                         .repeat = 1,
                         .logical = (const int32_t(*)[BANK_LANES])logical};
  const SolverProblem problem = {.name = "own", .slab = slab, .sites = &site, .n_sites = 1};
  Diags unused = diags_new(scratch);
  if (!layout_check_slab(&slab, &unused)) return;
  SolverResult result = solver_solve(arena, scratch, &problem);
  own->proof = result.proof;
  offer_all(arena, scratch, own, &rows, &result);
}

// ---- reading ------------------------------------------------------------------------------------

static bool finish(Arena *arena, Arena *scratch, OwnAccess *out, Diags *diags) {
  if (!bank_input_read(&out->input, out->text, out->addr, diags)) return false;
  out->count = banks_count(out->input.op, out->addr);
  out->name = out->expression ? "i" : "addr";
  out->n_layouts = 0;
  out->pitch = false;
  out->row = 0;
  out->proof = NULL;
  if (out->count.known && out->count.conflicts > 0) solve(arena, scratch, out);
  return true;
}

// The text of `own` with a known operation and unit; lists are bytes, whatever the unit.
static bool read_text(Arena *arena, Arena *scratch, OwnAccess *own, bool unit_named, Diags *diags) {
  const char *plain = bank_paste_plain(own->text, diags);
  if (!plain) return false;
  own->expression = bank_input_is_expression(plain);
  if (!own->expression) set_unit(own, 0);
  if (own->expression && !unit_named && own->input.op->bytes < own->input.unit_bytes)
    set_unit(own, own->input.op->bytes == 2);
  return finish(arena, scratch, own, diags);
}

bool own_access_read(Arena *arena, Arena *scratch, const char *line, const OwnAccess *before,
                     OwnAccess *out, Diags *diags) {
  OwnAccess own = {.input = {.op = before ? before->input.op : banks_op_find("lds32")}};
  bool unit_named = false;
  set_unit(&own, FLOAT_UNIT);
  own.text = arena_strdup(arena, take_words(arena, line, &own, &unit_named));
  if (!*own.text) {
    diag_add(diags, "addr_count",
             "no addresses: give an expression in lane and tid, or a list "
             "of 32");
    diags->last->nearest = "lds32 (tid % 8) * 32 + lane / 8";
    return false;
  }
  if (!read_text(arena, scratch, &own, unit_named, diags)) return false;
  *out = own;
  return true;
}

bool own_access_make(Arena *arena, Arena *scratch, const BankOp *op, const char *unit,
                     const char *text, OwnAccess *out, Diags *diags) {
  if (!unit_bytes(unit, diags)) return false;
  OwnAccess own = {.input = {.op = op}, .text = arena_strdup(arena, text)};
  set_unit(&own, unit_find(unit));
  if (!read_text(arena, scratch, &own, true, diags)) return false;
  *out = own;
  return true;
}

bool own_access_as(Arena *arena, Arena *scratch, const OwnAccess *from, const BankOp *op,
                   const char *unit, OwnAccess *out, Diags *diags) {
  OwnAccess own = *from;
  if (op) own.input.op = op;
  if (unit && own.expression) set_unit(&own, max_int(0, unit_find(unit)));
  if (!finish(arena, scratch, &own, diags)) return false;
  *out = own;
  return true;
}

#define FORM_FILE "banks/solver/own_access.form"
#include "base/form_make.h"
