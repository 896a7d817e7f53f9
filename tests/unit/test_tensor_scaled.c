// Block-scaled kinds of tcgen05: factors on their way to tensor memory, and where products find
// them. Numbers are put together here by hand from the PTX ISA, not by the product's tables.
#include <check.h>
#include <string.h>

#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/place/on_chip.h"
#include "model/text/emit.h"
#include "property.h"
#include "stress.h"

Suite *suite_tensor_scaled(void);

#define SLABS "B_COL=1,STAGE=11,TMA=1,"
#define ON_B200 "TARGET=b200," SLABS
#define MXF8 ON_B200 "ATOM_KIND=tcgen05_m128n256k32_mxf8,"
#define E5M2 ON_B200 "ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2,"
#define MXF4 ON_B200 "ATOM_KIND=tcgen05_m128n256k64_mxf4,"
#define NVFP4 ON_B200 "ATOM_KIND=tcgen05_m128n256k64_nvfp4,"
#define ROLES "BUFFER_COUNT=2,WARP_SPECIALIZE=1,"
#define PAIR ROLES "CLUSTER_M=2,CTA_GROUP=2,"

// Every kind with one atom and several, edges in all three directions, slabs one by one, ahead, by
// roles, of lists of tiles, multicast, and of pairs.
static const char *const states[] = {
    MXF8 "ATOM_N=128,BK=4,SWIZZLE=3,M=140,N=132,K=288",
    E5M2 "ATOM_N=256,BK=8,SWIZZLE=3,M=128,N=260,K=256",
    MXF4 "ATOM_N=128,BK=4,SWIZZLE=3,M=128,N=128,K=576,BUFFER_COUNT=2,PIPELINE_STAGES=1",
    MXF4 "ATOM_N=128,BK=2,SWIZZLE=2,M=256,N=128,K=192,FM=2",
    NVFP4 "ATOM_N=128,BK=1,SWIZZLE=1,M=100,N=100,K=192,PERSISTENT=1",
    NVFP4 "ATOM_N=256,BK=4,SWIZZLE=3,M=128,N=256,K=1088,BUFFER_COUNT=3,WARP_SPECIALIZE=1",
    NVFP4 ROLES "ATOM_N=128,BK=2,SWIZZLE=2,M=256,N=128,K=448,WM=2",
    MXF8 ROLES "ATOM_N=128,BK=4,SWIZZLE=3,M=128,N=256,K=288,WN=2",
    MXF8 ROLES
    "ATOM_N=128,BK=4,SWIZZLE=3,M=260,N=256,K=288,PERSISTENT=1,ACC_BUFFERS=2,GROUP_M=2,EPILOGUE=1,"
    "TMA_STORE=1",
    MXF8 ROLES "ATOM_N=128,BK=4,SWIZZLE=3,M=128,N=512,K=128,FN=2,CLUSTER_N=2,MULTICAST=1",
    MXF4 PAIR "ATOM_N=256,BK=2,SWIZZLE=2,M=300,N=260,K=192",
    NVFP4 PAIR "ATOM_N=128,BK=4,SWIZZLE=3,M=380,N=128,K=512,PERSISTENT=1,EPILOGUE=1,TMA_STORE=1",
    MXF8 PAIR "ATOM_N=128,BK=4,SWIZZLE=3,M=300,N=128,K=128,FM=2",
};
enum { N_STATES = sizeof states / sizeof states[0] };
enum { OF_STEPS = 0, OF_ROLES = 5, OF_MXF8 = 8, OF_PAIR = 11 };

// After the last pass, and after each of the others in one state of six: all in `make stress`.
START_TEST(every_pass_computes) {
  Schedule schedule = property_read_state(states[_i]);
  const Model *model = property_built(&schedule);
  for (int i = 0; i < model->pipeline.n_stages; i++) {
    const Pass *pass = model->pipeline.stage[i].pass;
    const Program *program = model->pipeline.stage[i].program;
    if (i < model->pipeline.n_stages - 1 && !stress_has_turn(i + _i, 27)) continue;
    ck_assert_msg(property_computes(&schedule, pass ? pass->name : "nothing", program, 1), "%s",
                  states[_i]);
    property_read_back(program);
  }
}
END_TEST

// ---- where factors lie --------------------------------------------------------------------------

// cuBLAS, 128x4 scaling factor layout: a tile of 128 rows is 32 rows of 16 bytes, and 512 bytes for
// each four factors along K.
START_TEST(factors_lie_in_tiles) {
  const Problem problem = {
      .m = 300, .n = 200, .k = 512, .dtype = DTYPE_NVFP4, .factor_tiles = true};  // 32 factors
  static const struct {
    int64_t row, factor, place;
  } rows[] = {{0, 0, 0},
              {0, 3, 3},
              {0, 4, 512},
              {1, 0, 16},
              {31, 0, 31 * 16},
              {32, 0, 4},
              {37, 6, 512 + 5 * 16 + 4 + 2},
              {127, 31, 8 * 512 - 1},
              {128, 0, 8 * 512},
              {299, 5, 2 * 8 * 512 + 512 + 11 * 16 + 4 + 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_int_eq(problem_factor_place(&problem, rows[i].row, rows[i].factor), rows[i].place);
  ck_assert_int_eq(problem_input_elements(&problem, 2), 3 * 8 * 512);
  ck_assert_int_eq(problem_input_elements(&problem, 3), 2 * 8 * 512);
}
END_TEST

// The program's index of a factor, and the plan's bytes, are those of the problem.
START_TEST(the_naive_nest_finds_the_same_places) {
  Schedule schedule = property_read_state(states[OF_STEPS]);
  const Program *naive = property_built(&schedule)->pipeline.stage[0].program;
  const Buffer *sfa = program_buffer(naive, ROLE_SFA);
  ck_assert_int_eq(sfa->rank, 3);
  ck_assert_int_eq(buffer_elements(sfa), problem_input_elements(&naive->problem, 2));
  const Plan plan = plan_of_problem(&naive->problem);
  ck_assert_int_eq(plan_scale_bytes(&plan, PLAN_ARG_SFA), buffer_elements(sfa));
  const char *text = program_text_full(property_arena, naive);
  const char *says =
      "load SFA[m / 128, k / 128 * 2 + m % 32 / 16, m % 16 * 16 + m / 32 % 4 * 4 + k / 32 % 4]";
  ck_assert_msg(strstr(text, says) != NULL, "%.1500s", text);
}
END_TEST

// PTX ISA, Scale Factor A ID: the factors of rows 0 to 31 are in a column, those of 32 to 63 in the
// next, one after the other in their words. B of 256 columns has eight.
START_TEST(a_products_factors_are_words) {
  static const struct {
    const char *atom;
    int scales;
  } kinds[] = {{"tcgen05.m128n256k32.mxf8", 1},
               {"tcgen05.m128n256k32.mxf8e5m2", 1},
               {"tcgen05.m128n256k64.mxf4", 2},
               {"tcgen05.m128n256k64.nvfp4", 4}};
  Atom atom;
  Diags diags = diags_new(property_arena);
  ck_assert(atom_parse(kinds[_i].atom, &atom, &diags));
  const int scales = kinds[_i].scales;
  ck_assert_int_eq(atom_scales(&atom), scales);
  ck_assert(atom_in_lanes(&atom, ATOM_SFA) && !atom_in_registers(&atom, ATOM_SFA));
  for (int row = 0; row < 256; row++)
    for (int s = 0; s < scales; s++) {
      const FragmentOwner b = fragment_owner(&atom, ATOM_SFB, s, row);
      ck_assert_int_eq(b.lane, row % 32);
      ck_assert_int_eq(b.value, row / 32 * scales + s);
      if (row >= 128) continue;
      const FragmentOwner a = fragment_owner(&atom, ATOM_SFA, row, s);
      ck_assert_int_eq(a.lane, row % 32);
      ck_assert_int_eq(a.value, row / 32 * scales + s);
      for (int quarter = 1; quarter < 4; quarter++) {  // the others have copies
        const FragmentElement copy =
            fragment_element(&atom, ATOM_SFA, a.lane + 32 * quarter, a.value);
        ck_assert(copy.row == row && copy.col == s);
      }
    }
}
END_TEST

// ---- descriptors --------------------------------------------------------------------------------

static void find_first(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Op **found = context;
  if (stmt->kind == STMT_OP && !found[0] && stmt->op.atom) found[0] = &stmt->op;
  if (stmt->kind == STMT_OP && !found[1] && op_moves_factors(stmt->op.kind)) found[1] = &stmt->op;
}

// PTX ISA, Instruction descriptor of .kind::mxf8f6f4, .kind::mxf4 and .kind::mxf4nvf4: types of A
// and B from bits 7 and 10 on (e4m3 0, e5m2 1, of the 4-bit kinds e2m1 1), N / 8 from bit 17 on,
// the factors' type in bit 23 (ue4m3 0, ue8m0 1), M / 128 from bit 27 on. The IDs are 0 in it.
START_TEST(instruction_descriptors_are_those_of_the_tables) {
  static const struct {
    int state;
    uint32_t word;
  } rows[] = {{0, 16u << 17 | 1u << 23 | 1u << 27},
              {1, 1u << 7 | 1u << 10 | 32u << 17 | 1u << 23 | 1u << 27},
              {2, 1u << 7 | 1u << 10 | 16u << 17 | 1u << 23 | 1u << 27},
              {5, 1u << 7 | 1u << 10 | 32u << 17 | 1u << 27},
              {10, 1u << 7 | 1u << 10 | 32u << 17 | 1u << 23 | 2u << 27},
              {11, 1u << 7 | 1u << 10 | 16u << 17 | 2u << 27}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Schedule schedule = property_read_state(states[rows[i].state]);
    const Op *found[2] = {NULL, NULL};
    stmt_walk(program_main(property_built(&schedule)->program)->body, find_first, found);
    ck_assert_msg(found[0]->idesc == rows[i].word, "%s: 0x%08x, not 0x%08x", states[rows[i].state],
                  found[0]->idesc, rows[i].word);
  }
}
END_TEST

// PTX ISA, Matrix descriptor, no swizzle: eight rows of 16 bytes are 128 bytes, in units of 16 from
// bit 32 on; what is 16 bytes further along a row would be in the next tile, 512 bytes on, from bit
// 16 on, and is not looked at; bit 46 is 1.
START_TEST(a_tile_of_factors_has_a_descriptor) {
  Schedule schedule = property_read_state(states[OF_ROLES]);
  const Op *found[2] = {NULL, NULL};
  stmt_walk(program_main(property_built(&schedule)->program)->body, find_first, found);
  const MatrixTile *tile = &found[1]->tile[0];
  ck_assert(tile->is_described);
  ck_assert_uint_eq(matrix_tile_bits(tile, 100),
                    (uint64_t)(512 / 16) << 16 | (uint64_t)(128 / 16) << 32 | 1ull << 46);
  for (int64_t row = 0; row < 32; row++)
    ck_assert_int_eq(matrix_tile_offset(tile, 1, row, 5), row * 16 + 5);
}
END_TEST

// ---- tensor memory ------------------------------------------------------------------------------

// Of nvfp4 a slab of four steps has 4 words of each row of A, 16 columns, and of 256 columns of B,
// 32; a ring of three has three times as many, beside 256 columns of sums.
START_TEST(columns_are_counted) {
  Schedule schedule = property_read_state(states[OF_ROLES]);
  const Model *model = property_built(&schedule);
  const Buffer *sfa = program_buffer(model->program, ROLE_TENSOR_SFA);
  const Buffer *sfb = program_buffer(model->program, ROLE_TENSOR_SFB);
  ck_assert_int_eq(sfa->column, 256);
  ck_assert_int_eq(sfa->dim[1], 3 * 16);
  ck_assert_int_eq(sfb->column, 256 + 3 * 16);
  ck_assert_int_eq(sfb->dim[1], 3 * 32);
  ck_assert_int_eq(model->resources.tensor_columns, 512);
}
END_TEST

// Of nvfp4 and a tile of 128 x 256 a slab of 256 elements is 128 x 128 and, of a pair, 128 x 128
// bytes, with 16 factors of each of 128 rows and of all 256 columns: 2 x 128 x 256 x 256 FLOP for
// 38 KiB. The model fetches as much as the picture of the pair says.
START_TEST(a_pair_shares_no_factors) {
  Schedule schedule =
      property_read_state(NVFP4 PAIR "ATOM_N=256,BK=4,SWIZZLE=3,M=4096,N=4096,K=4096,PERSISTENT=1");
  const Model *model = property_built(&schedule);
  const double expected = 2.0 * 128 * 256 * 256 / (38 * 1024);
  ck_assert_double_eq_tol(model->traffic.flop_per_l2_byte, expected, 1e-6);
  ck_assert_double_eq_tol(on_chip(property_arena, model)->intensity, expected, 1e-6);
}
END_TEST

static const struct {
  const char *state, *rule, *nearest;
} refused[] = {
    {NVFP4 "ATOM_N=256,BK=4,SWIZZLE=3,BUFFER_COUNT=6,WARP_SPECIALIZE=1", "tensor_columns",
     "BUFFER_COUNT=5"},
    {MXF8 "ATOM_N=256,BK=4,SWIZZLE=3,FN=2", "tensor_columns", "FN=1"},
    {MXF8 "ATOM_N=64,BK=4,SWIZZLE=3", "tensor_factors", "ATOM_N=128"},
    {MXF8 "ATOM_N=128,BK=2,SWIZZLE=2", "tensor_factors", "BK=4"},
    {"TARGET=b200,B_COL=1,STAGE=11,ATOM_KIND=tcgen05_m128n256k32_mxf8,ATOM_N=128,BK=4,SWIZZLE=3",
     "tensor_factors", "TMA=1"},
    {"TARGET=h200," SLABS "ATOM_KIND=tcgen05_m128n256k32_mxf8,ATOM_N=128,BK=4,SWIZZLE=3",
     "atom_arch", "ATOM_KIND=wgmma_m64n256k32_e4m3"},
    {"TARGET=rtx5090," SLABS "ATOM_KIND=tcgen05_m128n256k64_nvfp4,ATOM_N=128,BK=4,SWIZZLE=3",
     "atom_arch", "ATOM_KIND=mma_m16n8k64_nvfp4"},
    {MXF8 "ATOM_N=128,BK=4,SWIZZLE=3,SCALE_WORDS=1", "scale_words", "SCALE_WORDS=0"},
    {"TARGET=b200,ATOM_KIND=mma_m16n8k32_mxf8,B_COL=1", "atom_arch", NULL},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_cannot_be_is_refused) {
  Schedule schedule = property_read_state(refused[_i].state);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert(!model->ok);
  const Diag *found = NULL;
  for (const Diag *diag = model->diags.first; diag; diag = diag->next)
    if (strcmp(diag->rule, refused[_i].rule) == 0) found = diag;
  ck_assert_msg(found != NULL, "%s", diags_text(property_arena, &model->diags));
  if (refused[_i].nearest)
    ck_assert_msg(found->nearest && strcmp(found->nearest, refused[_i].nearest) == 0, "%s",
                  diags_text(property_arena, &model->diags));
}
END_TEST

// Each of the two families that have block scaling names the other's GPUs.
START_TEST(targets_without_it_say_who_has_it) {
  static const struct {
    const char *state, *says;
  } rows[] = {
      {"TARGET=rtx5090," SLABS "ATOM_KIND=tcgen05_m128n256k32_mxf8,ATOM_N=128,BK=4,SWIZZLE=3",
       "needs sm_100a (sm_120a has block scaling as mma.sync, with factors in registers)"},
      {"TARGET=b200,ATOM_KIND=mma_m16n8k32_mxf8,B_COL=1",
       "needs sm_120a (sm_100a has block scaling as tcgen05, with factors in tensor"}};
  for (int i = 0; i < 2; i++) {
    Schedule schedule = property_read_state(rows[i].state);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const char *text = diags_text(property_arena, &model->diags);
    ck_assert_msg(strstr(text, rows[i].says) != NULL, "%s", text);
  }
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

static const struct {
  BreakageId id;
  int state;
  FindingKind kind;  // COUNT: nothing is found but wrong cells
  const char *says;
} broken[] = {
    {BREAK_FACTOR_COPY, OF_MXF8, FINDING_UNWRITTEN_READ, "sfa["},
    {BREAK_FACTOR_COPY, OF_PAIR, FINDING_UNWRITTEN_READ, "sfa["},
    {BREAK_FACTOR_LATE, OF_MXF8, FINDING_UNWRITTEN_READ, "sfa["},
    {BREAK_FACTOR_LATE, OF_PAIR, FINDING_MISSING_WAIT, "overwrites what the tensor core reads"},
    {BREAK_FACTOR_COLUMNS, OF_MXF8, FINDING_COUNT, NULL},
    {BREAK_FACTOR_ALLOC, OF_MXF8, FINDING_ALLOCATION, "uses columns 256 to 259 of tensor memory"},
    {BREAK_FACTOR_SLOT, OF_MXF8, FINDING_MISSING_WAIT, "overwrites what the tensor core"},
    {BREAK_FACTOR_SLOT, OF_ROLES, FINDING_MISSING_WAIT, "has not waited for a commit after that"},
    {BREAK_SCALE_BYTE, OF_MXF8, FINDING_COUNT, NULL},
    {BREAK_FULL_WAIT, OF_ROLES, FINDING_MISSING_WAIT, "reads (tcgen05.cp"},
    {BREAK_FEWER_BYTES, OF_PAIR, FINDING_DEADLOCK, "more than were expected"},
};
enum { N_BROKEN = sizeof broken / sizeof broken[0] };

static bool tells(const InterpCheck *check, FindingKind kind, const char *says) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, says)) return true;
  return false;
}

static const char *all_findings(const InterpCheck *check) {
  Str all = str_new(property_arena);
  for (int i = 0; i < check->n_findings; i++) str_printf(&all, "%s\n", check->finding[i].text);
  return all.text;
}

START_TEST(every_breakage_is_told) {
  Schedule schedule = property_read_state(states[broken[_i].state]);
  const Program *program =
      program_break(property_arena, property_built(&schedule)->program, broken[_i].id);
  ck_assert_msg(program != NULL, "%s breaks nothing", breakage_name(broken[_i].id));
  const InterpOptions options = {.seed = 1, .max_findings = 64};
  InterpCheck check = interpret_check(property_arena, program, &options);
  ck_assert(!check.ok);
  const bool wrong = broken[_i].kind == FINDING_COUNT;
  if (wrong) ck_assert_int_gt(check.n_wrong, program->problem.m * program->problem.n / 2);
  ck_assert_msg(wrong || tells(&check, broken[_i].kind, broken[_i].says), "%s\n%.1800s",
                breakage_name(broken[_i].id), all_findings(&check));
}
END_TEST

// One line of the program's text changed, or taken away.
static const struct {
  int state;
  const char *from, *to;
  FindingKind kind;
  const char *says;
} edits[] = {
    {OF_ROLES, "scaled by sfa[0, k_i * 4 + k_o % 3 * 16, 0]",
     "scaled by sfa[0, k_i * 4 + k_o % 3 * 16, 1]", FINDING_DESCRIPTOR,
     "takes the factors of A by the ID 1, but with scale_vec::4X the ID is 0"},
    {2, "k_i % 2 * 2]", "1]", FINDING_DESCRIPTOR, "with scale_vec::2X the ID is 0 or 2"},
    {OF_STEPS, "idesc 0x08a00000", "idesc 0x08200000", FINDING_DESCRIPTOR,
     "has scale = code 0 in its instruction descriptor 0x08200000, but needs ue8m0"},
    {OF_STEPS, "idesc 0x08a00000", "idesc 0x28a00000", FINDING_DESCRIPTOR,
     "has sfa = 1 in its instruction descriptor"},
    {OF_STEPS, "tile by none lbo 512 sbo 128", "tile by none lbo 512 sbo 256", FINDING_DESCRIPTOR,
     "of SFA 256 bytes after the first element, but it lies 128 after"},
    {OF_STEPS, "columns 128..132", "columns 508..512", FINDING_ALLOCATION,
     "of tensor memory: only 256 allocated"},
    {OF_STEPS, "sfa[0, 0, 0] = async", "sfa[0, 0, 2] = async", FINDING_OUT_OF_BOUNDS,
     "fills whole columns from lane 0"},
    {OF_STEPS, "        wait full[0] phase", "        if tid < 0\n          wait full[0] phase",
     FINDING_MISSING_WAIT, "_s["},
    {OF_PAIR, "tcgen05.cp SFA_s[k_o, w_a * 2, 0]   cta_group 2",
     "tcgen05.cp SFA_s[k_o, w_a * 2, 0]", FINDING_OPERAND, "all must be the same in a kernel"},
};
enum { N_EDITS = sizeof edits / sizeof edits[0] };

START_TEST(every_fault_is_told) {
  Schedule schedule = property_read_state(states[edits[_i].state]);
  const char *text = program_text_full(property_arena, property_built(&schedule)->program);
  const char *at = strstr(text, edits[_i].from);
  ck_assert_msg(at != NULL, "nowhere: %s", edits[_i].from);
  text = arena_printf(property_arena, "%.*s%s%s", (int)(at - text), text, edits[_i].to,
                      at + strlen(edits[_i].from));
  Diags diags = diags_new(property_arena);
  const Program *program = program_parse(property_arena, text, strlen(text), "edited", &diags);
  ck_assert_msg(program != NULL, "%s", diags_text(property_arena, &diags));
  const InterpOptions options = {.seed = 1, .max_findings = 64};
  InterpCheck check = interpret_check(property_arena, program, &options);
  ck_assert_msg(tells(&check, edits[_i].kind, edits[_i].says), "%.1800s", all_findings(&check));
}
END_TEST

// ---- CUDA ---------------------------------------------------------------------------------------

START_TEST(it_is_written_as_the_isa_has_it) {
  Schedule schedule = property_read_state(states[_i]);
  const Model *model = property_built(&schedule);
  const Emission *emission = emit_model(property_arena, model, model->program);
  static const char *const kinds[] = {
      ".kind::mxf8f6f4.block_scale.scale_vec::1X", ".kind::mxf4.block_scale.scale_vec::2X",
      ".kind::mxf4nvf4.block_scale.scale_vec::4X", ".32x128b.warpx4 [%0], %1;"};
  int n = 0;
  for (int i = 0; i < 3; i++) n += strstr(emission->text, kinds[i]) != NULL;
  ck_assert_int_eq(n, 1);
  ck_assert(strstr(emission->text, kinds[3]) != NULL);
  bool has_nvrtc;
  const char *known = NULL;
  nvrtc_describe(property_arena, &has_nvrtc);
  if (!has_nvrtc || !nvrtc_supports(property_arena, "sm_100a", &known)) return;
  const Plan *plan = plan_from_model(property_arena, model, "");
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%.300s %.1500s", result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%.1500s", result->log);
}
END_TEST

// The ID of a step is added to the descriptor where a word has the factors of several.
START_TEST(the_id_is_of_the_step) {
  static const struct {
    int state;
    const char *says;
  } rows[] = {{0, "0x08a00000u | (k_i) << 29 | (k_i) << 4"},
              {2, "0x08a00480u | (k_i % 2 * 2) << 29 | (k_i % 2 * 2) << 4"},
              {5, "0x08400480u,"}};
  for (int i = 0; i < 3; i++) {
    Schedule schedule = property_read_state(states[rows[i].state]);
    const Model *model = property_built(&schedule);
    const char *text = emit_model(property_arena, model, model->program)->text;
    ck_assert_msg(strstr(text, rows[i].says) != NULL, "%s", rows[i].says);
  }
}
END_TEST

Suite *suite_tensor_scaled(void) {
  Suite *suite = suite_create("tensor_scaled");
  TCase *tc = tcase_create("tensor_scaled");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  stress_add_turns(tc, every_pass_computes, N_STATES, 12);
  tcase_add_test(tc, factors_lie_in_tiles);
  tcase_add_test(tc, the_naive_nest_finds_the_same_places);
  tcase_add_loop_test(tc, a_products_factors_are_words, 0, 4);
  tcase_add_test(tc, instruction_descriptors_are_those_of_the_tables);
  tcase_add_test(tc, a_tile_of_factors_has_a_descriptor);
  tcase_add_test(tc, columns_are_counted);
  tcase_add_test(tc, a_pair_shares_no_factors);
  tcase_add_loop_test(tc, what_cannot_be_is_refused, 0, N_REFUSED);
  tcase_add_test(tc, targets_without_it_say_who_has_it);
  stress_add_turns(tc, every_breakage_is_told, N_BROKEN, 15);
  stress_add_turns(tc, every_fault_is_told, N_EDITS, 12);
  stress_add_turns(tc, it_is_written_as_the_isa_has_it, N_STATES, 9);
  tcase_add_test(tc, the_id_is_of_the_step);
  suite_add_tcase(suite, tc);
  return suite;
}
