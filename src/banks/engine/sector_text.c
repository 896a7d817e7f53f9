// SectorMap → text and data: a walk over its lines, no reckoning of its own.
//
// Worked example, ldg32 with address lane * 8: two lines, every second word has a lane, the others
// come along: 8 sectors where 4 would do, 50 % of what moves is of use.
#include "banks/engine/sector_text.h"

#include <inttypes.h>

#include "banks/engine/bank_text.h"

enum { SECTOR_WORDS = SECTOR_BYTES / BANK_WORD_BYTES };

static bool comes(const SectorLine *line, int word) {
  return line->sectors >> word / SECTOR_WORDS & 1;
}

static void add_line(Str *out, const SectorLine *line, const char *unasked) {
  for (int word = 0; word < LINE_WORDS; word++) {
    if (line->lane[word] >= 0)
      str_add_char(out, bank_text_lane(line->lane[word]));
    else
      str_add(out, comes(line, word) ? unasked : " ");
  }
}

void sector_text_card(Str *out, const SectorMap *map, bool ascii) {
  str_add(out, "     word   0       8       16      24     31\n");
  str_add(out, "            |       |       |       |       |\n");
  for (int i = 0; i < map->n_lines; i++) {
    str_printf(out, "     %4d   ", i + 1);
    add_line(out, &map->line[i], ascii ? "." : "·");
    str_printf(out, "  bytes %" PRId64 " to %" PRId64 "\n", map->line[i].line * BANK_LINE_BYTES,
               (map->line[i].line + 1) * BANK_LINE_BYTES - 1);
  }
}

void sector_text_numbers(Str *out, const SectorMap *map) {
  const SectorCount *count = &map->count;
  str_printf(out, "%s  %s  %s\n", map->op->name, map->op->sass, map->op->ptx);
  if (!count->known) {
    str_add(out, "no count: no lane has an address of a box\n");
    return;
  }
  double moved = (double)count->sectors * SECTOR_BYTES;
  str_printf(out,
             "sectors %d, ideal %d; lines %d, ideal %d; %d B used, %.0f %% of the bytes fetched\n",
             count->sectors, count->ideal, count->lines, count->lines_ideal, count->bytes,
             moved > 0 ? 100 * count->bytes / moved : 0.0);
  if (count->wavefronts > 0)
    str_printf(out,
               "on a hit in L1: %d clock%s, by banks as in shared memory, four lines a clock\n",
               count->wavefronts, count->wavefronts > 1 ? "s" : "");
}

#define FORM_FILE "banks/engine/sector_text.form"
#include "base/form_make.h"
