// A peer computes what the plans of a job compute, in a process of its own: the reference where no
// library that we load has the operation. Its operands are the job's, shared by address, so that
// its result is checked like everybody's.
#pragma once
#include "kernels/device/bench_result.h"

// A buffer of the job, as another process opens it (CUDA driver API, cuIpcGetMemHandle).
typedef struct PeerBuffer {
  unsigned char handle[64];
  uint64_t offset;  // of the data behind what the handle opens
} PeerBuffer;

enum { PEER_ROWS_MAX = 4, PEER_BUFFERS = 4 };  // Q, K, V, O

typedef struct PeerRows {
  const char *library;              // "torch 2.11.0"
  const char *name[PEER_ROWS_MAX];  // "FlashAttention-2"
  int n;
} PeerRows;

struct BenchPeer {
  void *context;
  // Tells what it has for the plan's problem; false: `error` says why there is nothing.
  bool (*open)(void *context, Arena *arena, const Plan *plan, const char *gpu_uuid,
               const PeerBuffer buffer[PEER_BUFFERS], PeerRows *rows, const char **error);
  // Computes `count` times in a row, or once and into O where count is 0; waits. `ns`: of all.
  bool (*run)(void *context, int row, int count, double *ns);
};

// Opens the peer on the prepared problem and takes its fastest right row; of kernels that multiply
// by mma.sync the reference is one of the same kind, the first. False when there is none.
bool peer_choose(Arena *arena, Gpu *gpu, const Plan *plan, const BenchPeer *peer,
                 BenchReference *out, int *row);
