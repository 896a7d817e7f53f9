// Machine code beside PTX: cubin → module → the same blocks on memory of its own → counts, charged
// to the instruction of PTX that each access was made of.
//
//   wmma.load.a…   LDSM.16.M88.4   8 wavefronts: they are those of wmma.load
//   atom.add.f32   LDS, then ATOMS.CAST.SPIN until it succeeds: as often as one warp alone has to,
//                  so the count is the least, and all where the block is one warp
#include <string.h>

#include "base/whole.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_parts.h"
#include "ptx/module/line_table.h"
#include "ptx/run/run.h"

enum { INSTRUCTION = 16 };

// The first instruction of PTX on each of its lines; -1: none.
typedef struct Lines {
  int *pc, n;
} Lines;

static Lines lines_of(Arena *arena, const PtxModule *ptx) {
  Lines out = {.n = 0};
  for (int pc = 0; pc < ptx->n_code; pc++)
    if (ptx->code[pc].line >= out.n) out.n = ptx->code[pc].line + 1;
  out.pc = ARENA_ARRAY(arena, int, out.n + 1);
  for (int line = 0; line < out.n; line++) out.pc[line] = -1;
  for (int pc = ptx->n_code - 1; pc >= 0; pc--) out.pc[ptx->code[pc].line] = pc;
  return out;
}

// The instruction of PTX that one of machine code was made of; -1: it is not known.
static int origin_of(const Lines *lines, const LineTable *table, int pc) {
  const LineRow *row = table->n ? line_table_find(table, (uint64_t)pc * INSTRUCTION) : NULL;
  return row && row->line >= 0 && row->line < lines->n ? lines->pc[row->line] : -1;
}

static LineTable ptx_lines(Arena *arena, const void *cubin, size_t bytes, const char *kernel) {
  return line_table_read(arena, cubin, bytes, ".nv_debug_line_sass", kernel);
}

const PtxModule *open_place_code(Arena *arena, const PtxModule *code, const PtxModule *ptx,
                                 const char *kernel, const void *cubin, size_t bytes) {
  const LineTable table = ptx_lines(arena, cubin, bytes, kernel);
  if (table.n == 0 || ptx->n_locs == 0) return code;
  const Lines lines = lines_of(arena, ptx);
  PtxModule *out = ARENA_NEW(arena, PtxModule);
  *out = *code;
  out->code = ARENA_ARRAY(arena, PtxInst, code->n_code + 1);
  memcpy(out->code, code->code, sizeof *code->code * (size_t)code->n_code);
  out->locs = ptx->locs;
  out->n_locs = ptx->n_locs;
  out->files = ptx->files;
  out->n_files = ptx->n_files;
  for (int pc = 0; pc < code->n_code; pc++) {
    const int origin = origin_of(&lines, &table, pc);
    out->code[pc].loc = origin < 0 ? -1 : ptx->code[origin].loc;
  }
  return out;
}

// ---- counts -------------------------------------------------------------------------------------

static bool is_matrix(const PtxInst *i) {
  return i->run == run_wmma_load || i->run == run_wmma_store;
}

static bool lacks_count(const PtxTally *tally, const PtxInst *i, int pc) {
  const PtxSiteCount *site = ptx_tally_site(tally, pc);
  const bool is_known_by_code = is_matrix(i) || i->run == run_atom || i->run == run_red;
  return is_known_by_code && site->executions > 0 && site->space == PTX_SPACE_SHARED &&
         !site->countable && !site->unknown;
}

static bool lacks_any(const OpenResult *r, const PtxTally *tally) {
  for (int pc = 0; pc < r->module->n_code; pc++)
    if (lacks_count(tally, &r->module->code[pc], pc)) return true;
  return false;
}

static void add_site(PtxSiteCount *sum, const PtxSiteCount *site) {
  if (sum->executions == 0) sum->op = site->op;
  if (sum->op != site->op) sum->op = NULL;
  sum->executions += site->executions;
  sum->wavefronts += site->wavefronts;
  sum->wavefronts_most += site->wavefronts_most;
  sum->ideal += site->ideal;
  if (site->worst <= sum->worst) return;
  sum->worst = site->worst;
  memcpy(sum->worst_addr, site->worst_addr, sizeof sum->worst_addr);
}

// In a block of one warp, only that warp makes a loop of compare-and-swap go round again.
static bool is_one_warp(const PtxLaunch *at) {
  const int64_t threads = (int64_t)at->block[0] * at->block[1] * at->block[2],
                blocks = (int64_t)max_int(at->cluster[0], 1) * max_int(at->cluster[1], 1) *
                         max_int(at->cluster[2], 1);
  return threads <= PTX_LANES && blocks == 1;
}

static void take_counts(const OpenResult *r, const OpenResult *code, PtxTally *tally,
                        const PtxTally *counted) {
  const LineTable table = ptx_lines(r->arena, r->assembled, r->assembled_bytes, r->kernel->name);
  const Lines lines = lines_of(r->arena, r->module);
  PtxSiteCount *sum = ARENA_ARRAY(r->arena, PtxSiteCount, r->module->n_code + 1);
  for (int pc = 0; pc < code->module->n_code; pc++) {
    const PtxSiteCount *site = ptx_tally_site(counted, pc);
    const int origin = origin_of(&lines, &table, pc);
    if (origin >= 0 && site->executions > 0 && site->space == PTX_SPACE_SHARED && site->countable)
      add_site(&sum[origin], site);
  }
  for (int pc = 0; pc < r->module->n_code; pc++)
    if (sum[pc].executions > 0 && lacks_count(tally, &r->module->code[pc], pc))
      ptx_tally_take(tally, pc, &sum[pc],
                     is_matrix(&r->module->code[pc]) || is_one_warp(&r->launch));
}

void open_count_by_code(const OpenRequest *given, const OpenResult *r, PtxTally *tally) {
  if (r->outcome != PTX_DONE || !r->assembled || !lacks_any(r, tally)) return;
  Diags ignored = diags_new(r->arena);
  const OpenRequest of = {.path = given->path, .kernel = r->kernel->name};
  OpenResult code = *r;
  code.record = NULL;
  code.followed = NULL;
  code.n_blocks = 0;
  code.module =
      open_cubin(r->arena, &of, r->text.capsule, r->assembled, r->assembled_bytes, false, &ignored);
  code.kernel = code.module ? ptx_module_kernel(code.module, r->kernel->name, &ignored) : NULL;
  OpenBlocks blocks;
  PtxMachine *machine = code.kernel ? open_make_machine(&code, given, &blocks, &ignored) : NULL;
  if (!machine) return;
  PtxTally *counted = ptx_tally_new(r->arena, code.module, code.kernel);
  ptx_machine_watch(machine, ptx_tally_access, counted);
  if (open_run_blocks(given, &code, machine, &blocks) == PTX_DONE)
    take_counts(r, &code, tally, counted);
}
