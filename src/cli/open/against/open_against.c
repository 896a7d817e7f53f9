// PTX → ptxas → cubin → module; both run, memory compared, the way back (machine/mc_back.h).
#include "cli/open/against/open_against.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_input.h"
#include "cli/open/open_memory.h"
#include "cli/open/open_parts.h"
#include "machine/mc_back.h"

typedef struct Against {
  Arena *arena;
  const OpenRequest *given;
  const OpenResult *r;
  const PtxModule *module[2];  // PTX, machine code
  OpenBlocks blocks;
  LineTable lines;  // of the machine code: lines of the PTX
} Against;

typedef struct Side {
  PtxMachine *machine;
  const OpenBuffer *buffers;
  PtxOutcome outcome;
} Side;

static PtxOutcome run_blocks(PtxMachine *machine, const OpenBlocks *b) {
  PtxOutcome outcome = PTX_DONE;
  int step[3];
  for (int d = 0; d < 3; d++) step[d] = b->all ? ptx_machine_cluster(machine)[d] : 1;
  for (int z = b->first[2]; z <= b->last[2]; z += step[2])
    for (int y = b->first[1]; y <= b->last[1]; y += step[1])
      for (int x = b->first[0]; x <= b->last[0] && outcome == PTX_DONE; x += step[0])
        outcome =
            b->all ? ptx_machine_run_cluster(machine, x, y, z) : ptx_machine_run(machine, x, y, z);
  return outcome;
}

static bool run_side(const Against *a, Arena *arena, int which, PtxTrace *trace,
                     PtxAccessSink *sink, void *context, Side *out, Diags *diags) {
  const PtxModule *module = a->module[which];
  const PtxFunction *kernel = ptx_module_kernel(module, a->r->kernel->name, diags);
  out->machine = kernel ? ptx_machine_new(arena, module, kernel, &a->r->launch, diags) : NULL;
  if (!out->machine) return false;
  out->buffers = open_give_args(arena, out->machine, module, kernel, a->given->args.count,
                                a->given->args.items, diags);
  if (!out->buffers) return false;
  if (sink) ptx_machine_watch(out->machine, sink, context);
  if (trace) ptx_machine_trace(out->machine, trace, context);
  out->outcome = run_blocks(out->machine, &a->blocks);
  return true;
}

static bool again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                  void *context) {
  const Against *a = self;
  Arena *arena = arena_new("again");
  Diags ignored = diags_new(arena);
  Side side;
  const bool ran = run_side(a, arena, machine_code, trace, sink, context, &side, &ignored);
  arena_free(arena);
  return ran;
}

// ---- what differs -------------------------------------------------------------------------------

typedef struct Word {
  int param;
  int64_t at;
  uint32_t of[2];
  int64_t n;  // words that differ
} Word;

static Word first_word(const Against *a, const Side side[2]) {
  Word out = {.param = -1};
  for (int i = 0; i < a->r->kernel->n_params; i++) {
    const int64_t bytes = side[0].buffers[i].bytes;
    const unsigned char *x = bytes ? ptx_machine_bytes(side[0].machine, side[0].buffers[i].address,
                                                       bytes)
                                   : NULL,
                        *y = bytes ? ptx_machine_bytes(side[1].machine, side[1].buffers[i].address,
                                                       bytes)
                                   : NULL;
    for (int64_t at = 0; x && y && at < bytes; at += 4) {
      const size_t n = bytes - at < 4 ? (size_t)(bytes - at) : 4;
      if (memcmp(x + at, y + at, n) == 0) continue;
      if (out.n++) continue;
      out.param = i;
      out.at = at;
      memcpy(&out.of[0], x + at, n);
      memcpy(&out.of[1], y + at, n);
    }
  }
  return out;
}

static const char *machine_text(const Against *a, int pc) {
  return pc < 0 ? "nobody" : ptx_inst_text(a->arena, a->module[1], &a->module[1]->code[pc]);
}

static const char *ptx_text(const Against *a, int pc) {
  if (pc < 0) return "nobody";
  const PtxInst *i = &a->module[0]->code[pc];
  return arena_printf(a->arena, "PTX line %d: %s", i->line,
                      ptx_inst_text(a->arena, a->module[0], i));
}

// The line of the PTX that an instruction was made from.
static const char *origin_text(const Against *a, int pc) {
  const LineRow *row = pc < 0 ? NULL : line_table_find(&a->lines, (uint64_t)pc * 16);
  if (!row) return "";
  const PtxInst line = {.line = row->line};
  return arena_printf(a->arena, "\n               from PTX line %d: %s", row->line,
                      ptx_inst_text(a->arena, a->module[0], &line));
}

static const char *finding_of(const Against *a, const Side *side, int which) {
  if (side->outcome == PTX_DONE) return "done";
  const int n = ptx_machine_findings(side->machine);
  const PtxFinding *f = n ? ptx_machine_finding(side->machine, n - 1) : NULL;
  if (!f) return "budget";
  return arena_printf(a->arena, "%s: %s; %s", ptx_finding_names[f->kind], f->text ? f->text : "",
                      which ? machine_text(a, f->pc) : ptx_text(a, f->pc));
}

static void print_fault(const Against *a, const McFault *f) {
  if (!f->found) return;
  printf("  made by        %s\n", machine_text(a, f->pc));
  printf("               0x%08x in thread %d of block %d,%d,%d, %d instruction%s back%s\n",
         f->value, f->thread, f->block[0], f->block[1], f->block[2], f->steps, plural_s(f->steps),
         origin_text(a, f->pc));
  if (f->or_pc < 0) return;
  printf("  or by          %s%s\n", machine_text(a, f->or_pc), origin_text(a, f->or_pc));
  printf(
      "               it made a value that the first one does not have: one of the two uses a "
      "wrong register\n");
}

static void print_word(const Against *a, const Word *word, const McFault *f) {
  printf("  memory differs in %" PRId64 " word%s; the first: argument %d, byte %" PRId64
         ": 0x%08x by PTX, 0x%08x by machine code\n",
         word->n, plural_s(word->n), word->param, word->at, word->of[0], word->of[1]);
  printf("  stored by      %s%s\n", machine_text(a, f->store_pc), origin_text(a, f->store_pc));
  printf("  by PTX         %s\n", ptx_text(a, f->ptx_store_pc));
  print_fault(a, f);
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
  if (!cubin) return false;
  OpenRequest of = {.path = a->given->path, .kernel = a->r->kernel->name};
  a->module[1] = open_cubin(a->arena, &of, NULL, cubin, bytes, false, diags);
  a->lines = line_table_read(a->arena, cubin, bytes, ".nv_debug_line_sass", a->r->kernel->name);
  return a->module[1] != NULL;
}

static const int *lines_of(const Against *a) {
  const int n = a->module[1]->n_code;
  int *line = ARENA_ARRAY(a->arena, int, n + 1);
  for (int pc = 0; pc < n && a->lines.n; pc++) {
    const LineRow *row = line_table_find(&a->lines, (uint64_t)pc * 16);
    if (row) line[pc] = row->line;
  }
  return line;
}

// From the access that ended the machine code, else from the word.
static void explain(Against *a, const Word *word, const Side *side) {
  const int *line = lines_of(a), n_code = a->module[1]->n_code;
  const int n = ptx_machine_findings(side->machine);
  const PtxFinding *f = n ? ptx_machine_finding(side->machine, n - 1) : NULL;
  if (side->outcome == PTX_STOPPED && f && f->thread >= 0) {
    const McFault fault =
        mc_back_from(a->arena, again, a, line, n_code, f->pc, f->thread, f->block);
    print_fault(a, &fault);
  } else if (word->n) {
    const uint64_t address = side->buffers[word->param].address + (uint64_t)word->at;
    const McFault fault = mc_back(a->arena, again, a, line, n_code, address);
    print_word(a, word, &fault);
  }
}

int open_against(const OpenRequest *request, OpenResult *r, Diags *diags) {
  OpenRequest given = *request;
  const char *memory = open_memory_path(r->arena, r->path, r->kernel->name);
  if (!given.launch || given.args.count == 0) open_recall(r->arena, memory, &given);
  Against a = {.arena = r->arena, .given = &given, .r = r, .module = {r->module}};
  if (!given.launch) {
    diag_add(diags, "usage", "--against needs --launch and --arg")->nearest =
        "--launch grid=1,block=128,smem=0";
    return CLI_USAGE;
  }
  if (!open_read_launch(given.launch, &r->launch, diags) ||
      !open_read_blocks(given.blocks, &r->launch, &a.blocks, diags) || !find_module(&a, diags))
    return CLI_USAGE;
  r->launch.budget = given.budget * INT64_C(1000000);
  Side side[2];
  for (int i = 0; i < 2; i++)
    if (!run_side(&a, r->arena, i, NULL, NULL, NULL, &side[i], diags)) return CLI_USAGE;
  const Word word = first_word(&a, side);
  printf("%s, %s: PTX %s; machine code %s\n", r->path, r->kernel->name, finding_of(&a, &side[0], 0),
         finding_of(&a, &side[1], 1));
  if (!word.n) printf("  memory is equal\n");
  if (!word.n && side[0].outcome == side[1].outcome) return CLI_OK;
  explain(&a, &word, &side[1]);
  return CLI_NO;
}
