// Programs written by hand that multiply in tensor memory.
#pragma once

// A block of 128 threads fills one slab after the other, asks for its products and waits for them.
extern const char tensor_program_plain[];
// Warp 7 fetches two slabs ahead by TMA, warp 4 multiplies, warps 0 to 3 read the sums of a tile
// while the next one is fetched; four mbarriers stand between them.
extern const char tensor_program_roles[];
// Warps store to tensor memory what other warps read from there.
extern const char tensor_program_stores[];
