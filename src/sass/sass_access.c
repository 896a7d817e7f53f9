#include "sass/sass_access.h"

#include "base/str.h"

bool sass_accesses(const SassInst *inst) {
  const SassPipe pipe = inst->opcode->pipe;
  return inst->bytes > 0 && (pipe == SASS_PIPE_SHARED || pipe == SASS_PIPE_FAR);
}

bool sass_is_local(const SassInst *inst) {
  return str_equal(inst->opcode->name, "LDL") || str_equal(inst->opcode->name, "STL");
}
