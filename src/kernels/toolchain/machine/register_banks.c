// A listing → which FFMA wait for a register bank.
//
// Operands are read off the text: "FFMA R13, R4.reuse, -R6, R8" has R4, R6 and R8 in the slots 0, 1
// and 2, all of the even bank: a conflict, unless instructions before left some of them in the
// caches of their slots. What is not a register (a constant, an immediate, RZ, a uniform register)
// needs no bank, and a register that is named twice is read once.
//
// A slot has a cache for each bank. It holds the register of the last operand of that bank marked
// .reuse there, and is gone when another register of the bank is read in that slot, when the
// register is written, and at a label, behind which nobody knows who came before. An instruction
// without a register of the bank in that slot leaves it. ptxas says so itself: of the 1,863 flags
// of five fp32 kernels for sm_90a (NVRTC 13.0) 99 have other registers read in that slot before the
// next read of theirs, and in 98 of those all of them are of the other bank.
#include "kernels/toolchain/machine/register_banks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum { SLOTS = 3, BANKS = 2, NO_REGISTER = -1 };

// The source operands of one instruction, by slot.
typedef struct Operands {
  int written;          // the destination; NO_REGISTER = none
  int source[SLOTS];    // NO_REGISTER = none
  bool is_kept[SLOTS];  // marked .reuse
} Operands;

typedef struct Caches {
  int kept[SLOTS][BANKS];  // a register; NO_REGISTER = none
} Caches;

// The two ports while a listing is issued, one instruction after the other.
typedef struct Ports {
  int clock, lost;
  int free[BANKS];  // the first clock that nobody reads in
} Ports;

// In which all reads of an instruction come, or in as many as it has.
enum { WINDOW_CLOCKS = 3 };

static const RegisterBankRule rules[] = {
    {70, 80, 2,
     "two banks of 64 bits (Jia et al. 2018, 3.3.1); 16 lanes of FP32 a scheduler take two clocks"},
    {86, 89, 1, "32 lanes of FP32 a scheduler; banks as measured on an H200"},
    {90, 90, 1, "measured on an H200: probe --registers, 2026-11-22; dispatch samples, 2026-11-27"},
    {100, 121, 1, "32 lanes of FP32 a scheduler; banks as measured on an H200"},
};
enum { RULES = sizeof rules / sizeof *rules };

const RegisterBankRule *register_bank_rule(int sm) {
  for (int i = 0; i < RULES; i++)
    if (sm >= rules[i].first_sm && sm <= rules[i].last_sm) return &rules[i];
  return &rules[RULES - 1];
}

// The register that an operand is: "-R6", "|R6|", "R6.reuse", "~R6.H1"; not "RZ", "[R6]", "UR6".
static int register_of(const char *operand) {
  operand += strspn(operand, " -|~!");
  if (operand[0] != 'R' || !isdigit((unsigned char)operand[1])) return NO_REGISTER;
  return atoi(operand + 1);
}

static const char *next_operand(const char *at) {
  at = strchr(at, ',');
  return at ? at + 1 : NULL;
}

// The first operand is the destination; a store has none, but no register in a slot either.
static Operands read_operands(const SassLine *line) {
  Operands operands = {NO_REGISTER, {NO_REGISTER, NO_REGISTER, NO_REGISTER}, {false}};
  const char *at = strstr(line->text, line->opcode);
  if (!at) return operands;
  at += strlen(line->opcode);
  operands.written = register_of(at);
  at = next_operand(at);
  for (int slot = 0; slot < SLOTS && at; slot++, at = next_operand(at)) {
    const size_t length = strcspn(at, ",");
    const char *mark = strstr(at, ".reuse");
    operands.source[slot] = register_of(at);
    operands.is_kept[slot] = mark && mark < at + length;
  }
  return operands;
}

static bool is_ffma(const SassLine *line) {
  return str_equal(line->opcode, "FFMA") || str_starts(line->opcode, "FFMA.");
}

static bool is_repeated(const Operands *operands, int slot) {
  for (int before = 0; before < slot; before++)
    if (operands->source[before] == operands->source[slot]) return true;
  return false;
}

static bool is_cached(const Caches *caches, int slot, int reg) {
  return caches && caches->kept[slot][reg % BANKS] == reg;
}

// The registers that each bank gives, without those in `caches` where it is not NULL.
static void count_reads(const Operands *operands, const Caches *caches, int n[BANKS]) {
  n[0] = n[1] = 0;
  for (int slot = 0; slot < SLOTS; slot++) {
    const int source = operands->source[slot];
    if (source == NO_REGISTER || is_repeated(operands, slot)) continue;
    if (!is_cached(caches, slot, source)) n[source % BANKS]++;
  }
}

static int most_of_one_bank(const Operands *operands, const Caches *caches) {
  int n[BANKS];
  count_reads(operands, caches, n);
  return max_int(n[0], n[1]);
}

static RegisterBankMark mark_of(const Operands *operands, const Caches *caches, int clocks) {
  if (most_of_one_bank(operands, NULL) <= clocks) return BANK_MARK_NONE;
  return most_of_one_bank(operands, caches) <= clocks ? BANK_MARK_SPARED : BANK_MARK_CONFLICT;
}

static void forget(Caches *caches) {
  for (int slot = 0; slot < SLOTS; slot++)
    for (int bank = 0; bank < BANKS; bank++) caches->kept[slot][bank] = NO_REGISTER;
}

static void keep(const Operands *operands, Caches *caches) {
  for (int slot = 0; slot < SLOTS; slot++) {
    const int source = operands->source[slot];
    if (source != NO_REGISTER)
      caches->kept[slot][source % BANKS] = operands->is_kept[slot] ? source : NO_REGISTER;
    if (operands->written == NO_REGISTER) continue;
    int *of_bank = &caches->kept[slot][operands->written % BANKS];
    if (*of_bank == operands->written) *of_bank = NO_REGISTER;
  }
}

static int count_reused(const Operands *operands, const Caches *caches) {
  int n = 0;
  for (int slot = 0; slot < SLOTS; slot++)
    n += operands->source[slot] != NO_REGISTER && is_cached(caches, slot, operands->source[slot]);
  return n;
}

// One instruction: it waits until all its reads fit into its window.
static void issue(Ports *ports, const int reads[BANKS], int clocks) {
  int begin = ports->clock;
  for (int bank = 0; bank < BANKS; bank++) {
    const int first = max_int(ports->clock, ports->free[bank]);
    if (reads[bank])
      begin = max_int(begin, first + reads[bank] - max_int(WINDOW_CLOCKS, reads[bank]));
  }
  ports->lost += begin - ports->clock;
  for (int bank = 0; bank < BANKS; bank++)
    if (reads[bank]) ports->free[bank] = max_int(begin, ports->free[bank]) + reads[bank];
  ports->clock = begin + clocks;
}

static void read_ffma(RegisterBanks *banks, RegisterBankMark *mark, const Operands *operands,
                      const Caches *caches, int reads[BANKS]) {
  count_reads(operands, caches, reads);
  *mark = mark_of(operands, caches, banks->rule->clocks);
  banks->n_ffma++;
  banks->n_conflicts += *mark == BANK_MARK_CONFLICT;
  banks->n_spared += *mark == BANK_MARK_SPARED;
  banks->n_reused += count_reused(operands, caches);
  banks->lost_most += max_int(0, max_int(reads[0], reads[1]) - banks->rule->clocks);
  for (int bank = 0; bank < BANKS; bank++) banks->n_read[bank] += reads[bank];
}

RegisterBanks register_banks_read(Arena *arena, const SassResult *sass, int sm) {
  RegisterBanks banks = {.rule = register_bank_rule(sm)};
  RegisterBankMark *mark = ARENA_ARRAY(arena, RegisterBankMark, sass->n_lines + 1);
  Ports ports = {0};
  Caches caches;
  forget(&caches);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    const bool begins = i == 0 || !str_equal(line->kernel, line[-1].kernel);
    if (!line->opcode || begins) forget(&caches);
    if (!line->opcode) continue;
    const Operands operands = read_operands(line);
    const bool multiplies = is_ffma(line);
    int reads[BANKS] = {0, 0};
    if (multiplies) read_ffma(&banks, &mark[i], &operands, &caches, reads);
    issue(&ports, reads, multiplies ? banks.rule->clocks : 1);
    keep(&operands, &caches);
  }
  banks.mark = mark;
  banks.lost_least = ports.lost;
  return banks;
}

double register_banks_clocks(const RegisterBanks *banks) {
  if (!banks->n_ffma) return 0;
  const int fuller = max_int(banks->n_read[0], banks->n_read[1]);
  return (double)max_int(banks->n_ffma * banks->rule->clocks, fuller) / banks->n_ffma;
}

const char *register_banks_sentence(Arena *arena, const RegisterBanks *banks) {
  if (!banks->n_ffma) return "";
  const char *often = banks->rule->clocks == 1 ? "twice" : "three times";
  const char *lost =
      banks->lost_least == banks->lost_most
          ? arena_printf(arena, "%d clocks", banks->lost_most)
          : arena_printf(arena, "%d to %d clocks", banks->lost_least, banks->lost_most);
  return arena_printf(arena, "%d FFMA: %d read a bank %s (!), .reuse spares %d (r); %s lost",
                      banks->n_ffma, banks->n_conflicts, often, banks->n_spared, lost);
}

const char *register_bank_sign(RegisterBankMark mark) {
  static const char *const signs[] = {"", "r", "!"};
  return signs[mark];
}
