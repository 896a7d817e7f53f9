// The variables and buffers that a list of statements uses: what a kernel declares.
#pragma once
#include "model/text/emitter.h"

typedef struct EmitUses {
  const Program *program;
  const EmitRing *ring;  // the numbers that run along read nothing
  bool elects;           // conditions may be said by `warp` (emit_elect.h)
  bool *var;             // by id
  bool more;             // have been found since it was put back
  bool read[BUFFERS_MAX], written[BUFFERS_MAX];
} EmitUses;

EmitUses emit_list_uses(Emitter *emitter, const Stmt *list);
bool emit_uses_buffer(const EmitUses *uses, const Buffer *buffer);
