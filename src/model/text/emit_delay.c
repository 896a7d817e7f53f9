// Delays as text: a count for each, and a call in front of its statement.
//
//   unsigned delayed[1] = {};
//   delay(delayed[0], 2, 3);        warp 2 sleeps when it comes here for the third time
//   wait(full[k_o % 4], …);
#include "model/text/emit_parts.h"

#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"

static const PreludeText delay_text = {
    "delay",
    "// The warp sleeps for 20 ms when it gets here for the `time`-th time: long enough for all\n"
    "// others to go as far as they can.\n"
    "__device__ __forceinline__ void delay(unsigned &count, unsigned warp, unsigned time) {\n"
    "  if (threadIdx.x / 32 != warp || ++count != time) return;\n"
    "  for (int i = 0; i < 20; ++i) __nanosleep(1000000);\n"
    "}\n"};

static const PreludeText delay_in_text = {
    "delay_in",
    "// The same in one block of each cluster.\n"
    "__device__ __forceinline__ void delay_in(\n"
    "    unsigned rank, unsigned &count, unsigned warp, unsigned time) {\n"
    "  unsigned own;\n"
    "  asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(own));\n"
    "  if (own == rank) delay(count, warp, time);\n"
    "}\n"};

bool emit_has_delay(const Emitter *emitter, const Stmt *stmt) {
  const EmitOptions *o = emitter->options;
  for (int i = 0; i < o->n_delays; i++)
    if (o->delay[i].stmt == stmt->id) return true;
  return false;
}

void emit_delays_declare(Emitter *emitter) {
  const int n = emitter->options->n_delays;
  if (n && emitter->kernel == emitter->program->main_kernel)
    emitter_line(emitter, "unsigned delayed[%d] = {};  // times that each place has come", n);
}

void emit_delay_before(Emitter *emitter, const Stmt *stmt) {
  const EmitOptions *o = emitter->options;
  for (int i = 0; i < o->n_delays; i++) {
    const EmitDelay *d = &o->delay[i];
    if (d->stmt != stmt->id || emitter->kernel != emitter->program->main_kernel) continue;
    const char *call = emit_given(emitter, &delay_text);
    if (d->rank < 0)
      emitter_line(emitter, "%s(delayed[%d], %d, %d);", call, i, d->warp, d->time);
    else
      emitter_line(emitter, "%s(%d, delayed[%d], %d, %d);", emit_given(emitter, &delay_in_text),
                   d->rank, i, d->warp, d->time);
  }
}
