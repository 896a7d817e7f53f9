// An event of a thread → what it left in registers → whether another run leaves the same there.
//
//   IMAD R4, R2, 0x8, R3      of a loop: R4 is wrong when it comes by first, after 5,000 of 900,000
//                             lane instructions: a trial that leaves it ends there
#include <string.h>

#include "machine/back/mc_follow.h"

McSymptom mc_symptom_of(const McThread *thread, const McEvent *e) {
  McSymptom out = {.thread = *thread, .pc = e->pc, .when = e->when, .mask = e->mask};
  for (; out.n < e->n_wrote; out.n++) {
    out.reg[out.n] = e->wrote[out.n];
    out.lanes[out.n] = e->pieces[out.n].lanes;
  }
  return out;
}

void mc_symptom_watch(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McSymptom *s = self;
  const McStep *step = m->module->code[pc].machine;
  if (pc != s->pc || m->executed != s->when || !step) return;
  const uint32_t lanes = step->is_uniform ? ~0u : mask;
  if (lanes != s->mask || !mc_is_thread(w, &s->thread, lanes)) return;
  s->is_there = true;
  for (int i = 0; i < s->n; i++)
    s->is_there &= mc_piece(w, s->reg[i], lanes, s->thread.lane).lanes == s->lanes[i];
}

int64_t mc_symptom_budget(const McSymptom *symptom) {
  enum { SLACK = 2 * PTX_LANES };
  return symptom->when + SLACK;
}
