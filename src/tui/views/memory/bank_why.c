// Worked example: b <- B_s of fp32/padded, LDS.128. Lanes 0 to 7 are the first phase; their
// addresses, 16896, 16928, …, are 32 bytes apart. A lane takes 4 banks, so they begin in banks 0,
// 8, 16, 24 and then again in 0: 16 banks are used by two words each.
#include "tui/views/memory/bank_why.h"

#include <string.h>

#include "base/str.h"
#include "tui/session/knob_trials.h"

static const BankPhase *worst_phase(const BankMap *map) {
  const BankPhase *worst = &map->phases[0];
  for (int i = 1; i < map->count.phases; i++)
    if (map->phases[i].wavefronts > worst->wavefronts) worst = &map->phases[i];
  return worst;
}

// The addresses that the lanes of one phase ask for.
typedef struct Reach {
  int n_lanes, n_addresses;
  int64_t stride;  // between lanes that follow each other with another address; 0: it varies
  int n_banks, n_busiest;
} Reach;

static Reach reach_of(const int64_t addr[BANK_LANES], const BankPhase *phase) {
  Reach reach = {.n_busiest = phase->wavefronts};
  int64_t before = -1;
  bool varies = false;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (!(phase->active >> lane & 1) || addr[lane] < 0) continue;
    const int64_t step = addr[lane] - before;
    reach.n_lanes++;
    if (before >= 0 && step == 0) continue;
    varies |= before >= 0 && reach.stride != 0 && step != reach.stride;
    if (before >= 0 && reach.stride == 0) reach.stride = step;
    before = addr[lane];
    reach.n_addresses++;
  }
  if (varies) reach.stride = 0;
  for (int bank = 0; bank < BANK_COUNT; bank++) reach.n_banks += phase->words[bank] > 0;
  return reach;
}

// Whether every bank that is used is needed equally often.
static bool is_even(const BankPhase *phase) {
  for (int bank = 0; bank < BANK_COUNT; bank++)
    if (phase->words[bank] && phase->words[bank] != phase->wavefronts) return false;
  return true;
}

static void add_banks(Str *out, const Reach *reach, bool even) {
  str_printf(out, reach->n_banks == BANK_COUNT ? "all %d banks" : "%d of the %d banks",
             reach->n_banks, BANK_COUNT);
  if (reach->n_busiest > 1)
    str_printf(out,
               reach->n_banks == 1 ? ", %d times"
               : even              ? ", each %d times"
                                   : ", one of them %d times",
               reach->n_busiest);
  else
    str_add(out, " once");
}

// " Lanes 0 and 4 need bank 0 in the same cycle."
static void add_meeting(Str *out, const BankMap *map) {
  enum { NAMED = 4 };
  if (!map->count.known || map->count.phases == 0) return;
  const BankPhase *phase = worst_phase(map);
  const int n = phase->wavefronts < NAMED ? phase->wavefronts : NAMED;
  if (phase->wavefronts < 2) return;
  str_add(out, " Lanes ");
  for (int i = 0; i < n; i++)
    str_printf(out, "%s%d",
               i == 0                                 ? ""
               : i + 1 == n && n == phase->wavefronts ? " and "
                                                      : ", ",
               map->rows[phase->first_row + i].cells[phase->worst_bank].lane);
  str_printf(out, "%s need bank %d in the same cycle.", n < phase->wavefronts ? " …" : "",
             phase->worst_bank);
}

const char *bank_reason(Arena *arena, const BankMap *map, const int64_t addr[BANK_LANES]) {
  if (!map->count.known || map->count.phases == 0) return NULL;
  const BankPhase *phase = worst_phase(map);
  const Reach reach = reach_of(addr, phase);
  const char *noun = banks_phase_noun(map->op, phase->n_lanes);
  if (reach.n_lanes == 0) return NULL;
  if (reach.n_addresses == 1 && reach.n_lanes > 1)
    return arena_printf(arena, "All %d lanes of a %s use one address: a broadcast.", reach.n_lanes,
                        noun);
  Str out = str_new(arena);
  if (reach.stride)
    str_printf(&out, "Lanes are %lld bytes apart: the ",
               (long long)(reach.stride < 0 ? -reach.stride : reach.stride));
  else
    str_add(&out, "The ");
  str_printf(&out, "%d lanes of a %s use ", reach.n_lanes, noun);
  add_banks(&out, &reach, is_even(phase));
  str_add(&out, ".");
  return out.text;
}

static const Trial *best_trial(const Advice *advice, const Site *site) {
  const Trial *best = NULL;
  int least = site->count.wavefronts;
  for (int i = 0; i < ADVICE_TRIALS; i++) {
    const Trial *trial = &advice->trial[i];
    if (!advice->done[i] || !trial->exists || !trial->legal || advice_weight(trial) <= 0) continue;
    const int there = trial_wavefronts(trial, site);
    const bool faster = best && trial->stand_in.tflops > best->stand_in.tflops;
    if (there < 0 || there > least || (there == least && !faster)) continue;
    least = there;
    best = trial;
  }
  return best;
}

const char *bank_remedy(Arena *arena, const Session *session, const Site *site) {
  if (!site->count.known || site->count.conflicts == 0 || session->doc.now.reasons) return NULL;
  const Trial *best = best_trial(session->background.advice, site);
  if (!best) return NULL;
  Schedule schedule = session->doc.now.schedule;
  schedule.value[best->knob] = best->value;
  return arena_printf(arena, "With %s %s it takes %d wavefront%s.", knob_table[best->knob].name,
                      knob_value_text(arena, &schedule, best->knob), trial_wavefronts(best, site),
                      plural_s(trial_wavefronts(best, site)));
}

const char *bank_says_in_brief(Arena *arena, const Session *session, const Site *site,
                               const BankMap *map) {
  const char *reason = bank_reason(arena, map, site->addr);
  const char *remedy = reason ? bank_remedy(arena, session, site) : NULL;
  return remedy ? arena_printf(arena, "%s %s", reason, remedy) : reason;
}

const char *bank_says(Arena *arena, const Session *session, const Site *site, const BankMap *map) {
  const char *reason = bank_reason(arena, map, site->addr);
  if (!reason) return NULL;
  const char *remedy = bank_remedy(arena, session, site);
  Str out = str_new(arena);
  str_add(&out, reason);
  add_meeting(&out, map);
  if (remedy) str_printf(&out, " %s", remedy);
  return out.text;
}
