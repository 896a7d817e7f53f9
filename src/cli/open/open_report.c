// Lines, findings and warnings of gemmview open.
#include "cli/open/open_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/documents.h"
#include "cli/open/open_compare.h"
#include "cli/open/open_needs.h"
#include "cli/open/open_parts.h"
#include "machine/mc_isa.h"
#include "ptx/module/signature.h"
#include "ptx/run/run.h"

// ---- places -------------------------------------------------------------------------------------

static const char *loc_text(Arena *arena, const PtxModule *module, int loc) {
  if (loc < 0) return NULL;
  const PtxLoc *l = &module->locs[loc];
  return arena_printf(arena, "%s:%d", ptx_base_name(ptx_file_name(module, l->file)), l->line);
}

// A line of the PTX; of machine code, whose listing has a line for each instruction, its address.
static const char *text_place(Arena *arena, const PtxModule *module, int line) {
  enum { INSTRUCTION = 16 };
  if (module->machine) return arena_printf(arena, "at 0x%04x", (line - 1) * INSTRUCTION);
  return arena_printf(arena, "PTX line %d", line);
}

// "k.cu:86 (PTX line 12)"; of a line in a header "k.cu:86 (copy.hpp:134, PTX line 12)".
static const char *pc_text(const OpenResult *r, int pc) {
  const int loc = r->module->code[pc].loc, own = ptx_own_loc(r->module, loc);
  const char *place = loc_text(r->arena, r->module, own);
  const char *ptx = text_place(r->arena, r->module, r->module->code[pc].line);
  if (!place) return ptx;
  if (own == loc) return arena_printf(r->arena, "%s (%s)", place, ptx);
  return arena_printf(r->arena, "%s (%s, %s)", place, loc_text(r->arena, r->module, loc), ptx);
}

static const char *space_name(PtxSpace space) {
  static const char *const names[] = {
      [PTX_SPACE_GENERIC] = "generic", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_SHARED] = "shared",
      [PTX_SPACE_LOCAL] = "local",     [PTX_SPACE_CONST] = "const",   [PTX_SPACE_PARAM] = "param"};
  return names[space];
}

// The shared variable that an offset lies in: "As+128".
static const char *variable_at(const OpenResult *r, int64_t offset) {
  for (int i = 0; i < r->module->n_variables; i++) {
    const PtxVariable *v = &r->module->variables[i];
    const int64_t at = ptx_machine_variable(r->machine, i);
    if (at >= 0 && offset >= at && offset < at + v->bytes)
      return arena_printf(r->arena, "%s+%" PRId64, ptx_plain_name(r->arena, v->name), offset - at);
  }
  const int dynamic = ptx_machine_static_smem(r->machine);
  if (offset >= dynamic) return arena_printf(r->arena, "dynamic+%" PRId64, offset - dynamic);
  return "";
}

static const char *address_text(const OpenResult *r, const PtxFinding *f) {
  if (f->bytes == 0) return "";
  if (f->space == PTX_SPACE_SHARED)
    return arena_printf(r->arena, ", shared address %" PRIu64 " (%s)", f->address,
                        variable_at(r, (int64_t)f->address));
  return arena_printf(r->arena, ", %s address 0x%" PRIx64 ", %d B", space_name(f->space),
                      f->address, f->bytes);
}

static const char *finding_text(const OpenResult *r, const PtxFinding *f) {
  Arena *arena = r->arena;
  Str out = str_new(arena);
  str_printf(&out, "%s: %s", ptx_finding_names[f->kind], pc_text(r, f->pc));
  if (f->other_pc >= 0) str_printf(&out, " and %s", pc_text(r, f->other_pc));
  if (f->thread >= 0)
    str_printf(&out, ", thread %d (warp %d, lane %d)", f->thread, f->thread / 32, f->thread % 32);
  if (f->other_thread >= 0)
    str_printf(&out, " and thread %d (warp %d, lane %d)", f->other_thread, f->other_thread / 32,
               f->other_thread % 32);
  if (memcmp(f->block, f->other_block, sizeof f->block) != 0)
    str_printf(&out, " of block %d,%d,%d", f->other_block[0], f->other_block[1], f->other_block[2]);
  str_printf(&out, "%s, block %d,%d,%d", address_text(r, f), f->block[0], f->block[1], f->block[2]);
  if (f->count > 1) str_printf(&out, ", %" PRId64 " times", f->count);
  str_printf(&out, ": %s", f->text ? f->text : ptx_finding_helps[f->kind]);
  if (f->open && r->module->machine) str_printf(&out, "; it may be right, for %s", f->open);
  return str_sanitise(arena, out.text);
}

bool open_has_findings(const OpenResult *r) {
  bool found = (r->outcome != PTX_DONE && r->outcome != PTX_BEYOND) || r->misfit;
  for (int i = 0; i < ptx_machine_findings(r->machine); i++)
    found |= !(r->allowed >> ptx_machine_finding(r->machine, i)->kind & 1);
  return found;
}

// Whether some mbarrier is waited for, or arrived at, with no memory ordering.
static bool has_relaxed(const OpenResult *r) {
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const PtxInst *i = &r->module->code[pc];
    if (ptx_has(i, PTX_MOD_relaxed) && strcmp(i->row->name, "mbarrier") == 0) return true;
  }
  return false;
}

static const PtxFinding *order_finding(const OpenResult *r, int i) {
  static const unsigned kinds =
      1u << PTX_FINDING_RACE | 1u << PTX_FINDING_MISSING_WAIT | 1u << PTX_FINDING_MISSING_FENCE |
      1u << PTX_FINDING_DIVERGENT_BARRIER | 1u << PTX_FINDING_CLUSTER_BARRIER |
      1u << PTX_FINDING_TENSOR_MEMORY | 1u << PTX_FINDING_ENDED;
  const PtxFinding *f = ptx_machine_finding(r->machine, i);
  return kinds >> f->kind & 1 ? f : NULL;
}

static const char *open_of(const OpenResult *r, const PtxFinding *f) {
  return f->kind == PTX_FINDING_MISSING_FENCE && has_relaxed(r) ? NULL : f->open;
}

const char *open_order_finding(const OpenResult *r, const char **cure) {
  for (int i = 0; i < ptx_machine_findings(r->machine); i++) {
    const PtxFinding *f = order_finding(r, i);
    if (!f || open_of(r, f)) continue;
    *cure = f->cure;
    return finding_text(r, f);
  }
  return NULL;
}

int open_order_questions(const OpenResult *r, const char *out[], int most) {
  int n = 0;
  for (int i = 0; i < ptx_machine_findings(r->machine); i++) {
    const PtxFinding *f = order_finding(r, i);
    const char *why = f ? open_of(r, f) : NULL;
    for (int k = 0; why && k < n; k++)
      if (strcmp(out[k], why) == 0) why = NULL;
    if (why && n < most) out[n++] = why;
  }
  return n;
}

// The capsule holds the pages of each allocation that the block touched first.
static const char *beyond_text(const OpenResult *r) {
  const Capsule *c = r->text.capsule;
  uint64_t held = 0, of = 0;
  for (int i = 0; i < c->n_memory; i++)
    for (int k = 0; c->memory[i].kind == CAPSULE_ALLOCATION && k < c->memory[i].n_before; k++)
      held += c->memory[i].before[k].content == CAPSULE_LEFT_OUT ? 0 : c->memory[i].before[k].n;
  for (int i = 0; i < c->n_extents; i++) of += c->extents[i].bytes;
  const double mib = 1 << 20;
  return arena_printf(r->arena,
                      "the block goes on beyond the memory that the capsule holds, %.1f of %.1f "
                      "MiB: the counts end there (gemmview record --limit)",
                      (double)held / mib, (double)of / mib);
}

static const char *outcome_text(const OpenResult *r) {
  switch (r->outcome) {
    case PTX_DONE:
      return NULL;
    case PTX_STOPPED:
      return "a block was stopped: its counts end there";
    case PTX_DEADLOCK:
      return "deadlock: every warp waits; the counts end there";
    case PTX_BUDGET:
      return "the budget of instructions is used up (--budget); the counts end there";
    case PTX_BEYOND:
      return beyond_text(r);
  }
  return NULL;
}

static const char *left_out_text(const OpenResult *r) {
  const int64_t n = ptx_machine_findings_left_out(r->machine);
  return n == 0 ? NULL : arena_printf(r->arena, "more findings than are kept: %" PRId64 " more", n);
}

static bool is_shared_access(const PtxInst *i) {
  return i->space == PTX_SPACE_SHARED && i->row && strchr(i->row->operands, 'a') != NULL;
}

static bool same_line(const PtxModule *module, int a, int b) {
  if (a < 0 || b < 0) return false;
  return module->locs[a].file == module->locs[b].file &&
         module->locs[a].line == module->locs[b].line;
}

// A loop that was unrolled has copies that need not run: what counts is whether its line did.
static bool line_ran(const OpenResult *r, int pc) {
  for (int other = r->kernel->first; other < r->kernel->end; other++)
    if (ptx_machine_executions(r->machine, other) > 0 &&
        is_shared_access(&r->module->code[other]) &&
        same_line(r->module, r->module->code[pc].loc, r->module->code[other].loc))
      return true;
  return false;
}

// Accesses to shared memory whose line never ran: a loop of no iterations, a branch not taken.
static int never_ran(const OpenResult *r, const char **first) {
  int n = 0;
  for (int pc = r->kernel->first; pc < r->kernel->end; pc++) {
    const PtxInst *i = &r->module->code[pc];
    if (!is_shared_access(i) || ptx_machine_executions(r->machine, pc) > 0 || line_ran(r, pc))
      continue;
    if (n++ == 0) *first = pc_text(r, pc);
  }
  return n;
}

static const char *warning_text(const OpenResult *r) {
  const char *first = NULL;
  const int n = never_ran(r, &first);
  if (n == 0) return NULL;
  return arena_printf(r->arena,
                      "%d shared-memory access%s never ran (first: %s). Check --launch and --arg.",
                      n, n == 1 ? "" : "es", first);
}

static const char *approximation_text(const OpenResult *r) {
  const int64_t n = ptx_machine_approximations(r->machine);
  return n == 0 ? NULL
                : arena_printf(r->arena,
                               "%" PRId64
                               " lane instructions are approximations in hardware (ex2, rcp, "
                               "mma, ...): their last bits may differ",
                               n);
}

// ---- unknown values -----------------------------------------------------------------------------

// An instruction that gives unknown values, with those of its line that do so for the same reason.
typedef struct UnknownValue {
  int pc;
  const char *why;
  int64_t executions;
} UnknownValue;

static UnknownValue *find_unknown(const OpenResult *r, UnknownValue *values, int n, int pc) {
  const PtxInst *code = r->module->code;
  for (int i = 0; i < n; i++)
    if (str_equal(values[i].why, ptx_machine_unknown_why(r->machine, pc)) &&
        same_line(r->module, code[values[i].pc].loc, code[pc].loc))
      return &values[i];
  return NULL;
}

static const UnknownValue *unknown_values(Arena *arena, const OpenResult *r, int *n) {
  int most = 0;
  for (int pc = 0; pc < r->module->n_code; pc++)
    most += ptx_machine_unknown_why(r->machine, pc) != NULL;
  UnknownValue *values = ARENA_ARRAY(arena, UnknownValue, most + 1);
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const char *why = ptx_machine_unknown_why(r->machine, pc);
    if (!why) continue;
    UnknownValue *value = find_unknown(r, values, *n, pc);
    if (!value) *(value = &values[(*n)++]) = (UnknownValue){.pc = pc, .why = why};
    value->executions += ptx_machine_executions(r->machine, pc);
  }
  return values;
}

static void print_unknown(const OpenResult *r, const char *mark) {
  int n = 0;
  const UnknownValue *values = unknown_values(r->arena, r, &n);
  for (int i = 0; i < n; i++)
    printf("%s%sunknown values: %s: %s\n", i ? "" : "\n", mark, pc_text(r, values[i].pc),
           str_sanitise(r->arena, values[i].why));
}

// ---- text ---------------------------------------------------------------------------------------

// Counts of the access that costs most; NULL: the line has none.
static const PtxSiteCount *worst_of(const OpenResult *r, const PtxLine *line) {
  return line->worst_pc < 0 ? NULL : ptx_tally_site(r->tally, line->worst_pc);
}

// "atom.shared.add.f32"; of machine code, "/*0b90*/ ATOMS.CAS".
static const char *name_of(const OpenResult *r, int pc) {
  const char *text = ptx_inst_text(r->arena, r->module, &r->module->code[pc]);
  const size_t place = str_starts(text, "/*") ? strcspn(text, " ") + 1 : 0;
  return arena_strndup(r->arena, text + place, strcspn(text + place, " \t"));
}

static const char *what_of(const OpenResult *r, const PtxLine *line) {
  const PtxSiteCount *site = worst_of(r, line);
  if (!site) return "";
  if (site->op) return site->op->sass;
  return name_of(r, line->worst_pc);
}

static const char *op_name(const OpenResult *r, const PtxLineOp *op) {
  if (op->op) return op->op->sass;
  return name_of(r, op->pc);
}

// "LDSM.x4"; of several kinds of access each with its share: "LDGSTS 768, LDSM.x4 1088".
static const char *ops_text(const OpenResult *r, const PtxLine *line) {
  if (!line->ops || (!line->ops->next && line->worst_pc >= 0)) return what_of(r, line);
  if (!line->ops->next) return op_name(r, line->ops);
  Str out = str_new(r->arena);
  for (const PtxLineOp *op = line->ops; op; op = op->next) {
    str_printf(&out, "%s%s", out.text[0] ? ", " : "", op_name(r, op));
    if (op->countable) str_printf(&out, " %" PRId64, op->wavefronts);
  }
  return out.text;
}

// ">=72" where the line has more than that, "?" where nothing of it can be counted.
static const char *count_text(Arena *arena, const PtxLine *line) {
  if (!line->countable && line->wavefronts == 0) return "?";
  return arena_printf(arena, "%s%" PRId64, line->countable ? "" : ">=", line->wavefronts);
}

static const char *times_text(Arena *arena, const PtxLine *line) {
  if (!line->countable || line->ideal == 0) return "";
  if (line->wavefronts == line->ideal) return "";
  return arena_printf(arena, "x%.3g", (double)line->wavefronts / (double)line->ideal);
}

// Tells what the order in which copies arrive can make of them: ", at most 6144"; "" where it is
// certain.
static const char *most_text(Arena *arena, bool countable, int64_t wavefronts, int64_t most) {
  if (!countable || most == wavefronts) return "";
  return arena_printf(arena, ", at most %" PRId64, most);
}

static const char *place_of(const OpenResult *r, const PtxLine *line) {
  if (line->line > 0) return arena_printf(r->arena, "%s:%d", line->file, line->line);
  return text_place(r->arena, r->module, line->ptx_line);
}

// The calls that the line was inlined into: " < k.cu:86 < k.cu:96".
static const char *chain_text(const OpenResult *r, const PtxLine *line) {
  Str out = str_new(r->arena);
  int loc = line->loc < 0 ? -1 : r->module->locs[line->loc].inlined_at;
  for (int depth = 0; loc >= 0 && depth < 16; depth++, loc = r->module->locs[loc].inlined_at)
    str_printf(&out, " < %s", loc_text(r->arena, r->module, loc));
  return out.text;
}

// The profiler counts whole grids.
static const char *counted_text(const OpenResult *r) {
  const int *grid = r->launch.grid;
  if (!r->counted || r->n_blocks == (int64_t)grid[0] * grid[1] * grid[2]) return NULL;
  return "the profiler counted all blocks; --blocks all runs all of them here, too";
}

// ", together with k.cu:86": ptxas made copies of the line's accesses that it charges there.
static const char *together_text(const OpenResult *r, const PtxLine *line) {
  Str out = str_new(r->arena);
  for (const PtxShare *s = ptx_tally_shares(r->tally); s && line->shares; s = s->next) {
    const int other = ptx_share_partner(r->tally, s, line);
    if (other < 0) continue;
    str_printf(&out, "%s%s", out.text[0] ? " and " : ", together with ",
               loc_text(r->arena, r->module, other));
  }
  return out.text;
}

// A line whose accesses were left out in lanes whose addresses are not known says so.
static const char *unknown_text(const PtxLine *line) {
  return line->unknown ? ", depends on unknown values" : "";
}

static void print_row(const OpenResult *r, const PtxLine *line) {
  const char *count = count_text(r->arena, line);
  const char *ideal = line->countable ? arena_printf(r->arena, "%" PRId64, line->ideal) : "-";
  const OpenCounted *counted = open_counted_of(r, line);
  printf("%-32s %10s %10s %-7s", str_sanitise(r->arena, place_of(r, line)), count, ideal,
         times_text(r->arena, line));
  if (r->counted && counted)
    printf(" %10" PRId64, counted->wavefronts);
  else if (r->counted)
    printf(" %10s", "-");
  printf(" %s%s%s%s%s%s\n", ops_text(r, line), line->data ? ", depends on data" : "",
         unknown_text(line), together_text(r, line), chain_text(r, line),
         most_text(r->arena, line->countable, line->wavefronts, line->wavefronts_most));
}

static void print_heading(const OpenResult *r) {
  const PtxLaunch *l = &r->launch;
  printf("%s · %s\n", str_sanitise(r->arena, r->path), ptx_signature_text(r->arena, r->kernel));
  printf("%" PRId64 " of %dx%dx%d blocks of %dx%dx%d threads, %d B shared · %s · %s\n", r->n_blocks,
         l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
         ptx_machine_smem_bytes(r->machine),
         str_sanitise(r->arena, r->module->target ? r->module->target : "?"),
         r->as_compiled ? "as compiled (machine code agrees)" : "predicted from PTX");
  if (r->recalled) printf("as last time: %s\n", r->launch_text);
  if (r->text.capsule) printf("as recorded: %s\n", r->launch_text);
}

static bool shows_global(const PtxLine *line) {
  return line->sectors > 0 || (line->unknown && !line->shared);
}

static void print_global(const OpenResult *r) {
  bool first = true;
  for (int i = 0; i < r->lines->n; i++) {
    const PtxLine *line = &r->lines->items[i];
    if (!shows_global(line)) continue;
    if (first) printf("\n%-32s %10s %10s\n", "global memory", "sectors", "at least");
    first = false;
    printf(
        "%-32s %10" PRId64 " %10" PRId64 "%s\n", str_sanitise(r->arena, place_of(r, line)),
        line->sectors, line->ideal_sectors,
        line->unknown && !line->shared ? "  without accesses that depend on unknown values" : "");
  }
}

// Tells what to write instead, in front of it `mark` and around it `quote`.
static void print_cures(const OpenResult *r, const char *mark, const char *quote) {
  bool first = true;
  for (int i = 0; r->cures && i < r->arrays.n; i++) {
    const OpenCure *cure = &r->cures[i];
    if (!cure->best.found) continue;
    if (first) puts("");
    first = false;
    printf("%s%s%s%s: %" PRId64 " -> %" PRId64 " wavefronts of %s\n", mark, quote,
           str_sanitise(r->arena, cure->best.write), quote, cure->now, cure->best.cost.wavefronts,
           str_sanitise(r->arena, r->arrays.items[i].name));
  }
}

void open_print_text(const OpenResult *r) {
  print_heading(r);
  printf("\n%-32s %10s %10s %-7s%s\n", "shared memory", "wavefronts", "ideal", "",
         r->counted ? "    counted" : "");
  for (int i = 0; i < r->lines->n; i++)
    if (r->lines->items[i].shared) print_row(r, &r->lines->items[i]);
  printf("%-32s %10" PRId64 " %10" PRId64 "%s%s\n", "total", r->lines->wavefronts, r->lines->ideal,
         most_text(r->arena, true, r->lines->wavefronts, r->lines->wavefronts_most),
         r->lines->countable ? "" : "  and what cannot be counted");
  print_global(r);
  print_cures(r, "write ", "");
  print_unknown(r, "");
  const int n = ptx_machine_findings(r->machine);
  if (r->misfit) printf("\n%s\n", r->misfit);
  printf("\n%s\n", n ? "findings" : "no race, no unwritten read, no access out of bounds");
  for (int i = 0; i < n; i++) printf("  %s\n", finding_text(r, ptx_machine_finding(r->machine, i)));
  const char *notes[] = {left_out_text(r),      outcome_text(r), warning_text(r),
                         approximation_text(r), counted_text(r), r->why_not};
  for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
    if (notes[i]) printf("%s\n", notes[i]);
}

// ---- Markdown -----------------------------------------------------------------------------------

// The cell of what the profiler counted, where it was asked.
static const char *counted_cell(const OpenResult *r, const PtxLine *line) {
  const OpenCounted *counted = open_counted_of(r, line);
  if (!r->counted) return "";
  return counted ? arena_printf(r->arena, " %" PRId64 " |", counted->wavefronts) : " |";
}

void open_print_markdown(const OpenResult *r) {
  printf("**%s** `%s`: %" PRId64 " wavefronts, ideal %" PRId64 "%s, %s\n\n",
         str_sanitise(r->arena, ptx_base_name(r->path)), ptx_signature_text(r->arena, r->kernel),
         r->lines->wavefronts, r->lines->ideal, r->lines->countable ? "" : " (not all countable)",
         r->as_compiled ? "as compiled" : "predicted from PTX");
  printf("%" PRId64 " of %dx%dx%d blocks, `%s`\n\n", r->n_blocks, r->launch.grid[0],
         r->launch.grid[1], r->launch.grid[2], r->launch_text);
  puts(r->counted ? "| line | wavefronts | ideal | | counted | access |\n|---|--:|--:|--:|--:|---|"
                  : "| line | wavefronts | ideal | | access |\n|---|--:|--:|--:|---|");
  for (int i = 0; i < r->lines->n; i++) {
    const PtxLine *line = &r->lines->items[i];
    if (!line->shared) continue;
    const char *count = count_text(r->arena, line);
    printf("| %s | %s | %" PRId64 " | %s |%s `%s`%s%s%s |\n",
           str_sanitise(r->arena, place_of(r, line)), count, line->ideal,
           times_text(r->arena, line), counted_cell(r, line), ops_text(r, line),
           line->data ? ", depends on data" : unknown_text(line), together_text(r, line),
           most_text(r->arena, line->countable, line->wavefronts, line->wavefronts_most));
  }
  print_cures(r, "- write ", "`");
  print_unknown(r, "- ");
  for (int i = 0; i < ptx_machine_findings(r->machine); i++)
    printf("%s- %s\n", i ? "" : "\n", finding_text(r, ptx_machine_finding(r->machine, i)));
  const char *notes[] = {r->misfit, left_out_text(r), outcome_text(r), counted_text(r)};
  for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
    if (notes[i]) printf("\n%s\n", notes[i]);
}

// ---- JSON ---------------------------------------------------------------------------------------

static const PtxLoc **callers(Arena *arena, const OpenResult *r, int loc) {
  return open_chain(arena, r, loc < 0 ? -1 : r->module->locs[loc].inlined_at);
}

static int share_count(const OpenResult *r, const PtxLine *line) {
  int n = 0;
  for (const PtxShare *s = ptx_tally_shares(r->tally); s && line->shares; s = s->next) n++;
  return n;
}

static const PtxLoc **partners(Arena *arena, const OpenResult *r, const PtxLine *line) {
  const PtxLoc **partner = ARENA_ARRAY(arena, const PtxLoc *, share_count(r, line) + 1);
  int n = 0;
  for (const PtxShare *s = ptx_tally_shares(r->tally); s && line->shares; s = s->next) {
    const int other = ptx_share_partner(r->tally, s, line);
    partner[n++] = other < 0 ? NULL : &r->module->locs[other];
  }
  return partner;
}

static const PtxLineOp **line_ops(Arena *arena, const PtxLine *line, int *n) {
  for (const PtxLineOp *op = line->ops; op; op = op->next) ++*n;
  const PtxLineOp **ops = ARENA_ARRAY(arena, const PtxLineOp *, *n + 1);
  int at = 0;
  for (const PtxLineOp *op = line->ops; op; op = op->next) ops[at++] = op;
  return ops;
}

static const PtxLine **shared_lines(Arena *arena, const OpenResult *r) {
  const PtxLine **line = ARENA_ARRAY(arena, const PtxLine *, r->lines->n + 1);
  for (int i = 0; i < r->lines->n; i++)
    line[i] = r->lines->items[i].shared ? &r->lines->items[i] : NULL;
  return line;
}

static const PtxLine **global_lines(Arena *arena, const OpenResult *r) {
  const PtxLine **line = ARENA_ARRAY(arena, const PtxLine *, r->lines->n + 1);
  for (int i = 0; i < r->lines->n; i++)
    line[i] = shows_global(&r->lines->items[i]) ? &r->lines->items[i] : NULL;
  return line;
}

// The thread or warp at fault, and where; -1 and NULL: there is none.
typedef struct FindingSide {
  int pc, thread;
  const PtxLoc *loc;
} FindingSide;

static const FindingSide *side_of(Arena *arena, const OpenResult *r, int pc, int thread) {
  FindingSide *side = ARENA_NEW(arena, FindingSide);
  const int loc = pc < 0 ? -1 : ptx_own_loc(r->module, r->module->code[pc].loc);
  *side = (FindingSide){pc, thread, loc < 0 ? NULL : &r->module->locs[loc]};
  return side;
}

static bool is_race(const PtxFinding *f) {
  return f->kind == PTX_FINDING_RACE || f->kind == PTX_FINDING_MISSING_WAIT ||
         f->kind == PTX_FINDING_MISSING_FENCE;
}

static const PtxFinding **findings(Arena *arena, const OpenResult *r, bool races) {
  const int n = ptx_machine_findings(r->machine);
  const PtxFinding **finding = ARENA_ARRAY(arena, const PtxFinding *, n + 1);
  for (int i = 0; i < n; i++) {
    const PtxFinding *f = ptx_machine_finding(r->machine, i);
    finding[i] = is_race(f) == races ? f : NULL;
  }
  return finding;
}

static const char *outcome_name(PtxOutcome outcome) {
  static const char *const outcomes[] = {"done", "stopped", "deadlock", "budget", "beyond"};
  return outcomes[outcome];
}

#define FORM_FILE "cli/open/open_report.form"
#include "base/form_make.h"

void open_print_json(const OpenResult *r) { cli_print_document(r->arena, &open_form, r, r); }

// ---- kernels ------------------------------------------------------------------------------------

void open_print_parameters(const PtxFunction *kernel) {
  for (int p = 0; p < kernel->n_params; p++)
    printf("  parameter %d: offset %" PRId64 ", %" PRId64 " bytes\n", p, kernel->params[p].offset,
           kernel->params[p].bytes);
}

void open_print_kernels(Arena *arena, const PtxModule *module, bool json) {
  if (json) {
    cli_print_document(arena, &open_list_form, module, NULL);
    return;
  }
  const PtxFunction **kernel = open_kernels(arena, module);
  for (int i = 0; i < module->n_functions; i++) {
    if (!kernel[i]) continue;
    printf("%s\n  %s\n", ptx_signature_text(arena, kernel[i]),
           str_sanitise(arena, kernel[i]->name));
    if (module->machine) open_print_parameters(kernel[i]);
  }
}

void open_print_opcodes(void) {
  for (int i = 0; i < ptx_opcode_count; i++) {
    const PtxOpcode *row = &ptx_opcodes[i];
    const bool again = i > 0 && str_equal(row->name, ptx_opcodes[i - 1].name) &&
                       str_equal(row->help, ptx_opcodes[i - 1].help) &&
                       str_equal(row->needs, ptx_opcodes[i - 1].needs);
    if (!again)
      printf("%-20s %-26s %s%s\n", row->name, row->needs, row->help, row->run ? "" : " (not run)");
  }
  printf("\nmachine code\n");
  for (int i = 0; i < mc_op_count; i++)
    printf("%-20s %-26s %s\n", mc_ops[i].name, mc_ops[i].needs, mc_ops[i].help);
}
