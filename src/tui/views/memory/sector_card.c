// SectorMap → cells. The map has done all the counting; here is only where things go.
//
// Worked example, the scalar stores of an 8 × 8 tile: 32 sectors in 8 lines, of each sector one
// word has a lane. On seven rows the ruler, five lines and "… 3 more lines" have room.
#include "tui/views/memory/sector_card.h"

#include <stdio.h>

#include "banks/engine/bank_text.h"
#include "base/str.h"
#include "tui/views/memory/bank_card.h"

enum { SECTOR_WORDS = SECTOR_BYTES / BANK_WORD_BYTES };

static void draw_ruler(Canvas *canvas, Rect in) {
  for (int word = 0; word < LINE_WORDS; word += SECTOR_WORDS)
    canvas_printf(canvas, in, 0, CARD_PREFIX + word, STYLE_HEADER, "%-8d", word);
  canvas_text(canvas, in, 0, CARD_PREFIX + 28, STYLE_HEADER, "word");
}

static void draw_line(Canvas *canvas, Rect in, int at, const SectorLine *line, int number) {
  canvas_printf(canvas, in, at, 0, STYLE_TITLE, "%2d", number);
  for (int word = 0; word < LINE_WORDS; word++) {
    int col = CARD_PREFIX + word, lane = line->lane[word];
    if (!(line->sectors >> word / SECTOR_WORDS & 1)) continue;
    if (lane < 0) {
      canvas_glyph(canvas, in, at, col, STYLE_BAD, GLYPH_MIDDLE_DOT);
      continue;
    }
    char text[2] = {bank_text_lane(lane), 0};
    canvas_text(canvas, in, at, col, style_address(lane), text);
  }
}

int sector_card_draw(Canvas *canvas, Rect in, const SectorMap *map) {
  if (in.rows < 2) return 0;
  if (!map->count.known)
    return canvas_wrap(canvas, in, STYLE_DIM,
                       "The tensor memory accelerator fetches whole boxes and no lane has an "
                       "address. The counters of global accesses leave boxes out, so there is no "
                       "count.");
  draw_ruler(canvas, in);
  int room = in.rows - 1, n = map->n_lines > room ? room - 1 : map->n_lines;
  for (int i = 0; i < n; i++) draw_line(canvas, in, 1 + i, &map->line[i], i + 1);
  if (n == map->n_lines) return 1 + n;
  canvas_printf(canvas, in, 1 + n, CARD_PREFIX, STYLE_WARN, "… %d more lines", map->n_lines - n);
  return 2 + n;
}

void sector_card_legend(Canvas *canvas, Rect in, const SectorMap *map) {
  bool wasted = map->count.bytes < SECTOR_BYTES * map->count.sectors;
  if (in.rows > 0) canvas_text(canvas, in, 0, 0, STYLE_DIM, "row = 128 B line, 8 words = sector");
  if (in.rows > 1)
    canvas_text(canvas, in, 1, 0, STYLE_DIM,
                wasted ? "0-9 a-v = lane  · = not used" : "0-9 a-v = lane");
}

// ---- words --------------------------------------------------------------------------------------

// The sectors moved as a multiple of those needed: "2", "1.5".
static const char *factor(const SectorCount *count, char out[16]) {
  double times = (double)count->sectors / (double)count->ideal;
  snprintf(out, 16, "%.3g", times < 10 ? (double)(int)(10 * times + 0.5) / 10 : times);
  return out;
}

const char *sector_card_verdict(const SectorCount *count, char out[32], Style *style) {
  char times[16];
  bool good = count->sectors <= count->ideal;
  *style = !count->known ? STYLE_DIM : good ? STYLE_OK : STYLE_BAD;
  if (!count->known)
    snprintf(out, 32, "no count");
  else if (good)
    snprintf(out, 32, count->lines > count->lines_ideal ? "full sectors" : "coalesced");
  else
    snprintf(out, 32, "×%s", factor(count, times));
  return out;
}

static void sector_badge(const SectorCount *count, char out[16], Style *style) {
  char times[16];
  bool good = count->sectors <= count->ideal;
  *style = !count->known ? STYLE_DIM : good ? STYLE_OK : STYLE_BAD;
  if (!count->known)
    snprintf(out, 16, "–");
  else if (good)
    snprintf(out, 16, "ok");
  else
    snprintf(out, 16, "×%.8s", factor(count, times));
}

bool site_badge(const Model *model, int number, char out[16], Style *style) {
  if (number <= model->n_sites) {
    const BankCount *count = &model->site[number - 1].count;
    card_badge(count, out, style);
    return count->known;
  }
  const SectorCount *count = &model->global.site[number - model->n_sites - 1].count;
  sector_badge(count, out, style);
  return count->known;
}

// Lanes from lane 0 on whose bytes are neighbours, when all lanes come in groups of that many; 0:
// they do not.
static int lanes_in_a_row(const GlobalSite *site) {
  const int bytes = site->compiled->bytes;
  int n = 1;
  while (n < BANK_LANES && site->addr[n] == site->addr[0] + (int64_t)n * bytes) n++;
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (site->addr[lane] < 0 ||
        site->addr[lane] != site->addr[lane - lane % n] + (int64_t)(lane % n) * bytes)
      return 0;
  return n;
}

// Each group of neighbours has sectors of its own, and fills none of them.
const char *sector_card_why(Arena *arena, const GlobalSite *site) {
  const SectorCount *count = &site->count;
  if (!count->known || count->sectors <= count->ideal) return NULL;
  const int lanes = lanes_in_a_row(site);
  if (!lanes || lanes == BANK_LANES) return NULL;
  const int together = lanes * site->compiled->bytes;
  if (together >= SECTOR_BYTES || count->sectors != BANK_LANES / lanes) return NULL;
  const int64_t step = site->addr[lanes] - site->addr[0];
  if (lanes == 1)
    return arena_printf(arena,
                        "Lanes are %lld bytes apart. Each has a sector of %d bytes to itself and "
                        "uses %d of them.",
                        (long long)step, SECTOR_BYTES, together);
  return arena_printf(arena,
                      "Lanes 0-%d cover %d bytes together; lane %d is %lld bytes away. So %d of "
                      "the %d bytes of each sector are used.",
                      lanes - 1, together, lanes, (long long)step, together, SECTOR_BYTES);
}

const char *sector_card_say(Arena *arena, const GlobalSite *site) {
  const SectorCount *count = &site->count;
  if (!count->known || count->sectors == 0) return NULL;
  double share = 100.0 * count->bytes / (SECTOR_BYTES * count->sectors);
  Str out = str_new(arena);
  str_printf(&out, "%s: %d B used of %d sector%s of 32 B (ideal %d), %.0f %% of their bytes",
             site->op->sass, count->bytes, count->sectors, plural_s(count->sectors), count->ideal,
             share);
  str_printf(&out, "; a block makes %.0f request%s, %.0f sector%s", site->requests,
             site->requests > 1 ? "s" : "", site->sectors, site->sectors > 1 ? "s" : "");
  if (!site->in_loop) str_add(&out, ", outside of the loop over slabs");
  if (site->by_l1)
    str_printf(&out, "; L1 answers a repeat in %d clock%s", count->wavefronts,
               plural_s(count->wavefronts));
  return out.text;
}
