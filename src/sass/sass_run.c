// One warp, instruction by instruction.
//
// After the first few times that it comes by, an instruction is carried out only where a branch, a
// guard or an mbarrier hangs on it (sass_plan.h).
#include "sass/sass_run.h"

#include <string.h>

#include "sass/sass_access.h"
#include "sass/sass_eval.h"
#include "sass/sass_plan.h"

enum {
  FULLY = 6,                // times that an instruction is carried out whatever hangs on it
  STEPS_MAX = 8 * 1000000,  // instructions of a warp
  LOCAL_WORDS = 1024,
};

typedef struct Lanes {
  uint32_t v[SASS_LANES];
  bool known;
  bool same;  // in all lanes; false: perhaps
} Lanes;

typedef struct Predicate {
  uint32_t lanes;
  bool known;
} Predicate;

typedef struct Group {
  int pc;
  uint32_t lanes;
} Group;

typedef struct Run {
  Arena *arena;
  const SassCode *code;
  const SassLaunch *launch;
  const SassListener *listener;
  const SassEval *const *eval;
  const bool *needed;
  const int *next;
  unsigned char *seen;
  int warp;
  Lanes r[SASS_REGISTERS], u[SASS_UNIFORMS], local[LOCAL_WORDS];
  Predicate p[SASS_PREDICATES], up[SASS_PREDICATES];
  Group group[SASS_LANES];
  int n_groups;  // that wait at other places
  int pc;
  uint32_t active;
  SassWay way;
  SassStretch *stretch;
  SassEvent *event;
  int stretch_room, event_room, first;
} Run;

// ---- operands -----------------------------------------------------------------------------------

static const Lanes zero = {.known = true, .same = true};

static const Lanes *reg(const Run *run, bool uniform, int number) {
  if (uniform) return number >= SASS_URZ ? &zero : &run->u[number];
  return number >= SASS_RZ ? &zero : &run->r[number];
}

static void fill(Lanes *to, uint32_t value) {
  for (int i = 0; i < SASS_LANES; i++) to->v[i] = value;
  to->known = to->same = true;
}

static uint32_t constant_at(const Run *run, uint32_t offset) {
  uint32_t value = 0;
  if (offset + sizeof value <= SASS_CONSTANTS)
    memcpy(&value, run->launch->constant + offset, sizeof value);
  return value;
}

static const Lanes *operand(const Run *run, const SassInst *inst, int slot, bool uniform,
                            Lanes *room) {
  const SassFrom from = slot ? sass_operand_from(inst, slot) : SASS_FROM_REGISTER;
  const int at = sass_operand_place(inst, slot);
  switch (from) {
    case SASS_FROM_IMMEDIATE:
      fill(room, sass_field(inst, 32, 32));
      return room;
    case SASS_FROM_CONSTANT:
      fill(room, constant_at(run, sass_field(inst, 40, 14) * 4));
      return room;
    case SASS_FROM_UNIFORM:
      return reg(run, true, (int)sass_field(inst, at, 6));
    case SASS_FROM_REGISTER:
      break;
  }
  return reg(run, uniform, (int)sass_field(inst, at, uniform ? 6 : 8));
}

static Predicate predicate(const Run *run, const SassInst *inst, int at, bool uniform) {
  const int number = (int)sass_field(inst, at, 3);
  Predicate out = number == SASS_ALWAYS ? (Predicate){~0u, true}
                  : uniform             ? run->up[number]
                                        : run->p[number];
  if (sass_field(inst, at + 3, 1)) out.lanes = ~out.lanes;
  return out;
}

static void set_predicate(Run *run, const SassInst *inst, bool uniform, Predicate value,
                          uint32_t lanes) {
  const int number = (int)sass_field(inst, 81, 3);
  if (number == SASS_ALWAYS) return;
  Predicate *to = uniform ? &run->up[number] : &run->p[number];
  to->known = value.known && (to->known || lanes == ~0u || uniform || lanes == run->active);
  to->lanes = uniform ? value.lanes : (to->lanes & ~lanes) | (value.lanes & lanes);
}

static void set_register(Run *run, bool uniform, int number, const Lanes *value, uint32_t lanes) {
  if (number >= (uniform ? SASS_URZ : SASS_RZ)) return;
  Lanes *to = uniform ? &run->u[number] : &run->r[number];
  if (lanes == ~0u) {
    *to = *value;
    return;
  }
  to->known = value->known;
  to->same = false;
  for (int i = 0; i < SASS_LANES; i++)
    if (lanes >> i & 1) to->v[i] = value->v[i];
}

static void forget(Run *run, const SassInst *inst) {
  const bool uniform = sass_is_uniform(inst);
  const int n = inst->bytes > 4 ? inst->bytes / 4 : inst->opcode->pipe == SASS_PIPE_TENSOR ? 4 : 1;
  const int number = (int)sass_field(inst, 16, uniform ? 6 : 8);
  if (inst->opcode->kind == SASS_KIND_STORE || inst->opcode->kind == SASS_KIND_COPY ||
      inst->opcode->pipe == SASS_PIPE_CONTROL)
    return;
  for (int i = 0; i < n && number + i < (uniform ? SASS_URZ : SASS_RZ); i++)
    (uniform ? run->u : run->r)[number + i].known = false;
}

// ---- instructions that compute ------------------------------------------------------------------

// The operands' values in one lane.
static SassIn lane_of(const Lanes *const in[4], const Predicate p[3], int i) {
  return (SassIn){in[0]->v[i],         in[1]->v[i],         in[2]->v[i],        in[3]->v[i],
                  p[0].lanes >> i & 1, p[1].lanes >> i & 1, p[2].lanes >> i & 1};
}

static bool read_operands(const Run *run, const SassInst *inst, unsigned has, const Lanes *in[4],
                          Lanes room[2], Predicate p[3]) {
  static const int places[3] = {87, 77, 68};
  const bool uniform = sass_is_uniform(inst);
  bool known = true;
  for (int slot = 0; slot < 3; slot++)
    in[slot] =
        has >> slot & 1 ? operand(run, inst, slot, uniform, &room[slot ? slot - 1 : 0]) : &zero;
  in[3] = &zero;
  if (has & SASS_HAS_C_HIGH && sass_operand_from(inst, 2) == SASS_FROM_REGISTER) {
    const int number = (int)sass_field(inst, sass_operand_place(inst, 2), uniform ? 6 : 8);
    if (number < (uniform ? SASS_URZ : SASS_RZ)) in[3] = reg(run, uniform, number + 1);
  }
  for (int i = 0; i < 4; i++) known = known && in[i]->known;
  for (int i = 0; i < 3; i++) {
    p[i] = (Predicate){0, true};
    if (!(has & (unsigned)SASS_HAS_P << i)) continue;
    // PLOP3 may read a uniform predicate among the lanes' predicates.
    p[i] = predicate(run, inst, places[i], uniform || (i == 2 && sass_field(inst, 67, 1)));
    known = known && p[i].known;
  }
  return known;
}

// R2UR p, d, a: d has the first lane's value, p says which lanes have another one; with .OR, or had
// one before. A thread that needs its own in uniform registers goes round until no lane is left:
//   L: @P1 R2UR P0, UR10, R0;  @P1 R2UR.OR P0, UR9, R8;  @P1 P1 = P0
//      UTMASTG.2D [UR8], [UR4];  @P1 BRA.U.ANY L
static Predicate lanes_apart(const Run *run, const SassInst *inst, const Lanes *value,
                             uint32_t lanes) {
  enum { OR = 84, P = 81 };
  const bool adds = sass_field(inst, OR, 1);
  const Predicate before = run->p[sass_field(inst, P, 3)];
  Predicate out = {adds ? before.lanes : 0, value->known && (!adds || before.known)};
  const int first = lanes ? __builtin_ctz(lanes) : 0;
  for (int i = 0; i < SASS_LANES; i++)
    if (lanes >> i & 1 && value->v[i] != value->v[first]) out.lanes |= 1u << i;
  return out;
}

static bool all_or_none(uint32_t lanes) { return !lanes || lanes == ~0u; }

// Whether every lane computes the same.
static bool are_same(const Lanes *const in[4], const Predicate p[3]) {
  return in[0]->same && in[1]->same && in[2]->same && in[3]->same && all_or_none(p[0].lanes) &&
         all_or_none(p[1].lanes) && all_or_none(p[2].lanes);
}

static void compute(Run *run, const SassInst *inst, const SassEval *eval, uint32_t lanes) {
  const bool reads_first = eval->bits == SASS_R2UR;
  const bool uniform = sass_is_uniform(inst), makes_uniform = uniform || reads_first;
  const Lanes *in[4];
  Lanes room[2], low = {.known = false}, high = {.known = false};
  Predicate p[3], out = {0, false};
  const bool known = read_operands(run, inst, eval->has, in, room, p),
             same = uniform || are_same(in, p);
  low.known = high.known = out.known = known;
  const int first = lanes ? __builtin_ctz(lanes) : 0;
  for (int i = 0; known && i < SASS_LANES; i++) {
    if (!(lanes >> i & 1)) continue;
    const SassOut got = eval->run(inst, lane_of(in, p, i));
    low.v[i] = got.d;
    high.v[i] = got.d_high;
    out.lanes |= (uint32_t)got.p << i;
    if (same) break;
  }
  if (known && same) {
    fill(&low, low.v[first]), fill(&high, high.v[first]);
    out.lanes = out.lanes >> first & 1 ? ~0u : 0;
  }
  if (reads_first) set_predicate(run, inst, false, lanes_apart(run, inst, in[0], lanes), lanes);
  if (makes_uniform) {
    fill(&low, low.v[first]), fill(&high, high.v[first]);
    low.known = high.known = known;
    out.lanes = out.lanes >> first & 1 ? ~0u : 0;
    lanes = ~0u;
  }
  const int number = (int)sass_field(inst, 16, makes_uniform ? 6 : 8);
  if (eval->has & SASS_HAS_D) set_register(run, makes_uniform, number, &low, lanes);
  if (eval->has & SASS_HAS_D_HIGH) set_register(run, makes_uniform, number + 1, &high, lanes);
  if (eval->has & SASS_SETS_P && !reads_first) set_predicate(run, inst, uniform, out, lanes);
}

// ---- instructions of their own kind -------------------------------------------------------------

static void read_special(Run *run, const SassInst *inst, uint32_t lanes, bool uniform) {
  enum { LANE = 0x00, TID_X = 0x21, CTAID_X = 0x25, CGA_RANK = 0x88 };
  const int which = (int)sass_field(inst, 72, 8);
  Lanes value = {.known = true};
  for (int i = 0; i < SASS_LANES; i++)
    value.v[i] = which == TID_X      ? (uint32_t)(run->warp * SASS_LANES + i)
                 : which == LANE     ? (uint32_t)i
                 : which == CTAID_X  ? (uint32_t)run->launch->block
                 : which == CGA_RANK ? (uint32_t)run->launch->rank
                                     : 0;
  set_register(run, uniform, (int)sass_field(inst, 16, uniform ? 6 : 8), &value, lanes);
}

static void read_constant(Run *run, const SassInst *inst, uint32_t lanes) {
  enum { WIDTH = 73, EIGHT = 5 };
  const bool uniform = sass_is_uniform(inst);
  const int number = (int)sass_field(inst, 16, uniform ? 6 : 8),
            words = sass_field(inst, WIDTH, 3) == EIGHT ? 2 : 1;
  const Lanes *index = uniform ? &zero : reg(run, false, (int)sass_field(inst, 24, 8));
  for (int k = 0; k < words; k++) {
    Lanes value = {.known = index->known};
    for (int i = 0; i < SASS_LANES; i++)
      value.v[i] = constant_at(run, sass_field(inst, 40, 14) * 4 + index->v[i] + 4 * (uint32_t)k);
    set_register(run, uniform, number + k, &value, uniform ? ~0u : lanes);
  }
}

// SHFL.IDX alone has a result that can be known: others exchange what was computed.
static void shuffle(Run *run, const SassInst *inst, uint32_t lanes) {
  enum { MODE = 58, IDX = 0, FROM_REGISTER_B = 2 };
  const Lanes *value = reg(run, false, (int)sass_field(inst, 24, 8)),
              *from = reg(run, false, (int)sass_field(inst, 32, 8));
  Lanes out = {.known = value->known && from->known && sass_field(inst, MODE, 2) == IDX &&
                        inst->form == FROM_REGISTER_B};
  for (int i = 0; i < SASS_LANES; i++) out.v[i] = value->v[from->v[i] % SASS_LANES];
  set_register(run, false, (int)sass_field(inst, 16, 8), &out, lanes);
}

static void vote(Run *run, const SassInst *inst, uint32_t lanes) {
  enum { MODE = 72, ALL = 0 };
  const Predicate in = predicate(run, inst, 87, false);
  const bool holds =
      sass_field(inst, MODE, 2) == ALL ? (in.lanes & lanes) == lanes : (in.lanes & lanes) != 0;
  set_predicate(run, inst, true, (Predicate){holds ? ~0u : 0, in.known}, ~0u);
}

static void read_local(Run *run, const SassInst *inst, uint32_t lanes, bool stores) {
  const Lanes *base = reg(run, false, (int)sass_field(inst, 24, 8));
  const int number = (int)sass_field(inst, stores ? 32 : 16, 8), words = (inst->bytes + 3) / 4;
  const uint32_t at = (base->v[0] + sass_field(inst, 40, 24)) / 4 % LOCAL_WORDS;
  for (int k = 0; k < words; k++) {
    Lanes *cell = &run->local[(at + (uint32_t)k) % LOCAL_WORDS];
    if (stores)
      *cell = *reg(run, false, number + k);
    else
      set_register(run, false, number + k, cell, lanes);
  }
}

// ---- addresses ----------------------------------------------------------------------------------

static int32_t signed_field(const SassInst *inst, int from, int n) {
  return (int32_t)(sass_field(inst, from, n) << (32 - n)) >> (32 - n);
}

static void add_up(int64_t out[SASS_LANES], uint32_t lanes, const Lanes *low, const Lanes *high,
                   const Lanes *more, int32_t offset) {
  for (int i = 0; i < SASS_LANES; i++)
    out[i] = lanes >> i & 1
                 ? (int64_t)((uint64_t)high->v[i] << 32 | low->v[i]) + (int64_t)more->v[i] + offset
                 : -1;
}

// [R2+UR4+0x1000]: a register, where bit 91 says so a uniform one, and an offset. LDGSTS has two:
// where it writes stands in the place of a result.
static void tell_access(const Run *run, const SassInst *inst, uint32_t lanes) {
  enum { HAS_UNIFORM = 91 };
  const bool copies = inst->opcode->kind == SASS_KIND_COPY,
             is_far = inst->opcode->pipe == SASS_PIPE_FAR;
  const int number = (int)sass_field(inst, SASS_ADDRESS_AT, 8);
  const Lanes *base = reg(run, false, number), *above = &zero, *more = &zero,
              *to = copies ? reg(run, false, (int)sass_field(inst, SASS_COPY_TO_AT, 8)) : &zero;
  int64_t address[SASS_LANES], shared[SASS_LANES];
  if (is_far && number < SASS_RZ) above = reg(run, false, number + 1);
  if (!is_far && sass_field(inst, HAS_UNIFORM, 1))
    more = reg(run, true, (int)sass_field(inst, 32, 6));
  if (!base->known || !above->known || !more->known) return;
  add_up(address, lanes, base, above, more,
         copies ? signed_field(inst, 32, 12) : signed_field(inst, 40, 24));
  if (copies) add_up(shared, lanes, to, &zero, &zero, signed_field(inst, 44, 20));
  run->listener->access(run->listener->context, run->warp, run->pc, address,
                        copies && to->known ? shared : NULL);
}

static void add_event(Run *run, SassEvent event) {
  if (run->way.n_events == run->event_room) {
    const int room = run->event_room ? 2 * run->event_room : 64;
    SassEvent *more = ARENA_ARRAY(run->arena, SassEvent, room);
    if (run->event) memcpy(more, run->event, sizeof *more * (size_t)run->event_room);
    run->event = more;
    run->event_room = room;
  }
  run->event[run->way.n_events++] = event;
}

static uint32_t value_of(void *context, bool uniform, int number, uint32_t lanes) {
  const Lanes *from = reg(context, uniform, number);
  return from->v[lanes ? __builtin_ctz(lanes) : 0];
}

static void note_event(Run *run, const SassInst *inst, uint32_t lanes) {
  SassEvent event;
  if (sass_event_of(inst, run->pc, lanes, value_of, run, &event)) add_event(run, event);
}

// ---- one instruction ----------------------------------------------------------------------------

static void set_true(Run *run, const SassInst *inst, bool uniform, uint32_t value, uint32_t lanes) {
  set_predicate(run, inst, uniform, (Predicate){value, true}, lanes);
}

static void clear_pair(Run *run, const SassInst *inst, uint32_t lanes) {
  const int number = (int)sass_field(inst, 16, 8);
  set_register(run, false, number, &zero, lanes);
  set_register(run, false, number + 1, &zero, lanes);
}

static void read_to_lanes(Run *run, const SassInst *inst, uint32_t lanes) {
  read_special(run, inst, lanes, false);
}

static void read_to_uniform(Run *run, const SassInst *inst, uint32_t lanes) {
  (void)lanes;
  read_special(run, inst, ~0u, true);
}

static void load_local(Run *run, const SassInst *inst, uint32_t lanes) {
  read_local(run, inst, lanes, false);
}

static void store_local(Run *run, const SassInst *inst, uint32_t lanes) {
  read_local(run, inst, lanes, true);
}

static void elect(Run *run, const SassInst *inst, uint32_t lanes) {
  set_true(run, inst, false, lanes & (0u - lanes), lanes);
}

static void get_registers(Run *run, const SassInst *inst, uint32_t lanes) {
  (void)lanes;
  set_true(run, inst, true, ~0u, ~0u);
}

// A division takes its common path.
static void check_division(Run *run, const SassInst *inst, uint32_t lanes) {
  set_true(run, inst, false, 0, lanes);
}

static void use_mbarrier(Run *run, const SassInst *inst, uint32_t lanes) {
  note_event(run, inst, lanes);
  if (sass_asks_mbarrier(inst)) set_true(run, inst, false, ~0u, lanes);
}

// Whether the load is of the list that the cluster has claimed: of shared memory that its address
// says, or of another block's, of which nothing else is known anyway.
static bool loads_claimed(const Run *run, const SassInst *inst) {
  enum { LDS = 0x184, SYSTEM_BYTES = 0x400, IN_BLOCK = 0xffffff, HAS_UNIFORM = 91 };
  if (!run->launch->claims) return false;
  if (sass_field(inst, 0, 9) != LDS) return true;
  const Lanes *base = reg(run, false, (int)sass_field(inst, 24, 8)), *more = &zero;
  if (sass_field(inst, HAS_UNIFORM, 1)) more = reg(run, true, (int)sass_field(inst, 32, 6));
  const uint32_t at = base->v[0] + more->v[0] + sass_field(inst, 40, 24);
  return base->known && more->known && (at & IN_BLOCK) == SYSTEM_BYTES + run->launch->claimed_at;
}

static void load_claimed(Run *run, const SassInst *inst, uint32_t lanes) {
  Lanes list;
  forget(run, inst);
  if (!loads_claimed(run, inst)) return;
  fill(&list, run->launch->claimed);
  set_register(run, false, (int)sass_field(inst, 16, 8), &list, lanes);
}

static const struct {
  int bits;
  void (*run)(Run *run, const SassInst *inst, uint32_t lanes);
} others[] = {
    {0x005, clear_pair},       // CS2R
    {0x02f, elect},            // ELECT
    {0x086, vote},             // VOTEU
    {0x0b9, read_constant},    // ULDC
    {0x102, check_division},   // FCHK
    {0x119, read_to_lanes},    // S2R
    {0x11d, note_event},       // BAR
    {0x180, load_claimed},     // LD
    {0x182, read_constant},    // LDC
    {0x183, load_local},       // LDL
    {0x184, load_claimed},     // LDS
    {0x187, store_local},      // STL
    {0x189, shuffle},          // SHFL
    {0x1a7, use_mbarrier},     // SYNCS
    {0x1b2, use_mbarrier},     // SYNCS.EXCH
    {0x1b4, note_event},       // UTMALDG
    {0x1ba, note_event},       // UBLKCP
    {0x1c3, read_to_uniform},  // S2UR
    {0x1c8, get_registers},    // USETMAXREG
};

static void run_other(Run *run, const SassInst *inst, uint32_t lanes) {
  const int bits = (int)sass_field(inst, 0, 9);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i].bits == bits) {
      others[i].run(run, inst, lanes);
      return;
    }
  forget(run, inst);
}

static void carry_out(Run *run, const SassInst *inst, uint32_t lanes) {
  const bool early = run->seen[run->pc] < FULLY;
  if (early) run->seen[run->pc]++;
  if (!early && !run->needed[run->pc]) return;
  if (!lanes) return;
  if (early && sass_accesses(inst) && run->listener && run->listener->access)
    tell_access(run, inst, lanes);
  if (run->eval[run->pc])
    compute(run, inst, run->eval[run->pc], lanes);
  else
    run_other(run, inst, lanes);
}

// ---- control ------------------------------------------------------------------------------------

static void end_stretch(Run *run, int last) {
  if (run->way.n_stretches == run->stretch_room) {
    const int room = run->stretch_room ? 2 * run->stretch_room : 64;
    SassStretch *more = ARENA_ARRAY(run->arena, SassStretch, room);
    if (run->stretch) memcpy(more, run->stretch, sizeof *more * (size_t)run->stretch_room);
    run->stretch = more;
    run->stretch_room = room;
  }
  run->stretch[run->way.n_stretches++] = (SassStretch){run->first, last};
}

// The lanes at the lowest address go on; lanes at one address go together.
static bool choose_group(Run *run) {
  int best = -1;
  for (int i = 0; i < run->n_groups; i++)
    if (best < 0 || run->group[i].pc < run->group[best].pc) best = i;
  if (best < 0) return false;
  run->pc = run->group[best].pc;
  run->active = 0;
  for (int i = 0; i < run->n_groups;)
    if (run->group[i].pc == run->pc) {
      run->active |= run->group[i].lanes;
      run->group[i] = run->group[--run->n_groups];
    } else
      i++;
  return true;
}

static void add_group(Run *run, int pc, uint32_t lanes) {
  if (lanes && run->n_groups < SASS_LANES) run->group[run->n_groups++] = (Group){pc, lanes};
}

// The lanes that carry the instruction out; of a guard that is not known: all of them, but a branch
// is taken by none. BRA.DIV UR4 leads to where lanes that are apart meet: here they need not.
static uint32_t guarded(const Run *run, const SassInst *inst) {
  enum { FORM_UNIFORM = 2, DIV = 91 };
  const bool branches = inst->opcode->kind == SASS_KIND_BRANCH;
  Predicate guard = predicate(run, inst, 12, sass_is_uniform(inst));
  if (!guard.known) return branches || inst->opcode->kind == SASS_KIND_EXIT ? 0 : run->active;
  if (branches && (inst->form == FORM_UNIFORM || sass_field(inst, DIV, 1))) return 0;
  return guard.lanes & run->active;
}

// After an instruction that may part the lanes or end them. False: no lane is left.
static bool go_on(Run *run, const SassInst *inst, uint32_t lanes) {
  const int pc = run->pc;
  const bool ends = inst->opcode->kind == SASS_KIND_EXIT || inst->opcode->kind == SASS_KIND_RETURN,
             jumps = inst->opcode->kind == SASS_KIND_BRANCH && inst->target != SASS_NO_TARGET;
  if (!ends && !(jumps && lanes) && !run->n_groups) {
    run->pc++;
    return run->pc < run->code->n;
  }
  add_group(run, pc + 1, ends || jumps ? run->active & ~lanes : run->active);
  if (jumps) add_group(run, inst->target, lanes);
  const bool any = choose_group(run);
  if (any && run->pc == pc + 1) return run->pc < run->code->n;
  end_stretch(run, pc);
  run->first = run->pc;
  return any && run->pc < run->code->n;
}

// ---- all of it ----------------------------------------------------------------------------------

static void begin(Run *run) {
  const int left = run->launch->threads - run->warp * SASS_LANES;
  run->active = left >= SASS_LANES ? ~0u : left > 0 ? (1u << left) - 1 : 0;
  for (int i = 0; i < SASS_PREDICATES; i++) run->p[i].known = run->up[i].known = true;
}

// A straight way that nothing hangs on is counted, not gone. All of it was carried out fully when
// its first instruction was: a way that begins in its middle only adds to the rest.
static void skip(Run *run) {
  if (run->n_groups || run->seen[run->pc] < FULLY) return;
  const int to = run->next[run->pc];
  run->way.instructions += to - run->pc;
  run->pc = to;
}

SassWay sass_run(Arena *arena, const SassPlan *plan, const SassLaunch *launch, int warp,
                 const SassListener *listener) {
  const SassCode *code = plan->code;
  Run *run = ARENA_NEW(arena, Run);
  *run = (Run){.arena = arena,
               .code = code,
               .launch = launch,
               .listener = listener,
               .eval = plan->eval,
               .needed = plan->needed,
               .next = plan->next,
               .warp = warp};
  run->seen = ARENA_ARRAY(arena, unsigned char, code->n + 1);
  begin(run);
  bool goes = code->n > 0 && run->active;
  while (goes && run->way.instructions < STEPS_MAX) {
    skip(run);
    goes = run->pc < code->n;
    if (!goes) break;
    const SassInst *inst = &code->inst[run->pc];
    const uint32_t lanes = guarded(run, inst);
    const SassKind kind = inst->opcode->kind;
    run->way.instructions++;
    if (kind != SASS_KIND_BRANCH && kind != SASS_KIND_EXIT) carry_out(run, inst, lanes);
    goes = go_on(run, inst, lanes);
  }
  run->way.ended = !goes;
  run->way.told = true;
  run->way.stretch = run->stretch;
  run->way.event = run->event;
  return run->way;
}
