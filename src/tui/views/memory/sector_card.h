// The card of one access to global memory: a row is one line of 128 bytes, a column a word of it, a
// cell the lane that asks.
//
//        0       8       16      24        word
//    1   0·······1·······2·······3·······       four sectors for one word of each
//
// A dot is a word that comes along though no lane asks, blank is a sector that stays where it is.
// So what is coalesced is full, and what is not shows its price in dots and in rows.
#pragma once
#include "model/readings/model.h"
#include "tui/canvas/canvas.h"

// Rows drawn; lines beyond the room become one row that counts them.
int sector_card_draw(Canvas *canvas, Rect in, const SectorMap *map);
// The rows it would use if there were room for all of it, the ruler included.
// Explains the rows and cells of the card, in two rows.
void sector_card_legend(Canvas *canvas, Rect in, const SectorMap *map);

// "coalesced", "full sectors" (in more lines than they need), "×2", "no count", and its style.
const char *sector_card_verdict(const SectorCount *count, char out[32], Style *style);

// "×2", "ok", "–" for the site of a number, of shared or of global memory; false: it has no count.
bool site_badge(const Model *model, int number, char out[16], Style *style);

// "Lanes 0-3 cover 16 bytes together; lane 4 is 8192 bytes away. …": the cause of wasted sectors,
// as the addresses have it. NULL: none is wasted, or the addresses follow no such pattern.
const char *sector_card_why(Arena *arena, const GlobalSite *site);
// "STG.E: 128 B asked for in 32 sectors of 32 B (ideal 4), 12 % of what moves; a block makes …"
const char *sector_card_say(Arena *arena, const GlobalSite *site);
