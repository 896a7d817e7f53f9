// Arrays are filled as index.json says in words: each "init" is a row of the table below.
#include "open_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ptx/module/float_format.h"

#define FOLDER "tests/data/open/"

static const char *const ids[] = {"k01", "k03", "k05", "k07", "k09",
                                  "k11", "k13", "k15", "k17", "k19"};
int open_case_count(void) { return (int)(sizeof ids / sizeof ids[0]); }
const char *open_case_id(int index) { return ids[index]; }

char *open_case_bytes(Arena *arena, const char *path, size_t *n) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s cannot be read", path);
  fseek(file, 0, SEEK_END);
  *n = (size_t)ftell(file);
  rewind(file);
  char *bytes = arena_alloc(arena, *n + 1);
  ck_assert_uint_eq(fread(bytes, 1, *n, file), *n);
  fclose(file);
  return bytes;
}

static char *read_bytes(Arena *arena, const char *name, size_t *n) {
  return open_case_bytes(arena, arena_printf(arena, FOLDER "%s", name), n);
}

const char *open_case_text(Arena *arena, const char *name) {
  size_t n;
  return read_bytes(arena, name, &n);
}

// What is known of a kernel without a run of it: kept until the tests end, for some suites ask for
// the same ones a thousand times.
enum { CASES = sizeof ids / sizeof *ids, ARGS_MOST = 8 };
typedef struct Known {
  const JsonValue *row;             // of index.json
  const PtxModule *module;          // its own PTX's
  unsigned char *given[ARGS_MOST];  // contents of each argument; NULL: none
} Known;

static Arena *kept(void) {
  static Arena *arena;
  if (!arena) arena = arena_new("kept");
  return arena;
}

static Known *known_of(int index) {
  static Known known[CASES];
  return &known[index];
}

static const JsonValue *find_case(Arena *arena, const char *id) {
  Diags diags = diags_new(arena);
  const char *text = open_case_text(arena, "index.json");
  const JsonValue *root = json_parse(arena, text, strlen(text), &diags, "index.json");
  ck_assert_msg(root != NULL, "%s", diags_text(arena, &diags));
  const JsonValue *kernels = json_object_get(root, "kernels");
  for (int i = 0; i < json_count(kernels); i++) {
    const char *name = "";
    json_require_string(json_at(kernels, i), "name", &name, &diags);
    if (str_starts(name, id)) return json_at(kernels, i);
  }
  ck_abort_msg("%s is not in index.json", id);
  return NULL;
}

static void read_triple(const JsonValue *launch, const char *key, int out[3], Diags *diags) {
  const JsonValue *list = json_object_get(launch, key);
  for (int d = 0; d < 3; d++)
    ck_assert(json_read_int(json_at(list, d), 1, 1 << 30, &out[d], diags));
}

typedef enum Fill { FLOATS, HALVES } Fill;
static const struct {
  const char *init;
  Fill fill;
  int shift;
  double scale, add;
} fills[] = {
    {"floats, (s>>8)/2^24-0.5", FLOATS, 8, 0x1p-24, -0.5},
    {"floats, (s>>8)/2^24", FLOATS, 8, 0x1p-24, 0},
    {"floats x,y,z in order, (s>>8)/2^24", FLOATS, 8, 0x1p-24, 0},
    {"halves, ((s>>28)-8)/8", HALVES, 28, 0.125, -1},
    {"halves, (s>>8)/2^23-1", HALVES, 8, 0x1p-23, -1},
};

static void fill(unsigned char *bytes, int64_t n, const char *init, int *last, uint32_t *s) {
  for (size_t f = 0; f < sizeof fills / sizeof fills[0] && !str_starts(init, "same"); f++)
    if (str_equal(fills[f].init, init)) *last = (int)f;
  ck_assert_msg(*last >= 0, "an init that is not known: %s", init);
  const int size = fills[*last].fill == FLOATS ? 4 : 2;
  for (int64_t at = 0; at < n; at += size) {
    *s = *s * 1664525u + 1013904223u;
    const float value =
        (float)((double)(*s >> fills[*last].shift) * fills[*last].scale + fills[*last].add);
    const uint16_t half = ptx_f16_of(value);
    memcpy(bytes + at, size == 4 ? (const void *)&value : (const void *)&half, (size_t)size);
  }
}

// Contents of an array, as index.json says them.
static unsigned char *contents_of(Arena *arena, const JsonValue *arg, size_t *n, int *last,
                                  uint32_t *s) {
  Diags diags = diags_new(arena);
  const char *init = NULL, *file = NULL;
  json_optional_string(arg, "init", &init, &diags);
  json_optional_string(arg, "file", &file, &diags);
  if (file) return (unsigned char *)read_bytes(arena, file, n);
  if (!init) return NULL;
  unsigned char *contents = arena_alloc(arena, *n);
  fill(contents, (int64_t)*n, init, last, s);
  return contents;
}

// The arguments of a kernel are filled one behind the other, by one row of numbers.
static void fill_args(int index) {
  Known *known = known_of(index);
  Diags diags = diags_new(kept());
  const JsonValue *args = json_object_get(known->row, "args");
  int last = -1;
  uint32_t s = (uint32_t)atoi(ids[index] + 1);
  for (int i = 0; i < json_count(args); i++) {
    const char *type = "";
    int bytes = 0;
    json_require_string(json_at(args, i), "type", &type, &diags);
    if (!strchr(type, '*')) continue;
    json_require_int(json_at(args, i), "bytes", 0, 1 << 30, &bytes, &diags);
    size_t n = (size_t)bytes;
    known->given[i] = contents_of(kept(), json_at(args, i), &n, &last, &s);
  }
}

static const Known *settled(int index) {
  Known *known = known_of(index);
  if (known->row) return known;
  known->row = find_case(kept(), ids[index]);
  fill_args(index);
  return known;
}

static void give_arg(Arena *arena, OpenCase *given, int index, const JsonValue *arg,
                     const unsigned char *contents) {
  Diags diags = diags_new(arena);
  const char *type = "", *content = NULL;
  int bytes = 0;
  json_require_string(arg, "type", &type, &diags);
  if (!strchr(type, '*')) {
    double number = 0;
    ck_assert(json_require_double(arg, "value", &number, &diags));
    const int32_t whole = (int32_t)number;
    const float single = (float)number;
    const bool is_float = str_equal(type, "float");
    ptx_machine_param(given->machine, index, is_float ? (const void *)&single : &whole, 4);
    return;
  }
  json_require_int(arg, "bytes", 0, 1 << 30, &bytes, &diags);
  json_require_string(arg, "content", &content, &diags);
  given->bytes[index] = bytes;
  given->buffers[index] = ptx_machine_buffer(
      given->machine, "arg", bytes, contents,
      str_equal(content, "uninitialized") ? PTX_CONTENT_UNWRITTEN : PTX_CONTENT_GIVEN);
  ptx_machine_param(given->machine, index, &given->buffers[index], 8);
}

OpenCase open_case_load_module(Arena *arena, int index, const PtxModule *module) {
  Diags diags = diags_new(arena);
  OpenCase given = {.id = ids[index], .module = module};
  const Known *known = settled(index);
  const JsonValue *row = known->row;
  const char *entry = "";
  json_require_string(row, "entry", &entry, &diags);
  given.kernel = ptx_module_kernel(given.module, entry, &diags);
  ck_assert_msg(given.kernel != NULL, "%s", diags_text(arena, &diags));
  const JsonValue *launch = json_object_get(row, "launch");
  read_triple(launch, "grid", given.launch.grid, &diags);
  read_triple(launch, "block", given.launch.block, &diags);
  json_require_int(launch, "dynamic_smem", 0, 1 << 20, &given.launch.dynamic_smem, &diags);
  given.launch.budget = INT64_C(2000000000);
  given.machine = ptx_machine_new(arena, given.module, given.kernel, &given.launch, &diags);
  ck_assert_msg(given.machine != NULL, "%s", diags_text(arena, &diags));
  given.tally = ptx_tally_new(arena, given.module, given.kernel);
  ptx_machine_watch(given.machine, ptx_tally_access, given.tally);
  const JsonValue *args = json_object_get(row, "args");
  given.n_args = json_count(args);
  ck_assert_int_le(given.n_args, ARGS_MOST);
  for (int i = 0; i < given.n_args; i++)
    give_arg(arena, &given, i, json_at(args, i), known->given[i]);
  return given;
}

OpenCase open_case_load(Arena *arena, int index, const char *ptx) {
  Known *known = known_of(index);
  if (!ptx && known->module) return open_case_load_module(arena, index, known->module);
  Arena *of = ptx ? arena : kept();
  Diags diags = diags_new(of);
  const char *text = ptx ? ptx : open_case_text(of, arena_printf(of, "%s.ptx", ids[index]));
  const PtxModule *module = ptx_module_read(of, text, strlen(text), ids[index], &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(of, &diags));
  if (!ptx) known->module = module;
  return open_case_load_module(arena, index, module);
}

PtxOutcome open_case_run(const OpenCase *given) {
  PtxOutcome outcome = PTX_DONE;
  for (int z = 0; z < given->launch.grid[2]; z++)
    for (int y = 0; y < given->launch.grid[1]; y++)
      for (int x = 0; x < given->launch.grid[0] && outcome == PTX_DONE; x++)
        outcome = ptx_machine_run(given->machine, x, y, z);
  return outcome;
}

int open_case_counts(Arena *arena, const char *id, OpenCount *out, int most) {
  int n = 0;
  char *text = arena_strdup(arena, open_case_text(arena, "counts.jsonl"));
  for (char *line = strtok(text, "\n"); line && n < most; line = strtok(NULL, "\n")) {
    Diags diags = diags_new(arena);
    const JsonValue *row = json_parse(arena, line, strlen(line), &diags, "counts.jsonl");
    OpenCount *c = &out[n];
    ck_assert(json_require_string(row, "kernel", &c->kernel, &diags) &&
              json_require_string(row, "file", &c->file, &diags) &&
              json_require_int(row, "line", 1, 1 << 20, &c->line, &diags) &&
              json_require_int(row, "wavefronts", 0, 1 << 30, &c->wavefronts, &diags) &&
              json_require_int(row, "ideal", 0, 1 << 30, &c->ideal, &diags) &&
              json_require_int(row, "executed", 0, 1 << 30, &c->executed, &diags));
    n += str_equal(c->kernel, id);
  }
  return n;
}
