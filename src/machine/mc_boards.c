// Commits → the scoreboards that they release → the instructions whose control words wait for them.
#include "machine/mc_boards.h"

#include "machine/mc_run.h"

enum { WRITES_AT = 110 - 64, READS_AT = 113 - 64, WAIT_AT = 116 - 64 };

static unsigned board_at(const McStep *step, int at) {
  const unsigned number = (unsigned)(step->high >> at & 7);
  return number < MC_BOARDS ? 1u << number : 0;
}

static unsigned released(const PtxInst *i) {
  return board_at(i->machine, WRITES_AT) | board_at(i->machine, READS_AT);
}

uint8_t mc_boards_awaited(const McBoards *boards, unsigned which) {
  return (uint8_t)((which & boards->copies ? PTX_AWAITS_COPIES : 0) |
                   (which & boards->sends ? PTX_AWAITS_SENDS : 0));
}

McBoards mc_boards(PtxInst *code, int n) {
  McBoards out = {0};
  for (int pc = 0; pc < n; pc++) {
    if (!code[pc].machine) continue;
    PtxRun *run = ptx_meant(&code[pc])->run;
    if (run == run_cp_async_commit) out.copies |= released(&code[pc]);
    if (run == run_bulk_commit) out.sends |= released(&code[pc]);
  }
  for (int pc = 0; pc < n; pc++)
    if (code[pc].machine)
      code[pc].awaits = mc_boards_awaited(&out, (unsigned)(code[pc].machine->high >> WAIT_AT));
  return out;
}
