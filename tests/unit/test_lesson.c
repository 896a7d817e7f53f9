// Lessons: what a file may say and what is refused, facts against known numbers, guesses, and every
// step of every lesson that is shipped.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "model/lessons/lesson.h"
#include "property.h"
#include "stress.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/tutor.h"
#include "tui/session/session.h"

static Arena *arena;
static Diags diags;
static TargetTable targets;
enum { LADDERS_MAX = 16 };
static const Ladder *ladders[LADDERS_MAX];
static const char *views[SESSION_VIEWS_MAX];
static LessonWorld world;
static FactRuns runs;

// A record of everything, and a view that does everything but fly.
static bool find_record(const void *records, const Schedule *schedule, FactRecord *out) {
  (void)records, (void)schedule;
  *out = (FactRecord){.tflops = 12.5, .gpu = "some GPU", .date = "2026-01-02T03:04:05Z"};
  return true;
}

static bool find_count(const void *counters, const Schedule *schedule, const char *name,
                       FactCount *out) {
  (void)counters;
  // A step asks which of two orders has the less of it.
  const double number = 7000000 + (double)schedule->value[KNOB_FRAG_ORDER];
  *out = (FactCount){str_equal(name, "time_us") ? 12.5 : number, "some GPU", "2026-01-02"};
  return true;
}

static bool can_do(const char *view, const char *action) {
  (void)view;
  return !str_starts(action, "fly");
}

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  targets = *property_gpus();
  EmbeddedList list = embed_list(arena, "ladders/");
  int n = 0;
  for (int i = 0; i < list.count && n < LADDERS_MAX; i++)
    ladders[n++] = property_read_ladder(list.paths[i]);
  runs = (FactRuns){.arena = arena};
  world = (LessonWorld){
      .facts = {&targets, ladders, n, find_record, NULL, find_count, NULL, &runs, clock_facts_read},
      .views = views,
      .n_views = tutor_views(views),
      .can_do = can_do};
  ck_assert_int_eq(diags.count, 0);
}

static void teardown(void) { arena_free(arena); }

static FactScene scene_of(const char *state) {
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, state, &diags));
  const Model *model = model_build(arena, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(arena, &model->diags));
  return (FactScene){.arena = arena, .world = &world.facts, .model = model};
}

static bool said(const char *text) {
  for (const Diag *d = diags.first; d; d = d->next)
    if (strstr(d->text, text)) return true;
  return false;
}

// ---- facts --------------------------------------------------------------------------------------

#define TILED "BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11"
#define SMALL "M=68,N=64,K=44,BM=8,BN=8,FM=4,FN=4,BK=8,STAGE=11"
#define PADDED TILED ",TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,PAD_SMEM=4"
#define CELLS_26X4 "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,ASYNC_COPY=1,M=2048,N=2048,K=2048"
#define PAIR                                                                                  \
  "M=8192,N=8192,K=8192,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1," \
  "SWIZZLE=3,BUFFER_COUNT=4,WARP_SPECIALIZE=1,MULTICAST=1,CLUSTER_M=2"
#define HALF "ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1"

// Numbers from the articles, the PTX manual and by hand: never from the program itself.
static const struct {
  const char *state, *fact, *value;
} known[] = {
    {"BM=16,BN=16", "owner 5 9", "89"},
    {"BM=16,BN=16,FM=8,FN=8", "cell 37 3 2", "(19, 42)"},
    {"BM=16,BN=16,FM=8,FN=8", "owner 19 42", "37"},
    {"BM=16,BN=16,FM=8,FN=8,CELL_GROUP=4,BK=16,STAGE=11", "cell 37 4 0", "(72, 20)"},
    {HALF ",LDMATRIX=1", "cell_mma 37 1 2 3", "(25, 83)"},
    {HALF ",LDMATRIX=1", "owner 25 83", "37"},
    {HALF ",EPILOGUE=1", "owner 25 83", "37"},
    {"BM=16,BN=16,FM=8,FN=8", "accumulators", "64"},
    {"BM=16,BN=16,FM=8,FN=8", "loads_per_fma", "0.25"},
    {PADDED, "wavefronts b<-B_s", "8"},
    {PADDED, "ideal b<-B_s", "4"},
    {PADDED, "with CELL_GROUP=4 | wavefronts b<-B_s", "4"},
    {HALF ",LDMATRIX=1", "wavefronts a<-A_s", "32"},
    {HALF ",LDMATRIX=1", "with SWIZZLE=3 | wavefronts a<-A_s", "4"},
    {HALF ",LDMATRIX=1", "at hgemm/swizzle | conflicts a<-A_s", "0"},
    {CELLS_26X4, "joined b<-B_s", "4"},
    {CELLS_26X4, "instruction b<-B_s", "LDS.128"},
    {CELLS_26X4, "written_instruction b<-B_s", "LDS"},
    {CELLS_26X4, "ways b<-B_s", "1"},
    {CELLS_26X4, "written_ways b<-B_s", "4"},
    {CELLS_26X4, "written_wavefronts b<-B_s", "4"},
    {CELLS_26X4, "kernel_lds", "78643200"},
    {CELLS_26X4, "kernel_ldgsts", "3440640"},
    {CELLS_26X4, "written_lds", "110100480"},
    {CELLS_26X4, "with PAD_SMEM=1 | kernel_lds", "110100480"},
    {CELLS_26X4, "with PAD_SMEM=1 | instruction b<-B_s", "LDS"},
    {CELLS_26X4, "counted_lds", "7000000"},
    {CELLS_26X4, "counted_us", "12.5"},
    {CELLS_26X4, "counted_on", "some GPU, 2026-01-02"},
    {TILED, "smem_bytes", "16384"},
    {TILED, "blocks", "1024"},
    {TILED, "whole_waves", "4"},
    {TILED, "sm_kib", "228"},
    {TILED, "recorded fp32/tiers", "12.5"},
    {TILED, "recorded_on fp32/tiers", "some GPU, 2026-01-02"},
    {TILED, "slabs", "256"},
    {TILED, "knob FM", "8"},
    {TILED, "gpu sm_count", "132"},
    {TILED, "tile_of 33", "(1, 1)"},
    {TILED, "with GROUP_M=8 | tile_of 9", "(1, 1)"},
    {TILED, "block_of 1 1", "33"},
    {TILED, "with SPLITK=8 | working_set 32", "8.25"},
    {TILED, "panels 32", "33"},
    {TILED, "working_set 32", "66"},
    {TILED, "with GROUP_M=8 | working_set 8", "18"},
    {TILED, "lane m16n8k16.f16 A 3 5", "14"},
    {TILED, "element m16n8k16.f16 A 0 2", "(8, 0)"},
    {TILED, "element m16n8k16.f16 A 0 5", "(0, 9)"},
    {TILED, "values m16n8k16.f16 A", "8"},
    {TILED, "atom_flop m16n8k16.f16", "4096"},
    {TILED, "ldmatrix_lane 2 3", "19"},
    {TILED, "ldmatrix_receiver 5 6", "23"},
    {PAIR, "slab_kib", "48"},
    {PAIR, "l2_slab_kib", "32"},
    {PAIR, "with MULTICAST=0 | l2_slab_kib", "48"},
    {PAIR, "with CLUSTER_N=2 | l2_slab_kib", "24"},
    {PAIR, "arrivals empty", "16"},
    {PAIR, "with CLUSTER_N=2 | arrivals empty", "24"},
    {PAIR, "mask B_s 1", "3"},
    {PAIR, "with CLUSTER_N=2 | mask A_s 2", "12"},
    {PAIR, "with CLUSTER_N=2 | mask B_s 2", "5"},
    {PAIR, "with CLUSTER_N=2 | cluster_blocks", "4"},
    {PAIR, "with PERSISTENT=1 | lists", "66"},
    {PAIR, "with PERSISTENT=1,CLUSTER_N=2 | lists", "30"},
    {PAIR, "with PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8 | lists", "64"},
    {PAIR, "with PERSISTENT=1 | turns", "16"},
    {PAIR, "with PERSISTENT=1 | last_turn", "34"},
    {PAIR, "with PERSISTENT=1 | tile_in_turn 5 3", "137"},
    {PAIR, "with PERSISTENT=1,K=640 | ring_slot 2 1", "2"},
    {PAIR, "with PERSISTENT=1 | turn_fetches", "192"},
    {PAIR, "with PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8 | merged_fetches", "88"},
    {SMALL, "finding intact", "nothing"},
    {SMALL, "finding last_barrier", "race"},
    {TILED ",SPLITK=4", "kernels", "2"},
    {TILED ",SPLITK=4,ATOMIC_FREE_SPLITK=1", "workspace_mib", "256"},
    {"M=128,N=128,K=16384,BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11", "blocks", "16"},
    {"ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1",
     "slab_best B_s", "384"},
};

START_TEST(known_facts) {
  FactScene scene = scene_of(known[_i].state);
  FactValue value;
  char out[FACT_TEXT_MAX];
  bool ok = fact_compute(&scene, known[_i].fact, &value, &diags);
  ck_assert_msg(ok, "%s: %s", known[_i].fact, diags_text(arena, &diags));
  ck_assert_msg(str_equal(fact_print(&value, out), known[_i].value), "%s: %s, not %s",
                known[_i].fact, fact_print(&value, out), known[_i].value);
}
END_TEST

static const struct {
  const char *state, *fact, *told, *nearest;
} unknown[] = {
    {TILED, "wavefront 1", "no fact \"wavefront\"", "wavefronts"},
    {TILED, "wavefronts", "takes 1 argument (SITE), not 0", NULL},
    {TILED, "blocks 3", "takes 0 arguments (none), not 1", NULL},
    {TILED, "wavefronts b<-B_x", "begins with \"b<-B_x\"", "b<-B_s"},
    {TILED, "wavefronts 9", "from 1 to 4", "4"},
    {"BM=16,BN=16", "wavefronts 1", "does not touch shared memory", NULL},
    {TILED, "owner 5 128", "from 0 to 127", "127"},
    {TILED, "owner 5 x", "\"x\" is not a whole number", NULL},
    {TILED, "cell 37 8 0", "from 0 to 7", "7"},
    {TILED, "cell_mma 37 1 2 3", "acc has 2 indices here", NULL},
    {TILED, "with FM=9999 | blocks", "FM", NULL},
    {TILED, "with BM=1000 | blocks", "threads", NULL},
    {TILED, "at fp32/paded | blocks", "no rung", "padded"},
    {TILED, "at f32/padded | blocks", "no ladder \"f32\"", "fp32"},
    {TILED, "A | blocks", "compares", NULL},
    {TILED, "near x | blocks", "neither", NULL},
    {TILED, "gpu sm_counts", "not a number of a GPU", "sm_count"},
    {TILED, "lane m16n8k16.f16 D 0 0", "not an operand", "A"},
    {TILED, "finding barrier", "no breakage", NULL},
    {TILED, "turns", "PERSISTENT=0", NULL},
    {TILED, "arrivals full", "no mbarrier", NULL},
    {TILED, "mask A_s 0", "no box of TMA", NULL},
    {PAIR, "arrivals fill", "no mbarrier", "full"},
    {PAIR, "mask A_s 0", "one block alone", NULL},
    {PAIR, "mask B_s 2", "from 0 to 1", "1"},
    {PAIR ",PERSISTENT=1", "tile_in_turn 66 1", "from 0 to 65", "65"},
    {PAIR ",PERSISTENT=1", "tile_in_turn 34 16", "nothing to do", NULL},
    {TILED, "finding wait", "nothing that it could break", NULL},
    {HALF, "wavefronts A_s<-A", "no counted wavefronts", NULL},
    {TILED, "claim fp32/tiers", "no article has a figure", NULL},
    {TILED, "slab_best C_s", "no slab", NULL},
    {"M=65536,BM=1,BN=1", "panels 65537", "BLOCKS", NULL},
    {"BM=1,BN=1,GROUP_M=8", "block_of 9 9", "too many to look at", NULL},
};

START_TEST(what_cannot_be_computed_is_said) {
  FactScene scene = scene_of(unknown[_i].state);
  FactValue value;
  ck_assert(!fact_compute(&scene, unknown[_i].fact, &value, &diags));
  ck_assert_int_ge(diags.count, 1);
  ck_assert_msg(said(unknown[_i].told), "%s: %s", unknown[_i].fact, diags_text(arena, &diags));
  if (unknown[_i].nearest) ck_assert_pstr_eq(diags.first->nearest, unknown[_i].nearest);
}
END_TEST

// Every row can be computed somewhere: a fact that nobody can use is no fact.
START_TEST(every_fact_has_help_and_a_unit) {
  for (int i = 0; i < fact_count; i++) {
    const Fact *fact = &fact_table[i];
    ck_assert_msg(strlen(fact->help) > 3, "%s", fact->name);
    ck_assert_ptr_nonnull(fact->compute);
    if (fact->kind == FACT_REAL || fact->kind == FACT_COUNT)
      ck_assert_msg(*fact->unit, "%s", fact->name);
    for (int j = 0; j < i; j++) ck_assert_str_ne(fact->name, fact_table[j].name);
  }
}
END_TEST

// ---- guesses ------------------------------------------------------------------------------------

static const char *const words[] = {"registers", "shared memory", "threads", NULL};
static const struct {
  FactValue value;
  const char *guess;
  FactVerdict verdict;
} guesses[] = {
    {{.kind = FACT_COUNT, .number = 8}, "8", FACT_RIGHT},
    {{.kind = FACT_COUNT, .number = 8}, " 8 wavefronts", FACT_RIGHT},
    {{.kind = FACT_COUNT, .number = 8}, "4", FACT_IS_MORE},
    {{.kind = FACT_COUNT, .number = 8}, "9", FACT_IS_LESS},
    {{.kind = FACT_COUNT, .number = 8}, "8.1", FACT_IS_LESS},
    {{.kind = FACT_COUNT, .number = 8}, "", FACT_NO_GUESS},
    {{.kind = FACT_COUNT, .number = 8}, "8 9", FACT_NO_GUESS},
    {{.kind = FACT_COUNT, .number = 8}, "nan", FACT_NO_GUESS},
    {{.kind = FACT_COUNT, .number = 8}, "1e999", FACT_NO_GUESS},
    {{.kind = FACT_COUNT, .number = 8}, "-", FACT_NO_GUESS},
    {{.kind = FACT_REAL, .number = 39.0}, "38.5", FACT_RIGHT},
    {{.kind = FACT_REAL, .number = 39.0}, "38", FACT_IS_MORE},
    {{.kind = FACT_REAL, .number = 0}, "0", FACT_RIGHT},
    {{.kind = FACT_REAL, .number = 0.25}, "1/4", FACT_RIGHT},
    {{.kind = FACT_REAL, .number = 0.25}, "1/8 of one", FACT_IS_MORE},
    {{.kind = FACT_REAL, .number = 0.25}, "1/0", FACT_NO_GUESS},
    {{.kind = FACT_REAL, .number = 0.25}, "1/4 1", FACT_NO_GUESS},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "(19, 42)", FACT_RIGHT},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "C[19][42]", FACT_RIGHT},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "42 19", FACT_IS_OTHER},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "19 24", FACT_OTHER_COLUMN},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "C[3][42]", FACT_OTHER_ROW},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "19", FACT_NO_GUESS},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "19 42 3", FACT_NO_GUESS},
    {{.kind = FACT_PAIR, .pair = {19, 42}}, "99999999999999999999 1", FACT_IS_OTHER},
    {{.kind = FACT_WORD, .word = "shared memory", .words = words}, "SHARED", FACT_RIGHT},
    {{.kind = FACT_WORD, .word = "shared memory", .words = words}, "registers", FACT_IS_OTHER},
    {{.kind = FACT_WORD, .word = "shared memory", .words = words}, "warps", FACT_NO_GUESS},
    {{.kind = FACT_WORD, .word = "shared memory", .words = words}, "", FACT_NO_GUESS},
};

// Where several words are true, each of them is right: all that was found, all that limits.
START_TEST(every_true_word_is_right) {
  static const struct {
    const char *fact, *right[3], *wrong;
  } cases[] = {
      {"at blackwell/tile | finding tensor_lane", {"divergence", "allocation"}, "deadlock"},
      {"at blackwell/roles | finding tensor_wait", {"missing wait", "wrong cells"}, "divergence"},
      {"at blackwell/consumers | limiter",
       {"registers", "shared memory", "tensor memory"},
       "threads"},
      {"at fp32/padded | finding intact", {"nothing"}, "wrong cells"}};
  FactScene scene = scene_of(TILED);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    FactValue value;
    ck_assert_msg(fact_compute(&scene, cases[i].fact, &value, &diags), "%s",
                  diags_text(arena, &diags));
    for (int k = 0; k < 3 && cases[i].right[k]; k++)
      ck_assert_msg(fact_check(&value, cases[i].right[k]) == FACT_RIGHT, "%s: %s is wrong",
                    cases[i].fact, cases[i].right[k]);
    ck_assert_int_eq(fact_check(&value, cases[i].wrong), FACT_IS_OTHER);
  }
}
END_TEST

START_TEST(guesses_are_judged) {
  ck_assert_int_eq(fact_check(&guesses[_i].value, guesses[_i].guess), guesses[_i].verdict);
}
END_TEST

// What is counted as one guess in a class.
static const struct {
  FactValue value;
  const char *guess, *text;
} alike[] = {
    {{.kind = FACT_COUNT, .number = 8}, " 8 wavefronts", "8"},
    {{.kind = FACT_COUNT, .number = 8}, "8.0", "8"},
    {{.kind = FACT_COUNT, .number = 8}, "65536", "65536"},
    {{.kind = FACT_REAL, .number = 8}, "1/4", "0.25"},
    {{.kind = FACT_REAL, .number = 8}, "many", "many"},
    {{.kind = FACT_PAIR, .pair = {1, 2}}, "C[3][4]", "(3, 4)"},
    {{.kind = FACT_PAIR, .pair = {1, 2}}, "3", "3"},
    {{.kind = FACT_WORD, .word = "threads", .words = words}, "SHARED", "shared memory"},
    {{.kind = FACT_WORD, .word = "threads", .words = words}, "lanes", "lanes"},
};

START_TEST(equal_guesses_read_alike) {
  ck_assert_str_eq(fact_guess_text(arena, &alike[_i].value, alike[_i].guess), alike[_i].text);
}
END_TEST

// ---- files --------------------------------------------------------------------------------------

#define STEP(rest) "{\"title\":\"s\",\"text\":[\"t\"]," rest "}"
#define FILE_OF(steps) "{\"name\":\"l\",\"title\":\"t\",\"about\":\"a\",\n\"steps\":[" steps "]}"

static const Lesson *read_text(const char *text) {
  return lesson_read(arena, text, strlen(text), "x.json", &world, &diags);
}

static const struct {
  const char *text, *said, *nearest;
} wrong[] = {
    {"{", "x.json:1", NULL},
    {"{\"name\":\"l\",\"title\":\"t\",\"about\":\"a\"}", "steps", NULL},
    {FILE_OF(""), "0 steps", NULL},
    {"{\"name\":\"a b\",\"title\":\"t\",\"about\":\"a\",\"steps\":[" STEP(
         "\"view\":\"banks\"") "]}",
     "x.json:1:9: name: \"a b\" is not a name for a lesson", NULL},
    {"{\"name\":\"\",\"title\":\"t\",\"about\":\"a\",\"steps\":[" STEP("\"view\":\"banks\"") "]}",
     "is not a name for a lesson", NULL},
    {"{\"name\":\"abcdefghijklmnopqrstuvwxyzabcdef\",\"title\":\"t\",\"about\":\"a\",\"steps\":"
     "[" STEP("\"view\":\"banks\"") "]}",
     "at most 31", NULL},
    {FILE_OF(STEP("\"notes\":\"a\\u001b[31m\"")),
     "x.json:2:44: steps[0].notes: there is a control character", NULL},
    {FILE_OF(STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\",\"\\u009bm\"],\"fact\":\"blocks\"}")),
     "steps[0].ask.why[1]: there is a control character", NULL},
    {"{\"name\":\"l\",\"title\":\"t\\n\",\"about\":\"a\",\"steps\":[" STEP(
         "\"view\":\"banks\"") "]}",
     "title: there is a control character", NULL},
    {FILE_OF("{\"title\":\"s\"}"), "x.json:2", NULL},
    {FILE_OF(STEP("\"viw\":\"x\"")), "viw", "view"},
    {FILE_OF(STEP("\"view\":\"bnaks\"")), "x.json:2:43: steps[0].view: there is no view", "banks"},
    {FILE_OF(STEP("\"view\":\"lesson\"")), "there is no view", NULL},
    {FILE_OF(STEP("\"state\":\"BMM=3\"")), "steps[0].state: BMM", "BM"},
    {FILE_OF(STEP("\"rung\":\"fp32/paded\"")), "steps[0].rung", "padded"},
    {FILE_OF(STEP("\"compare\":\"fp32/x\"")), "steps[0].compare", NULL},
    {FILE_OF(STEP("\"knob\":\"FMM\"")), "steps[0].knob: FMM: no such knob", "FM"},
    {FILE_OF(STEP("\"do\":[\"fly high\"]")), "steps[0].do[0]: the view explore has no action",
     NULL},
    {FILE_OF(STEP("\"do\":\"x\"")), "steps[0].do", NULL},
    {FILE_OF(STEP("\"do\":[1]")), "steps[0].do[0]", NULL},
    {FILE_OF(STEP("\"do\":[\"a\",\"b\",\"c\",\"d\",\"e\"]")), "5 actions; a step has at most 4",
     NULL},
    {FILE_OF(STEP("\"text\":[]")), "text", NULL},
    {FILE_OF(STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"]}")), "one of \"fact\"", NULL},
    {FILE_OF(STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"choose\":[\"FM=1\"],"
                  "\"least\":\"blocks\"}")),
     "1 choices", NULL},
    {FILE_OF(STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"choose\":[\"FM=1\",\"FM=2\"]}")),
     "one of \"least\" and \"most\"", NULL},
    {FILE_OF(STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"make\":\"blocks\","
                  "\"less_than\":\"blocks\"}")),
     "solution", NULL},
};

START_TEST(wrong_files_are_told_with_their_place) {
  ck_assert_ptr_null(read_text(wrong[_i].text));
  ck_assert_msg(said(wrong[_i].said), "%s", diags_text(arena, &diags));
  bool named = wrong[_i].nearest == NULL;
  for (const Diag *d = diags.first; d; d = d->next)
    named = named || (d->nearest && str_equal(d->nearest, wrong[_i].nearest));
  ck_assert_msg(named, "%s", diags_text(arena, &diags));
}
END_TEST

// Read without complaint, refused when the step is computed.
static const struct {
  const char *step, *said;
} uncomputable[] = {
    {STEP("\"state\":\"BM=1000\""), "steps[0].state"},
    {"{\"title\":\"s\",\"text\":[\"{blocs} of\"]}", "steps[0].text: {blocs}: there is no fact"},
    {"{\"title\":\"s\",\"text\":[\"{blocks of\"]}", "without its"},
    {STEP("\"site\":\"b<-B_s\""), "steps[0].site"},
    {STEP("\"do\":[\"element {cell}\"]"), "steps[0].do: {cell}: cell takes 3 arguments"},
    {STEP("\"notes\":\"{blocs}\""), "steps[0].notes: {blocs}: there is no fact"},
    {STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"fact\":\"blocks\",\"hint\":\"{blocs}\"}"),
     "ask.hint: {blocs}: there is no fact"},
    {STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"fact\":\"gpu_name\"}"),
     "cannot be guessed"},
    {STEP("\"ask\":{\"question\":\"q {x}\",\"why\":[\"w\"],\"fact\":\"blocks\"}"), "ask.question"},
    {STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"choose\":[\"FM=1\",\"FM=2\"],"
          "\"least\":\"threads\"}"),
     "equally good"},
    {STEP(
         "\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"make\":\"blocks\",\"less_than\":\"blocks\","
         "\"solution\":\"FM=1\"}"),
     "ask.solution: it gives"},
    {STEP("\"ask\":{\"question\":\"q\",\"why\":[\"w\"],\"make\":\"blocks\","
          "\"less_than\":\"with FM=1,BM=1 | blocks\",\"solution\":\"FM=1\"}"),
     "passes already"},
};

START_TEST(wrong_steps_are_told_with_their_place) {
  const Lesson *lesson = read_text(arena_printf(arena, FILE_OF("%s"), uncomputable[_i].step));
  StepFacts facts;
  ck_assert_msg(lesson != NULL, "%s", diags_text(arena, &diags));
  ck_assert(!lesson_compute(arena, &world, lesson, 0, &facts, &diags));
  ck_assert_msg(said(uncomputable[_i].said), "%s", diags_text(arena, &diags));
  ck_assert(said("x.json:2:"));
}
END_TEST

START_TEST(a_step_inherits_the_state_before_it) {
  const Lesson *lesson =
      read_text(FILE_OF(STEP("\"rung\":\"fp32/padded\",\"state\":\"FM=4\"") "," STEP(
          "\"view\":\"banks\"") "," STEP("\"state\":\"FM=2\"")));
  ck_assert_msg(lesson != NULL, "%s", diags_text(arena, &diags));
  ck_assert_int_eq(lesson->step[1].schedule.value[KNOB_FM], 4);
  ck_assert_int_eq(lesson->step[1].schedule.value[KNOB_PAD_SMEM], 4);
  ck_assert_ptr_eq(lesson->step[1].rung, lesson->step[0].rung);
  ck_assert_int_eq(lesson->step[2].schedule.value[KNOB_PAD_SMEM], 0);
}
END_TEST

// What an answer is about, so that it can be shown: the right choice, or the knobs of the question.
static const struct {
  const char *ask, *shown;
} shows[] = {
    {"\"fact\":\"blocks\"", "FM=1"},
    {"\"fact\":\"with FM=4 | blocks\"", "FM=4"},
    {"\"fact\":\"at fp32/padded | blocks\"", "FM=1"},
    {"\"choose\":[\"FM=2\",\"FM=8\",\"FM=4\"],\"least\":\"blocks\"", "FM=8"},
    {"\"choose\":[\"FN=2\",\"FM=2\",\"FM=1\"],\"least\":\"blocks\"", "FN=2"},
    {"\"make\":\"blocks\",\"less_than\":\"with FM=2 | blocks\",\"solution\":\"FM=4\"", "FM=4"},
};

START_TEST(an_answer_says_what_it_is_about) {
  const char *step = "\"hint\":\"{blocks} of them\",\"question\":\"q\",\"why\":[\"w\"],";
  const Lesson *lesson = read_text(arena_printf(
      arena, FILE_OF("{\"title\":\"s\",\"text\":[\"t\"],\"ask\":{%s%s}}"), step, shows[_i].ask));
  Schedule wanted = schedule_plain();
  StepFacts facts;
  ck_assert_msg(lesson != NULL, "%s", diags_text(arena, &diags));
  ck_assert(schedule_parse(&wanted, shows[_i].shown, &diags));
  ck_assert_msg(lesson_compute(arena, &world, lesson, 0, &facts, &diags), "%s",
                diags_text(arena, &diags));
  ck_assert_msg(schedule_same(&facts.shown, &wanted), "%s", schedule_text(arena, &facts.shown));
  ck_assert_str_eq(facts.hint, "65536 of them");
}
END_TEST

// A wrong guess hears something that helps, and not the answer.
static const struct {
  const char *ask, *guess, *said;
} helped[] = {
    {"\"fact\":\"blocks\"", "1", "1: no, it is more"},
    {"\"fact\":\"tile_of 300\"", "1, 3", "1, 3: no, but the row is right"},
    {"\"fact\":\"tile_of 300\"", "2, 44", "2, 44: no, but the column is right"},
    {"\"fact\":\"tile_of 300\"", "44, 1", "44, 1: no"},
    {"\"fact\":\"tile_of 300\"", "44", "type row and column"},
    {"\"choose\":[\"FM=2\",\"FM=8\"],\"least\":\"blocks\"", "a",
     "a) FM=2: no, it has 32768 blocks; another is better"},
    {"\"choose\":[\"FM=2\",\"FM=8\"],\"least\":\"blocks\"", "c", "type a letter, a to b"},
};

START_TEST(a_wrong_guess_is_answered) {
  const Lesson *lesson = read_text(arena_printf(
      arena,
      FILE_OF("{\"title\":\"s\",\"text\":[\"t\"],\"ask\":{\"question\":\"q\",\"why\":[\"w\"],%s}}"),
      helped[_i].ask));
  StepFacts facts;
  ck_assert(lesson_compute(arena, &world, lesson, 0, &facts, &diags));
  Verdict verdict = lesson_check(arena, &world, &lesson->step[0], &facts, helped[_i].guess);
  ck_assert_int_ne(verdict.fact, FACT_RIGHT);
  ck_assert_msg(strstr(verdict.text, helped[_i].said) != NULL, "%s", verdict.text);
}
END_TEST

// ---- the lessons that are shipped ---------------------------------------------------------------

enum { TEXT_ROWS_MAX = 8, QUESTION_ROWS_MAX = 3, WHY_ROWS_MAX = 6, TITLE_MAX = 48, COLS = 78 };

static void check_width(const char *where, const char *what, const char *text, int rows) {
  int has = canvas_wrap_rows(text, COLS);
  ck_assert_msg(has <= rows, "%s: %s has %d lines, %d fit", where, what, has, rows);
  ck_assert_msg(!strchr(text, '{') && !strchr(text, '}'), "%s: a brace is left in %s", where, what);
  for (const char *c = text; *c; c++)
    ck_assert_msg((unsigned char)*c < 128, "%s: %s needs a terminal with UTF-8", where, what);
}

// Nothing helps to guess what a search finds.
static bool is_proof(const char *fact) { return str_starts(fact, "slab_best"); }

// A guess that is the answer is right, and one that is off is not.
static void check_ask(const char *where, const LessonStep *step, const StepFacts *facts) {
  const Ask *ask = &step->ask;
  char out[FACT_TEXT_MAX];
  const char *guess = NULL;
  for (int i = 0; i < facts->n_choices; i++)
    if (facts->choice[i].right) guess = arena_printf(arena, "%c", 'a' + i);
  if (ask->kind == ASK_FACT) guess = fact_print(&facts->answer, out);
  if (ask->kind == ASK_MAKE) guess = ask->solution;
  Verdict verdict = lesson_check(arena, &world, step, facts, guess);
  ck_assert_msg(verdict.fact == FACT_RIGHT, "%s: \"%s\" is taken for wrong: %s", where, guess,
                verdict.text);
  for (int i = 0; facts->answer.also && facts->answer.also[i]; i++)
    ck_assert_msg(
        lesson_check(arena, &world, step, facts, facts->answer.also[i]).fact == FACT_RIGHT,
        "%s: \"%s\", which is true, is taken for wrong", where, facts->answer.also[i]);
  verdict = lesson_check(arena, &world, step, facts, "123456789 1");
  ck_assert_msg(verdict.fact != FACT_RIGHT, "%s: anything is right", where);
  check_width(where, "the question", facts->question, QUESTION_ROWS_MAX);
  check_width(where, "the answer", lesson_answer(arena, step, facts), 3);
  check_width(where, "why", facts->why, WHY_ROWS_MAX);
  ck_assert_msg(ask->kind != ASK_FACT || facts->hint || is_proof(ask->fact), "%s: no hint", where);
  if (facts->hint) check_width(where, "the hint", facts->hint, 1);
}

static void check_step(const Lesson *lesson, int i) {
  const LessonStep *step = &lesson->step[i];
  const char *where = arena_printf(arena, "%s, step %d", lesson->name, i + 1);
  StepFacts facts;
  bool ok = lesson_compute(arena, &world, lesson, i, &facts, &diags);
  ck_assert_msg(ok, "%s", diags_text(arena, &diags));
  check_width(where, "the text", facts.text, TEXT_ROWS_MAX);
  ck_assert_msg(strlen(step->title) <= TITLE_MAX, "%s: the title is too long", where);
  ck_assert_msg(step->notes != NULL, "%s has no notes", where);
  ck_assert_msg(step->rung != NULL, "%s: the screen would name whatever rung came before", where);
  check_width(where, "the notes", facts.notes, 4);
  if (step->ask.kind != ASK_NOTHING) check_ask(where, step, &facts);
}

START_TEST(shipped_lessons_hold) {
  EmbeddedList list = embed_list(arena, "lessons/");
  ck_assert_int_ge(list.count, 1);
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(arena, list.paths[i]);
    const Lesson *lesson = lesson_read(arena, file->text, file->size, file->path, &world, &diags);
    ck_assert_msg(lesson != NULL, "%s", diags_text(arena, &diags));
    int asked = 0;
    for (int s = 0; s < lesson->n_steps; s++) {
      check_step(lesson, s);
      asked += lesson->step[s].ask.kind != ASK_NOTHING;
    }
    ck_assert_msg(asked > 0, "%s asks nothing", lesson->name);
    ck_assert_uint_le(strlen(lesson->title), 38);
  }
}
END_TEST

// ---- mutants ------------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

// Bytes changed, doubled or left out: a lesson or findings, never a crash; what is read is
// computed.
START_TEST(mutants_of_files_are_read_or_refused) {
  EmbeddedList list = embed_list(arena, "lessons/");
  uint64_t state = 7 + (uint64_t)_i;
  int n = stress_count(stress_part(900, 3), 20000), refused = 0;
  Arena *scratch = arena_new("mutant");
  for (int i = 0; i < n; i++, arena_reset(scratch)) {
    const EmbeddedFile *file =
        embed_find(scratch, list.paths[next_random(&state) % (uint64_t)list.count]);
    char *text = arena_strndup(scratch, file->text, file->size);
    size_t size = file->size, changes = 1 + next_random(&state) % 4;
    for (size_t c = 0; c < changes; c++)
      text[next_random(&state) % size] = "{}[]\",:|<0129azAZ_ \\"[next_random(&state) % 20];
    Diags found = diags_new(scratch);
    const Lesson *lesson = lesson_read(scratch, text, size, "m.json", &world, &found);
    ck_assert((lesson != NULL) == (found.count == 0));
    refused += lesson == NULL;
    StepFacts facts;
    int step = lesson ? (int)(next_random(&state) % (uint64_t)lesson->n_steps) : 0;
    if (lesson && i % 8 == 0)
      ck_assert(lesson_compute(scratch, &world, lesson, step, &facts, &found) ==
                (found.count == 0));
  }
  arena_free(scratch);
  ck_assert_int_gt(refused, n / 10);
}
END_TEST

Suite *suite_lesson(void);
Suite *suite_lesson(void) {
  Suite *suite = suite_create("lesson");
  TCase *tcase = tcase_create("lesson");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, known_facts, 0, sizeof known / sizeof *known);
  tcase_add_loop_test(tcase, what_cannot_be_computed_is_said, 0, sizeof unknown / sizeof *unknown);
  tcase_add_test(tcase, every_fact_has_help_and_a_unit);
  tcase_add_test(tcase, every_true_word_is_right);
  tcase_add_loop_test(tcase, equal_guesses_read_alike, 0, sizeof alike / sizeof *alike);
  tcase_add_loop_test(tcase, guesses_are_judged, 0, sizeof guesses / sizeof *guesses);
  tcase_add_loop_test(tcase, wrong_files_are_told_with_their_place, 0,
                      sizeof wrong / sizeof *wrong);
  tcase_add_loop_test(tcase, wrong_steps_are_told_with_their_place, 0,
                      sizeof uncomputable / sizeof *uncomputable);
  tcase_add_test(tcase, a_step_inherits_the_state_before_it);
  tcase_add_loop_test(tcase, an_answer_says_what_it_is_about, 0, sizeof shows / sizeof *shows);
  tcase_add_loop_test(tcase, a_wrong_guess_is_answered, 0, sizeof helped / sizeof *helped);
  tcase_add_test(tcase, shipped_lessons_hold);
  tcase_add_loop_test(tcase, mutants_of_files_are_read_or_refused, 0, 3);
  suite_add_tcase(suite, tcase);
  return suite;
}
