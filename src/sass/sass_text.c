// An instruction, as the decoder knows it → one line.
#include "sass/sass_text.h"

#include <stdio.h>

#include "base/str.h"

static bool has_result(const SassInst *inst) {
  const SassKind kind = inst->opcode->kind;
  return inst->written != SASS_NO_REGISTER && (kind == SASS_KIND_PLAIN || kind == SASS_KIND_LOAD);
}

static void add_operand(Str *out, int *n, int number, bool reuse) {
  str_printf(out, "%s R%d%s", *n ? "," : "", number, reuse ? ".reuse" : "");
  (*n)++;
}

const char *sass_text(Arena *arena, const SassInst *inst) {
  Str out = str_new(arena);
  int n = 0;
  if (inst->guard != SASS_ALWAYS)
    str_printf(&out, "@%sP%d ", inst->guard_is_not ? "!" : "", inst->guard);
  str_add(&out, inst->opcode->name);
  if (inst->bytes > 4) str_printf(&out, ".%d", inst->bytes * 8);
  if (inst->target != SASS_NO_TARGET) str_printf(&out, " 0x%x", inst->target * SASS_BYTES);
  if (inst->opcode->kind == SASS_KIND_DEPBAR)
    str_printf(&out, ".LE SB%d, 0x%x", inst->scoreboard, inst->at_most);
  if (has_result(inst)) add_operand(&out, &n, inst->written, false);
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    if (inst->read[slot] != SASS_NO_REGISTER)
      add_operand(&out, &n, inst->read[slot], inst->reuse >> slot & 1);
  return out.text;
}

static char board(int scoreboard) {
  return scoreboard < SASS_SCOREBOARDS ? (char)('0' + scoreboard) : '-';
}

// The numbers of the bits that are set, as characters from `first` on.
static void list_bits(unsigned bits, int n, char first, char *out) {
  int length = 0;
  for (int i = 0; i < n; i++)
    if (bits >> i & 1) out[length++] = (char)(first + i);
  if (!length) out[length++] = '.';
  out[length] = '\0';
}

SassControl sass_control(const SassInst *inst) {
  SassControl out = {.writes = board(inst->writes_scoreboard),
                     .reads = board(inst->reads_scoreboard),
                     .yield = inst->yields ? 'y' : ' '};
  snprintf(out.stall, sizeof out.stall, "%d", inst->stall & 15);
  list_bits(inst->wait, SASS_SCOREBOARDS, '0', out.wait);
  list_bits(inst->reuse, SASS_SLOTS, 'a', out.reuse);
  return out;
}
