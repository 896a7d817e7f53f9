// Machine → ways and accesses of the blocks that ran → the clock's answer.
#include "cli/open/open_parts.h"

#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/why/why.h"
#include "kernels/toolchain/machine/launch_play.h"
#include "machine/mc_code.h"
#include "machine/mc_ways.h"

enum { KINDS_MAX = 24 };

struct OpenFollowed {
  PtxTally *tally;
  SassCode code;
  AccessCosts costs;
  SassListener listener;
  McWays *ways;
  int n_kinds;
  ClockBlock kind[KINDS_MAX];
};

static void access_told(void *self, const PtxAccess *access) {
  OpenFollowed *f = self;
  ptx_tally_access(f->tally, access);
  mc_ways_access(f->ways, access);
}

static void step_told(void *self, const PtxMachine *m, struct PtxWarp *w, int pc, uint32_t mask) {
  mc_ways_step(((OpenFollowed *)self)->ways, m, w, pc, mask);
}

OpenFollowed *open_follow(const OpenResult *r, PtxMachine *machine, PtxTally *tally) {
  const ElfBytes text =
      elf_section(r->cubin, r->cubin_bytes, arena_printf(r->arena, ".text.%s", r->kernel->name));
  OpenFollowed *f = ARENA_NEW(r->arena, OpenFollowed);
  f->tally = tally;
  f->code = sass_decode(r->arena, text.at, (size_t)(text.end - text.at), r->module->machine->sm);
  f->costs = access_costs_new(r->arena, &f->code);
  f->listener = (SassListener){access_costs_note, &f->costs};
  f->ways = mc_ways_new(r->arena, &f->code,
                        (int)ceil_div(why_launch(&r->launch).threads, SASS_LANES), &f->listener);
  ptx_machine_watch(machine, access_told, f);
  ptx_machine_trace(machine, step_told, f);
  return f;
}

void open_follow_block(OpenFollowed *f) {
  const SassWay *way = mc_ways_take(f->ways);
  if (f->n_kinds < KINDS_MAX) f->kind[f->n_kinds++] = (ClockBlock){way};
}

// ---- the answer ---------------------------------------------------------------------------------

static double data_bytes(const OpenResult *r) {
  double bytes = r->text.capsule ? (double)capsule_memory_bytes(r->text.capsule) : 0;
  for (int i = 0; i < r->buffers.n && !r->text.capsule; i++)
    if (!r->buffers.items[i].is_shared) bytes += (double)r->buffers.items[i].bytes;
  return bytes;
}

// The lines of the source, where the machine code names them.
static const int *lines_of(const OpenResult *r, int n) {
  int *line = ARENA_ARRAY(r->arena, int, n + 1);
  bool any = false;
  for (int i = 0; i < n && i < r->module->n_code; i++) {
    const int loc = r->module->code[i].loc;
    line[i] = loc >= 0 ? r->module->locs[loc].line : 0;
    any |= line[i] > 0;
  }
  return any ? line : NULL;
}

// The instructions as the disassembler prints them, one a line behind "/*0040*/ ".
static void give_texts(const OpenResult *r, ClockAnswer *answer) {
  const char **text = ARENA_ARRAY(r->arena, const char *, answer->code.n + 1);
  const char *line = r->module->source;
  for (int i = 0; i < answer->code.n; i++) {
    const char *end = line ? strchr(line, '\n') : NULL, *behind = line ? strstr(line, "*/ ") : NULL;
    const bool has_text = behind && end && behind < end;
    if (has_text) behind += strlen("*/ ");
    text[i] = has_text
                  ? str_sanitise(r->arena, arena_strndup(r->arena, behind, strcspn(behind, ";\n")))
                  : answer->text[i];
    line = end ? end + 1 : NULL;
  }
  answer->text = text;
}

const ClockAnswer *open_clock(const OpenResult *r, const OpenWhy *asked, Diags *diags) {
  OpenFollowed *f = r->followed;
  TargetTable *targets = ARENA_NEW(r->arena, TargetTable);
  if (!cli_targets(r->arena, targets, diags)) return NULL;
  const LaunchRun run = {.n_kinds = f->n_kinds,
                         .kind = f->kind,
                         .costs = &f->costs,
                         .stack_bytes = r->module->machine->stack_bytes,
                         .data_bytes = data_bytes(r)};
  const ClockAsk ask = {.kernel = r->kernel->name,
                        .mhz = asked->mhz,
                        .what_if = asked->what_if,
                        .cold = asked->cold,
                        .window = asked->window,
                        .launch = why_launch(&r->launch),
                        .run = &run};
  ClockAnswer *answer = ARENA_NEW(r->arena, ClockAnswer);
  *answer =
      clock_answer_cubin(r->arena, (const unsigned char *)r->cubin, r->cubin_bytes, targets, &ask);
  if (answer->why_not) return answer;
  if (r->outcome == PTX_BEYOND)
    answer->no_clocks = "the capsule's memory ends before the block does: clocks of loops alone";
  answer->line = lines_of(r, answer->code.n);
  give_texts(r, answer);
  return answer;
}

void open_take_clock(OpenResult *r) {
  Diags diags = diags_new(r->arena);
  const ClockAnswer *answer = open_clock(r, &(OpenWhy){.what_if = true, .window = true}, &diags);
  r->no_clock = !answer ? diags.first->text : answer->why_not ? answer->why_not : answer->no_clocks;
  // A block that its capsule's memory cuts off has loops all the same.
  const bool has_loops = r->outcome == PTX_BEYOND && answer && answer->n_loops > 0;
  if (has_loops) r->no_clock = NULL;
  if (!r->no_clock) r->clock = answer;
}

int open_why(const OpenResult *r, const OpenWhy *asked, Diags *diags) {
  const ClockAnswer *answer = open_clock(r, asked, diags);
  if (!answer) return cli_fail(diags);
  if (answer->why_not) return cli_error(CLI_USAGE, "%s: %s", r->path, answer->why_not);
  const Why why = {.arena = r->arena, .path = r->path, .answer = answer, .what_if = asked->what_if};
  if (asked->json)
    why_print_json(&why);
  else
    why_print(&why);
  return answer->no_clocks ? CLI_NO : CLI_OK;
}
