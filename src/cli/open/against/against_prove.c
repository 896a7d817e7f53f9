// Where the way back ends → changes of the machine code → runs → the one that makes memory right.
//
// Changes are tried from the most telling one on: one bit of the instructions that the way back
// names, of those that read what nobody writes, a register of those that lose a result, then one
// bit of all that the wrong value was made by. A change is right if memory is what the PTX leaves,
// in the block that was run and in the last one of the grid. Of several the one that leaves its
// instruction likest to others (machine/mc_like.h) is named.
#include "cli/open/against/against_parts.h"

#include <string.h>

#include "base/str.h"
#include "cli/open/open_cubin.h"
#include "machine/mc_issue.h"
#include "machine/mc_like.h"

typedef struct Beside {
  const Against *against;
  const Side *ptx;
  const SideWord *word;  // that differs: most trials leave it as it is
  McSymptom symptom;     // a trial that leaves it is not run to its end
  const McFault *fault;
  const int *line;  // of the PTX, for each instruction
  Sides elsewhere;  // another block of the launch, as soon as it is needed
  Side there;       // its PTX; without a machine: it is not run
  bool is_there_known;
  int64_t lanes;       // lane instructions that are left for what is tried last
  bool *failed;        // words that are not right
  OpenListings known;  // of all trials: their words are the same ones again and again
} Beside;

// Whether the run of a module has the symptom of the machine code.
static bool has_symptom(const Beside *b, const PtxModule *module, int64_t *lanes) {
  Arena *arena = arena_new("symptom");
  Diags ignored = diags_new(arena);
  Sides sides = b->against->sides;
  Side side;
  McSymptom symptom = b->symptom;
  sides.launch.budget = mc_symptom_budget(&symptom);
  sides.module[SIDE_MACHINE] = module;
  if (side_run(&sides, arena, SIDE_MACHINE, mc_symptom_watch, NULL, &symptom, &side, &ignored))
    *lanes += ptx_machine_lane_instructions(side.machine);
  arena_free(arena);
  return symptom.is_there;
}

// Whether a module leaves what the PTX did, in the blocks of these sides; `word`: looked at first,
// NULL: none. A write to a wrong place may leave memory as it should be: it has a finding then.
static bool is_right(const Sides *of, const Side *ptx, const PtxModule *module,
                     const SideWord *word, bool is_endless, int64_t *lanes) {
  enum { SHORTER = 2 };  // most trials of code that goes round do so, too
  Arena *arena = arena_new("right");
  Diags ignored = diags_new(arena);
  Sides sides = *of;
  Side side[SIDES] = {*ptx}, *machine = &side[SIDE_MACHINE];
  sides.launch.budget = against_budget(ptx) / (is_endless ? SHORTER : 1);
  sides.module[SIDE_MACHINE] = module;
  bool right = side_run(&sides, arena, SIDE_MACHINE, NULL, NULL, NULL, machine, &ignored);
  if (right) *lanes += ptx_machine_lane_instructions(machine->machine);
  right = right && machine->outcome == PTX_DONE &&
          (!word || !word->n || side_is_equal_at(side, word)) && !side_first_word(side).n &&
          ptx_machine_findings(machine->machine) <= ptx_machine_findings(ptx->machine);
  arena_free(arena);
  return right;
}

// The last block of the grid, from the PTX.
static void run_elsewhere(Beside *b) {
  const Against *a = b->against;
  Diags ignored = diags_new(a->arena);
  bool is_other = false;
  b->is_there_known = true;
  b->elsewhere = a->sides;
  for (int d = 0; d < 3; d++) {
    const int last = a->sides.launch.grid[d] - 1;
    is_other |= last != a->sides.blocks.first[d];
    b->elsewhere.blocks.first[d] = b->elsewhere.blocks.last[d] = last;
  }
  if (!is_other || a->sides.blocks.all ||
      !side_run(&b->elsewhere, a->arena, SIDE_PTX, NULL, NULL, NULL, &b->there, &ignored) ||
      b->there.outcome != PTX_DONE)
    b->there.machine = NULL;
}

// In one block numbers may be right by chance: a difference from 0 is a sum.
static bool is_right_elsewhere(Beside *b, const PtxModule *module, int64_t *lanes) {
  if (!b->is_there_known) run_elsewhere(b);
  return !b->there.machine ||
         is_right(&b->elsewhere, &b->there, module, NULL, b->against->is_endless, lanes);
}

static bool leaves(void *self, const PtxModule *module, int64_t *lanes) {
  enum { SETTING_UP = 60000 };  // what a trial takes beside its own
  Beside *b = self;
  *lanes = 0;
  const bool right =
      !(b->symptom.n && has_symptom(b, module, lanes)) &&
      is_right(&b->against->sides, b->ptx, module, b->word, b->against->is_endless, lanes) &&
      is_right_elsewhere(b, module, lanes);
  b->lanes -= *lanes + SETTING_UP;
  return right;
}

// Lane instructions for trials of one kind. Code that goes round for ever is named by its loop;
// what is tried last finds little, so that it has what others left.
static int64_t lanes_of(const Beside *b, int64_t most, bool is_last) {
  enum { PART = 2 };
  if (b->against->is_endless) most /= PART;
  return is_last && b->lanes < most ? b->lanes : most;
}

// A right change also ends the first value of the thread that the PTX does not have.
static int worth(void *self, const PtxModule *module) {
  enum { ENDS_IT = 3 };  // operands
  const Beside *b = self;
  if (!b->fault->n_early) return 0;
  Arena *arena = arena_new("worth");
  Against with = *b->against;
  const int n_code = with.sides.module[SIDE_MACHINE]->n_code;
  with.sides.module[SIDE_MACHINE] = module;
  const bool stays = mc_is_early(arena, against_again, &with, b->line, n_code, b->fault);
  arena_free(arena);
  return stays ? 0 : ENDS_IT;
}

// The first instruction that never runs, @!PT, and has a result: no compiler leaves one. With its
// guard turned round in *cubin; -1: there is none.
static int always_runs(const Against *a, unsigned char *cubin) {
  enum { INST_BYTES = 16, GUARD_BYTE = 1, RESULT_BYTE = 2, NEVER = 0xf0, NOT = 0x80, RZ = 0xff };
  McCubin of;
  const McKernel *kernel = mc_cubin_read(a->arena, cubin, a->cubin_bytes, &of)
                               ? mc_cubin_kernel(&of, a->r->kernel->name)
                               : NULL;
  for (const unsigned char *at = kernel ? kernel->text.at : NULL; at && at < kernel->text.end;
       at += INST_BYTES)
    if ((at[GUARD_BYTE] & NEVER) == NEVER && at[RESULT_BYTE] != RZ) {
      cubin[at - cubin + GUARD_BYTE] ^= NOT;
      return (int)(at - kernel->text.at) / INST_BYTES;
    }
  return -1;
}

// One bit of one of these instructions that decides it; NULL: none does.
static const McNearby *nearby(Against *a, Beside *beside, const int *hints, int n_hints, int bits,
                              McNearbyWhich which) {
  const int64_t lanes = INT64_C(200000000);  // some seconds
  const NearbyGiven given = {.kernel = a->r->kernel->name,
                             .cubin = a->cubin,
                             .bytes = a->cubin_bytes,
                             .module = a->sides.module[SIDE_MACHINE],
                             .hints = hints,
                             .n_hints = n_hints,
                             .bits = bits,
                             .judge = {.leaves = leaves,
                                       .worth = worth,
                                       .self = beside,
                                       .which = which,
                                       .lanes = lanes_of(beside, lanes, bits == MC_OPCODE_BITS),
                                       .failed = beside->failed,
                                       .remembers = !beside->symptom.n},
                             .known = &beside->known};
  return against_nearby(a->arena, &given);
}

static bool tell_word(Against *a, const McNearby *word) {
  if (!word) return false;
  str_printf(&a->out,
             "  right with     %s%s\n               as %s, one bit away: then memory is equal\n",
             against_machine_text(a, word->pc), against_origin_text(a, word->pc), word->text);
  const McNearby *other = word->as_likely;
  if (other)
    str_printf(&a->out,
               "  as likely      %s%s\n               as %s: nothing tells which is wrong\n",
               against_machine_text(a, other->pc), against_origin_text(a, other->pc), other->text);
  return true;
}

static bool prove_words(Against *a, Beside *beside, const int *hints, int n_hints,
                        McNearbyWhich which) {
  return tell_word(a, nearby(a, beside, hints, n_hints, MC_NEARBY_BITS, which));
}

static bool prove_never(Against *a, Beside *beside) {
  unsigned char *cubin = arena_alloc(a->arena, a->cubin_bytes + 1);
  memcpy(cubin, a->cubin, a->cubin_bytes);
  const int pc = always_runs(a, cubin);
  if (pc < 0 || pc >= a->sides.module[SIDE_MACHINE]->n_code) return false;
  const OpenRequest of = {.path = a->given->path, .kernel = a->r->kernel->name};
  Diags ignored = diags_new(a->arena);
  int64_t lanes = 0;
  const PtxModule *module =
      open_cubin(a->arena, &of, NULL, (char *)cubin, a->cubin_bytes, false, &ignored);
  // Else its guard is another predicate.
  if (!module || !leaves(beside, module, &lanes))
    return prove_words(a, beside, &pc, 1, MC_NEARBY_LIKELIEST);
  str_printf(&a->out,
             "  right with     %s%s\n               it should run, its guard is never true: then "
             "memory is equal\n",
             against_machine_text(a, pc), against_origin_text(a, pc));
  return true;
}

// Whether another opcode decides it, of any instruction: the nearest ones first.
static bool prove_opcode(Against *a, Beside *beside, int from) {
  const int n_code = a->sides.module[SIDE_MACHINE]->n_code;
  int *pcs = ARENA_ARRAY(a->arena, int, 2 * n_code + 1);
  int n = 0;
  for (int by = 0; by < n_code; by++) {
    if (from - by >= 0) pcs[n++] = from - by;
    if (by && from + by < n_code) pcs[n++] = from + by;
  }
  return tell_word(a, nearby(a, beside, pcs, n, MC_OPCODE_BITS, MC_NEARBY_FIRST));
}

// Whether one register or guard decides it.
static McRepair repair(Against *a, Beside *beside, const int *hints, int n_hints,
                       McRepairWhere where) {
  const int64_t lanes = INT64_C(100000000);  // some seconds
  return mc_repair(a->arena, a->sides.module[SIDE_MACHINE], leaves, beside, hints, n_hints,
                   lanes_of(beside, lanes, where != MC_REPAIR_ONE_BIT), where);
}

static bool tell_repair(Against *a, const McRepair *r) {
  if (!r->found) return false;
  str_printf(&a->out, "  right with     %s%s\n               %s: then memory is equal\n",
             against_machine_text(a, r->pc), against_origin_text(a, r->pc),
             mc_repair_text(a->arena, r));
  if (r->or_pc >= 0)
    str_printf(&a->out, "  %s %s%s\n", r->or_is_as_likely ? "as likely     " : "or a change in",
               against_machine_text(a, r->or_pc), against_origin_text(a, r->or_pc));
  return true;
}

static bool prove_repair(Against *a, Beside *beside, const int *hints, int n_hints,
                         McRepairWhere where) {
  const McRepair r = repair(a, beside, hints, n_hints, where);
  return tell_repair(a, &r);
}

// Whether a symptom shows in the first third of a run.
static bool is_early(const McSymptom *symptom, const Side *ptx) {
  enum { PART = 3 };
  return symptom->when < ptx_machine_lane_instructions(ptx->machine) / PART;
}

enum {
  CONCERNED = 4,
  ODD = 4,
  UNTOLD = 8,
  ALL_FIRST_HINTS = CONCERNED + ODD + MC_FLOW_HINTS + MC_FIRST_HINTS
};

// Instructions that control words do not fit, where they are few, those with a number like no
// other, those that read what nobody writes or write what nobody reads, then those of the way back.
static int first_hints(const Against *a, const McFault *fault, const int *line,
                       int out[ALL_FIRST_HINTS]) {
  const PtxModule *module = a->sides.module[SIDE_MACHINE];
  bool *concerns = ARENA_ARRAY(a->arena, bool, module->n_code + 1);
  int n = 0, n_concerned = 0, named[MC_FIRST_HINTS];
  mc_issue_misfits(module, -1, NULL, concerns);
  for (int pc = 0; pc < module->n_code; pc++) n_concerned += concerns[pc];
  for (int pc = 0; pc < module->n_code && n_concerned <= CONCERNED; pc++)
    if (concerns[pc]) mc_add_once(out, &n, pc);
  for (int pc = 0, n_odd = 0; pc < module->n_code && n_odd < ODD; pc++)
    if (mc_has_odd_number(module, pc)) {
      mc_add_once(out, &n, pc);
      n_odd++;
    }
  int flow[MC_FLOW_HINTS];
  const int n_flow = mc_flow_hints(a->arena, module, flow, MC_FLOW_HINTS);
  for (int i = 0; i < n_flow; i++) mc_add_once(out, &n, flow[i]);
  const int n_named = mc_first_hints(fault, line, module->n_code - 1, named);
  for (int i = 0; i < n_named; i++) mc_add_once(out, &n, named[i]);
  return n;
}

// No way back leads to an instruction whose registers are not told: a few of them are tried last.
static int add_untold(const Against *a, int out[], int n) {
  const PtxModule *module = a->sides.module[SIDE_MACHINE];
  for (int pc = 0, added = 0; pc < module->n_code && added < UNTOLD; pc++)
    if (mc_flow_is_untold(&module->code[pc])) {
      mc_add_once(out, &n, pc);
      added++;
    }
  return n;
}

// A word that makes code less like a compiler's may make memory right by chance: by going another
// way, or where results are rounded.
//
//   @!P0 BRA `(.L_x_17)      as @!P0 YIELD: a division in its slow way is right, too
static bool is_likely(const McNearby *word) {
  return word->looks > 0 || (word->is_same_op && word->looks == 0);
}

// The first instruction with a wrong value is nearly always the one; what else makes memory right
// may do so by chance.
void against_prove(Against *a, const McFault *fault, const Side *ptx, const SideWord *word,
                   const int *line) {
  enum { CLEAR = 1 };  // operands
  const int64_t all_lanes = INT64_C(200000000);
  if (ptx->outcome != PTX_DONE) return;
  Beside beside = {.against = a,
                   .ptx = ptx,
                   .word = word,
                   .fault = fault,
                   .line = line,
                   .lanes = all_lanes,
                   .known = open_listings(a->arena)};
  beside.failed =
      ARENA_ARRAY(a->arena, bool, a->sides.module[SIDE_MACHINE]->n_code *MC_NEARBY_BITS + 1);
  if (a->is_endless) beside.symptom = fault->symptom;
  if (prove_never(a, &beside)) return;
  int hints[MC_HINTS_MAX];
  const int n_hints = mc_back_hints(fault, hints);
  int first[ALL_FIRST_HINTS];
  const int n_first = first_hints(a, fault, line, first);
  const McNearby *likely = nearby(a, &beside, first, n_first, MC_NEARBY_BITS, MC_NEARBY_LIKELIEST);
  if (likely && is_likely(likely) && tell_word(a, likely)) return;
  // A register in one bit is right by chance more often where it makes code less regular.
  const McRepair one_bit = repair(a, &beside, hints, n_hints, MC_REPAIR_ONE_BIT);
  if (one_bit.found && one_bit.gain > CLEAR && tell_repair(a, &one_bit)) return;
  // From here on trials are many.
  if (is_early(&fault->symptom, ptx)) beside.symptom = fault->symptom;
  int all[MC_SLICE_MAX + MC_HINTS_MAX + UNTOLD];
  const int n_all = add_untold(a, all, mc_all_hints(fault, all));
  const McNearby *near = nearby(a, &beside, all, n_all, MC_NEARBY_BITS, MC_NEARBY_GAINS);
  // The way back may have gone by a value that is right, but not where code goes round for ever.
  const bool had_symptom = beside.symptom.n > 0 && !a->is_endless;
  if (!a->is_endless) beside.symptom.n = 0;
  if (!near && had_symptom) near = nearby(a, &beside, all, n_all, MC_NEARBY_BITS, MC_NEARBY_GAINS);
  if (!near || (likely && likely->gain > near->gain)) near = likely;
  if (one_bit.found && (!near || near->gain < one_bit.gain) && tell_repair(a, &one_bit)) return;
  if (tell_word(a, near)) return;
  if (prove_repair(a, &beside, hints, n_hints, MC_REPAIR_NAMED)) return;
  if (prove_opcode(a, &beside, n_hints ? hints[0] : 0)) return;
  prove_repair(a, &beside, hints, n_hints, MC_REPAIR_SWEEP);
}
