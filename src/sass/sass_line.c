// Text → instructions, item by item.
#include "sass/sass_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { NO_SCOREBOARD = 7, NAME_MAX = 16, LANE_BYTES = 16 };

typedef struct Reader {
  Arena *arena;
  const char *at;
  const char *why;
} Reader;

static bool fail(Reader *reader, const char *what) {
  reader->why =
      arena_printf(reader->arena, "%s at \"%.24s\"", what, str_line(reader->arena, reader->at));
  return false;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits, if there are any that are no more than `most`.
static bool read_number(Reader *reader, int most, int *out) {
  char *end;
  if (!is_digit(*reader->at)) return fail(reader, "a number is missing");
  const long value = strtol(reader->at, &end, 10);
  if (value > most) return fail(reader, "the number is too large");
  reader->at = end;
  *out = (int)value;
  return true;
}

static bool read_opcode(Reader *reader, SassInst *inst) {
  char name[NAME_MAX] = "";
  const size_t n = strcspn(reader->at, "(:;");
  if (n >= sizeof name) return fail(reader, "unknown opcode");
  memcpy(name, reader->at, n);
  inst->opcode = sass_opcode_find(name);
  if (!inst->opcode) return fail(reader, "unknown opcode");
  reader->at += n;
  return true;
}

// One operand: into the destination, then slot by slot.
static bool read_operand(Reader *reader, SassInst *inst, int place) {
  const size_t n = strcspn(reader->at, ",)");
  int number = SASS_NO_REGISTER;
  const char *end = reader->at + n;
  if (place > SASS_SLOTS) return fail(reader, "there are too many operands");
  if (reader->at[0] == 'R' && is_digit(reader->at[1])) {
    reader->at++;
    if (!read_number(reader, 254, &number)) return false;
  }
  const bool reuse = str_starts(reader->at, ".reuse");
  reader->at = end;
  if (place == 0) {
    inst->written = number;
    return true;
  }
  inst->read[place - 1] = number;
  if (reuse) inst->reuse |= 1u << (place - 1);
  return true;
}

static bool read_operands(Reader *reader, SassInst *inst) {
  if (*reader->at != '(') return true;
  for (int place = 0; *reader->at != ')'; place++) {
    reader->at++;
    if (!read_operand(reader, inst, place)) return false;
    if (!*reader->at) return fail(reader, "a bracket is not closed");
  }
  reader->at++;
  return true;
}

static bool read_control(Reader *reader, SassInst *inst) {
  int number = 0;
  while (*reader->at == ':') {
    const char key = *++reader->at;
    if (key) reader->at++;
    if (!read_number(reader, key == 's' ? 15 : SASS_SCOREBOARDS - 1, &number)) return false;
    if (key == 's')
      inst->stall = number;
    else if (key == 'w')
      inst->wait |= 1u << number;
    else if (key == 'b')
      inst->writes_scoreboard = number;
    else
      return fail(reader, "expected s, w or b");
  }
  return true;
}

static bool read_item(Reader *reader, SassInst *inst, int *times) {
  *inst = (SassInst){.written = SASS_NO_REGISTER,
                     .read = {SASS_NO_REGISTER, SASS_NO_REGISTER, SASS_NO_REGISTER},
                     .stall = 1,
                     .writes_scoreboard = NO_SCOREBOARD,
                     .reads_scoreboard = NO_SCOREBOARD,
                     .guard = SASS_ALWAYS,
                     .target = SASS_NO_TARGET,
                     .goes_on = true};
  *times = 1;
  if (is_digit(*reader->at)) {
    if (!read_number(reader, SASS_LINE_MAX, times)) return false;
    if (*reader->at++ != '*') return fail(reader, "expected *");
  }
  if (!read_opcode(reader, inst) || !read_operands(reader, inst) || !read_control(reader, inst))
    return false;
  if (inst->opcode->pipe == SASS_PIPE_SHARED) inst->bytes = LANE_BYTES;
  if (*reader->at && *reader->at != ';') return fail(reader, "expected ;");
  reader->at += *reader->at == ';';
  return true;
}

bool sass_line_read(Arena *arena, const char *text, SassCode *out, const char **why) {
  Reader reader = {arena, text, NULL};
  SassInst *inst = ARENA_ARRAY(arena, SassInst, SASS_LINE_MAX);
  int n = 0;
  while (*reader.at && !reader.why) {
    SassInst one;
    int times;
    if (!read_item(&reader, &one, &times)) break;
    if (n + times > SASS_LINE_MAX) fail(&reader, "there are too many instructions");
    for (int i = 0; i < times && n < SASS_LINE_MAX; i++) inst[n++] = one;
  }
  if (!n && !reader.why) reader.why = "there is no instruction";
  *out = (SassCode){n, inst};
  *why = reader.why;
  return !reader.why;
}
