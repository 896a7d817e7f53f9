// Names of cuBLAS and CUTLASS kernels, read piece by piece, and the nearest schedule.
//
//   DecodedKernel kernel;
//   const char *name = "cutlass_80_tensorop_s1688gemm_64x256_16x4_nn_align4";
//   if (!decode_kernel(arena, name, &kernel, &diags)) …
//   kernel.tile_m, .tile_n, .tile_k, .stages      64 256 16 4
//   DecodedSchedule near = decode_schedule(arena, &kernel, &now);
//   near.knobs      "ATOM_KIND=mma_m16n8k8_tf32,WM=1,WN=4,FM=4,FN=8,BK=2,STAGE=11,…"
//   near.note[i]    what the knobs do not say: "cuBLAS keeps C column-major: …"
//
// A whole symbol, mangled or not, may be given: the name inside is found. So may a name with pieces
// left out, as articles and narrow tables print it: "cutlass_80_…_s16816gemm_...128x64_64x3_nn".
#pragma once
#include "base/diag.h"
#include "model/ir/names.h"
#include "model/schedules/decode_name.h"

const char *decoded_family_name(DecodedFamily family);

// A piece of the name and what it says; an empty meaning: not known.
typedef struct DecodedPart {
  const char *text, *meaning;
} DecodedPart;

enum { DECODED_PARTS_MAX = 48, DECODED_NOTES_MAX = 12, DECODED_NAME_MAX = 512 };

// A field that the name does not say is 0.
typedef struct DecodedKernel {
  const char *name;  // as found in what was given
  DecodedFamily family;
  int arch;                 // 80 for sm_80
  bool tensor;              // on the tensor core
  bool warpgroup;           // one instruction for a warpgroup (wgmma)
  bool tensor_memory;       // one thread asks for it, sums in tensor memory (tcgen05.mma)
  bool pair;                // two CTAs multiply as one (2sm)
  bool blocks;              // factors for blocks of elements along K
  bool roles;               // warps that only fetch, others that only multiply
  int mma_m, mma_n, mma_k;  // one instruction
  bool has_type;            // the name says the type of A and B
  DType type, acc, out;
  int tile_m, tile_n, tile_k, stages;
  int warps_m, warps_n, warps_k;
  // Warpgroups that multiply one tile; 0 = the name does not say. One that shares the tile has a
  // cut along M or N where the name says which ('m', 'n', else 0).
  int groups;
  char cut;
  bool turns;  // two warpgroups, each with a tile of its own
  int cluster_m, cluster_n;
  bool gap;        // "..." stood in it
  int align;       // elements of one access to global memory
  char layout[4];  // "nn": n column-major, t row-major; A, B, and C where it is said
  int n_parts;
  DecodedPart part[DECODED_PARTS_MAX];
} DecodedKernel;

// False after a finding of rule "decode": no kernel name is found in the text, or it has no tile.
bool decode_kernel(Arena *arena, const char *text, DecodedKernel *out, Diags *diags);

typedef struct DecodedSchedule {
  Schedule schedule;  // for the problem and the target of `base`
  const char *knobs;  // those that the name decides
  int n_notes;
  const char *note[DECODED_NOTES_MAX];
} DecodedSchedule;

// Always gives a schedule; whether it is legal on the target is for the rules to say.
DecodedSchedule decode_schedule(Arena *arena, const DecodedKernel *kernel, const Schedule *base);
