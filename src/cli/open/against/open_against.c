// PTX → ptxas → cubin → module; both run, memory compared, the way back (machine/back/mc_back.h).
#include "cli/open/against/open_against.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/against/against_parts.h"
#include "cli/open/against/reduce_parts.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_input.h"
#include "cli/open/open_memory.h"
#include "cli/open/open_parts.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine/back/mc_back.h"
#include "machine/mc_repair.h"

bool against_again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                   void *context) {
  const Against *a = self;
  Arena *arena = arena_new("again");
  Diags ignored = diags_new(arena);
  Side side;
  const bool ran = side_run(&a->sides, arena, machine_code ? SIDE_MACHINE : SIDE_PTX, trace, sink,
                            context, &side, &ignored);
  arena_free(arena);
  return ran;
}

const char *against_machine_text(const Against *a, int pc) {
  return pc < 0 ? "nobody"
                : ptx_inst_text(a->arena, a->sides.module[1], &a->sides.module[1]->code[pc]);
}

static const char *ptx_text(const Against *a, int pc) {
  if (pc < 0) return "nobody";
  const PtxInst at = {.line = a->sides.module[0]->code[pc].line};
  return arena_printf(a->arena, "PTX line %d: %s", at.line, ptx_inst_text(a->arena, a->shown, &at));
}

// The line of the PTX that an instruction was made from.
const char *against_origin_text(const Against *a, int pc) {
  const LineRow *row = pc < 0 ? NULL : line_table_find(&a->lines, (uint64_t)pc * 16);
  if (!row) return "";
  const PtxInst line = {.line = row->line};
  return arena_printf(a->arena, "\n               from PTX line %d: %s", row->line,
                      ptx_inst_text(a->arena, a->shown, &line));
}

// A text or machine code that takes more than this goes another way than what it is held against.
int64_t against_budget(const Side *side) {
  enum { SLACK = 1 << 20, TIMES = 4 };
  return TIMES * ptx_machine_lane_instructions(side->machine) + SLACK;
}

static const char *finding_of(const Against *a, const Side *side, int which) {
  if (side->outcome == PTX_DONE) return "done";
  const PtxFinding *f = side_end(side);
  if (!f) return "budget";
  return arena_printf(a->arena, "%s: %s; %s", ptx_finding_names[f->kind], f->text ? f->text : "",
                      which ? against_machine_text(a, f->pc) : ptx_text(a, f->pc));
}

// The first value of the thread that the PTX does not have.
static void print_early(Against *a, const McFault *f) {
  const int pc = f->n_early ? f->early[0] : -1;
  if (pc < 0 || (f->found && (pc == f->pc || pc == f->or_pc))) return;
  str_printf(&a->out, "  or by          %s%s\n", against_machine_text(a, pc),
             against_origin_text(a, pc));
  str_add(&a->out,
          "               it is the first instruction of the thread whose value the line of the "
          "PTX does not have\n");
}

static void print_fault(Against *a, const McFault *f) {
  if (!f->found) return;
  str_printf(&a->out, "  made by        %s\n", against_machine_text(a, f->pc));
  str_printf(&a->out,
             "               0x%08x in thread %d of block %d,%d,%d, %d instruction%s back%s\n",
             f->value, f->thread, f->block[0], f->block[1], f->block[2], f->steps,
             plural_s(f->steps), against_origin_text(a, f->pc));
  if (f->or_pc < 0) return;
  str_printf(&a->out, "  or by          %s%s\n", against_machine_text(a, f->or_pc),
             against_origin_text(a, f->or_pc));
  str_printf(
      &a->out,
      "               it made a value that the first one does not have: one of the two uses a "
      "wrong register\n");
}

static void print_word(Against *a, const Side *side, const SideWord *word, const McFault *f) {
  str_printf(&a->out,
             "  memory differs in %" PRId64 " word%s; the first: argument %s, byte %" PRId64
             ": 0x%08x by PTX, 0x%08x by machine code\n",
             word->n, plural_s(word->n),
             open_buffer_text(a->arena, &side->buffers.items[word->buffer]), word->at, word->of[0],
             word->of[1]);
  str_printf(&a->out, "  stored by      %s%s\n", against_machine_text(a, f->store_pc),
             against_origin_text(a, f->store_pc));
  str_printf(&a->out, "  by PTX         %s\n", ptx_text(a, f->ptx_store_pc));
  print_fault(a, f);
  print_early(a, f);
}

static bool take_code(Against *a, const char *cubin, size_t bytes, Diags *diags) {
  a->cubin = cubin;
  a->cubin_bytes = bytes;
  OpenRequest of = {.path = a->given->path, .kernel = a->r->kernel->name};
  a->sides.module[SIDE_MACHINE] = open_cubin(a->arena, &of, NULL, cubin, bytes, false, diags);
  a->lines = line_table_read(a->arena, cubin, bytes, ".nv_debug_line_sass", a->r->kernel->name);
  return a->sides.module[SIDE_MACHINE] != NULL;
}

static bool find_module(Against *a, Diags *diags) {
  size_t bytes = 0;
  const char *why = NULL, *cubin = NULL;
  const char *which = a->given->against;
  if (str_equal(which, "machine")) {
    cubin = open_machine_code(a->r, &bytes, &why);
    if (!cubin) diag_add(diags, "machine", "--against machine: %s", why);
  } else {
    cubin = open_read_file(a->arena, which, &bytes, diags);
  }
  return cubin && take_code(a, cubin, bytes, diags);
}

static const int *lines_of(const Against *a) {
  const int n = a->sides.module[1]->n_code;
  int *line = ARENA_ARRAY(a->arena, int, n + 1);
  for (int pc = 0; pc < n && a->lines.n; pc++) {
    const LineRow *row = line_table_find(&a->lines, (uint64_t)pc * 16);
    if (row) line[pc] = row->line;
  }
  return line;
}

// From the access that ended the machine code, or the loop that it does not leave, else from the
// word.
static McFault explain(Against *a, const SideWord *word, const Side both[SIDES]) {
  const Side *side = &both[SIDE_MACHINE];
  const int *line = lines_of(a), n_code = a->sides.module[SIDE_MACHINE]->n_code;
  const PtxFinding *f = side_end(side);
  const bool is_stopped = side->outcome == PTX_STOPPED && f && f->thread >= 0;
  McFault fault = {.ptx_store_pc = -1};
  if (is_stopped)
    fault = mc_back_from(a->arena, against_again, a, line, n_code, f->pc, f->thread, f->block);
  else if (a->is_endless)
    fault = mc_back_round(a->arena, against_again, a, line, n_code);
  if (is_stopped || fault.found) {
    print_fault(a, &fault);
    print_early(a, &fault);
    against_prove(a, &fault, &both[SIDE_PTX], word, line);
  } else if (word->n) {
    const uint64_t address = side->buffers.items[word->buffer].address + (uint64_t)word->at;
    fault = mc_back(a->arena, against_again, a, line, n_code, address);
    print_word(a, side, word, &fault);
    against_prove(a, &fault, &both[SIDE_PTX], word, line);
  }
  return fault;
}

static bool differs(const Side side[SIDES]) {
  return side_first_word(side).n || side[SIDE_PTX].outcome != side[SIDE_MACHINE].outcome;
}

// Runs the PTX with the sums fused that the machine code has fused: PTX leaves that open, so it is
// no difference.
static bool run_fused(Against *a, Side *ptx, Diags *diags) {
  const FusedGiven given = {.text = a->ptx,
                            .bytes = a->ptx_bytes,
                            .kernel = a->r->kernel->name,
                            .ptx = a->sides.module[SIDE_PTX],
                            .code = a->sides.module[SIDE_MACHINE],
                            .line = lines_of(a)};
  Diags ignored = diags_new(a->arena);
  const char *text = a->lines.n ? fused_text(a->arena, &given, &a->n_fused) : NULL;
  const PtxModule *module =
      text ? ptx_module_read(a->arena, text, strlen(text), "fused", &ignored) : NULL;
  if (!module || ignored.count) return true;
  a->ptx = text;
  a->ptx_bytes = strlen(text);
  a->sides.module[SIDE_PTX] = module;
  return side_run(&a->sides, a->arena, SIDE_PTX, NULL, NULL, NULL, ptx, diags);
}

// Names the difference between two runs; false: there is none.
static bool compare(Against *a, const Side side[SIDES], SideWord *word, McFault *fault) {
  *word = side_first_word(side);
  str_printf(&a->out, "%s, %s: PTX %s; machine code %s\n", a->r->path, a->r->kernel->name,
             finding_of(a, &side[SIDE_PTX], SIDE_PTX),
             finding_of(a, &side[SIDE_MACHINE], SIDE_MACHINE));
  if (!word->n) str_add(&a->out, "  memory is equal\n");
  if (a->n_fused)
    str_printf(&a->out,
               "  %d sum%s and product%s round once here: ptxas fuses them, as PTX allows without "
               ".rn\n",
               a->n_fused, plural_s(a->n_fused), plural_s(a->n_fused));
  if (!differs(side)) return false;
  *fault = explain(a, word, side);
  return true;
}

static bool run_side(const Against *a, int which, Side side[SIDES], Diags *diags) {
  return side_run(&a->sides, a->arena, which, NULL, NULL, NULL, &side[which], diags);
}

// Limits the runs that follow where the PTX came to its end; false: they were limited as much.
static bool limit(Against *a, const Side *ptx, int64_t lanes) {
  int64_t *budget = &a->sides.launch.budget;
  if (ptx->outcome != PTX_DONE || (*budget > 0 && *budget <= lanes)) return false;
  *budget = lanes;
  return true;
}

// Machine code that goes round for ever would use up the whole budget, each time that it is run.
// Most that one instruction of PTX becomes is a division of 64 bits, some 80.
static bool run_both(Against *a, Side side[SIDES], Diags *diags) {
  enum { LONGER = 8 };
  if (!run_side(a, SIDE_PTX, side, diags)) return false;
  const int64_t lanes = against_budget(&side[SIDE_PTX]);
  limit(a, &side[SIDE_PTX], LONGER * lanes);
  if (!run_side(a, SIDE_MACHINE, side, diags)) return false;
  a->is_endless = side[SIDE_PTX].outcome == PTX_DONE && side[SIDE_MACHINE].outcome == PTX_BUDGET &&
                  ptx_machine_lane_instructions(side[SIDE_MACHINE].machine) > lanes;
  if (a->is_endless && limit(a, &side[SIDE_PTX], lanes) && !run_side(a, SIDE_MACHINE, side, diags))
    return false;
  return !differs(side) || run_fused(a, &side[SIDE_PTX], diags);
}

// ---- --reduce -----------------------------------------------------------------------------------

static int count_lines(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void add_triple(Str *out, const char *name, const int n[3]) {
  str_printf(out, "%s=%d", name, n[0]);
  if (n[1] != 1 || n[2] != 1) str_printf(out, "x%d", n[1]);
  if (n[2] != 1) str_printf(out, "x%d", n[2]);
}

static const char *state_launch(Arena *arena, const ReduceState *s) {
  Str out = str_new(arena);
  add_triple(&out, "--launch grid", s->launch.grid);
  add_triple(&out, ",block", s->launch.block);
  if (s->launch.cluster[0]) add_triple(&out, ",cluster", s->launch.cluster);
  if (s->launch.dynamic_smem) str_printf(&out, ",smem=%d", s->launch.dynamic_smem);
  const int *first = s->blocks.first;
  if (s->blocks.all)
    str_add(&out, " --blocks all");
  else if (first[0] || first[1] || first[2])
    str_printf(&out, " --blocks %d,%d,%d", first[0], first[1], first[2]);
  for (int i = 0; i < s->args.count; i++) str_printf(&out, " --arg %s", s->args.items[i]);
  return str_line(arena, out.text);
}

static void add_tried(Against *a, const Reduce *r) {
  int tried = 0;
  for (int v = 0; v < REDUCE_N_VERDICTS; v++) tried += r->counts[v];
  str_printf(&a->out, "%d texts tried, ptxas ran %d times%s:\n", tried, r->assembled,
             r->assembled >= r->most ? ", which is the limit" : "");
  for (int v = 0; v < REDUCE_N_VERDICTS; v++)
    if (r->counts[v]) str_printf(&a->out, "  %4d  %s\n", r->counts[v], reduce_verdict_texts[v]);
}

static void print_reduced(const Against *a, const char *ptx) {
  fputs(str_sanitise(a->arena, ptx), stdout);
  for (const char *at = a->out.text; *at;) {
    const size_t n = strcspn(at, "\n");
    printf("// %.*s\n", (int)n, at);
    at += n + (at[n] == '\n');
  }
}

// The reproducer, then what was found in the text and in it, as comments behind it: lines keep
// their numbers.
static int show_reduced(Against *a, Reduce *r, Diags *diags) {
  Against b = {.arena = a->arena, .given = a->given};
  OpenResult result = *a->r;
  size_t bytes = 0;
  const char *cubin = NULL;
  Side side[SIDES];
  SideWord word;
  McFault fault;
  b.sides = reduce_sides(a->arena, r, &r->state, &cubin, &bytes, diags);
  result.module = b.sides.module[SIDE_PTX];
  result.path = "the reproducer";
  b.shown = result.module;
  b.ptx = r->state.text;
  b.ptx_bytes = r->state.bytes;
  b.r = &result;
  b.out = a->out;
  str_printf(&b.out, "reduced from %d lines to %d: ", count_lines(a->r->text.ptx),
             count_lines(r->state.text));
  add_tried(&b, r);
  str_printf(&b.out, "run it with: gemmview open FILE --kernel %s %s --against machine\n",
             r->kernel, state_launch(a->arena, &r->state));
  if (!cubin || !take_code(&b, cubin, bytes, diags) || !run_both(&b, side, diags)) return CLI_USAGE;
  compare(&b, side, &word, &fault);
  print_reduced(&b, r->state.text);
  return CLI_NO;
}

// Why nothing can be reduced: the text as it is does not show it here.
static int refuse(const Against *a, const Reduce *r, ReduceVerdict v, Diags *diags) {
  fputs(a->out.text, stdout);
  if (v == REDUCE_UNWRITTEN)
    diag_add(diags, "machine",
             "--reduce: line %d of the PTX reads a register before it is written; ptxas may take "
             "any value for it, so the difference says nothing of ptxas",
             r->unwritten_line);
  else if (v == REDUCE_EQUAL)
    diag_add(diags, "machine",
             "--reduce: what %s makes of this PTX agrees with it; name the ptxas that made the "
             "machine code in GEMMVIEW_PTXAS",
             str_sanitise(diags->arena, r->ptxas));
  else
    diag_add(diags, "machine", "--reduce: the PTX alone cannot be taken: %s",
             reduce_verdict_texts[v]);
  return v == REDUCE_EQUAL ? CLI_MISSING : CLI_NO;
}

static int reduce(Against *a, const Side side[SIDES], const McFault *fault, Diags *diags) {
  enum { MOST = 3000 };
  Reduce r = {.arena = a->arena,
              .path = a->given->path,
              .kernel = a->r->kernel->name,
              .ptxas = open_ptxas(a->arena),
              .is_memory = side[SIDE_MACHINE].outcome == PTX_DONE,
              .outcome = side[SIDE_MACHINE].outcome,
              .listings = open_listings(a->arena),
              .most = MOST};
  if (!r.ptxas) {
    diag_add(diags, "machine", "--reduce assembles many texts, and there is no ptxas here");
    return CLI_MISSING;
  }
  const PtxFinding *end = side_end(&side[SIDE_MACHINE]);
  if (end) r.end = end->kind;
  r.findings = reduce_kinds(side[SIDE_PTX].machine);
  r.budget = against_budget(&side[SIDE_PTX]);
  const bool stored = fault->ptx_store_pc >= 0;
  memcpy(r.block, fault->block, sizeof r.block);
  const ReduceState state = {.text = a->ptx,
                             .bytes = a->ptx_bytes,
                             .launch = a->sides.launch,
                             .blocks = a->sides.blocks,
                             .args = a->sides.args};
  ReduceTrial trial;
  r.is_placed = r.is_disputed = true;
  ReduceVerdict v = reduce_begin(&r, arena_new("reduce"), &state, &trial);
  r.is_placed = false;
  r.is_disputed = v == REDUCE_SHOWS && trial.is_disputed;
  if (v == REDUCE_SHOWS && reduce_finish(&r, &trial, 1) < 0) v = REDUCE_EQUAL;
  if (v != REDUCE_SHOWS) return refuse(a, &r, v, diags);
  reduce_shrink(&r, stored ? a->sides.module[SIDE_PTX]->code[fault->ptx_store_pc].line : 0);
  return show_reduced(a, &r, diags);
}

int open_against(const OpenRequest *request, OpenResult *r, Diags *diags) {
  OpenRequest given = *request;
  const char *memory = open_memory_path(r->arena, r->path, r->kernel->name);
  if (!given.launch || given.args.count == 0) open_recall(r->arena, memory, &given);
  Against a = {.arena = r->arena,
               .given = &given,
               .r = r,
               .shown = r->module,
               .ptx = r->text.ptx,
               .ptx_bytes = r->text.bytes,
               .out = str_new(r->arena)};
  if (!given.launch) {
    diag_add(diags, "usage", "--against needs --launch and --arg")->nearest =
        "--launch grid=1,block=128,smem=0";
    return CLI_USAGE;
  }
  OpenBlocks blocks;
  if (!open_read_launch(given.launch, &r->launch, diags) ||
      !open_read_blocks(given.blocks, &r->launch, &blocks, diags))
    return CLI_USAGE;
  r->launch.budget = given.budget * INT64_C(1000000);
  a.sides = (Sides){.module = {r->module},
                    .kernel = r->kernel->name,
                    .launch = r->launch,
                    .blocks = blocks,
                    .args = given.args};
  Side side[SIDES];
  SideWord word;
  const bool is_named = !str_equal(given.against, "machine");
  if (!find_module(&a, diags))
    return (is_named || open_ptxas(r->arena)) && sass_find_tool(r->arena) ? CLI_USAGE : CLI_MISSING;
  if (!run_both(&a, side, diags)) return CLI_USAGE;
  McFault fault = {.ptx_store_pc = -1};
  const bool is_other = compare(&a, side, &word, &fault);
  if (is_other && given.reduce) return reduce(&a, side, &fault, diags);
  fputs(a.out.text, stdout);
  return is_other ? CLI_NO : CLI_OK;
}
