// OwnAccess → card, table and the words to type instead.
//
// Worked example at 80 columns:
//
//   YOURS  LDS.32  (tid % 8) * 32 + lane/8  [f32]
//   8-WAY  8 wavefronts, ideal 1
//   … the card as it is, and written anew …
//   write  i ^ ((i >> 3) & 28)        1 wavefront   i = yours; no memory
//   write  (tid % 8) * 36 + lane/8    1 wavefront   rows of 36, not 32
#include "tui/views/memory/banks_view.h"

#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_batch.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/memory/bank_card.h"

enum {
  PROOF_FROM = 20,
  PROOF_ROWS = 2,
  COST_COLS = 16,
  NOTE_COLS = 26,
  WRITE_COLS = 7,
  ADVICE_COLS_MAX = 118
};

void own_init(void *state) {
  Own *own = state;
  own->arena = arena_new("own access");
  own->spare = arena_new("next own access");
  own->scratch = arena_new("own solver");
}

void own_done(void *state) {
  Own *own = state;
  arena_free(own->arena);
  arena_free(own->spare);
  arena_free(own->scratch);
}

void own_drop(Own *own) { own->set = own->shown = false; }

// ---- reading ------------------------------------------------------------------------------------

// The access that was read into the spare arena becomes the present one.
static void take(Own *own, const OwnAccess *access) {
  Arena *old = own->arena;
  own->arena = own->spare;
  own->spare = old;
  own->access = *access;
  own->set = own->shown = true;
  banks_map(&own->map, access->input.op, access->addr);
  if (access->n_layouts) banks_map(&own->best, access->input.op, access->layout[0].addr);
}

bool own_read(Own *own, const char *line, Diags *diags) {
  OwnAccess access;
  arena_reset(own->spare);
  const OwnAccess *before = own->set ? &own->access : NULL;
  if (!own_access_read(own->spare, own->scratch, line, before, &access, diags)) return false;
  take(own, &access);
  return true;
}

static bool read_as(Own *own, const BankOp *op, const char *unit, Diags *diags) {
  OwnAccess access;
  arena_reset(own->spare);
  OwnAccess from = own->access;
  from.text = arena_strdup(own->spare, from.text);
  if (!own_access_as(own->spare, own->scratch, &from, op, unit, &access, diags)) return false;
  take(own, &access);
  return true;
}

// Operations whose alignment the addresses break, and those of fewer addresses, are passed over.
bool own_step_op(Own *own, int step, Diags *diags) {
  int n = banks_op_count(), at = 0;
  while (banks_op_at(at) != own->access.input.op) at++;
  for (int i = 1; i <= n; i++) {
    Diags unused = diags_new(own->scratch);
    const BankOp *op = banks_op_at(((at + step * i) % n + n) % n);
    if (read_as(own, op, NULL, i < n ? &unused : diags)) return true;
  }
  return false;
}

bool own_step_unit(Own *own, int step, Diags *diags) {
  int n = 0, at = 0;
  for (; own_access_unit(n); n++)
    if (str_equal(own_access_unit(n), own->access.unit)) at = n;
  for (int i = 1; i < n; i++) {
    Diags unused = diags_new(own->scratch);
    const char *unit = own_access_unit(((at + step * i) % n + n) % n);
    if (read_as(own, NULL, unit, i < n - 1 ? &unused : diags)) return true;
  }
  return false;
}

const char *own_line(const Own *own) {
  const OwnAccess *access = &own->access;
  return access->n_layouts ? access->layout[0].expression : access->text;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_title(Canvas *canvas, Rect in, const Own *own) {
  const OwnAccess *access = &own->access;
  const BankCount *count = &access->count;
  char verdict[32], unit[48];
  Style style;
  int col = canvas_printf(canvas, in, 0, 0, STYLE_HEADER, "YOURS  ");
  col = canvas_printf(canvas, in, 0, col, STYLE_SITE, "%s  ", access->input.op->sass);
  if (access->expression)
    snprintf(unit, sizeof unit, "  index of %s, %d B each", access->unit, access->input.unit_bytes);
  if (!access->expression || access->input.unit_bytes == 1)
    snprintf(unit, sizeof unit, "  byte offsets");
  int room = in.cols - col - utf8_columns(unit), need = utf8_columns(access->text);
  col = canvas_fit(canvas, in, 0, col, min_int(room, need), ALIGN_LEFT, STYLE_ACCENT, access->text);
  canvas_text(canvas, in, 0, col, STYLE_DIM, unit);
  card_verdict(count, verdict, &style);
  col = canvas_text(canvas, in, 1, 0, style, verdict) + 2;
  if (!count->known) return;
  col = canvas_printf(canvas, in, 1, col, STYLE_TEXT, "%d wavefront%s, ideal %d", count->wavefronts,
                      plural_s(count->wavefronts), count->ideal);
  if (access->input.warp)
    canvas_printf(canvas, in, 1, col + 2, STYLE_DIM, "warp %d", access->input.warp);
}

// "i: as it was; no memory", "rows of 36, not 32".
static const char *say_price(const OwnAccess *access, const OwnLayout *layout, char out[64]) {
  if (!layout->pad)
    snprintf(out, 64, "%s: typed by you, no memory", access->name);
  else if (layout->whole)
    snprintf(out, 64, "rows of %d, not %d", access->row + layout->pad, access->row);
  else
    snprintf(out, 64, "%s: yours; +%d each %d", access->name, layout->pad, access->row);
  return out;
}

static void draw_layout(Canvas *canvas, Rect row, const OwnAccess *access,
                        const OwnLayout *layout) {
  char price[64];
  row.cols = min_int(row.cols, ADVICE_COLS_MAX);
  bool priced = row.cols >= WRITE_COLS + COST_COLS + 2 * NOTE_COLS;
  Rect note = rect_take_right(&row, priced ? NOTE_COLS : 0);
  Rect cost = rect_take_right(&row, COST_COLS);
  canvas_text(canvas, row, 0, 0, STYLE_KEY, layout == access->layout ? "write" : "or");
  canvas_fit(canvas, row, 0, WRITE_COLS, row.cols - WRITE_COLS, ALIGN_LEFT, STYLE_OK,
             layout->expression);
  canvas_printf(canvas, cost, 0, 1, STYLE_TEXT, "%2d wavefront%s", layout->count.wavefronts,
                plural_s(layout->count.wavefronts));
  canvas_fit(canvas, note, 0, 1, note.cols - 1, ALIGN_LEFT, STYLE_DIM,
             say_price(access, layout, price));
}

static const char *say_nothing(const OwnAccess *access) {
  if (!access->count.known) return "Its source decides the cost too: the solver cannot help here.";
  if (access->count.conflicts == 0) return "Nothing to gain: each phase takes one wavefront.";
  return "No pad, swizzle or XOR among those tried is cheaper.";
}

static int advice_rows(const OwnAccess *access, Rect in) {
  bool proves = access->proof && in.rows >= PROOF_FROM;
  int proof = proves ? min_int(PROOF_ROWS, canvas_wrap_rows(access->proof, in.cols)) : 0;
  return max_int(access->n_layouts, 1) + proof;
}

static void draw_advice(Canvas *canvas, Rect in, const OwnAccess *access) {
  if (access->n_layouts == 0)
    canvas_text(canvas, rect_take_top(&in, 1), 0, 0, STYLE_NOTE, say_nothing(access));
  for (int i = 0; i < access->n_layouts; i++)
    draw_layout(canvas, rect_take_top(&in, 1), access, &access->layout[i]);
  if (access->proof) canvas_wrap(canvas, in, STYLE_DIM, access->proof);
}

void own_draw(Canvas *canvas, Rect in, const Own *own, int phase, BanksPane first) {
  const OwnAccess *access = &own->access;
  draw_title(canvas, rect_take_top(&in, 2), own);
  draw_advice(canvas, rect_take_bottom(&in, advice_rows(access, in)), access);
  const AccessPicture picture = {.map = &own->map,
                                 .addr = access->addr,
                                 .best = access->n_layouts ? &own->best : NULL,
                                 .phase = phase};
  banks_panes_draw(canvas, in, &picture, first);
}
