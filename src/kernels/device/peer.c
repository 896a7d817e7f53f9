// Sharing a problem with a peer, and choosing among what it has.
#include "kernels/device/peer.h"

#include <string.h>

#include "base/str.h"
#include "kernels/device/gpu.h"

static bool share(Gpu *gpu, const GpuBuffer *buffer, PeerBuffer *out) {
  const CudaApi *cuda = gpu->cuda;
  CuDevicePtr base = 0;
  size_t bytes = 0;
  if (!cuda->cuIpcGetMemHandle || !cuda->cuMemGetAddressRange_v2)
    return gpu_refuse(gpu, "this driver shares no memory between processes");
  if (!gpu_check(gpu, cuda->cuMemGetAddressRange_v2(&base, &bytes, buffer->data),
                 "cuMemGetAddressRange") ||
      !gpu_check(gpu, cuda->cuIpcGetMemHandle(out->handle, base), "cuIpcGetMemHandle"))
    return false;
  out->offset = buffer->data - base;
  return true;
}

static bool share_all(Gpu *gpu, PeerBuffer out[PEER_BUFFERS]) {
  static const PlanArg shared[PEER_BUFFERS] = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_V, PLAN_ARG_C};
  for (int i = 0; i < PEER_BUFFERS; i++)
    if (!share(gpu, problem_buffer(&gpu->problem, shared[i]), &out[i])) return false;
  return true;
}

// Milliseconds of one, the faster of two; negative where it cannot or is wrong.
static double time_row(Arena *arena, Gpu *gpu, const Plan *plan, const BenchPeer *peer, int row,
                       VerifyResult *verify) {
  enum { COUNT = 10 };
  double first = 0, second = 0;
  if (!problem_poison(gpu) || !gpu_wait(gpu) || !peer->run(peer->context, row, 0, &first) ||
      !problem_compare(arena, gpu, plan, verify) || !verify->ok)
    return -1;
  if (!peer->run(peer->context, row, COUNT, &first) ||
      !peer->run(peer->context, row, COUNT, &second))
    return -1;
  return (first < second ? first : second) / COUNT * 1e-6;
}

// Whether the plan multiplies by wgmma, which is what its text says.
static bool by_warpgroups(const Plan *plan) { return strstr(plan->cuda, "wgmma.mma_async"); }

bool peer_choose(Arena *arena, Gpu *gpu, const Plan *plan, const BenchPeer *peer,
                 BenchReference *out, int *row) {
  PeerBuffer buffer[PEER_BUFFERS];
  PeerRows rows = {0};
  double best = -1;
  if (!share_all(gpu, buffer)) {
    out->error = str_sanitise(arena, gpu_error(gpu));
    return false;
  }
  if (!peer->open(peer->context, arena, plan, gpu_info(gpu)->uuid, buffer, &rows, &out->error))
    return false;
  out->library = rows.library;
  out->n_candidates = rows.n;
  for (int i = 0; i < rows.n && (best < 0 || by_warpgroups(plan)); i++) {
    VerifyResult verify = {0};
    const double ms = time_row(arena, gpu, plan, peer, i, &verify);
    if (!out->verify.ran || verify.ok) out->verify = verify;
    if (ms < 0 || (best >= 0 && ms >= best)) continue;
    best = ms;
    *row = i;
    out->name = rows.name[i];
  }
  out->ok = best >= 0;
  if (!out->ok && !out->error)
    out->error = out->verify.ran && !out->verify.ok ? verify_sentence(arena, &out->verify)
                                                    : "it does not compute here";
  return out->ok;
}
