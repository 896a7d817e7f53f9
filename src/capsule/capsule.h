// A capsule: one launch of a kernel as it happened, in one file. Reading is bounded and checked: a
// file that was cut, changed or made up is a finding of rule "capsule", never anything else.
//
//   Capsule *capsule = capsule_read(arena, bytes, n, "k.capsule", &diags);     NULL: see diags
//
// The capsule points into the bytes, which have to live as long. The file, all numbers little
// endian:
//
//   0   magic, 8 bytes
//   8   u32 version, u32 number of parts
//   16  u64 bytes of the file
//   24  u32 CRC-32 of the table, u32 CRC-32 of the 28 bytes before
//   32  the table: for each part u32 kind, u32 CRC-32, u64 offset, u64 bytes
//       the parts, one behind the other, to the end of the file
//
// A version that is higher than CAPSULE_VERSION is refused. Parts of a kind that is not known are
// passed over, so that a version can have more. A file has the lowest version whose readers take it
// for what it is: 2 where its blocks go on beyond its memory, which a reader of version 1 would
// take for a fault of the kernel; else 1.
#pragma once
#include "banks/layouts/tma_box.h"

enum { CAPSULE_VERSION = 2, CAPSULE_MAP_BYTES = 128, CAPSULE_PARAM_BYTES_MAX = 1 << 16 };
enum { CAPSULE_RUN_BYTES = 20 };  // of a run's head in a file
#define CAPSULE_MAGIC "\211gmvcap\n"
// Addresses end here: what lies above is not memory of a GPU.
#define CAPSULE_ADDRESS_MAX (UINT64_C(1) << 56)
// More than this in all allocations together: only what the chosen blocks touch is kept.
#define CAPSULE_WHOLE_MAX (UINT64_C(48) << 20)
// A file that is larger is cut: it has the memory that the blocks touch first.
enum { CAPSULE_LIMIT_MB = 64 };

// The kinds of parts.
enum {
  CAPSULE_PART_LAUNCH = 1,
  CAPSULE_PART_PARAMS = 2,
  CAPSULE_PART_PTX = 3,
  CAPSULE_PART_CUBIN = 4,
  CAPSULE_PART_MEMORY = 5,
  CAPSULE_PART_MAP = 6,
  CAPSULE_PART_TRAITS = 7,    // where a launch has any
  CAPSULE_PART_LAUNCHES = 8,  // of the whole program, added when it has ended
  CAPSULE_PART_EXTENTS = 9,   // of the allocations that some of the memory is pieces of
};

enum { CAPSULE_COOPERATIVE = 1, CAPSULE_GOES_ON = 2 };  // bits of the traits

// A stretch of memory, and how much is known of it.
typedef enum CapsuleContent {
  CAPSULE_BYTES,
  CAPSULE_ZEROS,
  CAPSULE_UNWRITTEN,  // nothing had been written there
  CAPSULE_HIDDEN,     // contents that were not to be recorded (--no-data)
  CAPSULE_LEFT_OUT,   // it is not kept: the chosen blocks do not touch it, or go on beyond
  CAPSULE_CONTENTS,
} CapsuleContent;

typedef struct CapsuleRun {
  CapsuleContent content;
  uint64_t from, n;
  const unsigned char *bytes;  // n of them; NULL but for CAPSULE_BYTES
} CapsuleRun;

typedef enum CapsuleMemoryKind {
  CAPSULE_ALLOCATION,
  CAPSULE_GLOBAL,    // a __device__ variable
  CAPSULE_CONSTANT,  // a __constant__ one
  CAPSULE_MEMORY_KINDS,
} CapsuleMemoryKind;

typedef struct CapsuleMemory {
  CapsuleMemoryKind kind;
  const char *name;  // of a variable its symbol
  uint64_t address, bytes;
  const CapsuleRun *before;  // all of it, run behind run
  const CapsuleRun *after;   // what was recorded behind the launch, in order
  int n_before, n_after;
} CapsuleMemory;

// An allocation as it was; its memory in the capsule may be some pieces of it.
typedef struct CapsuleExtent {
  uint64_t address, bytes;
} CapsuleExtent;

typedef struct CapsuleMap {
  unsigned char bytes[CAPSULE_MAP_BYTES];  // as the driver encoded it
  uint64_t address;
  const char *text;  // "shape=512x256,box=64x64,swizzle=128B,type=f16,…" (tma_box_parse)
  TmaBox box;        // the same
} CapsuleMap;

typedef struct CapsuleParam {
  uint64_t offset, bytes;
} CapsuleParam;

// A way in which the program launched a kernel, and how often.
typedef struct CapsuleLaunch {
  const char *kernel;                 // in the machine code
  const char *note;                   // why it was not run; NULL
  int grid[3], block[3], cluster[3];  // cluster 0: as the kernel says
  uint64_t smem, times;
  uint64_t first;        // the number of the first of them among the launches of this kernel
  uint64_t timed, nano;  // how many were timed, and how long these took together
} CapsuleLaunch;

typedef struct CapsuleText {
  const unsigned char *at;  // NULL: none
  size_t n;
} CapsuleText;

typedef struct Capsule {
  const char *kernel;                 // as the machine code has it
  const char *program;                // the words of the command
  const char *device;                 // "gemmview's CPU", "NVIDIA H200"
  const char *blocks;                 // whose memory was kept: "all", "0,0,0"
  int grid[3], block[3], cluster[3];  // cluster 0: as the kernel says
  uint64_t smem;                      // dynamic, bytes
  uint64_t number;                    // which launch of this kernel, from 0
  bool ended;                         // the launch ended and what it left was recorded
  bool by_gpu;                        // it ran on a GPU
  bool cooperative;                   // all its blocks run at the same time
  bool goes_on;                       // the blocks touch more than what was kept
  CapsuleText params, ptx, cubin;
  const CapsuleParam *param;
  int n_params;
  CapsuleMemory *memory;  // allocations by rising address, without overlap; then variables
  int n_memory;
  const CapsuleExtent *extents;  // by rising address, without overlap; none where all is kept
  int n_extents;
  CapsuleMap *maps;
  int n_maps;
  const CapsuleLaunch *launches;  // of the program; none in a capsule of a program that still runs
  int n_launches;
} Capsule;

bool capsule_is(const void *bytes, size_t n);  // whether it begins as one
Capsule *capsule_read(Arena *arena, const void *bytes, size_t n, const char *what, Diags *diags);
// Everything that allocations and variables take, in bytes.
uint64_t capsule_memory_bytes(const Capsule *capsule);

// The file of a capsule, piece by piece, in order; false ends it.
typedef bool CapsulePut(void *self, const void *bytes, size_t n);
// False: `put` ended it.
bool capsule_write(Arena *arena, const Capsule *capsule, CapsulePut *put, void *self);
uint64_t capsule_file_bytes(const Capsule *capsule);  // of the file that is written

// ---- capsule_cut.c: some pages of an allocation in place of all ---------------------------------

typedef struct CapsulePiece {
  uint64_t from, to;
} CapsulePiece;

// An allocation of `bytes` → pieces that lie far apart, each from the first page that is kept to
// the last; kept: by page, NULL: all. Begins with *piece = {0}; false: there is no further piece.
bool capsule_next_piece(const bool *kept, uint64_t page_bytes, uint64_t bytes, CapsulePiece *piece);
uint64_t capsule_pieces_max(uint64_t page_bytes, uint64_t bytes);
const char *capsule_piece_name(Arena *arena, const char *of, const CapsulePiece *piece);
// The most that a page of n bytes from `from` on adds to a file: its contents before and behind the
// launch. false: some of it is not there.
bool capsule_page_cost(const CapsuleMemory *m, uint64_t from, uint64_t n, uint64_t *bytes);
// The first run that ends behind a place; n: there is none.
int capsule_run_behind(const CapsuleRun *runs, int n, uint64_t at);
// Leaves out every page that is not kept, by memory of the capsule and page; NULL for memory that
// stays as it is. The contents stay those of the capsule that was read.
void capsule_cut(Arena *arena, Capsule *capsule, const bool *const *kept, uint64_t page_bytes);

uint32_t capsule_crc(uint32_t crc, const void *bytes, size_t n);  // begins with 0
