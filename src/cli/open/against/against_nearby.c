// Instructions → words that are one bit away → their texts, by nvdisasm → trials.
#include "cli/open/against/against_parts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/open/open_cubin.h"
#include "machine/mc_handed.h"

// The listing that the module was made of.
static const McListing *listing_of(Arena *arena, const PtxModule *module, int *n) {
  static const char address_end[] = "*/ ";
  McListing *out = ARENA_ARRAY(arena, McListing, module->n_code + 1);
  const char *at = module->source, *text;
  for (*n = 0; *n < module->n_code && (text = strstr(at, address_end)); ++*n) {
    text += sizeof address_end - 1;
    const size_t length = strcspn(text, "\n");
    out[*n] = (McListing){*n * MC_BYTES, arena_strndup(arena, text, length)};
    at = text + length;
  }
  return out;
}

static void give_texts(Arena *arena, OpenListings *known, const char *target, McNearby *words,
                       int n) {
  unsigned char *code = arena_alloc(arena, (size_t)n * MC_BYTES + 1);
  for (int i = 0; i < n; i++) memcpy(code + (size_t)i * MC_BYTES, words[i].bytes, MC_BYTES);
  open_learn_code(arena, known, target, code, n);
  for (int i = 0; i < n; i++) words[i].text = open_known_text(known, words[i].bytes);
}

// The same said of another instruction, where memory is right then, too: the likelier one.
static const McNearby *likelier(Arena *arena, const NearbyGiven *g, const McNearbyCode *code,
                                McNearby *word) {
  if (!word || word->or_pc < 0) return word;
  int n = 0;
  McNearbyJudge judge = g->judge;
  judge.which = MC_NEARBY_LIKELIEST;
  McNearby *words = mc_nearby_counterparts(arena, code->kernel, word, &n);
  give_texts(arena, g->known, g->module->target, words, n);
  McNearby *other = mc_nearby_right(code, words, n, &judge);
  if (!other) return word;
  const McSwap *swap = &word->swap;
  const McHanded handed = {.writer = swap->writes ? word->pc : word->or_pc,
                           .reader = swap->writes ? word->or_pc : word->pc,
                           .in = swap->is,
                           .or_in = swap->was,
                           .n = swap->n};
  const int odds = mc_handed_in(g->module, &handed);
  McNearby *first = odds < 0 ? other : word;
  if (abs(odds) <= MC_EVEN) first->as_likely = odds < 0 ? word : other;
  return first;
}

const McNearby *against_nearby(Arena *arena, const NearbyGiven *g) {
  McCubin *cubin = ARENA_NEW(arena, McCubin);
  const McKernel *kernel =
      mc_cubin_read(arena, g->cubin, g->bytes, cubin) ? mc_cubin_kernel(cubin, g->kernel) : NULL;
  if (!kernel || !g->n_hints) return NULL;
  McNearbyCode code = {.cubin = cubin, .kernel = kernel, .module = g->module};
  code.listing = listing_of(arena, g->module, &code.n);
  int n = 0;
  McNearby *words = mc_nearby(arena, kernel, g->hints, g->n_hints, g->bits, &n);
  give_texts(arena, g->known, g->module->target, words, n);
  return likelier(arena, g, &code, mc_nearby_right(&code, words, n, &g->judge));
}
