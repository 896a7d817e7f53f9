// Waits for groups of copies and of products.
#include "base/str.h"
#include "machine/mc_run.h"

// DEPBAR.LE SB0, n: of copies to shared memory and of bulk copies that go out, n groups may be
// open; gsb0: of products. Where a kernel has both kinds of copies the wait is for both.
void mc_run_wait_groups(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const char *board = mc_operand(i, 0)->read->text;
  const PtxInst wait = {.groups = {i->groups[1]}, .n_groups = 1, .row = i->row};
  if (str_starts(board, "gsb")) {
    run_wgmma_wait(m, w, &wait, mask);
    return;
  }
  run_cp_async_wait(m, w, &wait, mask);
  run_bulk_wait(m, w, &wait, mask);
}

void mc_run_meet_group(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_meet_group(m, w, i, mask);
}
