// The sectors that one access to global memory by one warp asks for, and how much of them is of
// use.
//
// Global memory comes in sectors of 32 bytes, four to a line of 128, which is what L1 and L2 look
// up. A request (one instruction of one warp) fetches or writes each sector that one of its lanes
// touches, whole and once, however little of it was asked for.
//
//   int64_t addr[BANK_LANES];
//   for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 8;
//   SectorCount count = sectors_count(sectors_op_find("ldg32"), addr);  // 8 sectors, ideal 4, 2
//   lines
//
// Addresses are byte offsets from where the matrix begins, which is 256-byte aligned; as with banks
// a negative one is an inactive lane, and one that is not a multiple of the size is rounded down.
#pragma once
#include "banks/engine/bank.h"

enum {
  SECTOR_BYTES = 32,
  LINE_SECTORS = 4,
  SECTOR_LINES_PER_CLOCK = 4,  // that L1 looks up
  LINE_WORDS = BANK_LINE_BYTES / BANK_WORD_BYTES,
};

// Rows of the table of BankOps that go to global memory: loads, stores, additions in place, the
// global side of cp.async, and TMA, whose boxes no lane asks for (`counted` is false).
int sectors_op_count(void);
const BankOp *sectors_op_at(int index);
const BankOp *sectors_op_find(const char *name);  // NULL: no operation has that name
const BankOp *sectors_load(int bytes);            // of these bytes for each lane: 1, 2, 4, 8 or 16

typedef struct SectorCount {
  bool known;   // false: no lane asks; show null then, never 0
  int sectors;  // that the request touches
  int ideal;    // the number that its distinct bytes would fill
  int lines;    // of 128 bytes, each a look-up of its own
  int lines_ideal;
  int bytes;  // distinct ones asked for
  // For a load: the clocks that L1 takes to answer where it has all lines, measured (sector.c). 0:
  // it is no load.
  int wavefronts;
} SectorCount;

SectorCount sectors_count(const BankOp *op, const int64_t addr[BANK_LANES]);

// One line of 128 bytes and the lane that asks for each of its words.
typedef struct SectorLine {
  int64_t line;                // byte offset / 128
  uint8_t sectors;             // bit s: sector s is touched
  int8_t lane[LINE_WORDS];     // the lowest that asks for the word, -1 for none
  uint32_t lanes[LINE_WORDS];  // all of them: bit l is lane l
} SectorLine;

typedef struct SectorMap {
  const BankOp *op;
  SectorCount count;
  int n_lines;  // = count.lines, ascending
  SectorLine line[BANK_LANES];
} SectorMap;

void sectors_map(SectorMap *map, const BankOp *op, const int64_t addr[BANK_LANES]);
