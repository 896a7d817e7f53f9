// The family of wgmma: descriptors against the canonical layouts and against the slabs they are
// made from, programs that compute after every pass and are read back with their descriptors.
#include <check.h>
#include <string.h>

#include "banks/layouts/smem_descriptor.h"
#include "cli_harness.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/model.h"
#include "model/readings/place/tile_map.h"
#include "model/readings/place/trace.h"
#include "property.h"

Suite *suite_wgmma(void);

static const Model *model_of(const char *state, Schedule *schedule) {
  Diags diags = diags_new(property_arena);
  *schedule = schedule_plain();
  ck_assert_msg(schedule_parse(schedule, state, &diags), "%s", diags_text(property_arena, &diags));
  const Model *model = model_build(property_arena, &property_targets, schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(property_arena, &model->diags));
  return model;
}

// ---- descriptors --------------------------------------------------------------------------------

// Several panels along K and along N, where there are any: slabs are 128 rows, 128 B or more.
#define BITS16 "M=128,N=128,K=128,FM=2,STAGE=11,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,BK=8,"
#define BITS32 "M=128,N=128,K=128,FM=2,STAGE=11,ATOM_KIND=wgmma_m64n256k8_tf32,ATOM_N=128,BK=8,"
#define BITS8 "M=128,N=128,K=256,FM=2,STAGE=11,ATOM_KIND=wgmma_m64n256k32_e4m3,ATOM_N=128,BK=4,"

static const char *const slabs[] = {BITS16 "A_COL=0,B_COL=0", BITS16 "A_COL=1,B_COL=1",
                                    BITS32 "B_COL=1", BITS8 "B_COL=1"};
enum { N_SLABS = sizeof slabs / sizeof slabs[0], N_MODES = 4 };

typedef struct Tile {
  const Op *op;
  const MatrixTile *tile;
  const Access *corner;
  int rows, depth, bytes;
} Tile;

static Tile tile_of(const Program *program, AtomOperand operand) {
  const Op *op =
      &stmt_find_op(program_main_kernel((Program *)(uintptr_t)program)->body, OP_WGMMA, ROLE_ACC)
           ->op;
  const Access *corner = operand == ATOM_A ? &op->src : &op->src2;
  return (Tile){op,          &op->tile[operand],
                corner,      operand == ATOM_A ? op->atom->m : op->atom->n,
                op->atom->k, dtype_bytes(corner->buffer->type)};
}

static int64_t byte_by_descriptor(const Tile *t, int64_t row, int64_t k) {
  return matrix_tile_swizzled(t->tile, matrix_tile_offset(t->tile, t->bytes, row, k));
}

// The canonical layout that the ISA gives the same 64 bits, as the descriptors of one's own have
// it.
static int64_t byte_by_isa(const Tile *t, const Layout *layout, int64_t row, int64_t k) {
  int64_t slow = t->tile->trans ? k : row, fast = t->tile->trans ? row : k;
  int64_t columns = t->tile->trans ? t->rows : t->depth;
  return layout->offset_of[(slow * columns + fast) * t->bytes];
}

// Element (row, k) of the first tile by the indices of its slab, swizzled or not.
static int64_t byte_by_slab(const Tile *t, int64_t row, int64_t k) {
  Access at = *t->corner;
  const Buffer *slab = at.buffer;
  int64_t fast = t->tile->trans ? row : k, slow = t->tile->trans ? k : row;
  for (int d = 0; d < slab->rank; d++) at.idx[d] = ex_const(property_arena, 0);
  at.idx[slab->rank - 1] = ex_const(property_arena, slab->panel ? fast % slab->panel : fast);
  at.idx[slab->rank - 2] = ex_const(property_arena, slow);
  if (slab->panel) at.idx[slab->rank - 3] = ex_const(property_arena, fast / slab->panel);
  return expr_eval(access_offset(property_arena, &at), NULL) * t->bytes;
}

static void compare_tile(const Program *program, AtomOperand operand, const char *state) {
  Tile t = tile_of(program, operand);
  ck_assert(t.tile->is_described);
  SmemDescriptor descriptor = smem_descriptor_decode(matrix_tile_bits(t.tile, 90), 90);
  ck_assert_int_eq(descriptor.sbo, t.tile->sbo);
  ck_assert_int_eq(descriptor.lbo, t.tile->lbo);
  ck_assert_str_eq(descriptor.swizzle->name, matrix_tile_swizzle(t.tile));
  DescriptorTile shape = {t.tile->trans, t.rows, t.bytes, 0};
  Diags diags = diags_new(property_arena);
  Str notes = str_new(property_arena);
  ck_assert_msg(smem_descriptor_check(&descriptor, &shape, &notes, &diags), "%s: %s", state,
                diags_text(property_arena, &diags));
  const Layout *layout = smem_descriptor_layout(property_arena, &descriptor, &shape, &diags);
  ck_assert_ptr_nonnull(layout);
  for (int64_t row = 0; row < t.rows; row++)
    for (int64_t k = 0; k < t.depth; k++) {
      int64_t is = byte_by_descriptor(&t, row, k);
      ck_assert_msg(is == byte_by_isa(&t, layout, row, k) && is == byte_by_slab(&t, row, k),
                    "%s, %s[%lld, k %lld]: %lld, by the ISA %lld, in the slab %lld", state,
                    atom_operand_name(operand), (long long)row, (long long)k, (long long)is,
                    (long long)byte_by_isa(&t, layout, row, k),
                    (long long)byte_by_slab(&t, row, k));
    }
}

START_TEST(descriptors_find_what_the_slab_has) {
  const char *state =
      arena_printf(property_arena, "%s,SWIZZLE=%d", slabs[_i / N_MODES], _i % N_MODES);
  Schedule schedule;
  const Model *model = model_of(state, &schedule);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++)
    compare_tile(model->program, (AtomOperand)operand, state);
}
END_TEST

// What no descriptor can say is not described: a pad, rows that are no panel.
START_TEST(other_slabs_have_no_descriptor) {
  Schedule schedule;
  Program *program =
      program_clone(property_arena, model_of(BITS16 "SWIZZLE=3", &schedule)->program);
  Tile t = tile_of(program, ATOM_B);
  Buffer *slab = (Buffer *)(uintptr_t)t.corner->buffer;
  ck_assert(matrix_tile_of(program, t.op, ATOM_B).is_described);
  slab->swizzle_bits = 2;  // rows of 128 bytes, a pattern of 64
  ck_assert(!matrix_tile_of(program, t.op, ATOM_B).is_described);
  slab->swizzle_bits = 3;
  slab->stride[slab->rank - 2] += 8;
  ck_assert(!matrix_tile_of(program, t.op, ATOM_B).is_described);
}
END_TEST

// ---- programs -----------------------------------------------------------------------------------

#define BF16 "ATOM_KIND=wgmma_m64n256k16_bf16,STAGE=11,"
#define SMALL "M=80,N=40,K=72," BF16 "ATOM_N=32,BK=2,"
#define RING "TMA=1,BUFFER_COUNT=3,WARP_SPECIALIZE=1,"

static const char *const states[] = {
    // every mode, both ways round
    SMALL "SWIZZLE=0",
    SMALL "SWIZZLE=1,A_COL=1",
    SMALL "SWIZZLE=2,B_COL=1",
    "M=72,N=72,K=72," BF16 "ATOM_N=64,BK=4,SWIZZLE=3,A_COL=1,B_COL=1",
    SMALL "SWIZZLE=0,TMA=1,A_COL=1,B_COL=1",
    "M=72,N=72,K=72," BF16 "ATOM_N=64,BK=4,SWIZZLE=3,TMA=1",
    // how slabs come
    SMALL "SWIZZLE=2,VECTORIZE=1,BUFFER_COUNT=2",
    SMALL "SWIZZLE=2,BUFFER_COUNT=3,PIPELINE_STAGES=2",
    SMALL "SWIZZLE=2,ASYNC_COPY=1",
    SMALL "SWIZZLE=1,ASYNC_COPY=1,BUFFER_COUNT=3,PIPELINE_STAGES=1",
    SMALL "SWIZZLE=2,TMA=1,BUFFER_COUNT=2",
    SMALL "SWIZZLE=2,TMA=1,BUFFER_COUNT=3,PIPELINE_STAGES=1",
    SMALL "SWIZZLE=2," RING "WM=2",
    SMALL "SWIZZLE=2," RING "PRODUCER_WARPS=1,MMA_GROUPS=1",
    SMALL "SWIZZLE=2," RING "MMA_GROUPS=1,WN=2,EPILOGUE=1",
    SMALL "SWIZZLE=2," RING
          "MMA_GROUPS=1,PRODUCER_REGS=24,FM=2,UNROLL_RING=1,SPLITK=2,ATOMIC_FREE_SPLITK=1",
    // A in registers
    SMALL "SWIZZLE=2,A_REGS=1",
    SMALL "SWIZZLE=2,A_REGS=1,LDMATRIX=1,FM=2",
    SMALL "SWIZZLE=2," RING "A_REGS=1,LDMATRIX=1",
    // types
    "M=80,N=40,K=80,ATOM_KIND=wgmma_m64n256k16_f16,ACC=f16,STAGE=11,ATOM_N=32,BK=2,SWIZZLE=2,TMA=1",
    "M=80,N=40,K=80,ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=24,STAGE=11,BK=2,SWIZZLE=2,B_COL=1,"
    "EPILOGUE=1",
    "M=80,N=40,K=40,ATOM_KIND=wgmma_m64n256k8_tf32,ATOM_N=24,STAGE=11,BK=4,SWIZZLE=3,B_COL=1,TMA=1",
    "M=80,N=40,K=80,ATOM_KIND=wgmma_m64n256k32_e4m3,ATOM_N=24,STAGE=11,BK=2,SWIZZLE=2,B_COL=1",
    "M=80,N=40,K=80,ATOM_KIND=wgmma_m64n256k32_e5m2,ATOM_N=16,STAGE=11,BK=1,SWIZZLE=1,B_COL=1,"
    "ACC=f16,TMA=1,A_REGS=1",
    "M=80,N=48,K=96,ATOM_KIND=wgmma_m64n256k32_s8,ATOM_N=48,STAGE=11,BK=2,SWIZZLE=2,B_COL=1,TMA=1",
};
enum { N_STATES = sizeof states / sizeof states[0] };

START_TEST(every_pass_of_it_computes) {
  Schedule schedule;
  const Model *model = model_of(states[_i], &schedule);
  for (int i = 1; i < model->pipeline.n_stages; i++) {
    const char *after = model->pipeline.stage[i].pass->name;
    ck_assert_msg(property_computes(&schedule, after, model->pipeline.stage[i].program, 1), "%s",
                  states[_i]);
  }
}
END_TEST

static void note_bits(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Str *out = context;
  for (int i = 0; i < 2 && stmt->kind == STMT_OP && op_reads_tiles(stmt->op.kind); i++)
    if (stmt->op.tile[i].is_described)
      str_printf(out, "%d %llx, ", stmt->op.tile[i].trans,
                 (unsigned long long)matrix_tile_bits(&stmt->op.tile[i], 90));
}

static const char *bits_of(const Program *program) {
  Str out = str_new(property_arena);
  stmt_walk(program->kernel[program->main_kernel].body, note_bits, &out);
  return out.text;
}

START_TEST(it_is_read_back_with_its_descriptors) {
  Schedule schedule;
  const Model *model = model_of(states[_i], &schedule);
  for (int i = 0; i < model->pipeline.n_stages; i++) {
    const Program *program = model->pipeline.stage[i].program;
    const char *text = program_text_full(property_arena, program);
    Diags diags = diags_new(property_arena);
    const Program *again = program_parse(property_arena, text, strlen(text), "text", &diags);
    ck_assert_msg(again != NULL, "%s\n%s", diags_text(property_arena, &diags), text);
    ck_assert_str_eq(program_text_full(property_arena, again), text);
    ck_assert_str_eq(bits_of(again), bits_of(program));
  }
  ck_assert_ptr_nonnull(strchr(bits_of(model->program), ','));
}
END_TEST

// ---- readings -----------------------------------------------------------------------------------

#define LARGE                                            \
  "M=1024,N=1024,K=1024," BF16                           \
  "ATOM_N=256,WM=2,BK=4,SWIZZLE=3,TMA=1,BUFFER_COUNT=4," \
  "WARP_SPECIALIZE=1,MMA_GROUPS=1"

// Cell (row, col) of the tile is kept by the lane of 128 that the ISA's fragment gives it to.
START_TEST(the_tile_map_has_128_lanes) {
  Schedule schedule;
  const Program *program = model_of(SMALL RING "WM=2,FN=2,SWIZZLE=2", &schedule)->program;
  const TileMap *map = tile_map_build(property_arena, program, 0);
  char text[48];
  ck_assert_str_eq(tile_map_register_text(map, 5, text), "acc[0, 0, 5]");
  ck_assert_str_eq(tile_map_register_text(map, 21, text), "acc[0, 1, 5]");
  const Atom *atom = program_atom(program);
  ck_assert_int_eq(map->rows, 128);
  ck_assert_int_eq(map->cols, 64);
  for (int64_t row = 0; row < map->rows; row++)
    for (int64_t col = 0; col < map->cols; col++) {
      TileOwner owner = tile_map_owner(map, row, col);
      FragmentOwner in_atom = fragment_owner(atom, ATOM_C, (int)row % 64, (int)col % 32);
      ck_assert_int_eq(owner.thread, row / 64 * 128 + in_atom.lane);
      ck_assert_int_eq(owner.value, col / 32 * 16 + in_atom.value);
    }
}
END_TEST

// Of a slab 128 x 64 of A and 64 x 256 of B two warpgroups read half of A and all of B each: 2 *
// (8,192 + 32,768) bytes are 640 lines. 2,097,152 multiply-adds are 1,024 clocks at 2,048 a clock
// and SM, which the stated peak comes to at its clock.
START_TEST(tiles_are_read_by_the_tensor_core) {
  Schedule schedule;
  const Model *model = model_of(LARGE, &schedule);
  ck_assert_double_eq_tol(model->traffic.shared_clocks, 640, 1e-9);
  ck_assert_double_eq(model->traffic.loads_per_fma, -1);
  ck_assert_double_eq_tol(model->traffic.fma_clocks, 1024, 1);
  Trace trace[ATOM_OPERANDS];
  trace_product(property_arena, model->program, 0, (TraceAt){70, 130, 200, 0}, trace);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    ck_assert_int_eq(trace[operand].n_moves, 1);
    ck_assert_int_eq(trace[operand].move[0].to.buffer->space, SPACE_SHARED);
  }
  ck_assert_int_eq(trace[ATOM_C].move[0].thread, 128 + 6 * 4 + 130 % 8 / 2);
}
END_TEST

// Every view draws it, the tiles down to single elements.
START_TEST(views_draw_it) {
  static const char *const views[] = {"explore",   "loops", "banks", "source", "measure",
                                      "fragments", "grid",  "tiles", "swizzle"};
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
    CliRun run =
        cli_run(property_arena, arena_printf(property_arena, "show %s -k AUTO=0," LARGE, views[i]));
    ck_assert_msg(run.status == 0, "%s: exit %d\n%s", views[i], run.status, run.err);
  }
  for (const char *keys = "o o o"; *keys;
       keys += keys[1] ? 2 : 1)  // each operand, zoomed in to elements
    ck_assert_int_eq(
        cli_run(property_arena,
                arena_printf(property_arena,
                             "show tiles --keys \"Enter Enter Enter %s\" -k AUTO=0," LARGE, keys))
            .status,
        0);
  const char *told = cli_run(property_arena, "show explore --size 150x45 -k AUTO=0," LARGE).out;
  ck_assert_msg(strstr(told, "2×1 warpgroups") != NULL, "%s", told);
}
END_TEST

Suite *suite_wgmma(void) {
  Suite *suite = suite_create("wgmma");
  TCase *tc = tcase_create("wgmma");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, descriptors_find_what_the_slab_has, 0, N_SLABS * N_MODES);
  tcase_add_test(tc, other_slabs_have_no_descriptor);
  tcase_add_loop_test(tc, every_pass_of_it_computes, 0, N_STATES);
  tcase_add_loop_test(tc, it_is_read_back_with_its_descriptors, 0, N_STATES);
  tcase_add_test(tc, the_tile_map_has_128_lanes);
  tcase_add_test(tc, tiles_are_read_by_the_tensor_core);
  tcase_add_test(tc, views_draw_it);
  suite_add_tcase(suite, tc);
  return suite;
}
