// Instructions of machine code at the edges of their operands: tests/data/code_edges.txt lists them
// (edges.h), and tests/golden/told/code.txt holds what each of 32 lanes gets, and what is found.
//
// R8, R10 and R12 hold a, b and c of the lane, the registers behind them their upper words; R0 is
// the lane, P0 holds in odd lanes, P3 where lane & 2. What a body puts into R16 to R19, P1 and P2
// is told, and what else changes.
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"
#include "machine/mc_code.h"
#include "machine/mc_run.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_told_code(void);

// R16 to R19, P1, P2; R16 holds FIRST before the body, the next ones one more.
enum { K03 = 1, WORDS = 6, FIRST = 0x5a0016 };

// The kernel is k03: c[0x0][0x210] is where it stores, c[0x0][0x218] what it reads.
static const char before[] =
    "S2R R1, SR_TID.Y;ISETP.NE.AND P6, PT, R1, RZ, PT;@P6 EXIT;S2R R0, SR_TID.X;"
    "ULDC.64 UR4, c[0x0][0x208];LDC.64 R6, c[0x0][0x218];IMAD.WIDE R6, R0, 0x18, R6;"
    "LDG.E.64 R8, desc[UR4][R6.64];LDG.E.64 R10, desc[UR4][R6.64+0x8];"
    "LDG.E.64 R12, desc[UR4][R6.64+0x10];LDC.64 R2, c[0x0][0x210];IMAD.WIDE R2, R0, 0x18, R2;"
    "R2P PR, R0, 0x1;LOP3.LUT P3, RZ, R0, 0x2, RZ, 0xc0, !PT;MOV R16, 0x5a0016;"
    "MOV R17, 0x5a0017;MOV R18, 0x5a0018;MOV R19, 0x5a0019;PLOP3.LUT P1, P2, PT, PT, PT, 0x0, 0x0;";
static const char behind[] =
    ";P2R R14, PR, RZ, 0x6;STG.E.64 desc[UR4][R2.64], R16;STG.E.64 desc[UR4][R2.64+0x8], R18;"
    "STG.E desc[UR4][R2.64+0x10], R14;EXIT;";

// "S2R R1, SR_TID.Y;@P6 EXIT;" as nvdisasm lists it.
static const char *listing_of(Arena *arena, const char *code) {
  Str out = str_new(arena);
  int address = 0;
  str_add(&out, "_Z13transpose_xorPfPKfjj:\n.text._Z13transpose_xorPfPKfjj:\n");
  for (const char *at = code; *at; at += strcspn(at, ";") + 1, address += 16) {
    at += strspn(at, " ");
    str_printf(&out, "        /*%04x*/    %.*s ;\n", address, (int)strcspn(at, ";"), at);
  }
  return out.text;
}

static void tell_findings(Str *out, const PtxMachine *machine) {
  for (int i = 0; i < ptx_machine_findings(machine); i++) {
    const PtxFinding *f = ptx_machine_finding(machine, i);
    str_printf(out, " %s in lanes %08x, first in thread %d: %d bytes at %llx, %lld times %s\n",
               ptx_finding_names[f->kind], f->lanes, f->thread, f->bytes,
               (unsigned long long)f->address, (long long)f->count, f->text ? f->text : "");
  }
  if (ptx_machine_approximations(machine))
    str_printf(out, " %lld approximations\n", (long long)ptx_machine_approximations(machine));
}

// How often each instruction ran, and what its accesses cost, by a sum.
static void tell_counts(Str *out, const OpenCase *c) {
  uint64_t sum = HASH_START;
  for (int pc = 0; pc < c->module->n_code; pc++) {
    const PtxSiteCount *s = ptx_tally_site(c->tally, pc);
    const int64_t said[] = {ptx_machine_executions(c->machine, pc),
                            s ? s->executions : -1,
                            s ? s->wavefronts : -1,
                            s ? s->ideal : -1,
                            s ? s->wavefronts_most : -1,
                            s ? s->sectors : -1,
                            s ? s->ideal_sectors : -1,
                            s ? s->countable : -1,
                            s ? s->data_addresses : -1,
                            s ? s->data_mask : -1};
    sum = hash_bytes(sum, said, sizeof said);
  }
  str_printf(out, " counts %08x\n", (unsigned)sum);
}

static void tell_words(Str *out, const char *body, const uint32_t *stored) {
  static const char *const names[WORDS] = {"R16", "R17", "R18", "R19", "P1", "P2"};
  for (int word = 0; word < WORDS; word++) {
    uint32_t of_lanes[EDGE_LANES];
    const bool is_register = word < 4;
    for (int lane = 0; lane < EDGE_LANES; lane++)
      of_lanes[lane] =
          is_register ? stored[6 * lane + word] : stored[6 * lane + 4] >> (word - 3) & 1;
    bool told = edges_name(body, names[word]);
    for (int lane = 0; lane < EDGE_LANES; lane++)
      told |= of_lanes[lane] != (is_register ? FIRST + (uint32_t)word : 0);
    if (told) edges_tell(out, names[word], of_lanes, 1, is_register ? 8 : 1);
  }
}

// Which operand of IDP.4A.U8.S8 is signed say bits 73 and 74 alone: words of a text have no order.
static void write_signs(Arena *arena, char *cubin, size_t n, const char *body) {
  McCubin read;
  int at = 0;
  if (!str_starts(body, "IDP.4A.")) return;
  ck_assert(mc_cubin_read(arena, cubin, n, &read));
  for (const char *c = before; *c; c++) at += *c == ';';
  char *high = cubin + ((const char *)read.kernels[0].text.at - cubin) + 16 * at + 9;
  *high = (char)((*high & ~6) | (body[7] == 'S') << 1 | (body[10] == 'S') << 2);
}

static void tell(Arena *arena, Str *out, const char *body, const uint64_t operands[3][EDGE_LANES]) {
  size_t n = 0;
  Diags diags = diags_new(arena);
  char *cubin = machine_case_file(arena, "k03", ".cubin", &n);
  write_signs(arena, cubin, n, body);
  const char *code = arena_printf(arena, "%s%s%s", before, body, behind);
  const PtxModule *module =
      machine_case_read(arena, cubin, n, listing_of(arena, code), NULL, &diags);
  if (!module) {
    str_printf(out, " %s\n", diags_text(arena, &diags));
    return;
  }
  const OpenCase c = open_case_load_module(arena, K03, module);
  uint64_t *in = (uint64_t *)(uintptr_t)ptx_machine_bytes(c.machine, c.buffers[1],
                                                          3 * EDGE_LANES * sizeof(uint64_t));
  for (int lane = 0; lane < EDGE_LANES; lane++)
    for (int i = 0; i < 3; i++) in[3 * lane + i] = operands[i][lane];
  const PtxOutcome outcome = ptx_machine_run(c.machine, 0, 0, 0);
  tell_findings(out, c.machine);
  if (strchr(body, '[') || outcome != PTX_DONE) tell_counts(out, &c);
  if (outcome == PTX_DONE)
    tell_words(out, body, ptx_machine_bytes(c.machine, c.buffers[0], 4 * 6 * EDGE_LANES));
  else
    str_add(out, " does not end\n");
}

START_TEST(instructions_at_their_edges_are_as_reviewed) {
  edges_check("code_edges.txt", "told/code.txt", EDGE_ROUNDS_MAX, tell);
}
END_TEST

// ---- lines that are changed ---------------------------------------------------------------------

static uint64_t sum_step(uint64_t sum, const McStep *step);

// What the first instruction of a body is read as, or why it is not.
static void tell_read(Str *out, const char *body, const char *label) {
  Arena *arena = arena_new("a line");
  size_t n = 0;
  Diags diags = diags_new(arena);
  const char *cubin = machine_case_file(arena, "k03", ".cubin", &n);
  const PtxModule *module = machine_case_read(
      arena, cubin, n, listing_of(arena, arena_printf(arena, "%s;EXIT;", body)), NULL, &diags);
  if (!module) {
    str_printf(out, " %s %04x", label,
               (unsigned)hash_text(HASH_START, diags_text(arena, &diags)) & 0xffff);
  } else {
    const PtxInst *i = &module->code[0];
    uint64_t sum = hash_text(HASH_START, i->why ? i->why : i->row ? i->row->name : "");
    sum = hash_bytes(sum, &i->guard, sizeof i->guard);
    if (i->machine) sum = sum_step(sum, i->machine);
    if (i->machine) sum = hash_bytes(sum, i->machine->words, sizeof i->machine->words);
    for (int f = 0; f < module->machine->n_fixed; f++) {
      const McFixed *fixed = &module->machine->fixed[f];
      sum = hash_bytes(sum, &fixed->value, sizeof fixed->value);
    }
    for (int g = 0; g < i->n_groups; g++) {
      const int group[] = {(int)i->groups[g].kind, i->groups[g].n, i->groups[g].written};
      sum = hash_bytes(sum, group, sizeof group);
    }
    str_printf(out, " %s%s %04x", i->why ? "!" : "", label, (unsigned)sum & 0xffff);
  }
  arena_free(arena);
}

// A line without each of its marks, and with each number one higher; "!": it is refused.
static void tell_changed_line(Arena *arena, Str *out, const char *body) {
  str_printf(out, "%s\n ", body);
  tell_read(out, body, "as it is");
  for (const char *at = body; *at && *at != ';'; at++) {
    const int place = (int)(at - body);
    if (ispunct((unsigned char)*at))
      tell_read(out, arena_printf(arena, "%.*s%s", place, body, at + 1),
                arena_printf(arena, "%c", *at));
    char *end = NULL;
    if (!isdigit((unsigned char)*at) || (place && isxdigit((unsigned char)at[-1]))) continue;
    const unsigned long long value = strtoull(at, &end, 0);
    const char *more = arena_printf(arena, at[1] == 'x' ? "0x%llx" : "%llu", value + 1);
    tell_read(out, arena_printf(arena, "%.*s%s%s", place, body, more, end), more);
    at = end - 1;
  }
  str_add(out, "\n");
}

// The first body of each name with its words: "IADD3.X".
START_TEST(changed_lines_are_read_as_reviewed) {
  enum { NAMES_MAX = 1024 };
  Arena *kept = arena_new("test"), *arena = arena_new("a row");
  char *rows = edges_read(kept, "code_edges.txt");
  const char *names[NAMES_MAX];
  int n_names = 0;
  Str out = str_new(kept);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(arena)) {
    if (row[0] == '#' || (islower((unsigned char)row[0]) && row[1] == ' ')) continue;
    const char *name = arena_strndup(kept, row, strcspn(row, " ;"));
    int i = 0;
    while (i < n_names && !str_equal(names[i], name)) i++;
    if (i < n_names || n_names == NAMES_MAX) continue;
    names[n_names++] = name;
    tell_changed_line(arena, &out, row);
  }
  golden_check("told/code_lines.txt", out.text);
  arena_free(arena);
  arena_free(kept);
}
END_TEST

// ---- what a cubin says, and what is made of its code --------------------------------------------

static void tell_kernel(Str *out, const McKernel *k) {
  str_printf(out, "  %s: %d bytes of parameters at %d, shared %d, stack %d, registers %d\n",
             k->name, k->parameter_bytes, k->parameters_at, k->shared_bytes, k->stack_bytes,
             k->registers);
  str_printf(out, "    at most %d %d %d, required %d %d %d, cluster %d %d %d;", k->maximum[0],
             k->maximum[1], k->maximum[2], k->required[0], k->required[1], k->required[2],
             k->cluster[0], k->cluster[1], k->cluster[2]);
  for (int i = 0; i < k->n_parameters; i++)
    str_printf(out, " %d+%d", k->parameters[i].offset, k->parameters[i].bytes);
  str_add(out, "\n");
}

static uint64_t sum_number(uint64_t sum, int64_t number) {
  return hash_bytes(sum, &number, sizeof number);
}

// The operands of a step, and what is gathered for it.
static uint64_t sum_step(uint64_t sum, const McStep *step) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    sum = sum_number(sum_number(sum_number(sum, o->letter), o->present), o->n);
    sum = sum_number(sum_number(sum_number(sum, o->keep), o->flip), o->add);
    for (int i = 0; i < o->n; i++) sum = sum_number(sum, o->arg[i]);
  }
  for (int n = 0; n < step->n_gathers; n++) {
    const McGather *g = &step->gathers[n];
    sum = sum_number(sum_number(sum_number(sum, g->kind), g->t), g->low);
    sum = sum_number(sum_number(sum_number(sum, g->high), g->uniform), g->uniform_high);
    sum = sum_number(sum_number(sum_number(sum, g->scale), g->half), g->offset);
    sum = sum_number(sum_number(sum_number(sum, (int64_t)g->keep), (int64_t)g->flip),
                     (int64_t)g->add);
  }
  for (int n = 0; n < step->n_scatters; n++) sum = sum_number(sum, step->scatters[n].low);
  return sum_number(sum_number(sum, step->is_uniform), step->reach);
}

static void tell_module(Str *out, const PtxModule *m) {
  uint64_t sum = HASH_START;
  for (int pc = 0; pc < m->n_code; pc++) {
    const PtxInst *i = &m->code[pc];
    sum = sum_number(sum_number(sum_number(sum, i->guard), i->guard_not), i->target);
    sum = sum_number(sum_number(sum_number(sum, i->rejoin), i->access), i->line);
    if (i->machine) sum = sum_step(sum, i->machine);
  }
  str_printf(out, "  sm_%d, %d instructions, %d places, %d locals, %d reserved, sum %016llx\n",
             m->cc, m->n_code, m->n_locs, (int)m->local_bytes, m->reserved_smem,
             (unsigned long long)sum);
  for (int i = 0; i < m->n_variables; i++)
    str_printf(out, "  %s: %d bytes at %d of space %d, %s\n", m->variables[i].name,
               (int)m->variables[i].bytes, (int)m->variables[i].offset, (int)m->variables[i].space,
               m->variables[i].init ? "given" : "not given");
  for (int f = 0; f < m->n_functions; f++)
    str_printf(out, "  %d registers, %d predicates, %d bytes of parameters\n",
               m->functions[f].n_regs, m->functions[f].n_preds, (int)m->functions[f].param_bytes);
}

static void tell_cubin(Arena *arena, Str *out, const char *path) {
  size_t n = 0;
  McCubin cubin;
  const char *bytes = open_case_bytes(arena, path, &n);
  const bool read = mc_cubin_read(arena, bytes, n, &cubin);
  str_printf(out, "%s: %s, sm_%d\n", path, read ? "read" : "none", read ? cubin.sm : 0);
  for (int k = 0; read && k < cubin.n_kernels; k++) tell_kernel(out, &cubin.kernels[k]);
}

START_TEST(cubins_are_as_reviewed) {
  static const char *const cubins[] = {"75", "80", "86", "89", "90a", "100a", "120"};
  static const char *const kernels[] = {"k01", "k03", "k05", "k07", "k09",
                                        "k11", "k13", "k15", "k17", "k19"};
  Arena *arena = arena_new("test");
  Str out = str_new(arena);
  for (size_t i = 0; i < sizeof cubins / sizeof *cubins; i++)
    tell_cubin(arena, &out, arena_printf(arena, "tests/data/cubins/sm_%s.cubin", cubins[i]));
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    tell_cubin(arena, &out, arena_printf(arena, "tests/data/machine/open/%s.cubin", kernels[i]));
    tell_module(&out, machine_case_recorded(arena, kernels[i]));
  }
  golden_check("told/cubins.txt", out.text);
  arena_free(arena);
}
END_TEST

// ---- constant bank 0 ----------------------------------------------------------------------------

static const PtxLaunch bank_launches[] = {
    {.grid = {3, 5, 7}, .block = {32, 2, 1}},
    {.grid = {4, 6, 2}, .block = {8, 4, 2}, .cluster = {4, 1, 1}},
    {.grid = {8, 6, 3}, .block = {16, 1, 4}, .cluster = {1, 2, 3}, .cooperative = true},
};

// Every word that is known, up to one behind the parameters.
static void tell_bank(Arena *arena, Str *out, const char *sm, const PtxLaunch *launch) {
  size_t n = 0;
  Diags diags = diags_new(arena);
  const char *cubin =
      open_case_bytes(arena, arena_printf(arena, "tests/data/cubins/%s.cubin", sm), &n);
  const char *listing = "dots:\n.text.dots:\n        /*0000*/    EXIT ;\n";
  const PtxModule *module = machine_case_read(arena, cubin, n, listing, "dots", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  PtxMachine *m =
      ptx_machine_new(arena, module, ptx_module_kernel(module, "dots", &diags), launch, &diags);
  if (!m) {
    str_printf(out, "  %s\n", diags_text(arena, &diags));
    return;
  }
  for (int i = 0; i < 3; i++)
    ptx_machine_param(m, i, &(uint64_t){UINT64_C(0x1122334455667788) + (uint64_t)i}, i < 2 ? 8 : 4);
  for (int bank = -1; bank < MC_BANKS + 1; bank++)
    for (int at = -4; at < module->machine->parameters + 24; at += 4) {
      uint32_t value = 0;
      if (mc_constant(m, NULL, bank, at, &value))
        str_printf(out, " %s%d:%x=%x", bank ? "bank " : "", bank, at, value);
      else if (value)
        str_printf(out, " not known, but %x", value);
    }
  str_add(out, "\n");
}

START_TEST(constant_banks_are_as_reviewed) {
  static const char *const all[] = {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120"};
  Arena *kept = arena_new("report"), *arena = arena_new("a launch");
  Str out = str_new(kept);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (size_t l = 0; l < sizeof bank_launches / sizeof *bank_launches; l++) {
      str_printf(&out, "%s, launch %d\n ", all[i], (int)l);
      tell_bank(arena, &out, all[i], &bank_launches[l]);
      arena_reset(arena);
    }
  golden_check("told/constants.txt", out.text);
  arena_free(arena);
  arena_free(kept);
}
END_TEST

Suite *suite_told_code(void) {
  Suite *suite = suite_create("told_code");
  TCase *tcase = tcase_create("edges");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, instructions_at_their_edges_are_as_reviewed);
  tcase_add_test(tcase, changed_lines_are_read_as_reviewed);
  tcase_add_test(tcase, cubins_are_as_reviewed);
  tcase_add_test(tcase, constant_banks_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
