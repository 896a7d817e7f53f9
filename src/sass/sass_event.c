// One instruction's fields → the operands that say which barrier it is about.
#include "sass/sass_run.h"

#include "sass/sass_eval.h"

enum { ASKS = 2, EXCHANGES = 0x1b2 };

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

static void barrier(const Reader *r, SassEvent *out) {
  enum { FROM_REGISTERS = 2 };
  out->address = r->inst->form == FROM_REGISTERS ? reg(r, false, 32) : sass_field(r->inst, 54, 4);
  out->value = sass_field(r->inst, 42, 12);
}

// UTMALDG [UR8], [UR4]: the register behind UR8 has the address of the mbarrier.
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
};

bool sass_event_of(const SassInst *inst, int at, uint32_t lanes, SassRegisterValue *value,
                   void *context, SassEvent *out) {
  const int bits = (int)sass_field(inst, 0, 9);
  const Reader reader = {inst, lanes, value, context};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].bits != bits) continue;
    *out = (SassEvent){.at = at, .lanes = __builtin_popcount(lanes)};
    kinds[i].note(&reader, out);
    return true;
  }
  return false;
}

bool sass_asks_mbarrier(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_MBARRIER && inst->form == ASKS &&
         sass_field(inst, 0, 9) != EXCHANGES;
}
