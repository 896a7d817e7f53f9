// Word by word: the order of sums and approximations move last places, so a tolerance may be given,
// and the type of the numbers, for memory does not know it.
#include "cli/open/open_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/open/open_capsule.h"

enum { SLACK = 16, WORD = 4 };

static const struct {
  const char *name;
  PtxFormatId format;
} types[] = {{"f32", PTX_FORMAT_F32},
             {"f16", PTX_FORMAT_F16},
             {"bf16", PTX_FORMAT_BF16},
             {"e4m3", PTX_FORMAT_E4M3},
             {"e5m2", PTX_FORMAT_E5M2}};
enum { N_TYPES = sizeof types / sizeof types[0] };

// One of the list, "0.01:bf16"; false: it is none.
static bool read_limit(const char *text, size_t n, OpenLimitOfType *out) {
  char word[32], *end = NULL;
  if (n >= sizeof word) return false;
  memcpy(word, text, n);
  word[n] = '\0';
  *out = (OpenLimitOfType){strtod(word, &end), &ptx_formats[PTX_FORMAT_F32]};
  if (end == word || !(out->most > 0) || !isfinite(out->most)) return false;
  if (!*end) return true;
  int t = 0;
  while (t < N_TYPES && !(*end == ':' && str_equal(types[t].name, end + 1))) t++;
  if (t < N_TYPES) out->format = &ptx_formats[types[t].format];
  return t < N_TYPES;
}

bool open_read_tolerance(const char *text, OpenTolerance *out, Diags *diags) {
  *out = (OpenTolerance){.text = text};
  bool ok = true;
  for (const char *at = text; at && ok;) {
    const size_t n = strcspn(at, ",");
    ok = out->n < OPEN_LIMITS_MAX && read_limit(at, n, &out->limit[out->n]);
    out->n += ok;
    at = at[n] ? at + n + 1 : NULL;
  }
  if (!ok)
    diag_add(
        diags, "usage",
        "--tolerance \"%s\": a number above 0, or with a type, NUMBER:TYPE; several with commas",
        str_sanitise(diags->arena, text))
        ->nearest = "--tolerance 1e-5,0.01:bf16; f32, f16, bf16, e4m3 and e5m2 are known";
  return ok;
}

// A number below the smallest normal one is a whole number that counts something, more likely.
static bool is_usual(const PtxFormat *format, double value) {
  return value == 0 || fabs(value) >= ldexp(1, format->exponent_min);
}

// The numbers of a word, of which those with equal bits are equal, NaN included.
static bool is_close_as(const OpenLimitOfType *t, uint32_t here, uint32_t recorded) {
  const int bits = t->format->bits;
  bool close = true;
  for (int at = 0; at < 32; at += bits) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const uint64_t a = here >> at & mask, b = recorded >> at & mask;
    if (a == b) continue;
    const double is = ptx_float_value(t->format, a), should = ptx_float_value(t->format, b),
                 difference = fabs(is - should);
    close &= is_usual(t->format, is) && is_usual(t->format, should) &&
             difference <= t->most * fmax(1, fabs(should));
  }
  return close;
}

// By any of the limits: memory does not know the types of its numbers.
static bool is_close(const OpenTolerance *t, uint32_t here, uint32_t recorded) {
  bool close = false;
  for (int i = 0; i < t->n; i++) close |= is_close_as(&t->limit[i], here, recorded);
  return close;
}

static double as_f32(uint32_t word) { return ptx_float_value(&ptx_formats[PTX_FORMAT_F32], word); }

static void note_word(OpenCompared *out, const OpenTolerance *tolerance, const CapsuleMemory *m,
                      uint64_t at, uint32_t here, uint32_t recorded) {
  out->words++;
  if (here == recorded) return;
  const bool close = is_close(tolerance, here, recorded);
  const double difference = fabs(as_f32(here) - as_f32(recorded));
  if (isfinite(difference) && difference > out->largest) out->largest = difference;
  const bool shown = out->different == 0 || (!close && out->close == out->different);
  out->different++;
  out->close += close;
  if (!shown) return;
  out->name = m->name;
  out->offset = (int64_t)at;
  out->here = here;
  out->recorded = recorded;
}

// Whether other blocks of the launch did not run here.
static bool lacks_blocks(const OpenResult *r, bool all_blocks) {
  const int *grid = r->launch.grid, *cluster = ptx_machine_cluster(r->machine);
  const bool one = grid[0] == cluster[0] && grid[1] == cluster[1] && grid[2] == cluster[2];
  return !all_blocks && !r->launch.cooperative && !one;
}

// One block: the words that it changed; all of them: those that anybody changed.
static void compare_memory(const OpenResult *r, const OpenTolerance *tolerance,
                           const CapsuleMemory *m, bool all_blocks, OpenCompared *out) {
  const unsigned char *now = ptx_machine_bytes(r->machine, m->address, (int64_t)m->bytes);
  const bool alone = lacks_blocks(r, all_blocks);
  if (!now) return;
  Arena *arena = arena_new("compare");
  unsigned char *before = arena_alloc(arena, (size_t)m->bytes + SLACK),
                *after = arena_alloc(arena, (size_t)m->bytes + SLACK);
  open_capsule_before(m, before, NULL);
  memcpy(after, before, (size_t)m->bytes);
  for (int i = 0; i < m->n_after; i++)
    if (m->after[i].content == CAPSULE_BYTES)
      memcpy(after + m->after[i].from, m->after[i].bytes, (size_t)m->after[i].n);
  for (uint64_t at = 0; at + WORD <= m->bytes; at += WORD) {
    const uint32_t here = word_at(now + at), was = word_at(before + at);
    const uint32_t recorded = word_at(after + at);
    if (ptx_machine_unknown_bytes(r->machine, m->address + at, WORD) > 0)
      out->unknown += recorded != was;
    else if (here != was && alone && ptx_machine_by_atomic(r->machine, m->address + at, WORD))
      out->shared++;
    else if (here != was || (all_blocks && recorded != was))
      note_word(out, tolerance, m, at, here, recorded);
  }
  arena_free(arena);
}

OpenCompared open_compare(const OpenResult *r, const OpenTolerance *tolerance, bool all_blocks) {
  OpenCompared out = {.tolerance = tolerance->text};
  const Capsule *c = r->text.capsule;
  for (int i = 0; i < c->n_memory; i++)
    if (c->memory[i].address) compare_memory(r, tolerance, &c->memory[i], all_blocks, &out);
  return out;
}

void open_print_compared(const OpenResult *r) {
  const OpenCompared *c = r->compared;
  if (!c) return;
  printf("\nbeside the recorded result: %" PRId64 " of %" PRId64 " words that changed are equal",
         c->words - c->different, c->words);
  if (c->tolerance)
    printf(", %" PRId64 " more within %s", c->close, str_line(r->arena, c->tolerance));
  if (c->shared)
    printf("; %" PRId64 " are not compared, for other blocks change them too, by atomics",
           c->shared);
  if (c->unknown) printf("; %" PRId64 " are unknown here and not compared", c->unknown);
  puts("");
  if (c->different == 0) return;
  printf("  the first that %s: %s, byte %" PRId64
         ": 0x%08x here, 0x%08x recorded; as f32 %g and %g, at most %g apart\n",
         c->tolerance && c->close < c->different ? "is farther" : "differs",
         str_line(r->arena, c->name), c->offset, c->here, c->recorded, as_f32(c->here),
         as_f32(c->recorded), c->largest);
}
