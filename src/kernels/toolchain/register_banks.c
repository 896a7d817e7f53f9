// A listing → which FFMA wait for a register bank.
//
// Operands are read off the text: "FFMA R13, R4.reuse, -R6, R8" has R4, R6 and R8 in the slots 0, 1
// and 2, all of the even bank: a conflict, unless the instruction before left one of them in the
// cache of its slot. What is not a register (a constant, an immediate, RZ, a uniform register)
// needs no bank, and a register that is named twice is read once.
//
// The cache of a slot holds the register of the last operand marked .reuse there. It is gone when
// another register is read in that slot, when the register is written, and at a label, behind which
// nobody knows who came before. An instruction without a register in that slot (an LDS between two
// FFMA) leaves it: ptxas sets flags across those. Where another register is read in between ptxas
// sets some flags too (5 % of those of three fp32 kernels for sm_90a, NVRTC 13.0); they count for
// nothing here.
#include "kernels/toolchain/register_banks.h"

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

// Adds the registers that each bank gives, without those in `kept` where it is not NULL.
static void add_reads(const Operands *operands, const int kept[SLOTS], int n[BANKS]) {
  for (int slot = 0; slot < SLOTS; slot++) {
    const int source = operands->source[slot];
    if (source == NO_REGISTER || is_repeated(operands, slot)) continue;
    if (!kept || kept[slot] != source) n[source % BANKS]++;
  }
}

static int most_of_one_bank(const Operands *operands, const int kept[SLOTS]) {
  int n[BANKS] = {0};
  add_reads(operands, kept, n);
  return max_int(n[0], n[1]);
}

static RegisterBankMark mark_of(const Operands *operands, const int kept[SLOTS]) {
  if (most_of_one_bank(operands, NULL) < SLOTS) return BANK_MARK_NONE;
  return most_of_one_bank(operands, kept) < SLOTS ? BANK_MARK_SPARED : BANK_MARK_CONFLICT;
}

static void forget(int kept[SLOTS]) {
  for (int slot = 0; slot < SLOTS; slot++) kept[slot] = NO_REGISTER;
}

static void keep(const Operands *operands, int kept[SLOTS]) {
  for (int slot = 0; slot < SLOTS; slot++) {
    const int source = operands->source[slot];
    if (source != NO_REGISTER) kept[slot] = operands->is_kept[slot] ? source : NO_REGISTER;
    if (kept[slot] == operands->written) kept[slot] = NO_REGISTER;
  }
}

static int count_reused(const Operands *operands, const int kept[SLOTS]) {
  int n = 0;
  for (int slot = 0; slot < SLOTS; slot++)
    n += operands->source[slot] != NO_REGISTER && kept[slot] == operands->source[slot];
  return n;
}

RegisterBanks register_banks_read(Arena *arena, const SassResult *sass) {
  RegisterBanks banks = {0};
  RegisterBankMark *mark = ARENA_ARRAY(arena, RegisterBankMark, sass->n_lines + 1);
  int kept[SLOTS];
  forget(kept);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    const bool begins = i == 0 || !str_equal(line->kernel, line[-1].kernel);
    if (!line->opcode || begins) forget(kept);
    if (!line->opcode) continue;
    const Operands operands = read_operands(line);
    if (is_ffma(line)) {
      mark[i] = mark_of(&operands, kept);
      banks.n_ffma++;
      banks.n_conflicts += mark[i] == BANK_MARK_CONFLICT;
      banks.n_spared += mark[i] == BANK_MARK_SPARED;
      banks.n_reused += count_reused(&operands, kept);
      add_reads(&operands, kept, banks.n_read);
    }
    keep(&operands, kept);
  }
  banks.mark = mark;
  return banks;
}

double register_banks_clocks(const RegisterBanks *banks) {
  if (!banks->n_ffma) return 0;
  int fuller = max_int(banks->n_read[0], banks->n_read[1]);
  return (double)max_int(banks->n_ffma, fuller) / banks->n_ffma;
}

const char *register_banks_sentence(Arena *arena, const RegisterBanks *banks) {
  if (!banks->n_ffma) return "";
  return arena_printf(
      arena, "%d FFMA: %d wait a clock for a register bank (!), %d spared it by .reuse (r)",
      banks->n_ffma, banks->n_conflicts, banks->n_spared);
}

const char *register_bank_sign(RegisterBankMark mark) {
  static const char *const signs[] = {"", "r", "!"};
  return signs[mark];
}
