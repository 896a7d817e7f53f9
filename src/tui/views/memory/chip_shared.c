// The budget of shared memory as a bar, and the mbarriers with their ring.
//
//   AAAAaaaaBBBBbbbbC·········     a letter for each buffer, small ones for every other slot
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "tui/canvas/fmt.h"
#include "tui/views/memory/chip.h"

const char *chip_bits(char out[CHIP_TEXT], unsigned bits) {
  int at = 0;
  out[0] = '\0';
  for (int i = 0; i < 32 && at < CHIP_TEXT - 8; i++) {
    if (!(bits >> i & 1)) continue;
    int end = i;
    while (end < 31 && bits >> (end + 1) & 1) end++;
    at += snprintf(out + at, (size_t)(CHIP_TEXT - at), end > i ? "%s%d-%d" : "%s%d", at ? " " : "",
                   i, end);
    i = end;
  }
  return out;
}

const char *chip_numbers(char out[CHIP_TEXT], const char *what, unsigned bits) {
  char text[CHIP_TEXT];
  snprintf(out, CHIP_TEXT, "%.8s%s %.60s", what, bits & (bits - 1) ? "s" : "",
           chip_bits(text, bits));
  return out;
}

// ---- the budget ---------------------------------------------------------------------------------

enum { BAR_LEFT = 1, PART_FROM = 3, PART_SIZE = 15 };

static bool is_mbarriers(const SmemPart *part) { return part->buffer->space == SPACE_BARRIER; }

// The first letter of its name that no buffer before it has: S of SFA_s, then F of SFB_s. Where all
// of them are taken, the first.
static char letter_of(const SmemBudget *budget, int part) {
  char taken[BUFFERS_MAX + 1] = "";
  for (int i = 0, n = 0; i <= part; i++) {
    if (is_mbarriers(&budget->part[i])) continue;
    const char *name = budget->part[i].buffer->name;
    int at = 0;
    while (isalpha((unsigned char)name[at]) && strchr(taken, toupper((unsigned char)name[at])))
      at++;
    taken[n++] = (char)toupper((unsigned char)name[isalpha((unsigned char)name[at]) ? at : 0]);
    if (i == part) return taken[n - 1];
  }
  return 'm';
}

static void draw_slot(Canvas *canvas, Rect in, const SmemBudget *budget, int at, int64_t slot) {
  const SmemPart *part = &budget->part[at];
  const int64_t each = part->bytes / part->slots, width = in.cols - 2 * BAR_LEFT;
  const int64_t from = part->buffer->offset_bytes + slot * each;
  const int first = (int)(from * width / budget->sm_bytes);
  const int end = (int)ceil_div((from + each) * width, budget->sm_bytes);
  char text[2] = {letter_of(budget, at), '\0'};
  if (slot % 2) text[0] = (char)tolower((unsigned char)text[0]);
  for (int col = first; col < end; col++)
    canvas_text(canvas, in, 0, BAR_LEFT + col, part->in_ring ? STYLE_TIER_STAGE : STYLE_ACCENT,
                text);
}

static void draw_bar(Canvas *canvas, Rect in, const SmemBudget *budget) {
  canvas_repeat(canvas, in, 0, BAR_LEFT, STYLE_BAR_TRACK, GLYPH_MIDDLE_DOT, in.cols - 2 * BAR_LEFT);
  for (int i = budget->n - 1; i >= 0; i--) {
    const SmemPart *part = &budget->part[i];
    for (int64_t slot = 0; slot < part->slots && !is_mbarriers(part); slot++)
      draw_slot(canvas, in, budget, i, slot);
  }
}

static void draw_part(Canvas *canvas, Rect row, const SmemBudget *budget, int at) {
  const SmemPart *part = &budget->part[at];
  char text[FMT_MAX];
  const char letter[2] = {letter_of(budget, at), '\0'};
  canvas_text(canvas, row, 0, 1, part->in_ring ? STYLE_TIER_STAGE : STYLE_ACCENT, letter);
  canvas_text(canvas, row, 0, PART_FROM, STYLE_TEXT, part->buffer->name);
  int col = PART_SIZE;
  if (part->slots > 1)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%" PRId64 " × %s = ", part->slots,
                        fmt_bytes(text, (double)(part->bytes / part->slots)));
  col = canvas_text(canvas, row, 0, col, STYLE_NUMBER, fmt_bytes(text, (double)part->bytes));
  canvas_printf(canvas, row, 0, col, STYLE_DIM, "  from byte %" PRId64 "%s",
                part->buffer->offset_bytes, part->lies_over ? ", over what was read before" : "");
}

// All mbarriers in one row: their bytes are few. The word beside them is none.
static void draw_mbarriers(Canvas *canvas, Rect row, const SmemBudget *budget) {
  int64_t n = 0, bytes = 0;
  bool base = false;
  for (int i = 0; i < budget->n; i++) {
    const SmemPart *part = &budget->part[i];
    if (!is_mbarriers(part)) continue;
    bytes += part->bytes;
    if (part->buffer->role == ROLE_TENSOR_BASE)
      base = true;
    else
      n += part->slots;
  }
  char text[FMT_MAX];
  canvas_text(canvas, row, 0, 1, STYLE_ACCENT, "m");
  canvas_text(canvas, row, 0, PART_FROM, STYLE_TEXT, "mbarriers");
  canvas_printf(canvas, row, 0, PART_SIZE, STYLE_TEXT, "%" PRId64 " × 8 B%s = %s", n,
                base ? " and a word with the address of tensor memory" : "",
                fmt_bytes(text, (double)bytes));
}

static bool has_mbarriers(const SmemBudget *budget) {
  for (int i = 0; i < budget->n; i++)
    if (is_mbarriers(&budget->part[i])) return true;
  return false;
}

static bool has_factors(const SmemBudget *budget) {
  for (int i = 0; i < budget->n; i++) {
    const BufferRole role = budget->part[i].buffer->role;
    if (role == ROLE_SLAB_SFA || role == ROLE_SLAB_SFB) return true;
  }
  return false;
}

static void draw_shared_title(Canvas *canvas, Rect row, const SmemBudget *budget) {
  char text[FMT_MAX];
  int col = canvas_text(canvas, row, 0, 1, STYLE_TITLE, "SHARED MEMORY");
  if (!budget->stage_bytes) return;
  col = canvas_printf(canvas, row, 0, col + 2, STYLE_TEXT, "a stage of %s: %s",
                      has_factors(budget) ? "A, B and factors" : "A and B",
                      fmt_bytes(text, (double)budget->stage_bytes));
  canvas_printf(canvas, row, 0, col, STYLE_TEXT, ";  %" PRId64 " of at most %" PRId64 " stages",
                budget->stages, budget->most_stages);
}

static void draw_sum(Canvas *canvas, Rect in, const ChipSide *side) {
  const SmemBudget *budget = &side->budget;
  char all[FMT_MAX], block[FMT_MAX], sm[FMT_MAX], taken[FMT_MAX], text[240];
  snprintf(text, sizeof text,
           "%s of the %s that a block may have. An SM has %s, and each block costs it %s more: "
           "room for %d block%s.",
           fmt_bytes(all, (double)budget->bytes), fmt_bytes(block, (double)budget->block_bytes),
           fmt_bytes(sm, (double)budget->sm_bytes),
           fmt_bytes(taken, (double)budget->reserved_bytes),
           (int)(budget->sm_bytes / max64(budget->bytes + budget->reserved_bytes, 1)),
           plural_s(budget->sm_bytes / max64(budget->bytes + budget->reserved_bytes, 1)));
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_NOTE, text);
}

int chip_shared_rows(const ChipSide *side) {
  int slabs = 0;
  for (int i = 0; i < side->budget.n; i++) slabs += !is_mbarriers(&side->budget.part[i]);
  return 2 + slabs + has_mbarriers(&side->budget) + 2;
}

void chip_draw_shared(Canvas *canvas, Rect in, const ChipSide *side) {
  const SmemBudget *budget = &side->budget;
  draw_shared_title(canvas, rect_take_top(&in, 1), budget);
  if (budget->n == 0) {
    canvas_text(canvas, in, 0, 1, STYLE_DIM, "none: the operands come from global memory");
    return;
  }
  draw_bar(canvas, rect_take_top(&in, 1), budget);
  for (int i = 0; i < budget->n; i++)
    if (!is_mbarriers(&budget->part[i])) draw_part(canvas, rect_take_top(&in, 1), budget, i);
  if (has_mbarriers(budget)) draw_mbarriers(canvas, rect_take_top(&in, 1), budget);
  draw_sum(canvas, in, side);
}

// ---- mbarriers ----------------------------------------------------------------------------------

// Where the columns of the table begin; half of a screen has no room for the numbers of warps.
typedef struct BarrierColumns {
  int count, from, waits, phase, tirx;
  bool warps;
} BarrierColumns;

enum { TIRX_COLS = 8, KIND_COLS = 22 };

static BarrierColumns columns_of(Rect in) {
  static const BarrierColumns wide = {15, 20, 57, 68, 81, true},
                              narrow = {11, 16, 43, 53, 60, false};
  return in.cols >= wide.phase + 12 ? wide : narrow;
}

// The names that the tutorial in TIRx, which ladder blackwell follows, has for the four of a kernel
// with roles and tensor memory: after the sender and the receiver, TMA, MMA and the warps that load
// sums.
const char *chip_tirx_name(const OnChip *chip, const Buffer *mbarrier) {
  static const struct {
    BufferRole role;
    const char *name;
  } names[] = {{ROLE_FULL, "tma2mma"},
               {ROLE_EMPTY, "mma2tma"},
               {ROLE_ACC_FULL, "mma2ld"},
               {ROLE_ACC_EMPTY, "ld2mma"}};
  bool roles = false;
  for (int i = 0; i < chip->n_barriers; i++)
    roles |= chip->barrier[i].buffer->role == ROLE_ACC_EMPTY;
  for (size_t i = 0; roles && i < sizeof names / sizeof *names; i++)
    if (names[i].role == mbarrier->role) return names[i].name;
  return NULL;
}

static const char *actor(const ChipUse *use) { return use->role ? use->role->name : "all"; }

// The arrivals, not the boxes whose bytes count beside them.
static bool arrives(const ChipUse *use) { return !op_moves_box(use->stmt->op.kind); }

static void draw_signal(Canvas *canvas, Rect row, BarrierColumns at, const OnChip *chip,
                        const ChipUse *use) {
  char text[CHIP_TEXT], bytes[FMT_MAX];
  row.cols = min_int(row.cols, at.waits - 1);
  int col = canvas_text(canvas, row, 0, at.from, STYLE_TEXT, actor(use));
  if (at.warps)
    col = canvas_printf(canvas, row, 0, col, STYLE_DIM, " %s",
                        chip_numbers(text, "warp", use->warps));
  if (use->bytes)
    col = canvas_printf(canvas, row, 0, col, STYLE_NUMBER, " +%s",
                        fmt_bytes(bytes, (double)use->bytes));
  if (chip->n_ranks == 1) return;
  col = canvas_text(canvas, row, 0, col, STYLE_TIER_CLUSTER, chip_numbers(text, " CTA", use->by));
  canvas_printf(canvas, row, 0, col, STYLE_TIER_CLUSTER, "→%s", chip_bits(text, use->at));
}

// The kinds of arrival, for each of which kernels in TIRx have a type of mbarrier.
static const char *kind_of(const ChipUse *use) {
  const OpFacts *op = op_facts(use->stmt->op.kind);
  if (op->action == ACTION_EXPECT) return "bytes that TMA brings";
  return op->proxy == PROXY_ASYNC ? "commit of tcgen05" : "threads arrive";
}

static int kind_column(BarrierColumns at, const OnChip *chip) {
  return at.tirx + (chip_tirx_name(chip, chip->barrier[0].buffer) ? TIRX_COLS + 1 : 0);
}

static void draw_barrier(Canvas *canvas, Rect row, const OnChip *chip, const ChipBarrier *barrier) {
  const BarrierColumns at = columns_of(row);
  const int col = canvas_text(canvas, row, 0, 1, STYLE_BARRIER, barrier->buffer->name);
  if (at.warps)  // the mbarriers of that name; each phase needs these arrivals
    canvas_printf(canvas, row, 0, col, STYLE_DIM, "[%" PRId64 "]", barrier->buffer->dim[0]);
  canvas_printf(canvas, row, 0, at.count, STYLE_NUMBER, "%3" PRId64, barrier->arrivals);
  for (int i = 0; i < barrier->n_signals; i++) {
    if (!arrives(&barrier->signal[i])) continue;
    draw_signal(canvas, row, at, chip, &barrier->signal[i]);
    if (row.cols >= kind_column(at, chip) + KIND_COLS)
      canvas_text(canvas, row, 0, kind_column(at, chip), STYLE_TEXT, kind_of(&barrier->signal[i]));
    break;
  }
  if (barrier->n_waits == 0) return;
  const ChipUse *wait = &barrier->wait[0];
  canvas_text(canvas, row, 0, at.waits, STYLE_TEXT, actor(wait));
  const char *does = !at.warps ? "" : wait->phase ? ": passes" : ": waits";
  canvas_printf(canvas, row, 0, at.phase, STYLE_TEXT, "%" PRId64 "%s", wait->phase, does);
  const char *tirx = chip_tirx_name(chip, barrier->buffer);
  if (tirx && row.cols >= at.tirx + TIRX_COLS)
    canvas_text(canvas, row, 0, at.tirx, STYLE_DIM, tirx);
}

enum { RING_LABEL = 8, RING_CELL = 4, RING_ROWS = 5 };  // rows without the sentence below

static void draw_row(Canvas *canvas, Rect row, const char *name, Style style) {
  canvas_text(canvas, row, 0, 1, style, name);
}

// From the slab that leaves the slot to the one that takes it, past those in other slots.
static void draw_arrow(Canvas *canvas, Rect row, int64_t slots) {
  const int from = RING_LABEL + 1, to = RING_LABEL + 1 + (int)slots * RING_CELL;
  canvas_glyph(canvas, row, 0, from, STYLE_ACCENT, GLYPH_CORNER_BL);
  canvas_repeat(canvas, row, 0, from + 1, STYLE_ACCENT, GLYPH_HLINE, to - from - 1);
  canvas_glyph(canvas, row, 0, to, STYLE_ACCENT, GLYPH_ARROW_UP);
  draw_row(canvas, row, "frees", STYLE_DIM);
}

static void draw_ring(Canvas *canvas, Rect in, const OnChip *chip) {
  static const char *const names[] = {"slab", "slot", "full", "empty"};
  char text[240];
  for (int i = 0; i < 4; i++) {
    Rect row = rect_take_top(&in, 1);
    draw_row(canvas, row, names[i], i ? STYLE_TEXT : STYLE_HEADER);
    for (int s = 0; s < chip->n_turns; s++) {
      const ChipTurn *turn = &chip->turn[s];
      const int64_t value[] = {s, turn->slot, turn->full_phase, turn->empty_phase};
      const int col = RING_LABEL + s * RING_CELL;
      if (value[i] >= 0)
        canvas_printf(canvas, row, 0, col, i ? STYLE_NUMBER : STYLE_HEADER, "%2" PRId64, value[i]);
    }
    if (i == 1 && chip->n_turns > chip->n_slots)
      draw_arrow(canvas, rect_take_top(&in, 1), chip->n_slots);
  }
  rect_take_left(&in, 1);
  const int64_t last = chip->n_slots - 1;
  char others[48];
  snprintf(others, sizeof others, last == 1 ? "slab 1 uses" : "slabs 1 to %" PRId64 " use", last);
  snprintf(text, sizeof text,
           "Slot 0 is free when slab 0 is multiplied. The next slab in it is %" PRId64
           "; %s %s. A "
           "new mbarrier is in phase 0: a wait for phase 1 passes at once.",
           chip->n_slots, others, last == 1 ? "the other slot" : "other slots");
  if (canvas_wrap_rows(text, in.cols) <= in.rows) canvas_wrap(canvas, in, STYLE_NOTE, text);
}

static bool has_empty(const OnChip *chip) {
  return chip->n_slots > 1 && chip->turn[0].empty_phase >= 0;
}

int chip_barriers_rows(const ChipSide *side) {
  if (!side->barriers->n_barriers) return 2;
  return 2 + side->barriers->n_barriers + (has_empty(side->barriers) ? 8 : 0);
}

// The mbarriers, each on its line.
int chip_barriers_least(const ChipSide *side) {
  if (!side->barriers->n_barriers) return 2;
  return 1 + side->barriers->n_barriers;
}

void chip_draw_barriers(Canvas *canvas, Rect in, const ChipSide *side) {
  const OnChip *chip = side->barriers;
  Rect title = rect_take_top(&in, 1);
  canvas_text(canvas, title, 0, 1, STYLE_TITLE, "MBARRIERS");
  if (!chip->n_barriers) {
    canvas_text(canvas, in, 0, 1, STYLE_DIM, "none: threads meet at barriers");
    return;
  }
  const BarrierColumns at = columns_of(in);
  canvas_text(canvas, title, 0, at.count - at.warps, STYLE_HEADER, at.warps ? "needs" : "need");
  canvas_text(canvas, title, 0, at.from, STYLE_HEADER, "arrivals from");
  canvas_text(canvas, title, 0, at.waits, STYLE_HEADER, "waits");
  canvas_text(canvas, title, 0, at.phase, STYLE_HEADER, at.warps ? "first phase" : "first");
  if (chip_tirx_name(chip, chip->barrier[0].buffer) && in.cols >= at.tirx + TIRX_COLS)
    canvas_text(canvas, title, 0, at.tirx, STYLE_HEADER, "in TIRx");
  if (in.cols >= kind_column(at, chip) + KIND_COLS)
    canvas_text(canvas, title, 0, kind_column(at, chip), STYLE_HEADER, "an arrival means");
  for (int i = 0; i < chip->n_barriers; i++)
    draw_barrier(canvas, rect_take_top(&in, 1), chip, &chip->barrier[i]);
  if (!has_empty(chip) || in.rows <= RING_ROWS) return;
  rect_take_top(&in, 1);
  draw_ring(canvas, in, chip);
}
