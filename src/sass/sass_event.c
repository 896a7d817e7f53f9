// One instruction's fields → the operands that say which barrier it is about.
#include "sass/sass_event.h"

#include "sass/sass_eval.h"

enum { ASKS = 2, EXCHANGES = 0x1b2, BULK = 0x1ba };

// UBLKCP.G.S goes the other way: groups wait for it, no mbarrier does.
static bool leaves_shared(const SassInst *inst) {
  enum { TO_SHARED = 1 };
  return sass_field(inst, 0, 9) == BULK && sass_field(inst, 73, 2) != TO_SHARED;
}

typedef struct Reader {
  const SassInst *inst;
  uint32_t lanes;
  SassRegisterValue *value;
  void *context;
} Reader;

static uint32_t reg(const Reader *r, bool uniform, int at) {
  return r->value(r->context, uniform, (int)sass_field(r->inst, at, uniform ? 6 : 8), r->lanes);
}

// SYNCS: [R + UR + offset], or of EXCH, which initialises, [UR + offset]; the value behind B.
static void mbarrier(const Reader *r, SassEvent *out) {
  const bool exchanges = sass_field(r->inst, 0, 9) == EXCHANGES;
  out->address =
      reg(r, exchanges, 24) + (exchanges ? 0 : reg(r, true, 64)) + sass_field(r->inst, 40, 24);
  out->value = reg(r, exchanges, 32);
}

// BAR: its number and its threads are immediates, or one of both is a register, or one register has
// both. Worked example: BAR.SYNC R9, R9 with R9 = 0x800003 is barrier 3 of 128 threads.
static void barrier(const Reader *r, SassEvent *out) {
  enum { BOTH_IN_ONE = 1, NUMBER_IN_REGISTER = 2, THREADS_IN_REGISTER = 4, NUMBER = 15 };
  const int form = r->inst->form;
  out->address = sass_field(r->inst, 54, 4);
  out->value = sass_field(r->inst, 42, 12);
  if (form == BOTH_IN_ONE) out->value = reg(r, false, 32) >> 16;
  if (form == THREADS_IN_REGISTER) out->value = reg(r, false, 32);
  if (form == BOTH_IN_ONE || form == NUMBER_IN_REGISTER) out->address = reg(r, false, 32) & NUMBER;
}

// UTMALDG [UR8], [UR4]: the register behind UR8 has the address of the mbarrier; UBLKCP.S.G alike.
static void box(const Reader *r, SassEvent *out) {
  out->address = r->value(r->context, true, (int)sass_field(r->inst, 32, 6) + 1, r->lanes);
}

static const struct {
  int bits;
  void (*note)(const Reader *r, SassEvent *out);
} kinds[] = {
    {0x11d, barrier},       // BAR
    {0x1a7, mbarrier},      // SYNCS
    {EXCHANGES, mbarrier},  // SYNCS.EXCH
    {0x1b4, box},           // UTMALDG
    {BULK, box},            // UBLKCP, to shared memory
};

bool sass_event_of(const SassInst *inst, int at, uint32_t lanes, SassRegisterValue *value,
                   void *context, SassEvent *out) {
  const int bits = (int)sass_field(inst, 0, 9);
  const Reader reader = {inst, lanes, value, context};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].bits != bits || leaves_shared(inst)) continue;
    *out = (SassEvent){.at = at, .lanes = __builtin_popcount(lanes)};
    kinds[i].note(&reader, out);
    return true;
  }
  return false;
}

bool sass_only_arrives(const SassInst *inst) {
  enum { ARRIVES = 1 };
  return inst->opcode->kind == SASS_KIND_BARRIER && sass_field(inst, 77, 2) == ARRIVES;
}

bool sass_asks_mbarrier(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_MBARRIER && inst->form == ASKS &&
         sass_field(inst, 0, 9) != EXCHANGES;
}
