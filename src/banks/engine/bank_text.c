// BankMap → text: a table walk, no reckoning of its own.
//
// Every number printed is a field of the map, so the card, the numbers beneath it and the JSON
// cannot disagree. Worked example: lds32 with address lane * 8 touches the even banks only, lanes
// 0-15 in one wavefront and 16-31 in the next:
//
//   w1    1   0.1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.
//         2   g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.
//
// wavefronts 2, ideal 1, conflicts 1, ways 2; worst: w1, bank 0: word 0 for lane 0, word 32 for 16.
#include "banks/engine/bank_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuv";

char bank_text_lane(int lane) { return DIGITS[lane]; }

void bank_text_sharers(const BankRow *row, uint8_t more[BANK_COUNT]) {
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    int n = __builtin_popcount(row->cells[bank].lanes);
    more[bank] = (uint8_t)(n > 1 ? n - 1 : 0);
  }
}

static int run_end(const uint8_t number[BANK_COUNT], int from) {
  int end = from + 1;
  while (end < BANK_COUNT && number[end] == number[from]) end++;
  return end;
}

// One run from column `from` to `end`; idle columns behind it go on up to `room`.
static void write_run(int n, const char *mark, const char *line, int from, int end, int room,
                      BankCells out) {
  char digits[8];
  int width = 1 + snprintf(digits, sizeof digits, "%d", n);
  snprintf(out[from], sizeof out[from], "%s", mark);
  bool fits = from + width <= room;
  for (int i = from + 1; i < end || (fits && i < from + width); i++)
    if (fits && i < from + width)
      snprintf(out[i], sizeof out[i], "%c", digits[i - from - 1]);
    else
      snprintf(out[i], sizeof out[i], "%s", line);
}

void bank_text_runs(const uint8_t number[BANK_COUNT], BankMark mark, bool ascii, BankCells out) {
  const char *sign = mark == BANK_MORE ? "+" : ascii ? "x" : "×", *line = ascii ? "-" : "─";
  memset(out, 0, sizeof(BankCells));
  for (int from = 0, end; from < BANK_COUNT; from = end) {
    end = run_end(number, from);
    if (number[from] == 0) continue;
    int room = end < BANK_COUNT && number[end] == 0 ? run_end(number, end) : end;
    write_run(number[from], sign, line, from, end, room, out);
  }
}

char bank_text_phase(const BankMap *map, int phase) {
  return banks_phase_noun(map->op, map->phases[phase].n_lanes)[0];
}

void bank_text_lanes(Str *out, uint32_t lanes) {
  const char *gap = "";
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (!(lanes >> lane & 1)) continue;
    int last = lane;
    while (last + 1 < BANK_LANES && (lanes >> (last + 1) & 1)) last++;
    str_printf(out, last > lane ? "%s%d-%d" : "%s%d", gap, lane, last);
    gap = " ";
    lane = last;
  }
}

static void add_sharers(Str *out, const BankRow *row, bool ascii) {
  uint8_t more[BANK_COUNT];
  BankCells cells;
  bank_text_sharers(row, more);
  bank_text_runs(more, BANK_MORE, ascii, cells);
  int used = BANK_COUNT;
  while (used > 0 && !cells[used - 1][0]) used--;
  if (used == 0) return;
  str_add(out, "   sharing  ");
  for (int bank = 0; bank < used; bank++) str_add(out, cells[bank][0] ? cells[bank] : " ");
  str_add_char(out, '\n');
}

static void add_row(Str *out, const BankMap *map, int index, bool ascii) {
  const BankRow *row = &map->rows[index];
  const BankPhase *phase = &map->phases[row->phase];
  if (index == phase->first_row)
    str_printf(out, "  %c%d ", bank_text_phase(map, row->phase), row->phase + 1);
  else
    str_add(out, "     ");
  str_printf(out, " %4d  ", index + 1);
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    const BankCell *cell = &row->cells[bank];
    if (cell->lane < 0)
      str_add(out, ascii ? "." : "·");
    else
      str_add_char(out, bank_text_lane(cell->lane));
  }
  str_add_char(out, '\n');
  add_sharers(out, row, ascii);
}

static void add_heading(Str *out, const BankMap *map) {
  const BankOp *op = map->op;
  str_printf(out, "%s  %s  %s\n", op->name, op->sass, op->ptx);
  str_printf(out, "%d active lanes, %d byte%s each; ", __builtin_popcount(map->active), op->bytes,
             plural_s(op->bytes));
  const char *noun = banks_phase_noun(op, map->phases[0].n_lanes);
  if (map->count.phases == 1)
    str_printf(out, "1 phase, the %s\n", noun);
  else
    str_printf(out, "%d phases, one for each %s\n", map->count.phases, noun);
  if (map->merge_distance)
    str_printf(out, "lanes l and l^%d read the same address: phases merge two by two\n",
               map->merge_distance);
}

void bank_text_card(Str *out, const BankMap *map, bool ascii) {
  add_heading(out, map);
  if (!map->count.known) return;
  str_add(out, "\n     bank   0       8       16      24     31\n            ");
  for (int bank = 0; bank < BANK_COUNT; bank++)
    str_add(out, bank % 8 != 0 && bank != BANK_COUNT - 1 ? " " : ascii ? "|" : "│");
  str_add_char(out, '\n');
  for (int p = 0; p < map->count.phases; p++) {
    const BankPhase *phase = &map->phases[p];
    for (int row = 0; row < phase->wavefronts; row++)
      add_row(out, map, phase->first_row + row, ascii);
    if (phase->wavefronts == 0)
      str_printf(out, "  %c%d     -  no active lane\n", bank_text_phase(map, p), p + 1);
  }
}

const char bank_text_past_l1[] =
    "A 16-byte cp.async bypasses L1: the profiler counts its wavefronts, the pipe's counter does "
    "not. The addresses give the fewest; late data adds more.";

const char *bank_text_bounds(int least, int most, char out[32]) {
  snprintf(out, 32, most > least ? "%d to %d" : "%d", least, most);
  return out;
}

void bank_text_numbers(Str *out, const BankMap *map) {
  const BankCount *count = &map->count;
  if (!count->known) {
    char bounds[32];
    str_printf(out, "wavefronts %s   by the addresses in shared memory\n%s\n",
               bank_text_bounds(count->profiled, count->profiled_most, bounds), bank_text_past_l1);
    return;
  }
  str_printf(out, "wavefronts %3d   passes of the shared-memory pipe, over all phases\n",
             count->wavefronts);
  str_printf(out, "ideal      %3d   one for each phase with an active lane\n", count->ideal);
  str_printf(out, "conflicts  %3d   wavefronts - ideal: the hardware counter of conflicts\n",
             count->conflicts);
  str_printf(out, "ways       %3d   wavefronts of the worst phase\n", count->ways);
}

static void add_worst_word(Str *out, const BankCell *cell) {
  str_printf(out, "  word %" PRId64 " (byte %" PRId64 ") for lane%s ", cell->word,
             cell->word * BANK_WORD_BYTES, cell->lanes & (cell->lanes - 1) ? "s" : "");
  bank_text_lanes(out, cell->lanes);
  str_add_char(out, '\n');
}

void bank_text_worst(Str *out, const BankMap *map) {
  if (!map->count.known || map->count.conflicts == 0) return;
  int worst = 0;
  for (int p = 1; p < map->count.phases; p++)
    if (map->phases[p].wavefronts > map->phases[worst].wavefronts) worst = p;
  const BankPhase *phase = &map->phases[worst];
  uint32_t banks = 0;
  for (int bank = 0; bank < BANK_COUNT; bank++)
    if (phase->words[bank] == phase->wavefronts) banks |= 1u << bank;
  str_printf(out, "worst: %c%d, bank%s ", bank_text_phase(map, worst), worst + 1,
             banks & (banks - 1) ? "s" : "");
  bank_text_lanes(out, banks);
  str_printf(out, "; in bank %d %s\n", phase->worst_bank,
             map->op->shares_words ? "these words collide:"
                                   : "these requests collide (cp.async does not share a word):");
  for (int row = 0; row < phase->wavefronts; row++)
    add_worst_word(out, &map->rows[phase->first_row + row].cells[phase->worst_bank]);
}
