// Lists of tiles that clusters claim: each is run once, by the cluster for whose place on the chip
// it was meant, or by another.
//
// Worked example, lists 0 to 65 for 66 clusters: the thread is on SM 40, the table says list 17,
// and claims[17] is 4 in launch 5. atomicMax(&claims[17], 5) gives 4 back, so the list is the
// cluster's. Had it given 5, another cluster of this launch has it, and claims[18] is tried. There
// are as many lists as clusters and each cluster takes one, so all lists are taken whatever the
// table says, and as launches have growing numbers, no code sets claims back to 0.
#include "base/random.h"
#include "features/gpc/model/deal_lists.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- check --------------------------------------------------------------------------------------

static const char *claim_fault(Arena *arena, const Program *program, const Code *code) {
  (void)arena, (void)program;
  return code->stmt->op.epoch ? NULL : "a claim names an epoch";
}

// ---- run ----------------------------------------------------------------------------------------

// Indivisibly, or so that all clusters that look, look before any of them writes.
static bool take(Machine *m, const Code *code, int64_t list, uint32_t epoch) {
  uint32_t before = code->stmt->op.in_steps ? m->claimed_before[list] : m->claimed[list];
  if (before >= epoch) return false;
  m->claimed[list] = epoch;
  return true;
}

// The place of an SM is drawn, for a program must be right with any table.
static void run_claim(Machine *m, Warp *w, const Code *code) {
  mbar_check_alone(m, w, code);
  uint32_t epoch = (uint32_t)interp_scalar(w, &code->value);
  int64_t list = random_between(&m->random, 0, m->grid - 1), tried = 0;
  for (; tried < m->grid && !take(m, code, list, epoch); tried++) list = (list + 1) % m->grid;
  if (tried == m->grid)
    interp_report(m, FINDING_DEADLOCK, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "finds no free list among %lld in epoch %u", (long long)m->grid, epoch);
  bool has_tiles = tried < m->grid && list < m->lists;
  m->list = has_tiles ? list : code->stmt->op.lists;
  m->claimer = w->index;
}

// ---- emit ---------------------------------------------------------------------------------------

static const PreludeText claim = {
    "claim_list",
    "// Claims a list of tiles for the cluster of n blocks; no other cluster gets it in this\n"
    "// launch: the list of its SM, or the next free one. Lists from `lists` on have no tiles.\n"
    "template <int n, bool indivisible>\n"
    "__device__ __forceinline__ void claim_list(unsigned long long *word, int none,\n"
    "                                           const int *places, unsigned *claims,\n"
    "                                           unsigned epoch, int lists) {\n"
    "  const int clusters = gridDim.x / n;\n"
    "  unsigned sm;\n"
    "  asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
    "  int list = places[sm % 1024] % clusters, tried = 0;\n"
    "  for (; tried < clusters; ++tried) {\n"
    "    const unsigned before = indivisible ? atomicMax(&claims[list], epoch) : claims[list];\n"
    "    if (!indivisible && before < epoch) claims[list] = epoch;\n"
    "    if (before < epoch) break;\n"
    "    list = list + 1 == clusters ? 0 : list + 1;\n"
    "  }\n"
    "  *word = tried < clusters && list < lists ? list : none;\n}\n"
    "// The list that the block of rank 0 has claimed.\n"
    "template <int n>\n"
    "__device__ __forceinline__ int claimed_list(const unsigned long long *word) {\n"
    "  if (n == 1) return static_cast<int>(*word);\n"
    "  unsigned long long list;\n"
    "  asm volatile(\"{ .reg .b32 there;\\n\"\n"
    "               \"mapa.shared::cluster.u32 there, %1, 0;\\n\"\n"
    "               \"ld.shared::cluster.u64 %0, [there]; }\"\n"
    "               : \"=l\"(list)\n"
    "               : \"r\"(static_cast<unsigned>(__cvta_generic_to_shared(word)))\n"
    "               : \"memory\");\n"
    "  return static_cast<int>(list);\n}\n"};

static void emit_claim(Emitter *emitter, const Op *op) {
  long long cluster = (long long)kernel_launch(program_main(emitter->program)).cluster;
  emitter_line(emitter, "%s<%lld, %s>(%s, %lld, places, claims, %s, lists);",
               emit_given(emitter, &claim), cluster, op->in_steps ? "false" : "true",
               op->dst.buffer->name, (long long)op->lists, emit_condition(emitter, op->epoch));
}

// The loop over tiles goes by the number of the list.
static void name_known(Arena *arena, const Program *program, const char **name) {
  const Persistent *known = &program->persistent;
  const long long cluster = (long long)kernel_launch(program_main(program)).cluster;
  name[known->grid->id] = "lists";
  name[known->epoch->id] = "epoch";
  name[known->list->id] = arena_printf(arena, "claimed_list<%lld>(%s)", cluster,
                                       program_buffer(program, ROLE_LIST)->name);
}

const OpRules rules_CLAIM = {.text = {.write = emit_claim, .name_known = name_known},
                             {.run = run_claim, .fault = claim_fault},
                             .deal = deal_lists};
