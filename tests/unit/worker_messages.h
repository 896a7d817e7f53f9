// What a client asks a worker for: messages with a plan of one kernel of 32 threads.
#pragma once
#include "kernels/toolchain/plan.h"
#include "kernels/worker/protocol.h"

extern const char worker_good_cuda[];  // compiles

Plan worker_plan(const char *cuda);
// `want`: "ptx,cubin". It is kept when another one comes.
Message worker_compile_message(Arena *arena, int64_t id, const char *cuda, const char *want);
Message worker_bench_message(Arena *arena, int64_t id);  // of worker_good_cuda
