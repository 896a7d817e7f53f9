// Word → the module with it in its place → a run.
#include "machine/mc_nearby.h"

#include <string.h>

#include "base/str.h"

enum { SETTING_UP = 100000 };  // lane instructions that reading the code again takes

McNearby *mc_nearby(Arena *arena, const McKernel *kernel, const int *pcs, int n_pcs, int bits,
                    int *n) {
  McNearby *out = ARENA_ARRAY(arena, McNearby, n_pcs * bits + 1);
  *n = 0;
  const int n_code = (int)((kernel->text.end - kernel->text.at) / MC_BYTES);
  for (int i = 0; i < n_pcs; i++)
    for (int bit = 0; bit < bits && pcs[i] < n_code; bit++) {
      McNearby *word = &out[(*n)++];
      word->pc = pcs[i];
      word->bit = bit;
      memcpy(word->bytes, kernel->text.at + (size_t)pcs[i] * MC_BYTES, MC_BYTES);
      word->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
  return out;
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

// Whether it reads, and did not before, what a single other instruction has to do with: that one
// wrote to a wrong register, rather than this one reads one.
static bool reads_astray(const PtxModule *module, const PtxModule *was, int pc) {
  PtxArg now[MC_FLOW_SOURCES], before[MC_FLOW_SOURCES];
  const int n = mc_flow_reads(&module->code[pc], now),
            n_before = mc_flow_reads(&was->code[pc], before);
  for (int i = 0; i < n; i++)
    if (!is_in(before, n_before, now[i]) && others_with(module, pc, now[i]) <= 1) return true;
  return false;
}

bool mc_nearby_try(const McNearbyCode *code, const McNearby *word, McLeaves *leaves, void *self,
                   int64_t *lanes) {
  if (!word->text || word->pc >= code->n ||
      means_the_same(word->text, code->listing[word->pc].text))
    return false;
  Arena *arena = arena_new("nearby");
  const PtxModule *module = module_with(arena, code, word);
  bool right = module && !module->code[word->pc].why;
  if (right && is_same_op(&module->code[word->pc], &code->module->code[word->pc]))
    right = lost_of(arena, module) <= lost_of(arena, code->module) &&
            !reads_astray(module, code->module, word->pc);
  if (right) {
    int64_t taken = 0;
    right = leaves(self, module, &taken);
    *lanes += taken + SETTING_UP;
  }
  arena_free(arena);
  return right;
}
