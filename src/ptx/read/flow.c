// Basic blocks and post-dominators.
//
// Post-dominators are found as Cooper, Harvey and Kennedy find dominators: blocks are gone through
// from the end, and each one's is where the chains of its successors' meet, until nothing changes.
#include "ptx/read/ptx_parse.h"

#include "ptx/run/run.h"

typedef struct Block {
  int first, end;
  int order;  // in the walk from the end; −1: not reached
  int after;  // its post-dominator, −1: none yet
  int n_ways;
  int *ways;  // blocks that may follow; the one behind the last is the end
} Block;

typedef struct Flow {
  const PtxModule *module;
  int n;
  Block *blocks;
  int *block_of;  // by instruction, from the function's first
  int first;
} Flow;

static bool ends(const PtxInst *i) {
  return i->run == run_exit || i->run == run_ret || i->run == run_trap || i->run == ptx_run_why;
}
static bool branches(const PtxInst *i) { return i->run == run_bra || i->run == run_brx; }

static void mark_firsts(PtxModule *module, const PtxFunction *f) {
  if (f->first < f->end) module->code[f->first].first = true;
  for (int pc = f->first; pc < f->end; pc++) {
    const PtxInst *i = &module->code[pc];
    if ((branches(i) || ends(i) || i->run == run_call) && pc + 1 < f->end)
      module->code[pc + 1].first = true;
    if (i->run == run_bra && i->target >= 0) module->code[i->target].first = true;
    for (int n = 0; i->run == run_brx && n < i->n_targets; n++)
      if (module->targets[i->target + n] >= 0)
        module->code[module->targets[i->target + n]].first = true;
  }
}

static void add_way(const Flow *flow, Block *block, int pc, int end) {
  block->ways[block->n_ways++] = pc >= 0 && pc < end ? flow->block_of[pc - flow->first] : flow->n;
}

static void link_blocks(Arena *arena, const Flow *flow, const PtxFunction *f) {
  for (int b = 0; b < flow->n; b++) {
    Block *block = &flow->blocks[b];
    const PtxInst *last = &flow->module->code[block->end - 1];
    block->ways = ARENA_ARRAY(arena, int, 2 + last->n_targets);
    if (last->run == run_bra) add_way(flow, block, last->target, f->end);
    for (int n = 0; last->run == run_brx && n < last->n_targets; n++)
      add_way(flow, block, flow->module->targets[last->target + n], f->end);
    const bool goes_on = last->guard != PTX_PRED_TRUE || !(branches(last) || ends(last));
    if (ends(last)) add_way(flow, block, -1, f->end);
    if (goes_on) add_way(flow, block, block->end, f->end);
  }
}

static Flow find_blocks(Arena *arena, PtxModule *module, const PtxFunction *f) {
  Flow flow = {.module = module, .first = f->first};
  const int length = f->end - f->first;
  for (int pc = f->first; pc < f->end; pc++) flow.n += module->code[pc].first;
  flow.blocks = ARENA_ARRAY(arena, Block, flow.n + 1);
  flow.block_of = ARENA_ARRAY(arena, int, length + 1);
  int b = -1;
  for (int pc = f->first; pc < f->end; pc++) {
    if (module->code[pc].first) flow.blocks[++b].first = pc;
    flow.blocks[b].end = pc + 1;
    flow.block_of[pc - f->first] = b;
  }
  link_blocks(arena, &flow, f);
  return flow;
}

// If there are loops, a block's post-dominator may lie before it in the text. So the numbers
// compared come from a walk over the reversed ways.
static void number_blocks(Arena *arena, Flow *flow) {
  int *stack = ARENA_ARRAY(arena, int, flow->n + 1), *before = ARENA_ARRAY(arena, int, flow->n + 2);
  int n_edges = 0;
  for (int b = 0; b < flow->n; b++) n_edges += flow->blocks[b].n_ways;
  int *edges = ARENA_ARRAY(arena, int, n_edges + 1), *next = ARENA_ARRAY(arena, int, flow->n + 2);
  for (int b = 0; b < flow->n; b++)
    for (int w = 0; w < flow->blocks[b].n_ways; w++) before[flow->blocks[b].ways[w] + 1]++;
  for (int b = 0; b <= flow->n; b++) before[b + 1] += before[b];
  for (int b = 0; b <= flow->n; b++) next[b] = before[b];
  for (int b = 0; b < flow->n; b++)
    for (int w = 0; w < flow->blocks[b].n_ways; w++) edges[next[flow->blocks[b].ways[w]]++] = b;
  for (int b = 0; b <= flow->n; b++) {
    flow->blocks[b].order = -1;
    next[b] = before[b];
  }
  int depth = 0, number = 0;
  stack[depth++] = flow->n;
  flow->blocks[flow->n].order = -2;
  while (depth > 0) {
    const int b = stack[depth - 1];
    if (next[b] == before[b + 1]) {
      flow->blocks[b].order = number++;
      depth--;
      continue;
    }
    const int source = edges[next[b]++];
    if (flow->blocks[source].order != -1) continue;
    flow->blocks[source].order = -2;
    stack[depth++] = source;
  }
}

static int meet(const Flow *flow, int a, int b) {
  while (a != b) {
    while (flow->blocks[a].order < flow->blocks[b].order) a = flow->blocks[a].after;
    while (flow->blocks[b].order < flow->blocks[a].order) b = flow->blocks[b].after;
  }
  return a;
}

static void find_after(Arena *arena, Flow *flow) {
  int *by_order = ARENA_ARRAY(arena, int, flow->n + 2);
  for (int b = 0; b <= flow->n; b++) {
    flow->blocks[b].after = -1;
    if (flow->blocks[b].order >= 0) by_order[flow->blocks[b].order] = b;
  }
  flow->blocks[flow->n].after = flow->n;
  for (bool changed = true; changed;) {
    changed = false;
    for (int o = flow->blocks[flow->n].order - 1; o >= 0; o--) {
      Block *block = &flow->blocks[by_order[o]];
      int after = -1;
      for (int w = 0; w < block->n_ways; w++) {
        const int way = block->ways[w];
        if (flow->blocks[way].after < 0) continue;
        after = after < 0 ? way : meet(flow, after, way);
      }
      if (after == block->after) continue;
      block->after = after;
      changed = true;
    }
  }
}

static void flow_function(Arena *arena, PtxModule *module, const PtxFunction *f) {
  mark_firsts(module, f);
  Flow flow = find_blocks(arena, module, f);
  number_blocks(arena, &flow);
  find_after(arena, &flow);
  for (int b = 0; b < flow.n; b++) {
    PtxInst *last = &module->code[flow.blocks[b].end - 1];
    const int after = flow.blocks[b].after;
    if (branches(last) && after >= 0 && after < flow.n) last->rejoin = flow.blocks[after].first;
  }
}

void ptx_flow(Arena *arena, PtxModule *module) {
  for (int i = 0; i < module->n_functions; i++)
    if (module->functions[i].has_body) flow_function(arena, module, &module->functions[i]);
}
