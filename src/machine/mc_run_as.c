// Runs an instruction as the PTX that does the same: operands with a sign, pairs and addresses are
// put together first, and what comes out as 64 bits is taken apart behind it.
#include "machine/mc_run.h"

// ---- where values come from ---------------------------------------------------------------------

static uint32_t data_of(const PtxWarp *w, PtxArg arg) { return arg >= 0 ? w->frame_taint[arg] : 0; }

uint32_t mc_data(const PtxWarp *w, const PtxInst *i) {
  uint32_t data = w->control;
  if (i->guard >= 0) data |= w->frame_pred_taint[i->guard];
  for (int n = 0; n < i->machine->n; n++) {
    const McOperand *o = mc_operand(i, n);
    if (!o->present || o->letter == 'd' || o->letter == 'p') continue;
    if (o->letter == 'q') {
      data |= w->frame_pred_taint[o->arg[0]];
      continue;
    }
    for (int k = 0; k < o->n; k++) data |= data_of(w, o->arg[k]);
  }
  return data;
}

void mc_follow(PtxWarp *w, const PtxInst *i, uint32_t mask, uint32_t data) {
  for (int n = 0; n < i->machine->n; n++) {
    const McOperand *o = mc_operand(i, n);
    if (!o->present || (o->letter != 'd' && o->letter != 'p')) continue;
    for (int k = 0; k < (o->letter == 'p' ? 1 : o->n); k++) {
      if (o->arg[k] < 0) continue;
      uint32_t *taint =
          o->letter == 'p' ? &w->frame_pred_taint[o->arg[k]] : &w->frame_taint[o->arg[k]];
      *taint = (*taint & ~mask) | (data & mask);
    }
  }
}

// ---- T ------------------------------------------------------------------------------------------

static uint64_t join(uint64_t high, uint64_t low) { return high << 32 | (uint32_t)low; }

// An address of shared memory names its block by a rank; for the machine for PTX it says that it
// does.
static uint64_t in_window(uint64_t address) {
  const bool is_shared = address - PTX_SHARED_WINDOW < PTX_WINDOW_BYTES;
  return is_shared ? address | PTX_RANK_NAMED : address;
}

// |x| and -x of an f64 leave a NaN as it is: so does DADD of an H200.
static uint64_t gathered(const McGather *g, uint64_t value) {
  const uint64_t sign = UINT64_C(1) << 63;
  const bool is_float = !g->add && (g->keep | sign) == ~UINT64_C(0) && !(g->flip & ~sign);
  if (is_float && (value & ~sign) > UINT64_C(0x7ff) << 52) return value;
  return ((value & g->keep) ^ g->flip) + g->add;
}

static void gather(PtxWarp *w, const McGather *g, uint32_t mask) {
  const uint64_t *low = mc_lanes(w, g->low), *high = mc_lanes(w, g->high),
                 *uniform = mc_lanes(w, g->uniform), *uniform_high = mc_lanes(w, g->uniform_high);
  uint64_t *T = mc_lanes(w, MC_FRAME_T + g->t);
  switch (g->kind) {
    case MC_GATHER_32:
      FOR_LANES(mask) T[l] = (uint32_t)(((low[l] & g->keep) ^ g->flip) + g->add);
      break;
    case MC_GATHER_64:
      FOR_LANES(mask) T[l] = gathered(g, join(high[l], low[l]));
      break;
    case MC_GATHER_HALVES:
      FOR_LANES(mask) {
        const uint64_t one = g->half == 2 ? low[l] >> 16 & 0xffff : low[l] & 0xffff;
        T[l] = (uint32_t)(((one << 16 | one) & g->keep) ^ g->flip);
      }
      break;
    case MC_GATHER_ADDRESS:
      FOR_LANES(mask)
      T[l] = in_window(join(high[l], low[l]) * (uint64_t)g->scale +
                       join(uniform_high[l], uniform[l]) + (uint64_t)g->offset);
      break;
    case MC_GATHER_SHARED:
      FOR_LANES(mask)
      T[l] = (low[l] * (uint64_t)g->scale + uniform[l] + (uint64_t)g->offset) & 0xffffff;
      break;
    case MC_GATHER_CLUSTER:
      FOR_LANES(mask)
      T[l] = (uint32_t)(low[l] + uniform[l] + (uint64_t)g->offset) | PTX_RANK_NAMED;
      break;
    case MC_GATHER_COUNT:
      FOR_LANES(mask) T[l] = (0x100000 - (low[l] >> 1)) & 0xfffff;
      break;
    case MC_GATHER_SIXTEENS:
      FOR_LANES(mask) T[l] = low[l] * 16;
      break;
    case MC_GATHER_PARITY:
      FOR_LANES(mask) T[l] = low[l] >> 31 & 1;
      break;
    case MC_GATHER_PART:
      FOR_LANES(mask) T[l] = (uint32_t)low[l] >> g->scale;
      break;
  }
  w->frame_taint[MC_FRAME_T + g->t] = data_of(w, g->low) | data_of(w, g->high) |
                                      data_of(w, g->uniform) | data_of(w, g->uniform_high);
}

static void scatter(PtxWarp *w, const McScatter *s, uint32_t mask) {
  const uint64_t *T = mc_lanes(w, MC_FRAME_T + s->t);
  uint64_t *low = mc_lanes(w, s->low), *high = mc_lanes(w, s->high);
  FOR_LANES(mask) {
    const uint64_t value = s->is_token ? T[l] << 63 : T[l];
    low[l] = (uint32_t)value;
    high[l] = value >> 32;
  }
}

void mc_run_as(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const McStep *step = i->machine;
  const uint32_t data = mc_data(w, i);
  for (int n = 0; n < step->n_gathers; n++) gather(w, &step->gathers[n], mask);
  i->as->run(m, w, i->as, mask);
  if (w->again || m->stopped) return;
  for (int n = 0; n < step->n_scatters; n++) scatter(w, &step->scatters[n], mask);
  if (i->as->row->flow != PTX_FLOW_OWN)
    mc_follow(w, i, mask, i->as->row->flow == PTX_FLOW_WARP && (data & mask) ? ~0u : data);
  else
    for (int n = 0; n < step->n_scatters; n++)
      mc_follow(w, i, mask, w->frame_taint[MC_FRAME_T + step->scatters[n].t]);
}

void mc_run_lone(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  mc_run_as(m, w, i, mask & (~mask + 1));
}

// Bit 63 of what an mbarrier begins with is the phase under way. ptxas writes 0 there; cuBLAS's
// nvjet kernels write 1, so that a wait for phase 0 goes on at once.
void mc_run_begin_mbarrier(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  enum { NUMBER = 2 };
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  mc_run_as(m, w, i, 1u << lane);
  if (m->stopped || !(mc_row(w, i, NUMBER, 1)[lane] >> 31 & 1)) return;
  PtxMbarrier *b = ptx_mbarrier_of(m, w, i->as, &i->as->groups[0], lane);
  if (b) ptx_mbarrier_end_phase(m, w, b);
}

void mc_run_product(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  mc_run_as(m, w, i, mask);
  const McOperand *group = mc_operand(i, i->machine->n - 1);
  if (group->present && !m->stopped && !w->again) run_wgmma_commit(m, w, i, mask);
}

void mc_run_have_registers(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)mask;
  mc_put_pred(w, i, 0, ~0u, ~0u);
}

void mc_run_once(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)mask;
  PtxRun *run = i->as ? mc_run_as : i->machine->op->run;
  run(m, w, i, ~0u);
}

// ---- numbers and constant banks -----------------------------------------------------------------

typedef struct LaunchWord {
  int64_t at;
  uint32_t value;
} LaunchWord;

static bool find_word(const LaunchWord *words, size_t n, int64_t at, uint32_t *out) {
  for (size_t i = 0; i < n; i++)
    if (words[i].at == at) {
      *out = words[i].value;
      return true;
    }
  return false;
}

// Bank 0 begins with the launch; the parameters stand behind it.
static bool launch_word(const PtxMachine *m, int64_t at, uint32_t *out) {
  const uint32_t stack = (uint32_t)m->local_bytes;
  const int *cluster = m->cluster;
  const uint64_t parameters = PTX_PARAM_WINDOW;
  const uint64_t bank = parameters - (uint64_t)m->module->machine->parameters;
  const LaunchWord words[] = {
      {0x00, (uint32_t)m->launch.block[0]},
      {0x04, (uint32_t)m->launch.block[1]},
      {0x08, (uint32_t)m->launch.block[2]},
      {0x0c, (uint32_t)m->launch.grid[0]},
      {0x10, (uint32_t)m->launch.grid[1]},
      {0x14, (uint32_t)m->launch.grid[2]},
      // Up to sm_89; SR_SWINHI since sm_90.
      {0x18, (uint32_t)PTX_SHARED_WINDOW},
      {0x1c, (uint32_t)(PTX_SHARED_WINDOW >> 32)},
      {0x20, (uint32_t)PTX_LOCAL_WINDOW},
      {0x24, (uint32_t)(PTX_LOCAL_WINDOW >> 32)},
      {0x28, stack},
      // Where the blocks of a cooperative launch count: %envreg1 and %envreg2.
      {0x44, (uint32_t)(m->workspace >> 32)},
      {0x48, (uint32_t)m->workspace},
      // %reserved_smem_offset_1, in front of the kernel's own shared memory.
      {0x6c, (uint32_t)PTX_SHARED_WINDOW + PTX_RESERVED_1},
      // Whether blocks run in clusters, the blocks of a cluster, and 1 by each of them: cuBLAS's
      // sm90_xmma kernels find the cluster of a block by them.
      {0x140, cluster[0] * cluster[1] * cluster[2] > 1},
      {0x144, (uint32_t)cluster[0]},
      {0x148, (uint32_t)cluster[1]},
      {0x14c, (uint32_t)cluster[2]},
      {0x150, (uint32_t)ptx_f32_bits(1.0F / (float)cluster[0])},
      {0x154, (uint32_t)ptx_f32_bits(1.0F / (float)cluster[1])},
      {0x158, (uint32_t)ptx_f32_bits(1.0F / (float)cluster[2])},
      // Where the bank lies: nvjet's kernels of cuBLAS 13.0 find their tensor maps 0x2c0 from
      // there.
      {0xc0, (uint32_t)bank},
      {0xc4, (uint32_t)(bank >> 32)},
      // Where the parameters lie for an instruction that needs an address of one.
      {0x198, (uint32_t)parameters},
      {0x19c, (uint32_t)(parameters >> 32)},
      // A descriptor of global memory: what it says changes no value.
      {0x118, 0},
      {0x11c, 0},
      {0x208, 0},
      {0x20c, 0},
  };
  return find_word(words, sizeof words / sizeof *words, at, out);
}

// As ptxas 13.0 reads them since sm_100.
static bool launch_word_100(const PtxMachine *m, int64_t at, uint32_t *out) {
  const LaunchWord words[] = {
      {0x358, 0},
      {0x35c, 0},
      {0x360, (uint32_t)m->launch.block[0]},
      {0x364, (uint32_t)m->launch.block[1]},
      {0x368, (uint32_t)m->launch.block[2]},
      {0x370, (uint32_t)m->launch.grid[0]},
      {0x374, (uint32_t)m->launch.grid[1]},
      {0x378, (uint32_t)m->launch.grid[2]},
      {0x37c, (uint32_t)m->local_bytes},
  };
  return find_word(words, sizeof words / sizeof *words, at, out);
}

bool mc_constant(PtxMachine *m, PtxWarp *w, int bank, int64_t at, uint32_t *out) {
  (void)w;
  const McCode *code = m->module->machine;
  *out = 0;
  const unsigned char *bytes = bank >= 0 && bank < MC_BANKS ? code->banks[bank].bytes : NULL;
  int64_t n = bytes ? code->banks[bank].n : 0;
  if (bank == 0) {
    if (at < code->parameters)
      return code->sm >= 100 ? launch_word_100(m, at, out) : launch_word(m, at, out);
    at -= code->parameters;
    bytes = m->param.bytes;
    n = m->param.size;
  }
  if (at < 0 || at >= n) return false;
  memcpy(out, bytes + at, (size_t)(n - at < 4 ? n - at : 4));
  return true;
}

void mc_begin(PtxMachine *m) {
  const McCode *code = m->module->machine;
  for (int n = 0; n < m->n_warps; n++) {
    PtxWarp *w = &m->warps[n];
    for (int k = 0; k < code->n_fixed; k++) {
      const McFixed *f = &code->fixed[k];
      uint32_t value = (uint32_t)f->value;
      if (!f->is_number) mc_constant(m, w, f->bank, f->value, &value);
      uint64_t *K = w->regs + (size_t)(MC_FRAME_K + k) * PTX_LANES;
      for (int l = 0; l < PTX_LANES; l++) K[l] = value;
    }
  }
}
