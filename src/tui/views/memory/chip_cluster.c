// The CTAs of a cluster side by side: the fetches of each and their receivers, the mbarriers that
// count them, the CTA that asks for products, and the effect on a byte.
//
// Above them the tile: rows of A down, columns of stored B to the right, each with the CTA that
// fetches them, and in the cells the CTA that writes that part of C.
#include <inttypes.h>
#include <stdio.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "tui/canvas/fmt.h"
#include "tui/views/memory/chip.h"

enum { LABEL = 12, RANK_COLS = 26, MAP_LABEL = 24, MAP_CELL = 16, MAP_MOST = 4 };

static int ranks_shown(Rect in, const OnChip *chip) {
  return max_int(1, min_int((int)chip->n_ranks, (in.cols - LABEL) / RANK_COLS));
}

// ---- the tile -----------------------------------------------------------------------------------

// Ranks with a slice of the operand that no rank before them has; returns their number.
static int parts_of(const OnChip *chip, int operand, int out[CLUSTER_MAX]) {
  int n = 0;
  for (int r = 0; r < chip->n_ranks; r++) {
    const ChipSlice *slice = &chip->rank[r].slice[operand];
    bool is_new = true;
    for (int i = 0; i < n && is_new; i++) {
      const ChipSlice *other = &chip->rank[out[i]].slice[operand];
      is_new = other->first != slice->first || other->k != slice->k;
    }
    if (is_new) out[n++] = r;
  }
  return n;
}

static const char *slice_text(char out[CHIP_TEXT], const char *across, const OnChip *chip,
                              const ChipSlice *slice) {
  int at = snprintf(out, CHIP_TEXT, "%s %" PRId64 "-%" PRId64, across, slice->first,
                    slice->first + slice->n - 1);
  if (slice->n_k < chip->tile_k)
    snprintf(out + at, (size_t)(CHIP_TEXT - at), " k %" PRId64 "-%" PRId64, slice->k,
             slice->k + slice->n_k - 1);
  return out;
}

static bool meet(int64_t a, int64_t n, int64_t b, int64_t m) { return a < b + m && b < a + n; }

// The CTA that has the part of C in the rows of one slice and the columns of another; -1: none.
static int writer_of(const OnChip *chip, const ChipSlice *a, const ChipSlice *b) {
  for (int r = 0; r < chip->n_ranks; r++)
    if (meet(chip->rank[r].m, chip->tile_m, a->first, a->n) &&
        meet(chip->rank[r].n, chip->tile_n, b->first, b->n))
      return r;
  return -1;
}

static void draw_map_row(Canvas *canvas, Rect in, const OnChip *chip, int rank, const int b[],
                         int n_b) {
  char text[CHIP_TEXT];
  const ChipSlice *a = &chip->rank[rank].slice[ATOM_A];
  canvas_printf(canvas, in, 0, 1, STYLE_TEXT, "A %s", slice_text(text, "m", chip, a));
  canvas_printf(canvas, in, 0, MAP_LABEL - 7, STYLE_TIER_CLUSTER, "CTA %d", rank);
  for (int i = 0; i < n_b; i++) {
    const int writer = writer_of(chip, a, &chip->rank[b[i]].slice[ATOM_B]);
    const int col = MAP_LABEL + i * MAP_CELL;
    canvas_glyph(canvas, in, 0, col, STYLE_BORDER, GLYPH_VLINE);
    if (writer >= 0)
      canvas_printf(canvas, in, 0, col + 2, (Style)(STYLE_ADDRESS_0 + writer % 8), " C of CTA %d ",
                    writer);
  }
  canvas_glyph(canvas, in, 0, MAP_LABEL + n_b * MAP_CELL, STYLE_BORDER, GLYPH_VLINE);
}

static int map_rows(const OnChip *chip) {
  int part[CLUSTER_MAX];
  return chip->n_ranks == 1 ? 0 : 2 + min_int(parts_of(chip, ATOM_A, part), MAP_MOST);
}

static void draw_map(Canvas *canvas, Rect in, const OnChip *chip) {
  int a[CLUSTER_MAX], b[CLUSTER_MAX];
  char text[CHIP_TEXT];
  const int n_a = min_int(parts_of(chip, ATOM_A, a), MAP_MOST);
  const int n_b = min_int(parts_of(chip, ATOM_B, b), MAP_MOST);
  canvas_text(canvas, in, 0, MAP_LABEL - 3, STYLE_HEADER, "B");
  for (int i = 0; i < n_b; i++) {
    const int col = MAP_LABEL + i * MAP_CELL;
    canvas_text(canvas, in, 0, col + 1, STYLE_TEXT,
                slice_text(text, "n", chip, &chip->rank[b[i]].slice[ATOM_B]));
    canvas_printf(canvas, in, 1, col + 1, STYLE_TIER_CLUSTER, "CTA %d", b[i]);
  }
  for (int i = 0; i < n_a; i++) {
    Rect row = {in.row + 2 + i, in.col, in.rows > 2 + i, in.cols};
    draw_map_row(canvas, row, chip, a[i], b, n_b);
  }
}

// ---- the CTAs -----------------------------------------------------------------------------------

// A row of the table: what it says of a CTA, "" where there is nothing to say.
typedef struct RankRow {
  const char *name;
  void (*say)(char out[CHIP_TEXT], const OnChip *chip, int rank);
} RankRow;

static void say_slice(char out[CHIP_TEXT], const OnChip *chip, int rank, int operand) {
  const ChipSlice *slice = &chip->rank[rank].slice[operand];
  char bytes[FMT_MAX], text[CHIP_TEXT];
  int at = snprintf(out, CHIP_TEXT, "%.40s  %s",
                    slice_text(text, operand == ATOM_A ? "m" : "n", chip, slice),
                    fmt_bytes(bytes, (double)slice->bytes));
  if (slice->to & (slice->to - 1))
    snprintf(out + at, (size_t)(CHIP_TEXT - at), " for %.20s", chip_bits(text, slice->to));
}
static void say_a(char out[CHIP_TEXT], const OnChip *chip, int r) {
  say_slice(out, chip, r, ATOM_A);
}
static void say_b(char out[CHIP_TEXT], const OnChip *chip, int r) {
  say_slice(out, chip, r, ATOM_B);
}

// The first use of an mbarrier of a role that arrives there from a rank; NULL: none.
static const ChipUse *arrival(const OnChip *chip, BufferRole role, int rank) {
  for (int i = 0; i < chip->n_barriers; i++) {
    const ChipBarrier *barrier = &chip->barrier[i];
    for (int s = 0; s < barrier->n_signals && barrier->buffer->role == role; s++) {
      const ChipUse *use = &barrier->signal[s];
      if (!op_moves_box(use->stmt->op.kind) && use->by >> rank & 1) return use;
    }
  }
  return NULL;
}

// "32 KiB → full of CTA 0"
static void say_counted(char out[CHIP_TEXT], const OnChip *chip, int rank) {
  char bytes[FMT_MAX], at[CHIP_TEXT];
  const unsigned counted =
      chip->rank[rank].slice[ATOM_A].counted_at | chip->rank[rank].slice[ATOM_B].counted_at;
  if (counted)
    snprintf(out, CHIP_TEXT, "%s → full%.40s", fmt_bytes(bytes, (double)chip->rank[rank].fetched),
             chip_numbers(at, " of CTA", counted));
}

static void say_expected(char out[CHIP_TEXT], const OnChip *chip, int rank) {
  const ChipUse *use = arrival(chip, ROLE_FULL, rank);
  char bytes[FMT_MAX];
  if (use) snprintf(out, CHIP_TEXT, "%s", fmt_bytes(bytes, (double)use->bytes));
}

static void say_asks(char out[CHIP_TEXT], const OnChip *chip, int rank) {
  const char *of = chip->pair ? "the products of both" : "its own products";
  if (chip->tensor.columns) snprintf(out, CHIP_TEXT, "%s", chip->rank[rank].asks ? of : "nothing");
}

static void say_arrivals(char out[CHIP_TEXT], const OnChip *chip, int rank, BufferRole role) {
  const ChipUse *use = arrival(chip, role, rank);
  char at[CHIP_TEXT];
  if (use) snprintf(out, CHIP_TEXT, "→%.40s, mask %u", chip_numbers(at, " CTA", use->at), use->at);
}
static void say_empty(char out[CHIP_TEXT], const OnChip *chip, int r) {
  say_arrivals(out, chip, r, ROLE_EMPTY);
}
static void say_acc_full(char out[CHIP_TEXT], const OnChip *chip, int r) {
  say_arrivals(out, chip, r, ROLE_ACC_FULL);
}
static void say_acc_empty(char out[CHIP_TEXT], const OnChip *chip, int r) {
  say_arrivals(out, chip, r, ROLE_ACC_EMPTY);
}

static void say_writes(char out[CHIP_TEXT], const OnChip *chip, int rank) {
  const ChipRank *it = &chip->rank[rank];
  snprintf(out, CHIP_TEXT, "m %" PRId64 "-%" PRId64 " n %" PRId64 "-%" PRId64, it->m,
           it->m + chip->tile_m - 1, it->n, it->n + chip->tile_n - 1);
}

static void say_factors(char out[CHIP_TEXT], const OnChip *chip, int rank) {
  char bytes[FMT_MAX];
  if (chip->rank[rank].factors)
    snprintf(out, CHIP_TEXT, "SFA and SFB  %s", fmt_bytes(bytes, (double)chip->rank[rank].factors));
}

static const RankRow rows[] = {
    {"fetches A", say_a},     {"fetches B", say_b},       {"factors", say_factors},
    {"bytes", say_counted},   {"expects", say_expected},  {"asks for", say_asks},
    {"empty", say_empty},     {"acc_full", say_acc_full}, {"acc_empty", say_acc_empty},
    {"writes C", say_writes},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool is_said(const OnChip *chip, const RankRow *row) {
  char text[CHIP_TEXT];
  for (int r = 0; r < chip->n_ranks; r++) {
    text[0] = '\0';
    row->say(text, chip, r);
    if (*text) return true;
  }
  return false;
}

static void draw_table(Canvas *canvas, Rect *in, const OnChip *chip) {
  char text[CHIP_TEXT];
  const int shown = ranks_shown(*in, chip);
  Rect head = rect_take_top(in, 1);
  for (int r = 0; r < shown; r++)
    canvas_printf(canvas, head, 0, LABEL + r * RANK_COLS, STYLE_TIER_CLUSTER, "CTA %d%s", r,
                  chip->pair && r % 2 == 0 ? ", the even one" : "");
  if (shown < chip->n_ranks)
    canvas_printf(canvas, head, 0, LABEL + shown * RANK_COLS, STYLE_DIM, "+%d",
                  (int)chip->n_ranks - shown);
  for (int i = 0; i < ROWS; i++) {
    if (!is_said(chip, &rows[i])) continue;
    Rect row = rect_take_top(in, 1);
    canvas_text(canvas, row, 0, 1, STYLE_HEADER, rows[i].name);
    for (int r = 0; r < shown; r++) {
      text[0] = '\0';
      rows[i].say(text, chip, r);
      canvas_fit(canvas, row, 0, LABEL + r * RANK_COLS, RANK_COLS - 1, ALIGN_LEFT, STYLE_TEXT,
                 text);
    }
  }
}

static void draw_words(Canvas *canvas, Rect in, const OnChip *chip) {
  char text[300], here[FMT_MAX], alone[FMT_MAX];
  rect_take_left(&in, 1);
  if (chip->n_ranks == 1)
    snprintf(text, sizeof text,
             "%s FLOP for each byte that the CTA fetches: a tile of %" PRId64 " × %" PRId64
             ". A cluster shares what it fetches: CTA_GROUP=2, or MULTICAST=1.",
             fmt_figure(here, chip->intensity), chip->tile_m, chip->tile_n);
  else
    snprintf(text, sizeof text,
             "%s FLOP for each byte that a CTA fetches. A CTA alone would reach %s: the cluster "
             "makes it %.3g times that.",
             fmt_figure(here, chip->intensity), fmt_figure(alone, chip->alone),
             chip->intensity / chip->alone);
  canvas_wrap(canvas, in, STYLE_NOTE, text);
}

int chip_cluster_rows(const ChipSide *side) {
  const OnChip *chip = side->chip;
  int n = 0;
  if (!chip) return 3;
  for (int i = 0; i < ROWS; i++) n += is_said(chip, &rows[i]);
  return 2 + map_rows(chip) + n + 2;
}

// Attention: a CTA keeps its rows of Q, and the slabs of K and V go by.
static void say_attention(Canvas *canvas, Rect in, const Program *program) {
  char text[200];
  const Product *last = program_product(program);
  if (program->n_kernels > 1)
    snprintf(text, sizeof text,
             "%d kernels, one after the other. They hand the scores and the weights on in global "
             "memory.",
             program->n_kernels);
  else
    snprintf(text, sizeof text,
             "A CTA keeps %d queries and goes through the keys of its head, %d at a time. No CTA "
             "fetches for another.",
             (int)axis_tile(last->axis[AXIS_M]), (int)axis_tile(last->axis[AXIS_K]));
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_NOTE, text);
}

void chip_draw_cluster(Canvas *canvas, Rect in, const ChipSide *side) {
  const OnChip *chip = side->chip;
  Rect title = rect_take_top(&in, 1);
  if (!chip) {
    canvas_text(canvas, title, 0, 1, STYLE_TITLE, "ONE CTA");
    say_attention(canvas, in, side->model->program);
    return;
  }
  if (chip->n_ranks == 1)
    canvas_text(canvas, title, 0, 1, STYLE_TITLE, "ONE CTA");
  else
    canvas_printf(canvas, title, 0, 1, STYLE_TITLE, "A CLUSTER of %d CTAs%s", (int)chip->n_ranks,
                  chip->pair ? ": a pair, which multiplies as one" : "");
  if (map_rows(chip)) draw_map(canvas, rect_take_top(&in, map_rows(chip)), chip);
  draw_table(canvas, &in, chip);
  draw_words(canvas, in, chip);
}
