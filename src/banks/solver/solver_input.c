// JSON → a problem; keys are checked, so that a misspelt "wieght" is told and not ignored.
//
// The examples are the slabs people ask about. tf32-b is the transposed B slab of a tf32 kernel: a
// warp reads a row of 128 floats from global memory, four of them per lane, and stores each float
// to a row of its own (4 * lane + 0 … 3) of a 128 x 16 slab, from which ldmatrix reads eight rows
// of 16 bytes at a time.
#include "banks/solver/solver_input.h"

#include "base/nearest.h"

static const SolverExample EXAMPLES[] = {
    {"tf32-a", "A of a tf32 kernel: 128 x 16 floats, 16-byte cp.async in, ldmatrix out",
     "{\"name\":\"tf32-a\",\"slab\":{\"rows\":128,\"row_bytes\":64,\"elem\":4},\"sites\":["
     "{\"name\":\"copy A\",\"op\":\"cpasync16\",\"repeat\":16,\"row\":\"i*8 + lane/4\","
     "\"col\":\"lane%4*4\"},"
     "{\"name\":\"read A\",\"op\":\"ldsm_x4\",\"repeat\":16,\"row\":\"i/2*16 + lane%16\","
     "\"col\":\"i%2*8 + lane/16*4\"}]}"},
    {"tf32-b",
     "transposed B of a tf32 kernel: 128 x 16 floats, stored float by float, ldmatrix out",
     "{\"name\":\"tf32-b\",\"slab\":{\"rows\":128,\"row_bytes\":64,\"elem\":4},\"sites\":["
     "{\"name\":\"store B\",\"op\":\"sts32\",\"repeat\":64,\"row\":\"4*lane + i%4\","
     "\"col\":\"i/4\"},"
     "{\"name\":\"read B\",\"op\":\"ldsm_x4\",\"repeat\":16,\"row\":\"i*8 + lane%8\","
     "\"col\":\"lane/8*4\"}]}"},
    {"hgemm-a", "A of an fp16 kernel: 128 rows of 64 halves (128 bytes), cp.async in, ldmatrix out",
     "{\"name\":\"hgemm-a\",\"slab\":{\"rows\":128,\"row_bytes\":128,\"elem\":2},\"sites\":["
     "{\"name\":\"copy A\",\"op\":\"cpasync16\",\"repeat\":32,\"row\":\"i*4 + lane/8\","
     "\"col\":\"lane%8*8\"},"
     "{\"name\":\"read A\",\"op\":\"ldsm_x4\",\"repeat\":32,\"row\":\"i/4*16 + lane%16\","
     "\"col\":\"i%4*16 + lane/16*8\"}]}"},
    {"hgemm-c",
     "staging of an fp16 result: 64 x 64 halves, 4-byte stores of fragments, 16-byte loads",
     "{\"name\":\"hgemm-c\",\"slab\":{\"rows\":64,\"row_bytes\":128,\"elem\":2},\"sites\":["
     "{\"name\":\"store C\",\"op\":\"sts32\",\"repeat\":64,\"row\":\"i/8*8 + lane/4\","
     "\"col\":\"i%8*8 + lane%4*2\"},"
     "{\"name\":\"read C\",\"op\":\"lds128\",\"repeat\":16,\"row\":\"i*4 + lane/8\","
     "\"col\":\"lane%8*8\"}]}"},
    {"transpose", "a 32 x 32 float tile written by rows and read by columns",
     "{\"name\":\"transpose\",\"slab\":{\"rows\":32,\"row_bytes\":128,\"elem\":4},\"sites\":["
     "{\"name\":\"write row\",\"op\":\"sts32\",\"repeat\":32,\"row\":\"i\",\"col\":\"lane\"},"
     "{\"name\":\"read column\",\"op\":\"lds32\",\"repeat\":32,\"row\":\"lane\",\"col\":\"i\"}]}"},
};

int solver_example_count(void) { return (int)(sizeof EXAMPLES / sizeof EXAMPLES[0]); }
const SolverExample *solver_example_at(int index) { return &EXAMPLES[index]; }

const SolverExample *solver_example_find(const char *name, Diags *diags) {
  int n = solver_example_count();
  const char **names = ARENA_ARRAY(diags->arena, const char *, n);
  Str all = str_new(diags->arena);
  for (int i = 0; i < n; i++) {
    names[i] = EXAMPLES[i].name;
    str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (str_equal(names[i], name)) return &EXAMPLES[i];
  }
  Diag *diag = diag_add(diags, "example", "there is no example \"%s\"; there are %s",
                        str_sanitise(diags->arena, name), all.text);
  diag->nearest = nearest_name(name, names, n);
  return NULL;
}

// One site object of the form above.
static bool read_site(Arena *arena, const LayoutSlab *slab, const JsonValue *value, SlabSite *out,
                      Diags *diags) {
  static const char *const keys[] = {"name", "op", "weight", "repeat", "row", "col"};
  SlabSiteText text = {.name = "", .weight = 1, .repeat = 1};
  bool ok = json_check_keys(value, keys, 6, diags);
  ok &= json_require_string(value, "name", &text.name, diags);
  ok &= json_require_string(value, "op", &text.op, diags);
  ok &= json_require_string(value, "row", &text.row, diags);
  ok &= json_require_string(value, "col", &text.col, diags);
  ok &= json_optional_int(value, "weight", 0, SLAB_WEIGHT_MAX, &text.weight, diags);
  ok &= json_optional_int(value, "repeat", 1, SLAB_REPEAT_MAX, &text.repeat, diags);
  return ok && slab_site_build(arena, slab, &text, out, diags);
}

static bool read_slab(const JsonValue *root, LayoutSlab *slab, Diags *diags) {
  static const char *const keys[] = {"rows", "row_bytes", "elem"};
  const JsonValue *value = json_require_object(root, "slab", diags);
  if (!value || !json_check_keys(value, keys, 3, diags)) return false;
  bool ok = json_require_int(value, "rows", 1, BANK_SMEM_BYTES_MAX, &slab->rows, diags);
  ok &= json_require_int(value, "row_bytes", 1, BANK_SMEM_BYTES_MAX, &slab->row_bytes, diags);
  ok &= json_require_int(value, "elem", 1, 16, &slab->elem_bytes, diags);
  return ok && layout_check_slab(slab, diags);
}

bool solver_problem_read(Arena *arena, const char *text, size_t n, const char *what,
                         SolverProblem *out, Diags *diags) {
  static const char *const keys[] = {"name", "slab", "sites"};
  *out = (SolverProblem){.name = ""};
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root || !json_check_keys(root, keys, 3, diags)) return false;
  if (!json_optional_string(root, "name", &out->name, diags)) return false;
  const JsonValue *sites = json_require_array(root, "sites", diags);
  if (!sites || !read_slab(root, &out->slab, diags)) return false;
  out->n_sites = json_count(sites);
  if (out->n_sites < 1 || out->n_sites > SOLVER_SITES_MAX) {
    json_diag(diags, sites, "%d sites; a problem has 1 to %d", out->n_sites, SOLVER_SITES_MAX);
    return false;
  }
  SlabSite *built = ARENA_ARRAY(arena, SlabSite, out->n_sites);
  out->sites = built;
  bool ok = true;
  for (int i = 0; i < out->n_sites; i++)
    ok &= read_site(arena, &out->slab, json_at(sites, i), &built[i], diags);
  return ok;
}
