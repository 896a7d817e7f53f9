// wgmma, and the arithmetic of other warps beside it at the ports of the register file.
//
// A tensor core that multiplies for wgmma reads and writes 64 sums of a thread in the 64 clocks of
// m64n128k16, when it likes; what its scheduler issues meanwhile gets the clocks that are left.
// Products are never held up. Those with f16 sums move half as much and leave enough.
//
//   FMNMX R1, R1, R2      4 clocks beside wgmma, 2 without it
//   FADD R1, R1, R2       2 clocks, and 4 with R2.reuse: what is kept for it does not last
#include "clock/clock_engine.h"

// The upper word of HGMMA and QGMMA, read off nvdisasm (CUDA 13.0).
enum { F32_SUMS = 1 << 12, QGMMA = 0x1f3 };

static bool holds_up(const SassInst *inst) {
  return inst->opcode->bits == QGMMA || (inst->high & F32_SUMS);
}

// A warp's quarter of a product keeps the tensor core of its scheduler; all four read the tile of
// B, and A where it lies in shared memory, through the SM's pipe of 128 bytes a clock.
void engine_multiply_group(Engine *e, EngineScheduler *s, int warp, const SassInst *inst) {
  enum {
    COLUMNS_AT = 53,
    MOST = 31,
    GROUP_AT = 84,
    NO_GROUP = 7,
    A_BYTES = 2048,
    A_IS_REGISTERS = 6
  };
  EngineWarp *w = &e->warp[warp];
  const double columns = 8.0 * (double)((inst->low >> COLUMNS_AT & MOST) + 1);
  const double bytes = columns * 32 + (inst->form == A_IS_REGISTERS ? 0 : A_BYTES);
  if (s->group_free < (double)e->now) s->group_free = (double)e->now;
  s->group_free += columns * e->machine->group_clocks;
  if (holds_up(inst)) s->group_holds = s->group_free;
  if (e->shared_free < (double)e->now) e->shared_free = (double)e->now;
  e->shared_free += bytes / 4 / 128;
  const double done = s->group_free > e->shared_free ? s->group_free : e->shared_free;
  if ((inst->high >> (GROUP_AT - 64) & 7) == NO_GROUP) return;
  if (w->n_groups == 7) w->n_groups--;
  w->group[w->n_groups++] = (int64_t)(done + e->machine->group_end_clocks);
}

static bool is_held_up(const SassInst *inst) {
  switch (inst->opcode->pipe) {
    case SASS_PIPE_FMA:
    case SASS_PIPE_FMA_HEAVY:
    case SASS_PIPE_HALF:
    case SASS_PIPE_ALU:
    case SASS_PIPE_XU:
      return true;
    default:
      return false;
  }
}

static double clocks_beside(const ClockMachine *m, const SassInst *inst) {
  switch (inst->opcode->pipe) {
    case SASS_PIPE_FMA:
      return inst->reuse ? m->group_reuse_clocks : m->group_fma_clocks;
    case SASS_PIPE_XU:
      return m->group_fma_clocks;
    default:
      return m->group_half_clocks;
  }
}

void engine_take_ports(const Engine *e, EngineScheduler *s, const SassInst *inst) {
  const double now = (double)e->now;
  if (is_held_up(inst) && s->group_holds > now)
    s->dispatch_free = e->now + (int64_t)clocks_beside(e->machine, inst);
}

bool engine_waits_for_ports(const Engine *e, const EngineScheduler *s, const SassInst *inst) {
  return s->dispatch_free > e->now && is_held_up(inst);
}

// Beside products of mma.sync the XU takes a clock more for each. (lab/clock/products.cu: a MUFU
// behind each product takes 9.0 clocks, with three warps and with four.)
double engine_unit_clocks(const Engine *e, const EngineScheduler *s) {
  if (s->group_holds > (double)e->now) return e->machine->group_unit_clocks;
  return e->machine->pipe_clocks[SASS_PIPE_XU] + (s->pipe_free[SASS_PIPE_TENSOR] > e->now);
}
