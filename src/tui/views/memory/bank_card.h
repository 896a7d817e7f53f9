// The punch card of one access: a row is one wavefront, a column a bank, a cell the lane served.
//
//        0       8       16      24        bank
//   q1   0000····1111····2222····3333····
//        4444····5555····6666····7777····
//
// Cells wear the colour of the address they belong to: one colour in a column is a broadcast and
// free, several colours in a column are a conflict and its price in rows. A word that several lanes
// share shows the lowest, and "+3" below it that three more do. What does not fit folds: the worst
// phase stays whole, others do while there is room, and each of the rest becomes one line that says
// how often every bank is needed.
#pragma once
#include "banks/engine/bank.h"
#include "tui/canvas/canvas.h"

enum { CARD_COLS = 35, CARD_PREFIX = 3, CARD_TABLE_COLS = 14 };

// `phase` -1: all of them, else only that one. Returns the rows that were used.
int card_draw(Canvas *canvas, Rect in, const BankMap *map, int phase);
// The rows it would use if there were room for all of it, the ruler included.
int card_rows(const BankMap *map, int phase);
// Whether a phase becomes a line of counts when all phases are drawn in `rows` rows.
bool card_folds(const BankMap *map, int rows);
// Whether a word is shared: below its lane stands the number of others that share it.
bool card_shares(const BankMap *map);

// One line of 32 columns, "×8──": the number of words of each bank that the phase needs, and so its
// wavefronts.
void card_draw_counts(Canvas *canvas, Rect in, int row, int col, const BankPhase *phase);

// Lanes × banks: which lane asks which bank; a cell wears the lowest lane that asks for the same.
void card_draw_lanes(Canvas *canvas, Rect in, const BankMap *map, const int64_t addr[BANK_LANES],
                     int phase);
// "lane  address  bank" in the columns that fit.
void card_draw_table(Canvas *canvas, Rect in, const BankMap *map, const int64_t addr[BANK_LANES]);

// The rows that the table takes in `cols` columns, its head included.
int card_table_rows(int cols);

// "2-WAY", "free", "8 to 32 wavefronts": what the access pays, and the style that says so.
const char *card_verdict(const BankCount *count, char out[32], Style *style);
// "x2", "ok", "-": the same in a nest.
const char *card_badge(const BankCount *count, char out[16], Style *style);
