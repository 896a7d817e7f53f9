// Makes a machine: its launch checked, its memory, its warps with what the hardware fills.
#include "base/whole.h"
#include "ptx/run/run.h"

enum { CLUSTERS_SINCE = 90 };
enum { SMEM_MAX = 227 * 1024, THREADS_MAX = 1024, PTX_CLUSTER_MAX = 16 };
// The system's part of a block's shared memory, and where in it cooperative groups have theirs. On
// a GPU it lies in front of the kernel's own; here it lies behind, in the same banks.
enum { RESERVED_BYTES = 1024, RESERVED_1 = PTX_RESERVED_1 };

static void put_special(PtxWarp *w, int special, uint32_t lane, uint32_t value) {
  w->fixed[(size_t)special * PTX_LANES + lane] = value;
}

static void set_thread(PtxMachine *m, PtxWarp *w, uint32_t l) {
  const int *block = m->launch.block;
  const uint32_t t = (uint32_t)w->in_block * PTX_LANES + l, x = (uint32_t)block[0],
                 y = (uint32_t)block[1];
  put_special(w, PTX_SPECIAL_tid_x, l, t % x);
  put_special(w, PTX_SPECIAL_tid_y, l, t / x % y);
  put_special(w, PTX_SPECIAL_tid_z, l, t / x / y);
  put_special(w, PTX_SPECIAL_laneid, l, l);
  put_special(w, PTX_SPECIAL_warpid, l, (uint32_t)w->in_block);
  put_special(w, PTX_SPECIAL_lanemask_eq, l, 1u << l);
  put_special(w, PTX_SPECIAL_lanemask_lt, l, (1u << l) - 1);
  put_special(w, PTX_SPECIAL_lanemask_le, l, (2u << l) - 1);
  put_special(w, PTX_SPECIAL_lanemask_gt, l, ~((2u << l) - 1));
  put_special(w, PTX_SPECIAL_lanemask_ge, l, ~((1u << l) - 1));
}

// In a cluster an address of shared memory names its block, as it does on a GPU: kernels for pairs
// of blocks clear bit 24 and have the address in the block of even rank.
static uint64_t own_address(const PtxMachine *m, const PtxWarp *w, uint64_t offset) {
  return m->n_blocks > 1 ? ptx_ranked(offset, (uint64_t)w->block->rank) : offset;
}

static void set_launch(PtxMachine *m, PtxWarp *w, uint32_t l) {
  for (int d = 0; d < 3; d++) {
    put_special(w, (int)PTX_SPECIAL_ntid_x + d, l, (uint32_t)m->launch.block[d]);
    put_special(w, (int)PTX_SPECIAL_nctaid_x + d, l, (uint32_t)m->launch.grid[d]);
    put_special(w, (int)PTX_SPECIAL_nclusterid_x + d, l,
                (uint32_t)(m->launch.grid[d] / m->cluster[d]));
    put_special(w, (int)PTX_SPECIAL_cluster_nctaid_x + d, l, (uint32_t)m->cluster[d]);
  }
  put_special(w, PTX_SPECIAL_nwarpid, l, PTX_WARPS_MAX);
  put_special(w, PTX_SPECIAL_nsmid, l, 1);
  put_special(w, PTX_SPECIAL_cluster_nctarank, l, (uint32_t)m->n_blocks);
  put_special(w, PTX_SPECIAL_cluster_ctarank, l, (uint32_t)w->block->rank);
  put_special(w, PTX_SPECIAL_is_explicit_cluster, l, m->n_blocks > 1);
  put_special(w, PTX_SPECIAL_dynamic_smem, l, (uint32_t)m->launch.dynamic_smem);
  put_special(w, PTX_SPECIAL_total_smem, l, (uint32_t)m->smem);
  put_special(w, PTX_SPECIAL_aggr_smem, l, (uint32_t)m->smem);
  put_special(w, PTX_SPECIAL_dynamic_base, l,
              (uint32_t)own_address(m, w, (uint64_t)m->static_smem));
  put_special(w, PTX_SPECIAL_reserved_begin, l, (uint32_t)m->reserved);
  put_special(w, PTX_SPECIAL_reserved_0, l, (uint32_t)m->reserved);
  put_special(w, PTX_SPECIAL_reserved_1, l, (uint32_t)m->reserved + RESERVED_1);
  put_special(w, PTX_SPECIAL_reserved_end, l, (uint32_t)(m->reserved + m->reserved_bytes));
  put_special(w, PTX_SPECIAL_reserved_cap, l, (uint32_t)m->reserved_bytes);
}

// The block with a rank in the cluster that begins with block `first`; ranks count x first.
void ptx_place_block(PtxMachine *m, PtxBlock *block, const int first[3]) {
  int left = block->rank;
  for (int d = 0; d < 3; d++) {
    const int within = left % m->cluster[d];
    left /= m->cluster[d];
    block->index[d] = first[d] + within;
    for (int i = 0; i < m->block_warps; i++)
      for (uint32_t l = 0; l < PTX_LANES; l++) {
        PtxWarp *w = &m->warps[block->rank * m->block_warps + i];
        put_special(w, (int)PTX_SPECIAL_ctaid_x + d, l, (uint32_t)block->index[d]);
        put_special(w, (int)PTX_SPECIAL_clusterid_x + d, l, (uint32_t)(first[d] / m->cluster[d]));
        put_special(w, (int)PTX_SPECIAL_cluster_ctaid_x + d, l, (uint32_t)within);
      }
  }
}

static void make_blocks(PtxMachine *m) {
  const int n_mbarriers = PTX_MBARRIERS_MAX * m->n_blocks;
  m->blocks = ARENA_ARRAY(m->arena, PtxBlock, m->n_blocks);
  m->mbarriers = ARENA_ARRAY(m->arena, PtxMbarrier, n_mbarriers);
  m->cluster_barrier.clock = order_clock(m->order);
  m->cluster_over = order_clock(m->order);
  m->released = order_clock(m->order);
  m->life = order_cluster(m->order, m->n_blocks, m->n_warps);
  for (int rank = 0; rank < m->n_blocks; rank++) {
    PtxBlock *block = &m->blocks[rank];
    block->rank = rank;
    if (m->has_tmem) block->tmem = ptx_tmem_new(m);
    for (int id = 0; id < PTX_BARRIERS; id++) block->barriers[id].clock = order_clock(m->order);
  }
}

// A constant of the text; of an address in shared memory, where the variable lies for this kernel.
static uint64_t constant_of(const PtxMachine *m, const PtxWarp *w, int constant) {
  const uint64_t bits = m->module->constants[constant];
  const int v = m->module->constant_variable[constant];
  if (v < 0 || m->place.offset[v] < 0) return bits;
  return own_address(m, w, bits + (uint64_t)(m->place.offset[v] - m->module->variables[v].offset));
}

static void make_warps(PtxMachine *m) {
  // Room for the deepest chain of calls: every frame as large as the largest function's.
  int regs = 1, preds = 1;
  for (int f = 0; f < m->module->n_functions; f++) {
    const PtxFunction *function = &m->module->functions[f];
    if (function->is_kernel && function != m->kernel) continue;
    if (function->n_regs + 1 > regs) regs = function->n_regs + 1;
    if (function->n_preds + 1 > preds) preds = function->n_preds + 1;
  }
  const int frames = m->module->n_calls > 0 ? PTX_CALLS_MAX : 1;
  const int n_fixed = PTX_SPECIALS + m->module->n_constants;
  for (int i = 0; i < m->n_warps; i++) {
    PtxWarp *w = &m->warps[i];
    w->index = i;
    w->in_block = i % m->block_warps;
    w->block = &m->blocks[i / m->block_warps];
    w->clock = order_clock(m->order);
    w->fenced = order_clock(m->order);
    w->groups = order_piece(m->order, sizeof *w->groups);
    w->cap_regs = regs * frames;
    w->cap_preds = preds * frames;
    w->regs = ARENA_ARRAY(m->arena, uint64_t, w->cap_regs * PTX_LANES);
    w->taint = ARENA_ARRAY(m->arena, uint32_t, w->cap_regs);
    w->flight = ARENA_ARRAY(m->arena, PtxFlight, w->cap_regs);
    w->unknown = ARENA_ARRAY(m->arena, uint32_t, w->cap_regs);
    w->pred_unknown = ARENA_ARRAY(m->arena, uint32_t, w->cap_preds);
    w->preds = ARENA_ARRAY(m->arena, uint32_t, w->cap_preds);
    w->pred_taint = ARENA_ARRAY(m->arena, uint32_t, w->cap_preds);
    w->fixed = ARENA_ARRAY(m->arena, uint64_t, n_fixed * PTX_LANES);
    for (int c = 0; c < m->module->n_constants; c++)
      for (int l = 0; l < PTX_LANES; l++)
        w->fixed[(PTX_SPECIALS + c) * PTX_LANES + l] = constant_of(m, w, c);
    for (uint32_t l = 0; l < PTX_LANES; l++) {
      set_launch(m, w, l);
      set_thread(m, w, l);
    }
  }
}

static void place_variables(PtxMachine *m) {
  for (int i = 0; i < m->module->n_variables; i++) {
    const PtxVariable *v = &m->module->variables[i];
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) continue;
    const uint64_t base = v->space == PTX_SPACE_GLOBAL ? PTX_GLOBAL_VARIABLES : PTX_CONST_VARIABLES;
    if (v->bytes == 0) continue;
    PtxBuffer *b =
        ptx_buffer_add(m, v->name, base + (uint64_t)v->offset, ptx_plane(m->arena, v->bytes));
    if (v->init) memcpy(b->plane.bytes, v->init, (size_t)v->bytes);
    memset(b->plane.state, PTX_BYTE_WRITTEN, (size_t)v->bytes);
  }
}

static bool check_extents(const PtxLaunch *launch, Diags *diags) {
  static const int grid_most[3] = {INT32_MAX, 65535, 65535}, block_most[3] = {1024, 1024, 64};
  int64_t threads = 1;
  for (int d = 0; d < 3; d++) {
    threads *= launch->block[d];
    if (launch->grid[d] < 1 || launch->grid[d] > grid_most[d])
      diag_add(diags, "launch", "grid: %d in direction %c; 1 to %d are allowed", launch->grid[d],
               'x' + d, grid_most[d]);
    if (launch->block[d] < 1 || launch->block[d] > block_most[d])
      diag_add(diags, "launch", "block: %d in direction %c; 1 to %d are allowed", launch->block[d],
               'x' + d, block_most[d]);
  }
  if (threads > THREADS_MAX)
    diag_add(diags, "launch", "block: %lld threads, at most %d", (long long)threads, THREADS_MAX);
  return diags->count == 0;
}

static bool check_launch(const PtxFunction *kernel, const PtxLaunch *launch, int64_t fixed,
                         Diags *diags) {
  if (!check_extents(launch, diags)) return false;
  const int *block = launch->block;
  if (launch->dynamic_smem < 0 || fixed > SMEM_MAX - launch->dynamic_smem)
    diag_add(diags, "launch",
             "smem: %d B of dynamic shared memory behind %lld B, at most %d together",
             launch->dynamic_smem, (long long)fixed, SMEM_MAX);
  const int *req = kernel->reqntid;
  if (req[0] > 0 && (block[0] != req[0] || block[1] != req[1] || block[2] != req[2]))
    diag_add(diags, "launch", "block: the kernel asks for %dx%dx%d (.reqntid)", req[0], req[1],
             req[2]);
  const int *max = kernel->maxntid;
  const int64_t most = (int64_t)max[0] * max[1] * max[2];
  if (max[0] > 0 && block[0] * block[1] * block[2] > most)
    diag_add(diags, "launch", "block: %d threads, the kernel takes at most %lld (.maxntid)",
             block[0] * block[1] * block[2], (long long)most);
  return diags->count == 0;
}

// The blocks of a cluster in each direction: as launched, else as the kernel says
// (.reqnctapercluster).
static bool settle_cluster(PtxMachine *m, Diags *diags) {
  m->n_blocks = 1;
  for (int d = 0; d < 3; d++) {
    const int asked = m->kernel->cluster[d], given = m->launch.cluster[d];
    m->cluster[d] = given > 0 ? given : asked > 0 ? asked : 1;
    if (given > 0 && asked > 0 && given != asked)
      diag_add(diags, "launch",
               "cluster: %d in direction %c, the kernel asks for %d "
               "(.reqnctapercluster)",
               given, 'x' + d, asked);
    if (m->cluster[d] > PTX_CLUSTER_MAX)
      diag_add(diags, "launch", "cluster: %d blocks in direction %c, at most %d", m->cluster[d],
               'x' + d, PTX_CLUSTER_MAX);
    else if (m->launch.grid[d] % m->cluster[d])
      diag_add(diags, "launch",
               "cluster: a grid of %d in direction %c cannot be cut into "
               "clusters of %d",
               m->launch.grid[d], 'x' + d, m->cluster[d]);
    m->n_blocks *= m->cluster[d] > PTX_CLUSTER_MAX ? PTX_CLUSTER_MAX : m->cluster[d];
  }
  if (m->n_blocks > 1 && m->module->cc > 0 && m->module->cc < CLUSTERS_SINCE)
    diag_add(diags, "launch", "cluster: sm_%d has no clusters; they begin with sm_%d",
             m->module->cc, CLUSTERS_SINCE);
  if (m->n_blocks > PTX_CLUSTER_MAX && diags->count == 0)
    diag_add(diags, "launch", "cluster: %d blocks, at most %d", m->n_blocks, PTX_CLUSTER_MAX);
  return diags->count == 0;
}

static bool names_reserved(const PtxModule *module) {
  bool named = false;
  for (int pc = 0; pc < module->n_code; pc++)
    for (int g = 0; g < module->code[pc].n_groups; g++) {
      const PtxGroup *group = &module->code[pc].groups[g];
      const int special = group->n ? ~module->args[group->at] : -1;
      named |= special >= PTX_SPECIAL_reserved_begin && special <= PTX_SPECIAL_reserved_1;
    }
  return named;
}

static bool make_memory(PtxMachine *m, Diags *diags) {
  m->static_smem = (int)m->place.end;
  m->smem = m->static_smem + m->launch.dynamic_smem;
  m->reserved = round_up(m->smem, RESERVED_BYTES);
  m->reserved_bytes = names_reserved(m->module) ? RESERVED_BYTES : 0;
  // Swizzles look at the bits of an address: every block's memory begins where they are 0.
  m->smem_stride = round_up(m->smem + 16, 1024);
  if (m->reserved_bytes) m->smem_stride = m->reserved + 2 * RESERVED_BYTES;
  m->shared = ptx_plane(m->arena, m->smem_stride * m->n_blocks);
  ptx_histories_make(m);
  m->local_bytes = round_up(m->module->local_bytes, 16);
  const int64_t threads = (int64_t)m->n_warps * PTX_LANES;
  if (m->local_bytes * threads > (INT64_C(1) << 28)) {
    diag_add(diags, "launch", "%lld B of local memory for each of %d threads is too much",
             (long long)m->local_bytes, (int)threads);
    return false;
  }
  m->local = ptx_plane(m->arena, m->local_bytes * threads);
  m->param = ptx_plane(m->arena, m->kernel->param_bytes);
  memset(m->param.state, PTX_BYTE_WRITTEN, (size_t)m->kernel->param_bytes);
  return true;
}

// Cooperative groups have a word in global memory that blocks count at when they wait for the grid;
// its place is told by two registers (cooperative_groups/details/driver_abi.h), of which the first
// has the upper half.
static void tell_workspace(PtxMachine *m) {
  for (int n = 0; n < m->n_warps; n++)
    for (uint32_t l = 0; l < PTX_LANES; l++) {
      put_special(&m->warps[n], PTX_SPECIAL_envreg1, l, (uint32_t)(m->workspace >> 32));
      put_special(&m->warps[n], PTX_SPECIAL_envreg2, l, (uint32_t)m->workspace);
    }
}

static void make_workspace(PtxMachine *m) {
  enum { BYTES = 64 };
  PtxPlane plane = ptx_plane(m->arena, BYTES);
  memset(plane.state, PTX_BYTE_WRITTEN, BYTES);
  m->workspace = PTX_ADDRESS_MAX - PTX_NULL_BYTES;  // no recorded memory lies so high
  ptx_buffer_add(m, "the grid's barrier", m->workspace, plane);
  tell_workspace(m);
}

// All but global memory and parameters.
static bool make_parts(PtxMachine *m, Diags *diags) {
  const PtxModule *module = m->module;
  const PtxLaunch *launch = &m->launch;
  Arena *arena = m->arena;
  m->keeper = m;
  m->n_threads = launch->block[0] * launch->block[1] * launch->block[2];
  m->block_warps = (m->n_threads + PTX_LANES - 1) / PTX_LANES;
  m->n_warps = m->block_warps * m->n_blocks;
  m->has_tmem = ptx_has_tmem(module);
  const int parties = (m->has_tmem ? 2 : 1) * m->n_warps;
  m->order = order_new(arena, parties, parties + PTX_MBARRIERS_MAX * m->n_blocks,
                       m->has_tmem       ? ORDER_FACTS
                       : module->machine ? ORDER_READ + 1
                                         : ORDER_FENCED + 1);
  if (m->has_tmem) m->moves = order_piece(m->order, sizeof *m->moves * (size_t)m->n_warps);
  if (!make_memory(m, diags)) return false;
  for (int pc = 0; pc < module->n_code; pc++)
    m->multiplies |= ptx_meant(&module->code[pc])->run == run_wgmma;
  for (int pc = 0; pc < module->n_code; pc++)
    m->has_unknowns |= module->code[pc].run == ptx_run_unknown;
  m->executions = ARENA_ARRAY(arena, int64_t, module->n_code + 1);
  m->unknown_why = ARENA_ARRAY(arena, const char *, module->n_code + 1);
  m->line_keys = ptx_line_keys(arena, module);
  m->warps = ARENA_ARRAY(arena, PtxWarp, m->n_warps);
  make_blocks(m);
  make_warps(m);
  return true;
}

PtxMachine *ptx_machine_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                            const PtxLaunch *launch, Diags *diags) {
  const PtxSharedPlace place = ptx_place_shared(arena, module, (int)(kernel - module->functions));
  if (!check_launch(kernel, launch, place.end - module->reserved_smem, diags)) return NULL;
  PtxMachine *m = ARENA_NEW(arena, PtxMachine);
  *m = (PtxMachine){.place = place,
                    .arena = arena,
                    .module = module,
                    .kernel = kernel,
                    .launch = *launch,
                    .budget = launch->budget,
                    .next_buffer = PTX_BUFFERS};
  if (!settle_cluster(m, diags) || !make_parts(m, diags)) return NULL;
  place_variables(m);
  if (launch->cooperative) make_workspace(m);
  return m;
}

PtxMachine *ptx_machine_beside(PtxMachine *m) {
  Diags none = diags_new(m->arena);
  PtxMachine *beside = ARENA_NEW(m->arena, PtxMachine);
  *beside = *m;
  if (!make_parts(beside, &none)) return NULL;  // what m was made with does for another one
  beside->param = m->param;
  beside->keeper = m;
  tell_workspace(beside);
  return beside;
}

static PtxBuffer *next_buffer(PtxMachine *m, const char *name, int64_t bytes, bool written) {
  PtxBuffer *b = ptx_buffer_add(m, name, m->next_buffer, ptx_plane(m->arena, bytes));
  if (written) b->made = ARENA_ARRAY(m->arena, bool, bytes / PTX_PAGE_BYTES + 1);
  m->next_buffer += (uint64_t)round_up(bytes + (1 << 20), 1 << 20);
  return b;
}

uint64_t ptx_machine_buffer(PtxMachine *m, const char *name, int64_t bytes, const void *contents,
                            PtxContent content) {
  PtxBuffer *b = next_buffer(m, name, bytes, content < PTX_CONTENT_UNWRITTEN);
  if (contents) memcpy(b->plane.bytes, contents, (size_t)bytes);
  if (content == PTX_CONTENT_UNKNOWN) {
    memset(b->plane.state, PTX_BYTE_WRITTEN | PTX_BYTE_UNKNOWN, (size_t)bytes);
    m->has_unknowns = true;
  }
  return b->address;
}

uint64_t ptx_machine_filled(PtxMachine *m, const char *name, int64_t bytes, PtxFill *fill,
                            void *self) {
  PtxBuffer *b = next_buffer(m, name, bytes, true);
  b->fill = fill;
  b->self = self;
  return b->address;
}

void ptx_machine_param(PtxMachine *m, int index, const void *value, int64_t bytes) {
  const PtxParam *param = &m->kernel->params[index];
  memcpy(m->param.bytes + param->offset, value,
         (size_t)(bytes < param->bytes ? bytes : param->bytes));
}
