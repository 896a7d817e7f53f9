// Waits for groups of copies and of products, and a product of f64.
#include <string.h>

#include "base/str.h"
#include "machine/mc_boards.h"
#include "machine/mc_run.h"
#include "ptx/module/multiply.h"

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

// ---- products of f64 ----------------------------------------------------------------------------

static double f64_at(PtxWarp *w, const PtxInst *i, int operand, int pair, int lane) {
  const uint64_t low = (uint32_t)mc_row(w, i, operand, 2 * pair)[lane],
                 bits = mc_row(w, i, operand, 2 * pair + 1)[lane] << 32 | low;
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// mma.m8n8k4 of f64: lane 4r + k holds A[r][k], lane 4c + k holds B[k][c], lane 4r + c holds
// columns 2c and 2c + 1 of row r of the sums. (PTX ISA, 9.7.14.5.2.)
void mc_run_product_f64(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  enum { ROWS = 8, COLS = 8, K = 4, DEST = 0, A = 1, B = 2, SUMS = 3 };
  double a[K * ROWS], b[COLS * K], d[COLS * ROWS];
  (void)m;
  for (int l = 0; l < PTX_LANES; l++) {
    const int row = l / K, k = l % K;
    a[k * ROWS + row] = f64_at(w, i, A, 0, l);
    b[row * K + k] = f64_at(w, i, B, 0, l);
    for (int c = 0; c < 2; c++) d[(2 * k + c) * ROWS + row] = f64_at(w, i, SUMS, c, l);
  }
  ptx_multiply(&(PtxFactors){.rows = ROWS,
                             .cols = COLS,
                             .k = K,
                             .a = a,
                             .b = b,
                             .b_col = K,
                             .b_k = 1,
                             .is_f64 = true,
                             .types = {PTX_F64, PTX_F64}},
               d);
  for (int l = 0; l < PTX_LANES; l++)
    for (int c = 0; c < 2 && mask >> l & 1; c++) {
      uint64_t bits = 0;
      memcpy(&bits, &d[(2 * (l % K) + c) * ROWS + l / K], sizeof bits);
      mc_row(w, i, DEST, 2 * c)[l] = (uint32_t)bits;
      mc_row(w, i, DEST, 2 * c + 1)[l] = bits >> 32;
    }
}
