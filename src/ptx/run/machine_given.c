// Memory that has its address and its contents from elsewhere: a capsule's, or a driver's.
//
// A variable keeps the place that the text's constants name; behind that lie the given bytes, and
// where a pointer may know it by its real address, the same bytes lie there as well.
#include "base/str.h"
#include "ptx/run/run.h"

static PtxPlane plane_of(PtxMachine *m, const PtxGiven *given) {
  return given->memory ? (PtxPlane){given->memory, given->state, given->bytes}
                       : ptx_plane(m->arena, given->bytes);
}

void ptx_machine_give(PtxMachine *m, const PtxGiven *given) {
  PtxBuffer *b = ptx_buffer_add(m, given->name, given->address, plane_of(m, given));
  m->has_unknowns |= given->unknown && !m->module->machine;
  if (!given->fill) return;
  b->made = ARENA_ARRAY(m->arena, bool, given->bytes / PTX_PAGE_BYTES + 1);
  b->fill = given->fill;
  b->self = given->self;
}

static bool is_variable(const PtxBuffer *b) { return b->address >= PTX_ADDRESS_MAX; }

bool ptx_machine_give_variable(PtxMachine *m, const PtxGiven *given) {
  for (PtxBuffer *b = m->buffers; b; b = b->next) {
    if (!is_variable(b) || b->plane.size != given->bytes || !str_equal(b->name, given->name))
      continue;
    b->plane = plane_of(m, given);
    if (given->address) ptx_buffer_add(m, b->name, given->address, b->plane);
    return true;
  }
  return false;
}

void ptx_machine_params(PtxMachine *m, const void *bytes, int64_t n) {
  memcpy(m->param.bytes, bytes, (size_t)(n < m->param.size ? n : m->param.size));
}
