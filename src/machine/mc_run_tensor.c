// Waits for groups of copies and of products.
#include "base/str.h"
#include "machine/mc_boards.h"
#include "machine/mc_run.h"

enum { LISTED_AT = 32 };

// DEPBAR.LE SB0, n, {2,1}: n of the groups that release scoreboard 0 may be open, and none of those
// that release the listed ones; gsb0: of products.
void mc_run_wait_groups(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  static const uint64_t none[PTX_LANES] = {0};
  const char *board = mc_operand(i, 0)->read->text;
  if (str_starts(board, "gsb")) {
    const PtxInst wait = {.groups = {i->groups[1]}, .n_groups = 1, .row = i->row};
    run_wgmma_wait(m, w, &wait, mask);
    return;
  }
  unsigned over = 0;  // scoreboards of which nothing is open any more
  if (mc_operand(i, 2)->present) {
    over = (unsigned)(i->machine->low >> LISTED_AT) & MC_BOARDS_ALL;
    ptx_await_boards(m, w, mask, over, none);
  }
  const unsigned number = (unsigned)(board[strcspn(board, "0123456789")] - '0');
  if (number < MC_BOARDS)
    ptx_await_boards(m, w, mask, 1u << number, ptx_lanes(m, w, &i->groups[1], 0));
  if (number < MC_BOARDS && !ptx_lanes(m, w, &i->groups[1], 0)[__builtin_ctz(mask)])
    over |= 1u << number;
  if (over & w->reads_open) ptx_await_reads(m, w, over);
}

void mc_run_meet_group(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_meet_group(m, w, i, mask);
}
