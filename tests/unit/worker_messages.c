#include "worker_messages.h"

Plan worker_plan(const char *cuda) {
  return (Plan){.cuda = cuda,
                .arch = "sm_90a",
                .label = "test",
                .m = 64,
                .n = 64,
                .k = 64,
                .n_kernels = 1,
                .kernels = {{.name = "gemm",
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .n_args = 1,
                             .args = {PLAN_ARG_C}}}};
}

static const char *plan_json(Arena *arena, const char *cuda) {
  const Plan plan = worker_plan(cuda);
  Str text = str_new(arena);
  plan_write_json(&text, &plan);
  return text.text;
}

const char worker_good_cuda[] =
    "extern \"C\" __global__ void gemm(float *C) { C[threadIdx.x] = 1.0f; }\n";

Message worker_compile_message(Arena *arena, int64_t id, const char *cuda, const char *want) {
  Message ask = message_new(MESSAGE_COMPILE);
  MESSAGE_SET(ask, id, id);
  MESSAGE_SET(ask, plan, plan_json(arena, cuda));
  MESSAGE_SET(ask, want, want);
  MESSAGE_SET(ask, keep, true);
  return ask;
}

Message worker_bench_message(Arena *arena, int64_t id) {
  Message ask = message_new(MESSAGE_BENCH);
  MESSAGE_SET(ask, id, id);
  MESSAGE_SET(ask, plan, plan_json(arena, worker_good_cuda));
  return ask;
}
