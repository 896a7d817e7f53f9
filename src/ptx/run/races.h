// Many touches of shared memory by one instruction of one lane.
//
//   PtxTurn turns[PTX_TURNS] = {0};
//   PtxToucher by = ptx_toucher(m, w, lane, PTX_MULTIPLIES);
//   by.turn = turns;
//   ptx_touch_piece(&by, offset, NULL);   and so on, for each piece of a tile
#pragma once
#include "ptx/run/run.h"

// A history that this touch made, and of which one; `from` 0: none is known. A box and a tile meet
// a few by turns.
enum { PTX_TURNS = 8 };
typedef struct PtxTurn {
  uint32_t from, to;
} PtxTurn;

typedef struct PtxToucher {
  PtxMachine *m;
  PtxWarp *w;
  int lane, thread;
  int64_t offset;
  bool async;  // through the async proxy
  int bytes;   // that a shadow stands for
  PtxTouch now;
  PtxTurn *turn;     // [PTX_TURNS], zero at first; NULL: nothing is kept
  uint32_t written;  // the history of all that this touch wrote; 0: nothing yet
} PtxToucher;

PtxToucher ptx_toucher(PtxMachine *m, PtxWarp *w, int lane, PtxTouchKind kind);
// The same for a bulk copy with bytes that land when this phase of the mbarrier is over.
PtxToucher ptx_toucher_landing(PtxMachine *m, PtxWarp *w, int lane, const PtxMbarrier *mbarrier);
// `values`: the bytes that a write puts there; they are compared with the bytes already there.
void ptx_touch_bytes(PtxToucher *by, int64_t offset, int bytes, const unsigned char *values);

// The same of a whole piece, by a touch that keeps what it did.
static inline void ptx_touch_piece(PtxToucher *by, int64_t offset, const unsigned char *values) {
  PtxHistories *h = &by->m->histories;
  uint32_t *of = &h->of[offset / PTX_PIECE];
  const PtxTurn *turn = &by->turn[*of % PTX_TURNS];
  if (!*of || *of != turn->from || h->history[*of].pieces == 1) {
    ptx_touch_bytes(by, offset, PTX_PIECE, values);
    return;
  }
  h->history[*of].pieces--;
  h->history[turn->to].pieces++;
  *of = turn->to;
}
