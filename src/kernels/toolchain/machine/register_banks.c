// A listing → which FFMA wait for a register bank.
//
// Operands are read off the text: "FFMA R13, R4.reuse, -R6, R8" has R4, R6 and R8 in the slots 0, 1
// and 2, all of the even bank: a conflict, unless instructions before left some of them in the
// caches of their slots. What is not a register (a constant, an immediate, RZ, a uniform register)
// needs no bank, and a register that is named twice is read once.
//
// A slot has a cache for each bank. It holds the register of the last operand of that bank marked
// .reuse there, and is gone when another register of the bank is read in that slot, when the
// register is written, and at a label, behind which the instruction before is not known. An
// instruction without a register of the bank in that slot leaves it. ptxas says so itself: of the
// 1,863 flags of five fp32 kernels for sm_90a (NVRTC 13.0) 99 have other registers read in that
// slot before the next read of theirs, and in 98 of those all of them are of the other bank.
#include "kernels/toolchain/machine/register_banks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

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
  if (operand[0] != 'R' || !isdigit((unsigned char)operand[1])) return SASS_NO_REGISTER;
  return atoi(operand + 1);
}

static const char *next_operand(const char *at) {
  at = strchr(at, ',');
  return at ? at + 1 : NULL;
}

static SassInst nothing(void) {
  static const SassOpcode other = {.name = "", .pipe = SASS_PIPE_ALU};
  SassInst out = {.opcode = &other, .written = SASS_NO_REGISTER};
  for (int slot = 0; slot < SASS_SLOTS; slot++) out.read[slot] = SASS_NO_REGISTER;
  return out;
}

static bool is_ffma(const SassLine *line) {
  return str_equal(line->opcode, "FFMA") || str_starts(line->opcode, "FFMA.");
}

// As the banks see it. The first operand is the destination; a store has none, but no register in a
// slot either.
static SassInst inst_of(const SassLine *line) {
  static const SassOpcode ffma = {.name = "FFMA", .pipe = SASS_PIPE_FMA};
  SassInst out = nothing();
  const char *at = line->opcode ? strstr(line->text, line->opcode) : NULL;
  if (!at) return out;
  if (is_ffma(line)) out.opcode = &ffma;
  at += strlen(line->opcode);
  out.written = register_of(at);
  at = next_operand(at);
  for (int slot = 0; slot < SASS_SLOTS && at; slot++, at = next_operand(at)) {
    const size_t length = strcspn(at, ",");
    const char *mark = strstr(at, ".reuse");
    out.read[slot] = register_of(at);
    if (mark && mark < at + length) out.reuse |= 1u << slot;
  }
  return out;
}

ClockMarks register_banks_read(Arena *arena, const SassResult *sass, int sm) {
  SassInst *inst = ARENA_ARRAY(arena, SassInst, sass->n_lines + 1);
  bool *forgets = ARENA_ARRAY(arena, bool, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    inst[i] = inst_of(line);
    forgets[i] = !line->opcode || i == 0 || !str_equal(line->kernel, line[-1].kernel);
  }
  const SassCode code = {sass->n_lines, inst};
  return clock_marks(arena, &code, forgets, register_bank_rule(sm)->clocks);
}

double register_banks_clocks(const ClockMarks *banks) {
  if (!banks->n_ffma) return 0;
  const int fuller = max_int(banks->n_read[0], banks->n_read[1]);
  return (double)max_int(banks->n_ffma * banks->clocks, fuller) / banks->n_ffma;
}

const char *register_banks_sentence(Arena *arena, const ClockMarks *banks) {
  if (!banks->n_ffma) return "";
  const char *often = banks->clocks == 1 ? "twice" : "three times";
  const char *lost =
      banks->lost_least == banks->lost_most
          ? arena_printf(arena, "%d clocks", banks->lost_most)
          : arena_printf(arena, "%d to %d clocks", banks->lost_least, banks->lost_most);
  return arena_printf(arena, "%d FFMA: %d read a bank %s (!), .reuse spares %d (r); %s lost",
                      banks->n_ffma, banks->n_conflicts, often, banks->n_spared, lost);
}

const char *register_bank_sign(ClockBankMark mark) {
  static const char *const signs[] = {"", "r", "!"};
  return signs[mark];
}
