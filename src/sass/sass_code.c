// The bytes of a kernel → instructions, by the places that sass_code.h names.
//
// Operands by form (bits 9-11): 1 is registers alone; in 2, 3 and 7 operand C is a constant and B
// stands where C does in form 1; in 4, 5 and 6 operand B is a constant. (Read off nvdisasm 13.0.) A
// register field of 255 is RZ, which no bank is asked for.
//
//   FFMA R8, R12, 0.5, R8 has form 4: A = R12 at bit 24, C = R8 at bit 64, nothing in slot B.
#include "sass/sass_code.h"

#include <string.h>

#include "base/str.h"

enum { RZ = 255, DISTANCE_BITS = 48 };
enum { A = 1, B = 2, C = 4, ADDEND = 8 };

static const SassOpcode opcodes[] = {
#define OPCODE(bits, name, pipe, kind, slots) \
  {bits, name, SASS_PIPE_##pipe, SASS_KIND_##kind, slots},
#include "sass/sass_opcode.def"
#undef OPCODE
};
static const SassOpcode unknown = {-1, "?", SASS_PIPE_ALU, SASS_KIND_PLAIN, A | B | C};

typedef struct Words {
  uint64_t low, high;
} Words;

static int field(Words words, int from, int n) {
  const uint64_t value = from >= 64  ? words.high >> (from - 64)
                         : from == 0 ? words.low
                                     : words.low >> from | words.high << (64 - from);
  return (int)(value & ((1u << n) - 1));
}

static const SassOpcode *find_opcode(int bits) {
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
    if (opcodes[i].bits == bits) return &opcodes[i];
  return &unknown;
}

const SassOpcode *sass_opcode_find(const char *name) {
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
    if (str_equal(opcodes[i].name, name)) return &opcodes[i];
  return NULL;
}

static int register_at(Words words, int from) {
  const int number = field(words, from, 8);
  return number == RZ ? SASS_NO_REGISTER : number;
}

static void read_operands(SassInst *inst, Words words) {
  enum { REGISTERS = 1, IMMEDIATE_C = 2, CONSTANT_C = 3, UNIFORM_C = 7 };
  const bool swaps =
      inst->form == IMMEDIATE_C || inst->form == CONSTANT_C || inst->form == UNIFORM_C;
  const int place[SASS_SLOTS] = {24,
                                 inst->form == REGISTERS ? 32
                                 : swaps                 ? 64
                                                         : -1,
                                 swaps ? -1 : 64};
  for (int slot = 0; slot < SASS_SLOTS; slot++) {
    const bool is_one = inst->opcode->slots >> slot & 1 && place[slot] >= 0;
    inst->read[slot] = is_one ? register_at(words, place[slot]) : SASS_NO_REGISTER;
  }
  if (inst->opcode->slots & ADDEND && inst->form == REGISTERS)
    inst->read[SASS_SLOTS - 1] = register_at(words, place[1]);
}

static void read_control(SassInst *inst, Words words) {
  inst->stall = field(words, 105, 4);
  inst->yields = !field(words, 109, 1);
  inst->writes_scoreboard = field(words, 110, 3);
  inst->reads_scoreboard = field(words, 113, 3);
  inst->wait = (unsigned)field(words, 116, 6);
  inst->reuse = (unsigned)field(words, 122, 4);
}

static int lane_bytes(const SassOpcode *opcode, Words words) {
  static const int widths[8] = {1, 1, 2, 2, 4, 8, 16, 0};
  const bool by_matrix = str_equal(opcode->name, "LDSM") || str_equal(opcode->name, "STSM");
  if (by_matrix) return 4 << field(words, 72, 2);
  const bool moves = opcode->kind == SASS_KIND_LOAD || opcode->kind == SASS_KIND_STORE ||
                     opcode->kind == SASS_KIND_COPY;
  const bool by_width = opcode->pipe == SASS_PIPE_SHARED || opcode->pipe == SASS_PIPE_FAR;
  return moves && by_width ? widths[field(words, 73, 3)] : 0;
}

// The distance is counted in words of four bytes from the instruction behind the branch. Up to
// sm_89 all of its bits lie from 34 on; since sm_90 eight more lie in front of those, at 16
// (nvdisasm -hex of tests/data/cubins).
static int branch_target(Words words, int sm, int at, int n) {
  uint64_t upper = (words.low >> 34 | words.high << 30) & ((UINT64_C(1) << DISTANCE_BITS) - 1);
  if (upper >> (DISTANCE_BITS - 1)) upper |= ~UINT64_C(0) << DISTANCE_BITS;
  const bool is_short = sm > 0 && sm < 90;
  const uint64_t distance = is_short ? upper : upper << 8 | (uint64_t)field(words, 16, 8);
  const int64_t target = at + 1 + (int64_t)distance * 4 / SASS_BYTES;
  return target >= 0 && target < n ? (int)target : SASS_NO_TARGET;
}

// Whether the instruction behind it may be the warp's next: not behind an EXIT, RET or BRA that no
// predicate guards. BRA.U has form 2 and a uniform predicate of its own.
static bool may_go_on(const SassInst *inst) {
  enum { UNIFORM = 2 };
  const bool leaves = inst->opcode->kind == SASS_KIND_BRANCH ||
                      inst->opcode->kind == SASS_KIND_EXIT ||
                      inst->opcode->kind == SASS_KIND_RETURN;
  return !leaves || inst->guard != SASS_ALWAYS || inst->form == UNIFORM;
}

static SassInst decode(Words words, int sm, int at, int n) {
  const SassOpcode *opcode = find_opcode(field(words, 0, 9));
  SassInst inst = {.low = words.low,
                   .high = words.high,
                   .opcode = opcode,
                   .form = field(words, 9, 3),
                   .guard = field(words, 12, 3)};
  inst.guard_is_not = field(words, 15, 1);
  inst.written = register_at(words, 16);
  inst.target = opcode->kind == SASS_KIND_BRANCH ? branch_target(words, sm, at, n) : SASS_NO_TARGET;
  inst.goes_on = may_go_on(&inst);
  inst.bytes = lane_bytes(opcode, words);
  if (opcode->kind == SASS_KIND_DEPBAR) {
    inst.scoreboard = field(words, 44, 3);
    inst.at_most = field(words, 38, 6);
  }
  read_operands(&inst, words);
  read_control(&inst, words);
  return inst;
}

SassCode sass_decode(Arena *arena, const unsigned char *text, size_t bytes, int sm) {
  const int n = (int)(bytes / SASS_BYTES);
  SassInst *inst = ARENA_ARRAY(arena, SassInst, n + 1);
  for (int i = 0; i < n; i++) {
    Words words;
    memcpy(&words, text + (size_t)i * SASS_BYTES, sizeof words);
    inst[i] = decode(words, sm, i, n);
  }
  return (SassCode){n, inst};
}
