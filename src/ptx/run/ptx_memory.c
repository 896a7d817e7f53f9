// Finds the memory of an address: shared memory, a thread's own, parameters, or one of the buffers
// of global memory, which lie far apart so that running off one hits no other.
#include <string.h>

#include "ptx/run/run.h"

PtxPlane ptx_plane(Arena *arena, int64_t size) {
  return (PtxPlane){arena_alloc(arena, (size_t)size + 16), arena_alloc(arena, (size_t)size + 16),
                    size};
}

PtxBuffer *ptx_buffer_add(PtxMachine *m, const char *name, uint64_t address, PtxPlane plane) {
  PtxBuffer *b = ARENA_NEW(m->arena, PtxBuffer);
  *b = (PtxBuffer){.name = name, .address = address, .plane = plane};
  b->next = m->buffers;
  m->buffers = b;
  return b;
}

PtxBuffer *ptx_buffer_at(const PtxMachine *m, uint64_t address) {
  for (PtxBuffer *b = m->buffers; b; b = b->next)
    if (address - b->address < (uint64_t)b->plane.size) return b;
  return NULL;
}

static PtxPlace in_plane(const PtxPlane *plane, uint64_t at, uint64_t limit, int64_t bytes,
                         uint64_t from) {
  if (at >= limit || (uint64_t)bytes > limit - at) return (PtxPlace){0};
  return (PtxPlace){plane->bytes + from + at, plane->state + from + at, (int64_t)(from + at)};
}

// For the block that the address names, or the thread's own.
static PtxPlace in_shared(const PtxMachine *m, int thread, uint64_t address, int64_t bytes) {
  const bool names = address & PTX_RANK_NAMED;
  const uint64_t named = (address & ~PTX_RANK_NAMED) >> PTX_RANK_SHIFT;
  if (!names && named) return (PtxPlace){0};
  const uint64_t rank = names ? named : (uint64_t)ptx_block_of(m, thread)->rank;
  if (rank >= (uint64_t)m->n_blocks) return (PtxPlace){0};
  const uint64_t at = ptx_cut(address, PTX_RANK_SHIFT);
  const bool reserved = m->reserved_bytes && at >= (uint64_t)m->reserved;
  const int64_t limit = reserved ? m->reserved + m->reserved_bytes : m->smem;
  return in_plane(&m->shared, at, (uint64_t)limit, bytes, rank * (uint64_t)m->smem_stride);
}

static bool make_page(PtxBuffer *b, int64_t page) {
  const int64_t from = page * PTX_PAGE_BYTES, rest = b->plane.size - from,
                n = rest < PTX_PAGE_BYTES ? rest : PTX_PAGE_BYTES;
  memset(b->plane.state + from, PTX_BYTE_WRITTEN, (size_t)n);
  b->made[page] =
      !b->fill || b->fill(b->self, b->plane.bytes + from, b->plane.state + from, from, n);
  return b->made[page];
}

bool ptx_buffer_make(PtxBuffer *b, uint64_t at, int64_t bytes) {
  const int64_t size = b->plane.size;
  if (!b->made || bytes <= 0 || at >= (uint64_t)size || bytes > size - (int64_t)at) return true;
  const int64_t last = ((int64_t)at + bytes - 1) / PTX_PAGE_BYTES;
  bool made = true;
  for (int64_t page = (int64_t)at / PTX_PAGE_BYTES; page <= last; page++)
    made &= b->made[page] || make_page(b, page);
  return made;
}

// ---- memory that is not at hand -----------------------------------------------------------------

// No access is larger: it has its other side in shared memory.
enum { ACCESS_MAX = 1 << 18 };

void ptx_machine_leave_out(PtxMachine *m, uint64_t address, uint64_t bytes) {
  PtxLeftOut *range = ARENA_NEW(m->arena, PtxLeftOut);
  *range = (PtxLeftOut){address, bytes, m->left_out};
  m->left_out = range;
}

static bool is_left_out(const PtxMachine *m, uint64_t address, int64_t bytes) {
  for (const PtxLeftOut *r = m->left_out; r; r = r->next)
    if (address - r->address < r->bytes && (uint64_t)bytes <= r->bytes - (address - r->address))
      return true;
  return false;
}

// Ends the run. The instruction at hand comes to its end on memory that nobody looks at.
static PtxPlace go_beyond(PtxMachine *m, int64_t bytes) {
  if (bytes > ACCESS_MAX) return (PtxPlace){0};
  m->stopped = m->beyond = true;
  const PtxPlane plane = ptx_plane(m->arena, bytes);
  memset(plane.state, PTX_BYTE_WRITTEN, (size_t)bytes);
  return (PtxPlace){plane.bytes, plane.state, 0};
}

static PtxPlace in_buffers(PtxMachine *m, uint64_t address, int64_t bytes) {
  PtxBuffer *b = m->last_buffer;
  PtxPlace place = {0};
  if (!b || address - b->address >= (uint64_t)b->plane.size) b = ptx_buffer_at(m, address);
  if (b) {
    m->last_buffer = b;
    place = in_plane(&b->plane, address - b->address, (uint64_t)b->plane.size, bytes, 0);
    if (!ptx_buffer_make(b, address - b->address, bytes)) return go_beyond(m, bytes);
  }
  return !place.bytes && is_left_out(m, address, bytes) ? go_beyond(m, bytes) : place;
}

static const struct {
  PtxSpace space;
  uint64_t window;
} windows[] = {{PTX_SPACE_SHARED, PTX_SHARED_WINDOW},
               {PTX_SPACE_LOCAL, PTX_LOCAL_WINDOW},
               {PTX_SPACE_PARAM, PTX_PARAM_WINDOW}};

bool ptx_is_global(uint64_t address) {
  bool elsewhere = address - PTX_CONST_VARIABLES < PTX_WINDOW_BYTES;
  for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
    elsewhere |= address - windows[i].window < PTX_WINDOW_BYTES;
  return !elsewhere && address >= PTX_NULL_BYTES;
}

PtxPlace ptx_place(PtxMachine *m, int thread, PtxSpace *space, uint64_t address, int64_t bytes) {
  if (*space == PTX_SPACE_GENERIC) {
    *space = PTX_SPACE_GLOBAL;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
      if (address - windows[i].window < PTX_WINDOW_BYTES) {
        *space = windows[i].space;
        address -= windows[i].window;
        break;
      }
  }
  switch (*space) {
    case PTX_SPACE_SHARED:  // of a generic address only the low half counts: machine code has no
                            // more
      if (address - PTX_SHARED_WINDOW < PTX_WINDOW_BYTES) address -= PTX_SHARED_WINDOW;
      return in_shared(m, thread, address, bytes);
    case PTX_SPACE_LOCAL:
      return in_plane(&m->local, address, (uint64_t)m->local_bytes, bytes,
                      (uint64_t)thread * (uint64_t)m->local_bytes);
    case PTX_SPACE_PARAM:
      return in_plane(&m->param, address, (uint64_t)m->param.size, bytes, 0);
    default:
      return in_buffers(m, address, bytes);
  }
}
