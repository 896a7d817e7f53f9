// What a pass is called elsewhere: every row names a pass that there is, and says the program's own
// numbers.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "model/passes/dialect.h"
#include "model/readings/model.h"
#include "property.h"

Suite *suite_dialect(void);

static Arena *arena;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test");
  targets = *property_gpus();
}

static void teardown(void) { arena_free(arena); }

#define TILE "BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,"

static const struct {
  const char *state, *pass, *text;
} said[] = {
    {"BM=16,BN=16", NULL, "LoopOp: torch.matmul is lowered to it"},
    {"BM=16,BN=16", "tile", "t:010 LoopOp becomes TileOp: loops marked grid, thread, register"},
    {"ATOM_KIND=mma_m16n8k16_f16", "atomize", "grid, warp, register"},
    {TILE, "stage", "t:020 bundle sync; CuTe: copy(partition_S(gA), partition_D(sA))"},
    {TILE "PAD_SMEM=2", "pad", NULL},  // a pad at the end of a row, which is not the article's
    {TILE "PAD_CELLS=1,PAD_OPERANDS=10", "pad_cells", "t:070 shared A_s[…] = … pad=(0, 0, 1)"},
    {TILE "PAD_CELLS=2", "pad_cells", "pad=(0, 0, 2), shared B_s[…] = … pad=(0, 0, 2)"},
    {TILE "BUFFER_COUNT=2", "double_buffer", "t:040 bundle buffered[2@(k_o % 2)]"},
    {TILE "ASYNC_COPY=1,BUFFER_COUNT=3", "async_copy", "t:060 bundle async[3@(k_o % 3)]"},
    {TILE "ASYNC_COPY=1", "async_copy", "t:060 bundle async"},
    {TILE "TMA=1,BUFFER_COUNT=4", "tma", "t:050 bundle tma[4@(k_o % 4)]"},
    {TILE "BUFFER_COUNT=2,PIPELINE_STAGES=1", "pipeline", "bundle buffered[2@(k_o + 1) depth=2]"},
    {TILE "ASYNC_COPY=1,BUFFER_COUNT=3,PIPELINE_STAGES=1", "pipeline",
     "t:080 bundle async[3@(k_o + 2) depth=3], AsyncWait(keep=2) in the loop, keep=0 in the drain"},
    // The article's own string: its diff has keep=1 twice in the loop and keep=0 behind it.
    {"BM=16,BN=16,BK=16,STAGE=11,ASYNC_COPY=1,BUFFER_COUNT=2,PIPELINE_STAGES=1", "pipeline",
     "t:080 bundle async[2@(k_o + 1) depth=2], AsyncWait(keep=1) in the loop, keep=0 in the drain"},
    {TILE "TMA=1,BUFFER_COUNT=4,WARP_SPECIALIZE=1", "warp_specialize",
     "t:085 warp_specialize(ring=4, n_prod="},
    {TILE "VECTORIZE=1", "vectorize", "k:050 in0, in1 = load"},
    {TILE "INTERLEAVE_LOADS=1", "interleave", "sinks to its first consumer"},
    {TILE "GROUP_M=8", "cta_swizzle", "t:025 grid swizzle_M=GROUP_M"},
    {TILE "GROUP_N=8", "cta_swizzle", "it cannot group along N"},
    {TILE "GROUP_M=8,GROUP_N=4", "cta_swizzle", "it cannot group along N"},
    {TILE "UNROLL_K=4", "unroll", NULL},
};

static int stage_of(const Pipeline *pipeline, const char *pass) {
  for (int i = 1; pass && i < pipeline->n_stages; i++)
    if (str_equal(pipeline->stage[i].pass->name, pass)) return i;
  return 0;
}

START_TEST(passes_have_their_counterparts) {
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, said[_i].state, &diags));
  const Model *model = model_build(arena, &targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(arena, &model->diags));
  int stage = stage_of(&model->pipeline, said[_i].pass);
  ck_assert(!said[_i].pass || stage > 0);
  const char *text = dialect_text(arena, &model->pipeline, stage);
  ck_assert_int_eq(text != NULL, said[_i].text != NULL);
  if (text) ck_assert_msg(strstr(text, said[_i].text) != NULL, "%s", text);
}
END_TEST

Suite *suite_dialect(void) {
  Suite *suite = suite_create("dialect");
  TCase *tcase = tcase_create("dialect");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, passes_have_their_counterparts, 0, (int)(sizeof said / sizeof *said));
  suite_add_tcase(suite, tcase);
  return suite;
}
