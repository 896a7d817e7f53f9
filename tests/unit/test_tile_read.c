// Tiles of wgmma: the place of every element by the descriptor is the one by the program and the
// one by the canonical layout; what a wrong word is said to do is what the interpreter reports.
#include <check.h>
#include <string.h>

#include "banks/layouts/smem_descriptor.h"
#include "base/str.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/place/tile_read.h"
#include "property.h"

Suite *suite_tile_read(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

#define WGMMA(kind) "M=512,N=192,K=256,ATOM_KIND=wgmma_m64n256" kind

#define TCGEN05(knobs) \
  "M=512,N=512,K=256,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,BK=4,STAGE=11" knobs

static const struct {
  const char *state;
  int tiles[2];  // of A and B that one block reads
} cases[] = {
    {WGMMA("k16_bf16,ATOM_N=64,BK=4,WM=2"), {8, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,WM=2,A_REGS=1"), {0, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,FM=2,FN=2,B_COL=1"), {8, 8}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,A_COL=1,B_COL=1"), {4, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,SWIZZLE=0"), {4, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,SWIZZLE=0,A_COL=1"), {4, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,SWIZZLE=1"), {4, 4}},
    {WGMMA("k16_f16,ATOM_N=64,BK=4,SWIZZLE=2,TMA=0"), {4, 4}},
    {WGMMA("k16_bf16,ATOM_N=192,BK=8,WM=2,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2,MMA_GROUPS=1"),
     {16, 8}},
    {WGMMA("k8_tf32,ATOM_N=96,BK=8,B_COL=1"), {8, 8}},
    {WGMMA("k32_e4m3,ATOM_N=96,BK=2,B_COL=1"), {2, 2}},
    {WGMMA("k32_s8,ATOM_N=32,BK=4,B_COL=1"), {4, 4}},
    {TCGEN05(",ATOM_N=64"), {4, 4}},
    {TCGEN05(",ATOM_N=64,SWIZZLE=2,WM=2"), {8, 4}},
    // Each CTA of a pair has half of the 128 columns of B.
    {TCGEN05(",ATOM_N=128,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,CLUSTER_M=2,CTA_GROUP=2"), {4, 4}},
};

static const Model *model_of(const char *state) {
  Diags diags = diags_new(arena);
  TargetTable targets;
  Schedule schedule = schedule_default();
  targets = *property_gpus();
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(arena, &diags));
  const Model *model = model_build(arena, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(arena, &model->diags));
  return model;
}

// The byte of an element of the slab, by the one function that computes addresses.
static int64_t place(const TileReads *reads, int64_t row, int64_t k) {
  Buffer *slab = (Buffer *)reads->slab;
  int64_t fast = reads->said.trans ? row : k, slow = reads->said.trans ? k : row;
  Access access = {.buffer = slab};
  int last = slab->rank - 1;
  for (int d = 0; d < slab->rank; d++) access.idx[d] = ex_const(arena, 0);
  if (slab->panel) access.idx[last - 2] = ex_const(arena, fast / slab->panel);
  access.idx[last] = ex_const(arena, slab->panel ? fast % slab->panel : fast);
  access.idx[last - 1] = ex_const(arena, slow);
  int64_t at = expr_eval(access_offset(arena, &access), NULL);
  return slab->offset_bytes + at * dtype_bytes(slab->type);
}

static void check_tile(const TileReads *reads, int i, const char *state) {
  Diags diags = diags_new(arena);
  SmemDescriptor word = tile_read_descriptor(reads, i);
  SmemDescriptor again = smem_descriptor_decode(smem_descriptor_encode(&word), word.arch);
  DescriptorTile tile = tile_read_shape(reads);
  Str notes = str_new(arena);
  ck_assert_msg(smem_descriptor_check(&again, &tile, &notes, &diags), "%s: %s", state,
                diags_text(arena, &diags));
  const Layout *layout = smem_descriptor_layout(arena, &again, &tile, &diags);
  ck_assert_ptr_nonnull(layout);
  const TileRead *read = &reads->read[i];
  for (int64_t row = 0; row < reads->shape.rows; row++)
    for (int64_t k = 0; k < reads->shape.depth; k++) {
      int bytes = reads->shape.element_bytes;
      int64_t said = matrix_tile_address(&again, tile.mn_major, bytes, row, k);
      int64_t line = tile.mn_major ? k : row, along = (tile.mn_major ? row : k) * bytes;
      int64_t canonical = again.start - smem_descriptor_lead(&again) +
                          layout->offset_of[line * layout->slab.row_bytes + along];
      ck_assert_msg(said == canonical, "%s: (%d, %d) of tile %d: %d, %d by the layout", state,
                    (int)row, (int)k, i, (int)said, (int)canonical);
      ck_assert_int_eq(said, place(reads, read->row + row, read->k + k));
      TileHolder holder = tile_read_holder(reads, said + bytes - 1);
      ck_assert(holder.inside && holder.slot == 0);
      ck_assert(holder.row == read->row + row && holder.k == read->k + k);
    }
}

START_TEST(descriptors_find_what_the_program_means) {
  const Model *model = model_of(cases[_i].state);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    TileReads reads = tile_reads(arena, model, (AtomOperand)operand);
    ck_assert_msg(reads.n == cases[_i].tiles[operand], "%s: %d tiles of %s", cases[_i].state,
                  reads.n, atom_operand_name((AtomOperand)operand));
    ck_assert((reads.why == NULL) == (reads.n > 0));
    for (int i = 0; i < reads.n; i++) check_tile(&reads, i, cases[_i].state);
  }
}
END_TEST

// One instruction of a pair multiplies 256 rows, of which this CTA's A has 128.
START_TEST(a_pair_reads_half_of_b) {
  const Model *model = model_of(cases[sizeof cases / sizeof *cases - 1].state);
  InstructionDescriptor said;
  const TileReads a = tile_reads(arena, model, ATOM_A), b = tile_reads(arena, model, ATOM_B);
  ck_assert(a.by_thread && a.shape.rows == 128 && b.shape.rows == 64);
  ck_assert_int_eq(tile_read_descriptor(&a, 0).arch, 100);
  ck_assert(matrix_tile_instruction_said(a.op, &said));
  ck_assert_int_eq(instruction_value(&said, "m"), 256);
  ck_assert_int_eq(instruction_value(&said, "n"), 128);
}
END_TEST

// A pattern that begins where the start does: 3 lines of 128 bytes behind a multiple of 1024.
START_TEST(a_base_offset_moves_the_pattern) {
  Diags diags = diags_new(arena);
  SmemDescriptor word;
  ck_assert(
      smem_descriptor_parse(arena, "start=0x580,sbo=1024,swizzle=128B,base=3", 90, &word, &diags));
  DescriptorTile tile = {false, 64, 2, 0};
  const Layout *layout = smem_descriptor_layout(arena, &word, &tile, &diags);
  ck_assert_int_eq(matrix_tile_address(&word, false, 2, 1, 0), 0x580 + 128 + 16);
  for (int row = 0; row < 64; row++)
    for (int k = 0; k < 16; k++)
      ck_assert_int_eq(matrix_tile_address(&word, false, 2, row, k),
                       0x580 + layout->offset_of[row * layout->slab.row_bytes + 2 * k]);
}
END_TEST

START_TEST(a_program_without_tiles_says_what_to_turn) {
  TileReads reads = tile_reads(arena, model_of("BM=16,BN=16,FM=4,FN=4,BK=16"), ATOM_A);
  ck_assert(reads.n == 0 && strstr(reads.why, "ATOM_KIND=wgmma_m64n256k16_bf16"));
  reads = tile_reads(arena, model_of(cases[1].state), ATOM_A);
  ck_assert(reads.n == 0 && strstr(reads.why, "A_REGS=0"));
}
END_TEST

static void exchange(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP || !op_reads_tiles(stmt->op.kind)) return;
  MatrixTile *tile = &stmt->op.tile[*(const int *)context];
  int64_t lbo = tile->lbo;
  tile->lbo = tile->sbo;
  tile->sbo = lbo;
}

START_TEST(the_sentence_is_the_interpreters) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    const Model *model = model_of(cases[0].state);
    TileReads reads = tile_reads(arena, model, (AtomOperand)operand);
    MatrixTile said = reads.said;
    said.lbo = reads.said.sbo;
    said.sbo = reads.said.lbo;
    const char *text = matrix_tile_difference(arena, &reads.shape, &said, &reads.meant);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(matrix_tile_difference(arena, &reads.shape, &reads.said, &reads.meant));
    Program *program = program_clone(arena, model->program);
    stmt_walk(program->kernel[program->main_kernel].body, exchange, &operand);
    const InterpResult *result = interpret(arena, program, &(InterpOptions){.seed = 1});
    bool told = false;
    for (int i = 0; i < result->n_findings; i++)
      told |=
          result->finding[i].kind == FINDING_DESCRIPTOR && strstr(result->finding[i].text, text);
    ck_assert_msg(told, "nobody says \"%s\"", text);
  }
}
END_TEST

Suite *suite_tile_read(void) {
  Suite *suite = suite_create("tile_read");
  TCase *tcase = tcase_create("tile_read");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, descriptors_find_what_the_program_means, 0,
                      (int)(sizeof cases / sizeof *cases));
  tcase_add_test(tcase, a_pair_reads_half_of_b);
  tcase_add_test(tcase, a_base_offset_moves_the_pattern);
  tcase_add_test(tcase, a_program_without_tiles_says_what_to_turn);
  tcase_add_test(tcase, the_sentence_is_the_interpreters);
  suite_add_tcase(suite, tcase);
  return suite;
}
