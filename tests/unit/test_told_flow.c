// The registers that instructions of machine code read and write, lose, or read unwritten:
// tests/golden/told/flow.txt has it for the recorded kernels as they are, and for each of them with
// another register at places all over the code.
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "golden.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine/back/mc_back.h"
#include "machine/mc_cubin.h"
#include "machine/mc_flow.h"
#include "machine/mc_run.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_told_flow(void);

enum { CHANGES = 8, HINTS = MC_FLOW_HINTS, BEFORE = 5 };

typedef struct Code {
  McCubin cubin;
  McListing *listing;
  int n;
} Code;

static Code read_code(Arena *arena, const char *id) {
  size_t bytes = 0, length = 0;
  Code code = {.n = 0};
  const char *cubin = machine_case_file(arena, id, ".cubin", &bytes);
  const SassResult *sass = sass_parse(arena, machine_case_file(arena, id, ".sass", &length));
  ck_assert(mc_cubin_read(arena, cubin, bytes, &code.cubin));
  code.listing = ARENA_ARRAY(arena, McListing, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++)
    if (sass->lines[i].opcode)
      code.listing[code.n++] = (McListing){sass->lines[i].address, sass->lines[i].text};
  return code;
}

static uint64_t sum_number(uint64_t sum, int64_t number) {
  return hash_bytes(sum, &number, sizeof number);
}

// The registers that each instruction reads and writes, and which are read behind it.
static uint64_t sum_registers(const PtxModule *m, const McFlow *flow, uint64_t sum) {
  PtxArg places[MC_FLOW_SOURCES];
  for (int pc = 0; pc < m->n_code; pc++) {
    const int reads = mc_flow_reads(&m->code[pc], places);
    sum = sum_number(sum, reads);
    for (int i = 0; i < reads; i++) {
      sum = sum_number(sum_number(sum, places[i]), mc_flow_is_read(flow, pc, places[i]));
      sum = sum_number(sum, mc_flow_is_written(flow, pc, BEFORE, places[i]));
    }
    const int writes = mc_flow_writes(&m->code[pc], places);
    sum = sum_number(sum, writes);
    for (int i = 0; i < writes; i++)
      sum = sum_number(sum_number(sum, places[i]), mc_flow_is_read(flow, pc, places[i]));
  }
  return sum;
}

static void tell_flow(Arena *arena, Str *out, const PtxModule *m, bool with_registers) {
  const McFlow flow = mc_flow(arena, m->code, m->n_code);
  int hints[HINTS];
  for (int pc = 0; pc < m->n_code; pc++) {
    if (flow.is_dead[pc]) str_printf(out, " %x dead", pc * 16);
    if (flow.lost_to[pc] != MC_NOWHERE)
      str_printf(out, " %x lost to %x", pc * 16, flow.lost_to[pc] * 16);
    if (flow.is_unwritten[pc]) str_printf(out, " %x unwritten", pc * 16);
  }
  str_add(out, "; hints");
  for (int i = 0, n = mc_flow_hints(arena, m, hints, HINTS); i < n; i++)
    str_printf(out, " %x", hints[i] * 16);
  str_printf(out, "; predicates %d %d", mc_dead_predicate(m->code, m->n_code, m->n_code - 1),
             mc_dead_predicate(m->code, m->n_code, m->n_code / 2));
  if (with_registers)
    str_printf(out, "; registers %016llx", (unsigned long long)sum_registers(m, &flow, HASH_START));
  str_add(out, "\n");
}

// The n-th register or predicate of a text with another number; NULL: there are not as many.
static const char *with_other(Arena *arena, const char *text, int nth) {
  for (const char *at = text; *at; at++) {
    const bool begins = at == text || strchr(" ,[-!|+@U", at[-1]);
    if (!begins || (*at != 'R' && *at != 'P') || !isdigit((unsigned char)at[1]) || nth--) continue;
    char *end = NULL;
    const long number = strtol(at + 1, &end, 10);
    return arena_printf(arena, "%.*s%ld%s", (int)(at + 1 - text), text, number ^ 1, end);
  }
  return NULL;
}

static void tell_changed(Arena *arena, Str *out, const Code *code, int pc, int nth) {
  Diags diags = diags_new(arena);
  const char *was = code->listing[pc].text, *is = with_other(arena, was, nth);
  if (!is) return;
  code->listing[pc].text = is;
  const PtxModule *m =
      mc_module(arena, &code->cubin, code->cubin.kernels, code->listing, code->n, "test", &diags);
  code->listing[pc].text = was;
  str_printf(out, "  %x %s:", pc * 16, is);
  if (m)
    tell_flow(arena, out, m, false);
  else
    str_printf(out, " %s\n", diags_text(arena, &diags));
}

START_TEST(flows_are_as_reviewed) {
  Arena *kept = arena_new("report"), *arena = arena_new("a change");
  Str out = str_new(kept);
  for (int index = 0; index < open_case_count(); index++) {
    const char *id = open_case_id(index);
    str_printf(&out, "%s:", id);
    tell_flow(arena, &out, machine_case_recorded(arena, id), true);
    const Code code = read_code(kept, id);
    for (int i = 0; i < CHANGES; i++, arena_reset(arena))
      tell_changed(arena, &out, &code, (3 + i * 7919) % code.n, i % 3);
  }
  golden_check("told/flow.txt", out.text);
  arena_free(arena);
  arena_free(kept);
}
END_TEST

Suite *suite_told_flow(void) {
  Suite *suite = suite_create("told_flow");
  TCase *tcase = tcase_create("flow");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, flows_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
