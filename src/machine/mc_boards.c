// Commits → the scoreboards that they release → the instructions whose control words wait for them.
#include "machine/mc_boards.h"

#include "base/str.h"
#include "machine/mc_run.h"

// Fields of an instruction's upper half (sass/sass_code.h).
enum { WRITES_AT = 110 - 64, READS_AT = 113 - 64, WAIT_AT = 116 - 64 };

static unsigned board_at(const McStep *step, int at) {
  const unsigned number = (unsigned)(step->high >> at & 7);
  return number < MC_BOARDS ? 1u << number : 0;
}

// Loads of shared memory come back in their order: where only the last of several has a scoreboard,
// it stands for all of them (cuBLAS's tf32 kernels: four LDS, and a wait for the fourth).
static bool in_turn(const PtxInst *i) { return str_starts(i->machine->op->name, "LDS"); }

// An arrival at an mbarrier and a question about its phase have a result, too, but no copy writes
// it.
static bool brings_data(const McOp *op) {
  return op->operands[0] == 'd' && !str_starts(op->name, "SYNCS");
}

static void mark_loads(PtxInst *code, int n) {
  bool copies = false;
  for (int pc = 0; pc < n; pc++) {
    PtxRun *run = ptx_meant(&code[pc])->run;
    copies |= run == run_cp_async_bulk || run == run_cp_tensor;
  }
  for (int pc = 0; pc < n && copies; pc++) {
    if (!code[pc].machine) continue;
    const unsigned board = board_at(code[pc].machine, WRITES_AT);
    const bool loads = brings_data(code[pc].machine->op);
    const int none = in_turn(&code[pc]) ? PTX_BOARD_NEXT : PTX_BOARD_NONE;
    code[pc].gives = (uint8_t)(!loads ? 0 : board ? board : 1u << none);
    code[pc].gives_for_all = board && loads && in_turn(&code[pc]);
    code[pc].waits = (uint8_t)(code[pc].machine->high >> WAIT_AT & MC_BOARDS_ALL);
  }
}

void mc_boards(PtxInst *code, int n) {
  unsigned all = 0;
  for (int pc = 0; pc < n; pc++) {
    PtxInst *i = &code[pc];
    if (!i->machine || (i->run != run_cp_async_commit && i->run != run_bulk_commit)) continue;
    i->boards = (uint8_t)(board_at(i->machine, WRITES_AT) | board_at(i->machine, READS_AT));
    all |= i->boards;
  }
  for (int pc = 0; pc < n; pc++)
    if (code[pc].machine) code[pc].awaits = (uint8_t)(code[pc].machine->high >> WAIT_AT & all);
  mark_loads(code, n);
}
