#include "edges.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "open_case.h"

enum { EDGES_MAX = 16, A_LINE = 16 };

typedef struct Edges {
  int n;
  uint64_t values[EDGES_MAX];
} Edges;

static void read_edges(const char *row, Edges *to) {
  to->n = 0;
  char *end = NULL;
  for (const char *at = row; to->n < EDGES_MAX; at = end) {
    const uint64_t value = strtoull(at, &end, 16);
    if (end == at) break;
    to->values[to->n++] = value;
  }
  ck_assert_int_gt(to->n, 0);
}

// As often as it takes every a beside every b, or `rounds` times; what is said again is left out.
static void run_body(Str *out, const char *body, const Edges edges[3], int rounds, EdgeRun *run) {
  str_printf(out, "%s\n", body);
  const int pairs = edges[0].n * edges[1].n;
  size_t begin = out->length;
  for (int first = 0; first < pairs && first < rounds * EDGE_LANES; first += EDGE_LANES) {
    uint64_t operands[3][EDGE_LANES];
    for (int lane = 0; lane < EDGE_LANES; lane++) {
      const int pair = first + lane;
      operands[0][lane] = edges[0].values[pair % edges[0].n];
      operands[1][lane] = edges[1].values[pair / edges[0].n % edges[1].n];
      operands[2][lane] = edges[2].values[pair % edges[2].n];
    }
    Arena *arena = arena_new("a body");
    Str said = str_new(arena);
    run(arena, &said, body, operands);
    if (strcmp(out->text + begin, said.text) != 0) {
      begin = out->length;
      str_add(out, said.text);
    }
    arena_free(arena);
  }
}

char *edges_read(Arena *arena, const char *list) {
  size_t n = 0;
  return open_case_bytes(arena, arena_printf(arena, "tests/data/%s", list), &n);
}

void edges_check(const char *list, const char *golden, int rounds, EdgeRun *run) {
  Arena *arena = arena_new("test");
  char *rows = edges_read(arena, list);
  Edges edges[3] = {{1, {0}}, {1, {0}}, {1, {0}}};
  Str out = str_new(arena);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n")) {
    const bool is_edges = row[0] >= 'a' && row[0] <= 'c' && row[1] == ' ';
    if (is_edges) read_edges(row + 2, &edges[row[0] - 'a']);
    if (is_edges || row[0] == '#')
      str_printf(&out, "%s\n", row);
    else
      run_body(&out, row, edges, rounds, run);
  }
  golden_check(golden, out.text);
  arena_free(arena);
}

bool edges_name(const char *body, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = body; (at = strstr(at, name)) != NULL; at += n)
    if (at[n] < '0' || at[n] > '9') return true;
  return false;
}

void edges_tell(Str *out, const char *name, const uint32_t *words, int n, int digits) {
  str_printf(out, " %s", name);
  for (int lane = 0; lane < EDGE_LANES; lane++) {
    str_add(out, digits > 1 ? lane % A_LINE ? " " : "\n   " : lane == 0 ? " " : "");
    for (int word = n - 1; word >= 0; word--)
      str_printf(out, "%0*x", digits, words[n * lane + word]);
  }
  str_add(out, "\n");
}
