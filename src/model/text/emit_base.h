// Where a thread begins in each slab: the part of an address that no loop changes.
//
// A_s[k_o % 2 * 1056 + k_i * 132 + m_w * 16 + m_l * 4] is written A_s_at[k_o % 2 * 1056 + k_i *
// 132] with  float *const A_s_at = A_s + m_w * 16 + m_l * 4;  declared once. It reads better, and
// the compiler need not find out: NVRTC (13.0) computes shared addresses in 64 bits and does not
// pull the thread's part out of the unrolled loops by itself (1198 instructions per slab of the
// fp32 ladder's last rung instead of 1123).
#pragma once
#include "model/text/emitter.h"

// Finds the bases of a kernel; they stay valid until the next kernel is begun.
void emit_bases_collect(Emitter *emitter, const Kernel *kernel);

// The base of an access and, in *rest, what is left of its offset; NULL when it has none.
const EmitBase *emit_base_of(const Emitter *emitter, const Access *access, const Expr **rest);

void emit_bases_declare(Emitter *emitter);
