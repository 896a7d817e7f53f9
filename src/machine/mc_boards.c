// Commits → the scoreboards that they release → the instructions whose control words wait for them.
#include "machine/mc_boards.h"

#include "machine/mc_run.h"

// Fields of an instruction's upper half (sass/sass_code.h).
enum { WRITES_AT = 110 - 64, READS_AT = 113 - 64, WAIT_AT = 116 - 64 };

static unsigned board_at(const McStep *step, int at) {
  const unsigned number = (unsigned)(step->high >> at & 7);
  return number < MC_BOARDS ? 1u << number : 0;
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
    const bool loads = code[pc].machine->op->operands[0] == 'd';
    code[pc].gives = (uint8_t)(board ? board : loads ? 1u << PTX_BOARDS : 0);
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
