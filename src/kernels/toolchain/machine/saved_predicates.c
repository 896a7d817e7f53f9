// A listing → saved predicates that something else overwrites.
//
// For each bit of a register that one line clears and another tests, a walk along the kernel tells
// which line that wrote something else there may have come last; it goes on until nothing changes.
// A save of the bit ends what is behind it, saves of other bits leave it, and a write under a
// predicate may have happened. Behind a label that is whatever came by the lines that
// branch to it or by the line in front.
//
// Worked example (addresses of the kernel that the header tells of):
//   0ba0      LOP3.LUT R0, R0, 0xfffffffb, …   bit 2 of R0 is a predicate: nothing else came last
//   1ca0      IMAD.U32 R0, RZ, RZ, UR5         1ca0 came last
//   1d70      LOP3.LUT R0, R0, 0xfffffff7, …   saves bit 3: for bit 2 it is still 1ca0
//   2130      LOP3.LUT P2, RZ, R0, 0x4, …      tests bit 2 of what 1ca0 wrote: lost
// All that a register holds when the kernel begins is left out: the first save of a word goes on
// top.
#include "kernels/toolchain/machine/saved_predicates.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { NONE = -1, OPERANDS = 6, OPERAND_CHARS = 16, ELECT_WITHIN = 6 };

typedef enum Use { USE_OTHER, USE_CLEAR, USE_SET, USE_TEST } Use;

// One line of the listing.
typedef struct Inst {
  int target;         // line that it branches to; NONE = to none
  bool goes_on;       // the next line may come next
  int first, n_regs;  // registers that it writes
  Use use;            // of a predicate's bit
  int reg, bit;       // of USE_CLEAR, USE_SET, USE_TEST
} Inst;

// ---- reading ------------------------------------------------------------------------------------

typedef struct Operands {
  int n;
  char text[OPERANDS][OPERAND_CHARS];  // without .reuse; cut where they are longer
} Operands;

static Operands read_operands(const SassLine *line) {
  Operands operands = {0};
  const char *at = strstr(line->text, line->opcode);
  at = at ? at + strlen(line->opcode) : "";
  while (*at && operands.n < OPERANDS) {
    at += strspn(at, " ");
    const size_t length = strcspn(at, ",");
    size_t kept = length < OPERAND_CHARS ? length : OPERAND_CHARS - 1;
    memcpy(operands.text[operands.n], at, kept);
    char *reuse = strstr(operands.text[operands.n++], ".reuse");
    if (reuse) *reuse = '\0';
    at += length + (at[length] == ',');
  }
  return operands;
}

static int register_of(const char *operand) {
  const bool is_register = operand[0] == 'R' && isdigit((unsigned char)operand[1]);
  return is_register ? atoi(operand + 1) : NONE;
}

static bool is_predicate(const char *operand) {
  return operand[0] == 'P' && (isdigit((unsigned char)operand[1]) || operand[1] == 'T');
}

// The number of registers that a result takes, by the opcode.
static int n_written(const char *opcode) {
  static const struct {
    const char *part;
    int n;
  } widths[] = {{"HMMA.16816.F32", 4}, {"HMMA.1688.F32", 4}, {"IMMA", 4}, {".128", 4},
                {".MT88.4", 4},        {".M88.4", 4},        {"DMMA", 4}, {".MT88.2", 2},
                {".M88.2", 2},         {"HMMA", 2},          {".64", 2},  {"WIDE", 2},
                {"CS2R.32", 1},        {"CS2R", 2}};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (strstr(opcode, widths[i].part)) return widths[i].n;
  return 1;
}

// Comparisons name two predicates in front of the registers that they read.
static bool writes_no_register(const char *opcode) {
  return strstr(opcode, "SETP") || str_starts(opcode, "PLOP3") || str_starts(opcode, "R2P");
}

static void read_written(const SassLine *line, const Operands *operands, Inst *inst) {
  if (operands->n == 0 || writes_no_register(line->opcode)) return;
  const bool second = is_predicate(operands->text[0]) && operands->n > 1;
  const int reg = register_of(operands->text[second]);
  if (reg == NONE) return;
  inst->first = reg;
  inst->n_regs = n_written(line->opcode);
}

// The bit that a mask has alone; NONE: it has none or several.
static int only_bit(uint32_t mask) {
  if (!mask || mask & (mask - 1)) return NONE;
  int bit = 0;
  while (mask >>= 1) bit++;
  return bit;
}

// For LOP3.LUT the result, the register that is read, a mask, RZ, and 0xc0 (and) or 0xfc (or); in
// front of a test's the predicate.
static void read_use(const SassLine *line, const Operands *operands, Inst *inst) {
  if (!str_equal(line->opcode, "LOP3.LUT")) return;
  const int at = is_predicate(operands->text[0]);
  const char *result = operands->text[at], *mask = operands->text[at + 2];
  const char *logic = operands->text[at + 4];
  const int reg = register_of(operands->text[at + 1]);
  if (reg == NONE || !str_starts(mask, "0x")) return;
  const uint32_t bits = (uint32_t)strtoul(mask, NULL, 16);
  const bool is_and = str_equal(logic, "0xc0"), in_place = register_of(result) == reg;
  if (at && is_and && str_equal(result, "RZ"))
    inst->use = USE_TEST, inst->reg = reg, inst->bit = only_bit(bits);
  if (!at && is_and && in_place)
    inst->use = USE_CLEAR, inst->reg = reg, inst->bit = only_bit(~bits);
  if (!at && in_place && str_equal(logic, "0xfc"))
    inst->use = USE_SET, inst->reg = reg, inst->bit = only_bit(bits);
  if (inst->bit == NONE) inst->use = USE_OTHER;
}

// A branch is for good where nothing stands between it and its label: not so `BRA.DIV ~URZ, L`.
static bool is_last(const SassLine *line, const Operands *operands) {
  if (line->text[0] == '@') return false;
  if (str_equal(line->opcode, "BRA")) return operands->n == 1;
  return str_equal(line->opcode, "EXIT") || str_starts(line->opcode, "RET");
}

static bool is_same_kernel(const SassResult *sass, int line, int other) {
  return str_equal(sass->lines[line].kernel, sass->lines[other].kernel);
}

// The line of the label that a branch names, as in "BRA `(.L_x_15)".
static int find_target(const SassResult *sass, int line) {
  const char *name = strstr(sass->lines[line].text, "`(");
  if (!name) return NONE;
  const size_t length = strcspn(name + 2, ")");
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *label = &sass->lines[i];
    const bool is_named = !label->opcode && strncmp(label->text, name + 2, length) == 0 &&
                          !isalnum((unsigned char)label->text[length]);
    if (is_named && is_same_kernel(sass, line, i)) return i;
  }
  return NONE;
}

static bool is_branch(const char *opcode) {
  return str_starts(opcode, "BRA") || str_starts(opcode, "CALL");
}

static Inst read_inst(const SassResult *sass, int line) {
  const SassLine *from = &sass->lines[line];
  Inst inst = {.target = NONE, .goes_on = true};
  if (!from->opcode) return inst;
  const Operands operands = read_operands(from);
  read_written(from, &operands, &inst);
  read_use(from, &operands, &inst);
  inst.target = is_branch(from->opcode) ? find_target(sass, line) : NONE;
  inst.goes_on = !is_last(from, &operands);
  return inst;
}

// ---- walking ------------------------------------------------------------------------------------

typedef struct Walk {
  const SassResult *sass;
  const Inst *inst;
  int reg, bit;
  int *came;  // [lines], what wrote something else and may have come last in front of each; NONE
  bool is_changed;
} Walk;

static void come(Walk *walk, int line, int from) {
  if (from == NONE || walk->came[line] != NONE) return;
  walk->came[line] = from;
  walk->is_changed = true;
}

// Tells what may have come last behind a line.
static int leave(const Walk *walk, int line) {
  const Inst *inst = &walk->inst[line];
  const int came = walk->came[line];
  if (walk->reg < inst->first || walk->reg >= inst->first + inst->n_regs) return came;
  if (inst->use != USE_CLEAR && inst->use != USE_SET) return line;
  return inst->bit == walk->bit ? NONE : came;
}

static void walk_lines(Walk *walk) {
  int came = NONE;
  for (int i = 0; i < walk->sass->n_lines; i++) {
    if (i > 0 && is_same_kernel(walk->sass, i, i - 1)) come(walk, i, came);
    came = leave(walk, i);
    if (walk->inst[i].target != NONE) come(walk, walk->inst[i].target, came);
    if (!walk->inst[i].goes_on) came = NONE;
  }
}

// ELECT writes the predicate before anybody asks for it, so what was saved of it does not matter:
// the compiler's own loops around a copy by TMA begin so.
static bool is_elected(const SassResult *sass, int test) {
  const Operands tested = read_operands(&sass->lines[test]);
  for (int i = test + 1; i < sass->n_lines && i <= test + ELECT_WITHIN; i++) {
    const SassLine *line = &sass->lines[i];
    if (!line->opcode) return false;
    const Operands operands = read_operands(line);
    if (str_equal(line->opcode, "ELECT")) return str_equal(operands.text[0], tested.text[0]);
  }
  return false;
}

static bool is_use_of(const Inst *inst, Use use, int reg, int bit) {
  return inst->use == use && inst->reg == reg && inst->bit == bit;
}

// For a save: whether the bit is cleared for the first time in its kernel.
static bool is_first_save(const SassResult *sass, const Inst *inst, int line) {
  for (int i = line - 1; i >= 0 && is_same_kernel(sass, i, line); i--)
    if (is_use_of(&inst[i], USE_CLEAR, inst[line].reg, inst[line].bit)) return false;
  return true;
}

// Notes the tests of one bit that other code reaches; false: no test.
static bool walk_bit(Arena *arena, const SassResult *sass, const Inst *inst, int save, int *by) {
  Walk walk = {sass, inst, inst[save].reg, inst[save].bit, NULL, true};
  walk.came = ARENA_ARRAY(arena, int, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) walk.came[i] = NONE;
  while (walk.is_changed) {
    walk.is_changed = false;
    walk_lines(&walk);
  }
  bool is_tested = false;
  for (int i = 0; i < sass->n_lines; i++) {
    if (!is_same_kernel(sass, i, save) || !is_use_of(&inst[i], USE_TEST, walk.reg, walk.bit))
      continue;
    is_tested = true;
    if (walk.came[i] != NONE && !is_elected(sass, i)) by[i] = walk.came[i];
  }
  return is_tested;
}

LostPredicates predicates_lost(Arena *arena, const SassResult *sass) {
  LostPredicates lost = {0};
  Inst *inst = ARENA_ARRAY(arena, Inst, sass->n_lines + 1);
  int *by = ARENA_ARRAY(arena, int, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) inst[i] = read_inst(sass, i), by[i] = NONE;
  for (int i = 0; i < sass->n_lines; i++)
    if (inst[i].use == USE_CLEAR && is_first_save(sass, inst, i))
      lost.n_saved += walk_bit(arena, sass, inst, i, by);
  LostPredicate *list = ARENA_ARRAY(arena, LostPredicate, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++)
    if (by[i] != NONE) list[lost.n++] = (LostPredicate){i, by[i], inst[i].reg, inst[i].bit};
  lost.lost = list;
  return lost;
}

const char *predicates_lost_sentence(Arena *arena, const SassResult *sass,
                                     const LostPredicates *lost) {
  if (!lost->n) return "";
  const LostPredicate *first = lost->lost;
  const SassLine *by = &sass->lines[first->overwritten];
  return arena_printf(
      arena,
      "ptxas loses predicates: %s at %04x overwrites bit %d of R%d, and %04x tests it "
      "later%s",
      by->opcode, (unsigned)by->address, first->bit, first->reg,
      (unsigned)sass->lines[first->test].address,
      lost->n == 1 ? "" : arena_printf(arena, ", and %d more", lost->n - 1));
}
