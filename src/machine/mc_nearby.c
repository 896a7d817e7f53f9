// Words of an instruction → a module that has all of them → each in its place → a run.
#include "machine/mc_nearby.h"

#include <string.h>

#include "base/str.h"
#include "machine/back/mc_follow.h"
#include "machine/mc_banks.h"
#include "machine/mc_boards.h"
#include "machine/mc_issue.h"
#include "machine/mc_run.h"

enum { SETTING_UP = 20000 };  // lane instructions that a trial takes beside its own

// Registers are the greater part of a word: they come first.
static bool is_of_register(int bit) { return (bit >= 12 && bit < 40) || (bit >= 64 && bit < 72); }

McNearby *mc_nearby(Arena *arena, const McKernel *kernel, const int *pcs, int n_pcs, int bits,
                    int *n) {
  McNearby *out = ARENA_ARRAY(arena, McNearby, n_pcs * bits + 1);
  *n = 0;
  const int n_code = (int)((kernel->text.end - kernel->text.at) / MC_BYTES);
  for (int i = 0; i < 2 * n_pcs; i++)
    for (int bit = 0; bit < bits && pcs[i % n_pcs] < n_code; bit++) {
      if (is_of_register(bit) != (i < n_pcs)) continue;
      McNearby *word = &out[(*n)++];
      word->pc = pcs[i % n_pcs];
      word->bit = bit;
      memcpy(word->bytes, kernel->text.at + (size_t)word->pc * MC_BYTES, MC_BYTES);
      word->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
  return out;
}

static bool is_turned(const McSwap *swap, int bit) {
  enum { BITS = 8 };  // of a register's number
  return bit >= 0 && bit < BITS && 1 << bit == (swap->was ^ swap->is);
}

// Where words have registers and predicates that are written, and read (sass/sass_code.h).
McNearby *mc_nearby_counterparts(Arena *arena, const McKernel *kernel, const McNearby *word,
                                 int *n) {
  static const int fields[2][2][5] = {{{24, 32, 64, -1}, {16, -1}},
                                      {{12, 68, 77, 87, -1}, {81, 84, -1}}};
  const McSwap *swap = &word->swap;
  int all = 0;
  McNearby *words = mc_nearby(arena, kernel, &word->or_pc, 1, MC_NEARBY_BITS, &all);
  *n = 0;
  for (int i = 0; i < all; i++) {
    const int *field = fields[swap->was >= MC_FRAME_T][!swap->writes];
    for (; *field >= 0; field++)
      if (is_turned(swap, words[i].bit - *field)) words[(*n)++] = words[i];
  }
  return words;
}

// A register that is kept for the next instruction is the same one.
static bool means_the_same(const char *a, const char *b) {
  static const char kept[] = ".reuse";
  for (;;) {
    while (str_starts(a, kept)) a += sizeof kept - 1;
    while (str_starts(b, kept)) b += sizeof kept - 1;
    if (*a != *b) return false;
    if (!*a) return true;
    a++, b++;
  }
}

// The module of the code with this word alone, read as a cubin is.
static const PtxModule *module_with(Arena *arena, const McNearbyCode *code, const McNearby *word) {
  const size_t bytes = (size_t)(code->kernel->text.end - code->kernel->text.at);
  unsigned char *text = arena_alloc(arena, bytes + 1);
  memcpy(text, code->kernel->text.at, bytes);
  memcpy(text + (size_t)word->pc * MC_BYTES, word->bytes, MC_BYTES);
  McKernel kernel = *code->kernel;
  kernel.text = (ElfBytes){text, text + bytes};
  McListing *listing = ARENA_ARRAY(arena, McListing, code->n + 1);
  memcpy(listing, code->listing, sizeof *listing * (size_t)code->n);
  listing[word->pc].text = word->text;
  Diags ignored = diags_new(arena);
  return mc_module(arena, code->cubin, &kernel, listing, code->n, "nearby", &ignored);
}

// Results that nobody reads, and reads of what nobody wrote.
static int lost_of(Arena *arena, const PtxModule *module) {
  const McFlow flow = mc_flow(arena, module->code, module->n_code);
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++) n += flow.is_dead[pc] + flow.is_unwritten[pc];
  return n;
}

static bool is_same_op(const PtxInst *a, const PtxInst *b) {
  return a->machine && b->machine && a->machine->op == b->machine->op;
}

static bool is_in(const PtxArg *regs, int n, PtxArg reg) {
  for (int i = 0; i < n; i++)
    if (regs[i] == reg) return true;
  return false;
}

// How many instructions besides this one have a register.
static int others_with(const PtxModule *module, int but, PtxArg reg) {
  PtxArg regs[MC_FLOW_SOURCES];
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++)
    if (pc != but)
      n += is_in(regs, mc_flow_reads(&module->code[pc], regs), reg) ||
           is_in(regs, mc_flow_writes(&module->code[pc], regs), reg);
  return n;
}

// The most that others have to do with one of the registers that a list has and another one not.
static int others_with_lost(const PtxModule *module, int pc, const PtxArg *before, int n_before,
                            const PtxArg *now, int n) {
  int most = 0;
  for (int i = 0; i < n_before; i++) {
    const int others = is_in(now, n, before[i]) ? 0 : others_with(module, pc, before[i]);
    if (others > most) most = others;
  }
  return most;
}

// Whether it reads, and did not before, what a single other instruction has to do with, in place of
// what more have: that one wrote to a wrong register, rather than this one reads one.
static bool reads_astray(const PtxModule *module, const PtxModule *was, int pc) {
  PtxArg now[MC_FLOW_SOURCES], before[MC_FLOW_SOURCES];
  const int n = mc_flow_reads(&module->code[pc], now),
            n_before = mc_flow_reads(&was->code[pc], before);
  const int lost = others_with_lost(module, pc, before, n_before, now, n);
  for (int i = 0; i < n; i++) {
    const int others = others_with(module, pc, now[i]);
    if (!is_in(before, n_before, now[i]) && others <= 1 && others < lost) return true;
  }
  return false;
}

// Registers behind each other that one list has and another one has not: how many; *first.
static int only_in(const PtxArg *a, int n, const PtxArg *b, int n_b, PtxArg *first) {
  PtxArg low = MC_FOLLOWED, high = MC_NOWHERE;
  int found = 0;
  for (int i = 0; i < n; i++) {
    if (is_in(b, n_b, a[i]) || is_in(a, i, a[i])) continue;
    if (a[i] < low) low = a[i];
    if (a[i] > high) high = a[i];
    found++;
  }
  *first = low;
  return found && high - low + 1 == found ? found : 0;
}

// The registers in which two instructions differ; n 0: there are none, or not as many.
static McSwap swap_between(const PtxInst *was, const PtxInst *is) {
  for (int writes = 0; writes < 2; writes++) {
    PtxArg a[MC_FLOW_SOURCES], b[MC_FLOW_SOURCES];
    const int n = writes ? mc_flow_writes(was, a) : mc_flow_reads(was, a),
              n_b = writes ? mc_flow_writes(is, b) : mc_flow_reads(is, b);
    McSwap swap = {.writes = writes};
    swap.n = only_in(a, n, b, n_b, &swap.was);
    if (swap.n && only_in(b, n_b, a, n, &swap.is) == swap.n) return swap;
  }
  return (McSwap){.n = 0};
}

// The next one behind an instruction that reads a register, or in front of it that writes it.
static int counterpart(const PtxModule *module, int pc, const McSwap *swap) {
  PtxArg regs[MC_FLOW_SOURCES];
  for (int at = pc + (swap->writes ? 1 : -1); swap->n && at >= 0 && at < module->n_code;
       at += swap->writes ? 1 : -1) {
    const PtxInst *inst = &module->code[at];
    const int n = swap->writes ? mc_flow_reads(inst, regs) : mc_flow_writes(inst, regs);
    if (is_in(regs, n, swap->is)) return at;
  }
  return MC_NOWHERE;
}

// The words of one instruction, and the code with all of them behind its end.
typedef struct Batch {
  Arena *arena;
  const McNearbyCode *code;
  int n, lost, misfits;
  McInPlace words[MC_NEARBY_BITS];
  McNearby *tried[MC_NEARBY_BITS];
  PtxModule *module;  // NULL: one of them cannot be read, or the instruction branches
  PtxInst *was;       // its code
} Batch;

static bool branches(const PtxInst *inst) {
  const McOp *op = inst->machine ? inst->machine->op : NULL;
  return op &&
         (op->run == mc_run_branch || op->run == mc_run_branch_any || op->run == mc_run_branch_by);
}

// @!PT: no compiler leaves that, and it takes an instruction away that only hides the fault.
static bool never_runs(const char *text) {
  return str_starts(text, "@!PT ") || str_starts(text, "@!UPT ");
}

static bool is_tried(const McNearbyCode *code, const McNearby *word) {
  return word->text && word->pc < code->n && !never_runs(word->text) &&
         !means_the_same(word->text, code->listing[word->pc].text);
}

// Words of the same instruction, the first ones of `words`; how many of those were looked at.
static int read_batch(Batch *b, McNearby *words, int n) {
  const McNearbyCode *code = b->code;
  int end = 0;
  b->n = 0;
  b->module = NULL;
  for (; end < n && words[end].pc == words->pc && b->n < MC_NEARBY_BITS; end++) {
    McNearby *word = &words[end];
    if (!is_tried(code, word)) continue;
    b->words[b->n] = (McInPlace){word->pc, word->bytes, word->text, false};
    b->tried[b->n++] = word;
  }
  if (!b->n || branches(&code->module->code[words->pc])) return end;
  Diags ignored = diags_new(b->arena);
  b->module = (PtxModule *)mc_module_with(b->arena, code->cubin, code->kernel, code->listing,
                                          code->n, b->words, b->n, "nearby", &ignored);
  if (!b->module) return end;
  const size_t bytes = sizeof *b->was * (size_t)b->module->n_code;
  b->was = arena_alloc(b->arena, bytes);
  memcpy(b->was, b->module->code, bytes);
  return end;
}

// The code with word i in its place.
static const PtxModule *put(Batch *b, Arena *arena, int i) {
  const int pc = b->words[i].pc;
  if (!b->module || b->words[i].branches) return module_with(arena, b->code, b->tried[i]);
  PtxModule *m = b->module;
  const int loc = b->was[pc].loc;
  memcpy(m->code, b->was, sizeof *b->was * (size_t)m->n_code);
  m->code[pc] = m->code[m->n_code + i];
  m->code[pc].loc = loc;
  m->code[pc].first = b->was[pc].first;
  mc_boards(m->code, m->n_code - 1);
  return m;
}

// Another operation may have other registers.
static bool is_sound(const McNearbyCode *code, const PtxModule *module, int pc, int lost) {
  Arena *arena = arena_new("sound");
  const bool right = !is_same_op(&module->code[pc], &code->module->code[pc]) ||
                     (lost_of(arena, module) <= lost && !reads_astray(module, code->module, pc));
  arena_free(arena);
  return right;
}

// Registers that are read with the other sign, without one, or as their complement: few are.
static int changes_in(const PtxInst *inst) {
  int n = 0;
  for (int i = 0; inst->machine && i < inst->machine->n; i++) {
    const McOperand *o = &inst->machine->operands[i];
    const bool is_register = o->present && o->n && strchr("srfhglu", o->letter);
    n += is_register && (o->keep != UINT32_MAX || o->flip || o->add);
  }
  return n;
}

// Another operation has other operands: what it lacks of those tells nothing.
static int fewer_changes(const McNearby *word, const PtxInst *was, const PtxInst *is) {
  return word->is_same_op ? changes_in(was) - changes_in(is) : 0;
}

// How much more usual its numbers and modifiers are; another operation is to have usual modifiers.
static int more_usual(const McNearby *word, const PtxModule *module, const PtxInst *was) {
  const PtxInst *is = &module->code[word->pc];
  if (!word->is_same_op) return mc_has_usual_words(module, word->pc, is) - 1;
  return mc_lone_numbers(module, word->pc, was) - mc_lone_numbers(module, word->pc, is) +
         mc_has_usual_words(module, word->pc, is) - mc_has_usual_words(module, word->pc, was) +
         mc_meets_in_bank(was, NULL) - mc_meets_in_bank(is, NULL);
}

// Whether it is right; its gain is how much liker to others the instruction is with the word, and
// what else tells for it.
static bool try_word(Batch *b, int i, const McNearbyJudge *judge, int64_t *lanes) {
  Arena *arena = arena_new("nearby");
  const int pc = b->words[i].pc;
  McNearby *word = b->tried[i];
  const PtxModule *module = put(b, arena, i);
  bool right = module && !module->code[pc].why && is_sound(b->code, module, pc, b->lost);
  if (right) {
    int64_t taken = 0;
    right = judge->leaves(judge->self, module, &taken);
    *lanes += taken + SETTING_UP;
  }
  if (right) {
    enum { OF_LOST = 2, OF_CHANGE = 2 };  // a result that has a reader again tells more
    word->is_same_op = is_same_op(&module->code[pc], &b->code->module->code[pc]);
    word->swap = word->is_same_op ? swap_between(&b->code->module->code[pc], &module->code[pc])
                                  : (McSwap){.n = 0};
    word->or_pc = counterpart(b->code->module, pc, &word->swap);
    word->looks = mc_likeness(module, pc, &module->code[pc], NULL) -
                  mc_likeness(module, pc, &b->code->module->code[pc], NULL) +
                  OF_LOST * (b->lost - lost_of(arena, module)) +
                  more_usual(word, module, &b->code->module->code[pc]) +
                  OF_CHANGE * fewer_changes(word, &b->code->module->code[pc], &module->code[pc]) +
                  MC_ISSUE_WORTH * (b->misfits - mc_issue_misfits(module, MC_NOWHERE, NULL, NULL));
    word->gain = word->looks + (judge->worth ? judge->worth(judge->self, module) : 0);
  }
  arena_free(arena);
  return right;
}

// The gain decides, then whether it is the instruction's own operation.
static bool is_likelier(const McNearby *word, const McNearby *found) {
  if (!found || word->gain != found->gain) return !found || word->gain > found->gain;
  return word->is_same_op && !found->is_same_op;
}

static bool is_enough(const McNearby *found, McNearbyWhich which) {
  enum { CLEAR = 1 };  // operands
  return found && (which == MC_NEARBY_FIRST || (which == MC_NEARBY_GAINS && found->looks > CLEAR));
}

McNearby *mc_nearby_right(const McNearbyCode *code, McNearby *words, int n,
                          const McNearbyJudge *judge) {
  const McNearbyWhich which = judge->which;
  McNearby *found = NULL;
  int64_t taken = 0;
  Batch b = {.arena = arena_new("words"), .code = code};
  b.lost = lost_of(b.arena, code->module);
  b.misfits = mc_issue_misfits(code->module, MC_NOWHERE, NULL, NULL);
  for (int at = 0; at < n && !is_enough(found, which) && taken <= judge->lanes;) {
    arena_free(b.arena);
    b.arena = arena_new("words");
    at += read_batch(&b, &words[at], n - at);
    for (int i = 0; i < b.n && taken <= judge->lanes; i++) {
      if (is_enough(found, which)) break;
      McNearby *word = b.tried[i];
      bool *failed = judge->failed ? &judge->failed[word->pc * MC_NEARBY_BITS + word->bit] : NULL;
      if (failed && *failed) continue;
      const bool right = try_word(&b, i, judge, &taken);
      if (right && is_likelier(word, found)) found = word;
      if (failed && judge->remembers) *failed = !right;
    }
  }
  arena_free(b.arena);
  return found;
}
