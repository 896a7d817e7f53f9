// The tiles of a block: by hand for kernels whose numbers one can count, and for every rung that
// what lies in registers is what the buffers say.
#include "model/readings/place/block_tiles.h"

#include <check.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/program.h"
#include "property.h"

static const Program *program_of(const char *ladder, const char *rung) {
  const Ladder *all = property_read_ladder(ladder);
  int index = ladder_find_rung(all, rung, NULL);
  ck_assert_int_ge(index, 0);
  const Model *model = model_build(property_arena, &property_targets, &all->rung[index].schedule);
  ck_assert(model->ok);
  return model->program;
}

typedef struct Expected {
  const char *name;
  int64_t rows, cols, warp_rows, warp_cols, frag_rows, frag_cols, held_rows, held_cols;
  int steps, sets, registers;
  int64_t kib, slots;
} Expected;

static void are(const Program *program, const Expected *expected, int n) {
  BlockTiles tiles = block_tiles(property_arena, program);
  ck_assert_int_eq(tiles.n, n);
  for (int i = 0; i < n; i++) {
    const BlockTile *tile = &tiles.tile[i];
    const Expected *e = &expected[i];
    TileExtents all = block_tile_fragments(tile, tile->warp);
    TileExtents held = block_tile_fragments(tile, tile->held);
    ck_assert_str_eq(tile->name, e->name);
    ck_assert_int_eq(tile->block.rows, e->rows);
    ck_assert_int_eq(tile->block.cols, e->cols);
    ck_assert_int_eq(tile->warp.rows, e->warp_rows);
    ck_assert_int_eq(tile->warp.cols, e->warp_cols);
    ck_assert_int_eq(all.rows, e->frag_rows);
    ck_assert_int_eq(all.cols, e->frag_cols);
    ck_assert_int_eq(held.rows, e->held_rows);
    ck_assert_int_eq(held.cols, e->held_cols);
    ck_assert_int_eq(tile->steps, e->steps);
    ck_assert_int_eq(tile->sets, e->sets);
    ck_assert_int_eq(tile->registers, e->registers);
    ck_assert_int_eq(tile->slot_bytes, e->kib * 1024);
    ck_assert_int_eq(tile->slots, e->slots);
  }
}

// Article 003: d_head / 8 fragments of Q and K along the depth, B_c / 8 of V; slices of two are
// held, and two of them with a fragment buffer.
START_TEST(attention_in_slices_of_two_sets) {
  static const Expected expected[] = {
      {"Q", 64, 128, 16, 128, 2, 16, 2, 2, 8, 2, 8, 16, 1},
      {"K", 128, 64, 128, 64, 16, 8, 2, 8, 8, 2, 32, 16, 1},
      {"S", 64, 64, 16, 64, 2, 8, 2, 8, 1, 1, 32, 0, 0},
      {"P", 64, 64, 16, 64, 2, 8, 2, 2, 4, 1, 4, 0, 0},
      {"V", 64, 128, 64, 128, 8, 16, 2, 16, 4, 2, 64, 16, 1},
      {"O", 64, 128, 16, 128, 2, 16, 2, 16, 1, 1, 64, 0, 0},
  };
  are(program_of("ladders/attention.json", "4"), expected, 6);
}
END_TEST

// FRAG_ORDER=1 holds whole tiles: 32 registers of Q, 128 of K and of V.
START_TEST(attention_of_whole_tiles) {
  static const Expected expected[] = {
      {"Q", 64, 128, 16, 128, 2, 16, 2, 16, 1, 1, 32, 16, 1},
      {"K", 128, 64, 128, 64, 16, 8, 16, 8, 1, 1, 128, 16, 1},
      {"S", 64, 64, 16, 64, 2, 8, 2, 8, 1, 1, 32, 0, 0},
      {"P", 64, 64, 16, 64, 2, 8, 2, 8, 1, 1, 16, 0, 0},
      {"V", 64, 128, 64, 128, 8, 16, 8, 16, 1, 1, 128, 16, 1},
      {"O", 64, 128, 16, 128, 2, 16, 2, 16, 1, 1, 64, 0, 0},
  };
  are(program_of("ladders/attention.json", "eager_kv"), expected, 6);
}
END_TEST

// Two consumer warpgroups: operands stay in rings of two slots, P alone is in registers.
START_TEST(attention_of_warpgroups) {
  static const Expected expected[] = {
      {"Q", 128, 128, 64, 128, 8, 16, 0, 0, 1, 0, 0, 32, 1},
      {"K", 128, 128, 128, 128, 16, 16, 0, 0, 1, 0, 0, 32, 2},
      {"S", 128, 128, 64, 128, 8, 16, 8, 16, 1, 1, 64, 0, 0},
      {"P", 128, 128, 64, 128, 8, 16, 8, 16, 1, 1, 32, 0, 0},
      {"V", 128, 128, 128, 128, 16, 16, 0, 0, 1, 0, 0, 32, 2},
      {"O", 128, 128, 64, 128, 8, 16, 8, 16, 1, 1, 64, 0, 0},
  };
  are(program_of("ladders/attention.json", "overlap"), expected, 6);
}
END_TEST

static int64_t words(const Buffer *buffer) {
  int64_t elements = 1;
  for (int d = 0; d < buffer->rank; d++) elements *= buffer->dim[d];
  return (elements * dtype_bytes(buffer->type) + 3) / 4;
}

// Of every rung the registers are those of the program's fragments and sums, the sets make up the
// warp's share or a part of it, and the warps' shares make up the block's.
START_TEST(what_is_held_is_what_the_buffers_hold) {
  static const char *const ladders[] = {"ladders/fp32.json", "ladders/fp16.json",
                                        "ladders/tf32.json", "ladders/hopper.json",
                                        "ladders/attention.json"};
  const Ladder *ladder = property_read_ladder(ladders[_i]);
  for (int r = 0; r < ladder->n_rungs; r++) {
    const Model *model = model_build(property_arena, &property_targets, &ladder->rung[r].schedule);
    if (!model->ok) continue;
    BlockTiles tiles = block_tiles(property_arena, model->program);
    for (int i = 0; i < tiles.n; i++) {
      const BlockTile *tile = &tiles.tile[i];
      const Product *product = &model->program->product[tile->product];
      const Buffer *buffer =
          program_buffer(model->program, product->operand[tile->operand].registers);
      const bool held = buffer && buffer->space == SPACE_REGISTER;
      ck_assert_int_eq(tile->registers, held ? words(buffer) : 0);
      ck_assert_int_eq(tile->block.rows % tile->warp.rows, 0);
      ck_assert_int_eq(tile->block.cols % tile->warp.cols, 0);
      if (!product->atom || !held) continue;
      int64_t lanes = atom_warps(product->atom) * LANES;
      int64_t bits = tile->held.rows * tile->held.cols / lanes * dtype_bytes(buffer->type) * 8;
      ck_assert_int_eq(bits * tile->sets / 32, tile->registers);
    }
  }
}
END_TEST

Suite *suite_block_tiles(void);
Suite *suite_block_tiles(void) {
  Suite *suite = suite_create("block_tiles");
  TCase *tcase = tcase_create("block_tiles");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, attention_in_slices_of_two_sets);
  tcase_add_test(tcase, attention_of_whole_tiles);
  tcase_add_test(tcase, attention_of_warpgroups);
  tcase_add_loop_test(tcase, what_is_held_is_what_the_buffers_hold, 0, 5);
  suite_add_tcase(suite, tcase);
  return suite;
}
