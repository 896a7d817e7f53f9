// A cubin, or a library that has some, as a module of machine code.
#pragma once
#include "capsule/capsule.h"
#include "cli/open/open_request.h"
#include "machine/mc_module.h"

// Whether these bytes are a cubin.
bool open_is_cubin(const void *bytes, size_t n);
// The kernel that is asked for, or the only one; or all of them, without code. `capsule`: its
// variables are those of the recorded program; NULL: as the cubin has them. NULL after a finding.
const PtxModule *open_cubin(Arena *arena, const OpenRequest *request, const Capsule *capsule,
                            const void *bytes, size_t n, bool kernels_only, Diags *diags);

// ---- open_listings.c ----------------------------------------------------------------------------
// Texts of instructions by their bits, for a caller that opens many cubins that are nearly alike.

typedef struct OpenListings {
  Arena *arena;
  struct KnownInst *known;  // a table of 2^bits
  int n, bits;
} OpenListings;

OpenListings open_listings(Arena *arena);
// The kernel's listing where each of its instructions is known; else NULL.
const McListing *open_known_listing(Arena *arena, OpenListings *listings, const McCubin *cubin,
                                    const McKernel *kernel, int *n);
void open_know_listing(Arena *arena, OpenListings *listings, const McCubin *cubin,
                       const McKernel *kernel, const McListing *listing, int n);
// Asks nvdisasm once for what is not known yet of this kernel in all of these cubins.
void open_learn(Arena *arena, OpenListings *listings, const char *target,
                const McCubin *const *cubins, int n, const char *kernel);
// The same of n instructions as they stand behind each other. Those that are none stay unknown.
void open_learn_code(Arena *arena, OpenListings *listings, const char *target,
                     const unsigned char *code, int n);
// The text of an instruction of 16 bytes; NULL: it is not known.
const char *open_known_text(const OpenListings *listings, const unsigned char *inst);
