// nvdisasm's listing as lines with their opcode, address, line of the text and live registers.
//
// The tool is asked twice, for code with line information through inlining and for code with counts
// of live registers (it does not do both at once); an older tool that does not count leaves them
// unknown. Together:
//
//   .text.gemm:                                                  // |       |
//   	//## File "/home/ana/kernel.cu", line 5 inlined at "/home/ana/kernel.cu", line 12
//   	//## File "/home/ana/kernel.cu", line 12
//           /*01d0*/              @!P0 FFMA R13, R4, R4, 1 ;       // |  10   |
//   .L_x_1:                                                        // |   8   |
//
// gives one instruction of kernel "gemm" with the opcode FFMA (the predicate is not part of it),
// the address 0x1d0, the line 12 (the last one named: the statement in the kernel, not the wrapper
// it was inlined from) and 10 live registers; then a label. Behind the last EXIT stand a jump to
// itself and NOPs up to 128 bytes: padding, left out.
#include "kernels/toolchain/machine/sass.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/tool.h"
#include "sass/sass_code.h"

typedef struct Parser {
  Arena *arena;
  SassLine *lines;
  int n, capacity;
  int kernel_start;  // index of its first line
  const char *kernel;
  int cuda_line;
} Parser;

static const char *search_path(Arena *arena, const char *name) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    char *file = arena_printf(arena, "%.*s/%s", (int)length, path, name);
    if (length > 0 && path[0] == '/' && access(file, X_OK) == 0) return file;
    path += length + (path[length] == ':');
  }
  return NULL;
}

const char *sass_find_tool(Arena *arena) {
  const char *named = getenv("GEMMVIEW_NVDISASM");
  if (named && named[0]) return access(named, X_OK) == 0 ? named : NULL;
  const char *found = search_path(arena, "nvdisasm");
  return found ? found : dl_find_tool(arena, "nvdisasm");
}

static void add_line(Parser *parser, SassLine line) {
  if (parser->n == parser->capacity) {
    int capacity = parser->capacity ? 2 * parser->capacity : 256;
    SassLine *grown = ARENA_ARRAY(parser->arena, SassLine, capacity);
    if (parser->n) memcpy(grown, parser->lines, sizeof *grown * (size_t)parser->n);
    parser->lines = grown;
    parser->capacity = capacity;
  }
  parser->lines[parser->n++] = line;
}

// "FFMA.FTZ" of "@!P0 FFMA.FTZ R1, …".
static const char *opcode_of(Arena *arena, const char *text) {
  if (text[0] == '@') text += strcspn(text, " ");
  text += strspn(text, " {");
  size_t length = strcspn(text, " ;\t");
  return length ? arena_strndup(arena, text, length) : "?";
}

// The first column of "// |  10   |  2 |"; −1 when there is none.
static int live_of(const char *comment) {
  const char *bar = comment ? strchr(comment, '|') : NULL;
  if (!bar) return -1;
  bar += 1 + strspn(bar + 1, " ");
  return isdigit((unsigned char)*bar) ? atoi(bar) : *bar == '|' ? 0 : -1;
}

// A copy of [from, to) without blanks at its ends and without a closing ';'.
static char *trimmed(Arena *arena, const char *from, const char *to) {
  while (from < to && isspace((unsigned char)*from)) from++;
  while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == ';')) to--;
  return str_sanitise(arena, arena_strndup(arena, from, (size_t)(to - from)));
}

// Strikes the padding: NOPs, then a jump to itself under a label of its own.
static void end_kernel(Parser *parser) {
  const SassLine *lines = parser->lines;
  int n = parser->n;
  while (n > parser->kernel_start &&
         (!lines[n - 1].opcode || str_equal(lines[n - 1].opcode, "NOP")))
    n--;
  if (n >= parser->kernel_start + 2 && lines[n - 1].opcode && !lines[n - 2].opcode &&
      str_equal(lines[n - 1].opcode, "BRA") && strstr(lines[n - 1].text, lines[n - 2].text))
    n -= 2;
  parser->n = n;
}

static void begin_kernel(Parser *parser, const char *from, const char *to) {
  end_kernel(parser);
  parser->kernel =
      str_sanitise(parser->arena, arena_strndup(parser->arena, from, (size_t)(to - from)));
  parser->kernel_start = parser->n;
  parser->cuda_line = -1;
}

static void read_label(Parser *parser, const char *line, const char *colon) {
  if (strncmp(line, ".text.", 6) == 0) {
    begin_kernel(parser, line + 6, colon);
  } else if (line[0] == '.' && line[1] == 'L' && parser->kernel[0]) {
    add_line(parser, (SassLine){.kernel = parser->kernel,
                                .text = trimmed(parser->arena, line, colon),
                                .address = -1,
                                .cuda_line = -1,
                                .live_registers = live_of(strstr(colon, "//"))});
  }
}

static void read_instruction(Parser *parser, const char *code) {
  const char *end = strstr(code, "*/");
  if (!end || !parser->kernel[0]) return;
  const char *text = end + 2;
  const char *comment = strstr(text, "//");
  const char *to = comment ? comment : text + strlen(text);
  char *words = trimmed(parser->arena, text, to);
  if (!words[0]) return;
  add_line(parser, (SassLine){.kernel = parser->kernel,
                              .text = words,
                              .opcode = opcode_of(parser->arena, words),
                              .address = (int)(strtoul(code + 2, NULL, 16) & 0x7fffffff),
                              .cuda_line = parser->cuda_line,
                              .live_registers = live_of(comment)});
}

// Its code begins here; what some cubins have in front of it is no label of this name.
#define SECTION ".section\t.text."

static void read_line(Parser *parser, const char *line) {
  const char *start = line + strspn(line, " \t");
  const char *number = strstr(start, "\", line ");
  if (strncmp(start, SECTION, sizeof SECTION - 1) == 0) {
    const char *name = start + sizeof SECTION - 1;
    begin_kernel(parser, name, name + strcspn(name, ","));
  } else if (strncmp(start, "//## File ", 10) == 0 && number) {
    parser->cuda_line = atoi(number + 8);
  } else if (strncmp(start, "/*", 2) == 0 && isxdigit((unsigned char)start[2])) {
    read_instruction(parser, start);
  } else if (line[0] == '.') {
    const char *colon = strchr(line, ':');
    if (colon) read_label(parser, line, colon);
  }
}

static int by_count(const void *a, const void *b) {
  const SassCount *x = a, *y = b;
  int kernels = strcmp(x->kernel, y->kernel);
  if (kernels) return kernels;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : strcmp(x->opcode, y->opcode);
}

static void count_opcodes(Arena *arena, SassResult *result) {
  SassCount *counts = ARENA_ARRAY(arena, SassCount, result->n_lines + 1);
  int n = 0;
  for (int i = 0; i < result->n_lines; i++) {
    const SassLine *line = &result->lines[i];
    if (!line->opcode) continue;
    int at = 0;
    while (at < n && !(str_equal(counts[at].opcode, line->opcode) &&
                       str_equal(counts[at].kernel, line->kernel)))
      at++;
    if (at == n) counts[n++] = (SassCount){line->kernel, line->opcode, 0};
    counts[at].count++;
  }
  qsort(counts, (size_t)n, sizeof *counts, by_count);
  result->counts = counts;
  result->n_counts = n;
}

SassResult *sass_parse(Arena *arena, const char *text) {
  SassResult *result = ARENA_NEW(arena, SassResult);
  Parser parser = {.arena = arena, .kernel = "", .cuda_line = -1};
  while (*text) {
    size_t length = strcspn(text, "\n");
    read_line(&parser, arena_strndup(arena, text, length));
    text += length + (text[length] == '\n');
  }
  end_kernel(&parser);
  result->lines = parser.lines;
  result->n_lines = parser.n;
  result->ok = parser.n > 0;
  if (!result->ok) result->error = "the listing holds no instruction";
  count_opcodes(arena, result);
  return result;
}

const SassResult *sass_list(Arena *arena, SassLine *lines, int n) {
  SassResult *result = ARENA_NEW(arena, SassResult);
  for (int i = 0; i < n; i++) lines[i].opcode = opcode_of(arena, lines[i].text);
  *result = (SassResult){.ok = n > 0, .lines = lines, .n_lines = n};
  count_opcodes(arena, result);
  return result;
}

// Live counts from the second listing, if it is one of the same instructions.
static void merge_live(Arena *arena, SassResult *result, const char *listing) {
  const SassResult *counted = sass_parse(arena, listing);
  if (counted->n_lines != result->n_lines) return;
  SassLine *lines = ARENA_ARRAY(arena, SassLine, result->n_lines);
  for (int i = 0; i < result->n_lines; i++) {
    lines[i] = result->lines[i];
    if (!str_equal(lines[i].text, counted->lines[i].text)) return;
    lines[i].live_registers = counted->lines[i].live_registers;
  }
  result->lines = lines;
}

static SassResult *failed(Arena *arena, const char *tool, const char *sentence) {
  SassResult *result = ARENA_NEW(arena, SassResult);
  result->tool = tool;
  result->error = sentence;
  return result;
}

SassResult *sass_disassemble(Arena *arena, const void *cubin, size_t bytes, double deadline_s) {
  return sass_disassemble_one(arena, cubin, bytes, -1, deadline_s);
}

// Where a register says where to go on, the tool follows the data to name the places; of all other
// code it prints the same without, in three quarters of the time: 0.6 s in place of 0.8 s for the
// smallest cubin.
static bool wants_dataflow(const ToolResult *plain) {
  return plain->ok ? strstr(plain->output, "BRX") || strstr(plain->output, "JMX") : !plain->limited;
}

static ToolResult list_one(Arena *arena, const char *tool, const void *cubin, size_t bytes,
                           int symbol, double deadline_s) {
  const char *const all[] = {tool, "-ndf", "-c", "-gi", "INPUT", NULL};
  const char *const one[] = {
      tool, "-ndf", "-c", "-gi", "-fun", arena_printf(arena, "%d", symbol), "INPUT", NULL};
  enum { WORDS = sizeof one / sizeof *one };
  const char *words[WORDS] = {NULL};
  memcpy(words, symbol < 0 ? all : one, symbol < 0 ? sizeof all : sizeof one);
  const ToolResult plain = tool_run(arena, words, cubin, bytes, NULL, deadline_s);
  if (!wants_dataflow(&plain)) return plain;
  words[1] = tool;
  return tool_run(arena, words + 1, cubin, bytes, NULL, deadline_s);
}

SassResult *sass_disassemble_one(Arena *arena, const void *cubin, size_t bytes, int symbol,
                                 double deadline_s) {
  const char *tool = sass_find_tool(arena);
  if (!tool)
    return failed(arena, NULL,
                  "nvdisasm was not found: install the CUDA toolkit, put nvdisasm on PATH, or set "
                  "GEMMVIEW_NVDISASM");
  if (bytes < 4 || memcmp(cubin, "\177ELF", 4) != 0) return failed(arena, tool, "this is no cubin");
  const ToolResult run = list_one(arena, tool, cubin, bytes, symbol, deadline_s);
  if (!run.ok) return failed(arena, tool, run.error);
  SassResult *result = sass_parse(arena, run.output);
  result->tool = tool;
  return result;
}

// Addresses that nvdisasm says hold no instruction: it prints nothing then, but names all of them.
static int strike_refused(const char *said, unsigned char *code, size_t bytes, bool *struck) {
  static const unsigned char nop[SASS_BYTES] = {0x18, 0x79};
  static const char before[] = "at address 0x";
  int n = 0;
  for (const char *at = said; (at = strstr(at, before));) {
    at += sizeof before - 1;
    const size_t i = strtoul(at, NULL, 16) / SASS_BYTES;
    if (i >= bytes / SASS_BYTES || struck[i]) continue;
    memcpy(code + i * SASS_BYTES, nop, sizeof nop);
    struck[i] = true;
    n++;
  }
  return n;
}

static SassResult *without(Arena *arena, SassResult *sass, const bool *struck) {
  SassLine *lines = ARENA_ARRAY(arena, SassLine, sass->n_lines + 1);
  int n = 0;
  for (int i = 0; i < sass->n_lines; i++)
    if (sass->lines[i].address < 0 || !struck[sass->lines[i].address / SASS_BYTES])
      lines[n++] = sass->lines[i];
  sass->lines = lines;
  sass->n_lines = n;
  return sass;
}

SassResult *sass_disassemble_bytes(Arena *arena, const char *target, const void *code, size_t bytes,
                                   double deadline_s) {
  enum { TRIES = 4 };
  const char *tool = sass_find_tool(arena);
  if (!tool) return failed(arena, NULL, "nvdisasm was not found");
  const char *sm = str_starts(target, "sm_") ? target + 3 : target;
  const char *const words[] = {tool, "-b", arena_printf(arena, "SM%s", sm), "INPUT", NULL};
  unsigned char *asked = arena_alloc(arena, bytes + 1);
  memcpy(asked, code, bytes);
  bool *struck = ARENA_ARRAY(arena, bool, bytes / SASS_BYTES + 1);
  ToolResult run = {.ok = false};
  for (int i = 0; i < TRIES && !run.ok; i++) {
    run = tool_run(arena, words, asked, bytes, NULL, deadline_s);
    if (!run.ok && !strike_refused(run.output, asked, bytes, struck)) break;
  }
  if (!run.ok) return failed(arena, tool, run.error);
  const char *listing = arena_printf(arena, ".text.bytes:\n%s", run.output);
  return without(arena, sass_parse(arena, listing), struck);
}

void sass_add_live(Arena *arena, SassResult *result, const void *cubin, size_t bytes,
                   double deadline_s) {
  if (!result->ok) return;
  const char *const registers[] = {result->tool, "-c", "-plr", "-lrm", "count", "INPUT", NULL};
  const ToolResult run = tool_run(arena, registers, cubin, bytes, NULL, deadline_s);
  if (run.ok) merge_live(arena, result, run.output);
}
