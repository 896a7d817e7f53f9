// The bank rules one by one, and against a second reckoning that goes word by word.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banks/engine/bank.h"

Suite *suite_banks(void);

static void fill(int64_t addr[BANK_LANES], int64_t step) {
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * step;
}

static void check_count(const char *op, const int64_t addr[BANK_LANES], int wavefronts, int ideal,
                        int ways, int phases) {
  BankCount count = banks_count(banks_op_find(op), addr);
  ck_assert_msg(count.known, "%s", op);
  ck_assert_msg(count.wavefronts == wavefronts && count.ideal == ideal && count.ways == ways &&
                    count.phases == phases && count.conflicts == wavefronts - ideal,
                "%s: wavefronts %d ideal %d ways %d phases %d, expected %d %d %d %d", op,
                count.wavefronts, count.ideal, count.ways, count.phases, wavefronts, ideal, ways,
                phases);
}

START_TEST(the_table_holds_every_operation) {
  static const char *const names[] = {
      "lds8",     "lds16",    "lds32",    "lds64",     "lds128",     "sts8",     "sts16",
      "sts32",    "sts64",    "sts128",   "ldsm_x1",   "ldsm_x2",    "ldsm_x4",  "ldsm_x1t",
      "ldsm_x2t", "ldsm_x4t", "stsm_x1",  "stsm_x2",   "stsm_x4",    "stsm_x1t", "stsm_x2t",
      "stsm_x4t", "cpasync4", "cpasync8", "cpasync16", "cpasync16ca"};
  int n = (int)(sizeof names / sizeof names[0]);
  ck_assert_int_eq(banks_op_count(), n);
  for (int i = 0; i < n; i++) {
    const BankOp *op = banks_op_find(names[i]);
    ck_assert_msg(op && strcmp(op->name, names[i]) == 0, "%s", names[i]);
    ck_assert_int_eq(op->n_addresses % op->lanes_per_phase, 0);
  }
  ck_assert_ptr_null(banks_op_find("lds256"));
  ck_assert_str_eq(banks_op_find("lds128")->sass, "LDS.128");
}
END_TEST

START_TEST(narrow_lanes_on_one_word_share_it) {
  int64_t addr[BANK_LANES];
  fill(addr, 1);
  check_count("lds8", addr, 1, 1, 1, 1);
  check_count("sts8", addr, 1, 1, 1, 1);
  fill(addr, 0);
  check_count("lds32", addr, 1, 1, 1, 1);
  check_count("sts32", addr, 1, 1, 1, 1);
  fill(addr, 128);
  check_count("lds32", addr, 32, 1, 32, 1);
  check_count("sts16", addr, 32, 1, 32, 1);
}
END_TEST

START_TEST(wide_accesses_sum_their_phases) {
  int64_t addr[BANK_LANES];
  fill(addr, 8);
  check_count("lds64", addr, 2, 2, 1, 2);
  fill(addr, 16);
  check_count("lds128", addr, 4, 4, 1, 4);
  check_count("sts128", addr, 4, 4, 1, 4);
  fill(addr, 64);
  check_count("lds64", addr, 16, 2, 8, 2);
  fill(addr, 128);
  check_count("lds128", addr, 32, 4, 8, 4);
}
END_TEST

START_TEST(equal_pairs_merge_loads_only) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 16;
  check_count("lds128", addr, 2, 2, 1, 2);
  check_count("sts128", addr, 4, 4, 1, 4);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 8;
  check_count("lds64", addr, 1, 1, 1, 1);
  check_count("sts64", addr, 2, 2, 1, 2);
  check_count("lds32", addr, 1, 1, 1, 1);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = (lane / 4 * 2 + lane % 2) * 16;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds128"), addr), 2);
  check_count("lds128", addr, 2, 2, 1, 2);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane % 4 * 16;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds128"), addr), 0);
  check_count("lds128", addr, 4, 4, 1, 4);
}
END_TEST

START_TEST(merging_can_add_ways) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 128;
  check_count("lds128", addr, 16, 2, 8, 2);
  check_count("lds64", addr, 16, 1, 16, 1);
}
END_TEST

START_TEST(one_odd_lane_stops_the_merge) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 16;
  addr[31] = 0;
  check_count("lds128", addr, 4, 4, 1, 4);
}
END_TEST

START_TEST(an_inactive_lane_agrees_with_anything) {
  int64_t addr[BANK_LANES];
  fill(addr, 16);
  for (int lane = 1; lane < BANK_LANES; lane += 2) addr[lane] = BANK_INACTIVE;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds128"), addr), 1);
  check_count("lds128", addr, 4, 2, 2, 2);
  check_count("sts128", addr, 4, 4, 1, 4);
  fill(addr, 8);
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (lane & 2) addr[lane] = BANK_INACTIVE;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds64"), addr), 2);
  check_count("lds64", addr, 2, 1, 2, 1);
}
END_TEST

START_TEST(an_inactive_pair_does_not_join_its_neighbours) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  addr[0] = 0, addr[1] = 16, addr[2] = 32;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds128"), addr), 0);
  check_count("lds128", addr, 1, 1, 1, 4);
  addr[1] = BANK_INACTIVE;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds128"), addr), 1);
  check_count("lds128", addr, 1, 1, 1, 2);
}
END_TEST

START_TEST(idle_phases_are_not_ideal_ones) {
  int64_t addr[BANK_LANES];
  fill(addr, 16);
  for (int lane = 8; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  check_count("sts128", addr, 1, 1, 1, 4);
  fill(addr, 128);
  for (int lane = 0; lane < 16; lane++) addr[lane] = BANK_INACTIVE;
  check_count("sts64", addr, 16, 1, 16, 2);
}
END_TEST

START_TEST(nobody_active_costs_nothing) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  for (int i = 0; i < banks_op_count(); i++) {
    BankCount count = banks_count(banks_op_at(i), addr);
    ck_assert_int_eq(count.wavefronts, 0);
    ck_assert_int_eq(count.ideal, 0);
    ck_assert_int_eq(count.conflicts, 0);
    ck_assert_int_eq(count.ways, 0);
  }
}
END_TEST

START_TEST(matrices_count_eight_rows_each) {
  int64_t addr[BANK_LANES];
  fill(addr, 128);
  check_count("ldsm_x1", addr, 8, 1, 8, 1);
  check_count("ldsm_x2", addr, 16, 2, 8, 2);
  check_count("stsm_x4", addr, 32, 4, 8, 4);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 128 + (lane & 7) * 16;
  check_count("ldsm_x4", addr, 4, 4, 1, 4);
  check_count("ldsm_x4t", addr, 4, 4, 1, 4);
  fill(addr, 0);
  check_count("ldsm_x4", addr, 4, 4, 1, 4);
  for (int lane = 8; lane < BANK_LANES; lane++) addr[lane] = 128 * lane;
  check_count("stsm_x1t", addr, 1, 1, 1, 1);
}
END_TEST

START_TEST(cpasync_does_not_share_words) {
  int64_t addr[BANK_LANES];
  fill(addr, 0);
  check_count("cpasync4", addr, 32, 1, 32, 1);
  check_count("cpasync8", addr, 32, 2, 16, 2);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 8;
  check_count("cpasync8", addr, 4, 2, 2, 2);
}
END_TEST

START_TEST(sixteen_byte_cpasync_is_unknown) {
  int64_t addr[BANK_LANES];
  fill(addr, 16);
  ck_assert(!banks_count(banks_op_find("cpasync16"), addr).known);
  static BankMap map;
  banks_map(&map, banks_op_find("cpasync16"), addr);
  ck_assert(!map.count.known);
  ck_assert_int_eq(map.n_rows, 0);
  // By these addresses alone: a wavefront for each line of the slab, or for each lane.
  ck_assert_int_eq(map.count.profiled, 4);
  ck_assert_int_eq(map.count.profiled_most, 32);
  ck_assert_int_eq(map.word_of[1][4], 4);
  ck_assert_int_eq(map.word_of[1][3], -1);
}
END_TEST

static void check_copy(const char *name, const int64_t *addr, const int64_t *source, int least,
                       int most) {
  const BankCount count = banks_count_copy(banks_op_find(name), addr, source);
  ck_assert_int_eq(count.profiled, least);
  ck_assert_int_eq(count.profiled_most, most);
}

// Rows of four words from eight lines, each row to one bank: those that wait hold up the others.
START_TEST(copies_through_l1_wait_in_line) {
  int64_t addr[BANK_LANES], source[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) {
    addr[lane] = lane / 4 * 4 + lane % 4 * BANK_LINE_BYTES;
    source[lane] = lane / 4 * 256 + lane % 4 * 4;
  }
  check_copy("cpasync4", addr, source, 11, 11);
  ck_assert_int_eq(banks_count_copy(banks_op_find("cpasync4"), addr, source).ways, 11);
  // To another bank each: the source banks alone are asked for eight times, and nobody knows how
  // the lanes meet at the slab's where two of them do.
  fill(addr, 4);
  check_copy("cpasync4", addr, source, 8, 8);
  addr[31] = BANK_LINE_BYTES;
  check_copy("cpasync4", addr, source, 8, 9);
  fill(source, 4);
  check_copy("cpasync4", addr, source, 2, 2);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  check_copy("cpasync4", addr, source, 0, 0);
}
END_TEST

// As counted on an H200: rows of 16 bytes to every other place for 16 bytes, and one behind the
// other.
START_TEST(copies_of_16_bytes_through_l1_conflict_as_stores_do) {
  int64_t addr[BANK_LANES], source[BANK_LANES];
  fill(addr, 32);
  fill(source, 16);
  check_copy("cpasync16ca", addr, source, 8, 8);
  fill(addr, 16);
  check_copy("cpasync16ca", addr, source, 4, 4);
}
END_TEST

START_TEST(copies_past_l1_are_written_as_their_sectors_lie) {
  int64_t addr[BANK_LANES], source[BANK_LANES];
  fill(addr, 16);
  fill(source, 16);
  check_copy("cpasync16", addr, source, 4, 32);
  // Rows of 64 bytes to rows of 80.
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 4 * 80 + lane % 4 * 16;
  check_copy("cpasync16", addr, source, 15, 32);
  // Whoever writes first is the one that is written.
  fill(addr, 0);
  check_copy("cpasync16", addr, source, 1, 1);
  // One half sector for all is written once for each.
  fill(addr, 16);
  fill(source, 0);
  check_copy("cpasync16", addr, source, 32, 32);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  check_copy("cpasync16", addr, source, 0, 0);
}
END_TEST

START_TEST(misaligned_addresses_are_rounded_down_and_marked) {
  int64_t addr[BANK_LANES], rounded[BANK_LANES];
  fill(addr, 16);
  fill(rounded, 16);
  addr[3] += 7;
  static BankMap map, clean;
  banks_map(&map, banks_op_find("lds128"), addr);
  banks_map(&clean, banks_op_find("lds128"), rounded);
  ck_assert_uint_eq(map.misaligned, 1u << 3);
  ck_assert_uint_eq(clean.misaligned, 0);
  ck_assert_mem_eq(map.rows, clean.rows, sizeof map.rows);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 2 * 8 + lane % 2;
  ck_assert_int_eq(banks_merge_distance(banks_op_find("lds64"), addr), 1);
}
END_TEST

START_TEST(the_last_bytes_of_shared_memory) {
  int64_t addr[BANK_LANES];
  fill(addr, 16);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] += 227 * 1024 - 512;
  check_count("lds128", addr, 4, 4, 1, 4);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = 227 * 1024 - 4 - lane * 4;
  check_count("lds32", addr, 1, 1, 1, 1);
  static BankMap map;
  banks_map(&map, banks_op_find("lds32"), addr);
  ck_assert_int_eq(map.word_of[0][31], 227 * 256 - 1);
}
END_TEST

START_TEST(the_map_says_who_is_served_where) {
  int64_t addr[BANK_LANES];
  fill(addr, 8);
  addr[17] = addr[16];
  addr[5] = BANK_INACTIVE;
  static BankMap map;
  banks_map(&map, banks_op_find("lds32"), addr);
  ck_assert_int_eq(map.n_rows, 2);
  ck_assert_int_eq(map.rows[0].cells[0].lane, 0);
  ck_assert_int_eq(map.rows[1].cells[0].lane, 16);
  ck_assert_uint_eq(map.rows[1].cells[0].lanes, 3u << 16);
  ck_assert_int_eq(map.rows[1].cells[0].word, 32);
  ck_assert_int_eq(map.rows[0].cells[1].lane, -1);
  ck_assert_int_eq(map.rows[0].cells[10].lane, 21);
  ck_assert_uint_eq(map.active, ~(1u << 5));
  ck_assert_int_eq(map.phases[0].worst_bank, 0);
  ck_assert_int_eq(map.phases[0].words[2], 1);
}
END_TEST

// ---- the second reckoning: word by word, by sets ------------------------------------------------

static uint64_t random_state;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % n;
}

// Patterns with structure (strides, blocks, XORs), since uniformly random ones never merge.
static void random_addresses(const BankOp *op, int64_t addr[BANK_LANES]) {
  uint32_t div = 1u << random_below(4), mod = 1u << random_below(6), a = random_below(40);
  uint32_t b = random_below(40), noise = random_below(8), holes = random_below(6);
  for (uint32_t lane = 0; lane < BANK_LANES; lane++) {
    uint32_t index = lane / div * a + (lane % mod ^ (b & 7)) * (b / 8);
    if (noise == 0) index += random_below(3);
    addr[lane] = (int64_t)index * op->bytes;
    if (holes == 0 && random_below(3) == 0) addr[lane] = BANK_INACTIVE;
  }
}

static int slow_phase(const BankOp *op, const int64_t *addr, int n_lanes, int *active) {
  int most = 0;
  *active = 0;
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    int64_t words[128];
    int n = 0;
    for (int lane = 0; lane < n_lanes; lane++) {
      if (addr[lane] < 0) continue;
      *active = 1;
      for (int64_t byte = addr[lane]; byte < addr[lane] + op->bytes; byte += 4) {
        int64_t word = byte / 4;
        bool seen = false;
        for (int i = 0; i < n && op->shares_words; i++) seen |= words[i] == word;
        if (word % 32 == bank && !seen) words[n++] = word;
      }
    }
    if (n > most) most = n;
  }
  return most;
}

static void slow_count(const BankOp *op, const int64_t addr[BANK_LANES], int *wavefronts,
                       int *ideal) {
  bool one = op->kind == BANK_LOAD && op->bytes >= 8, two = one;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int64_t a = addr[lane], b = addr[lane ^ 1], c = addr[lane ^ 2];
    if (a >= 0 && b >= 0 && a != b) one = false;
    if (a >= 0 && c >= 0 && a != c) two = false;
  }
  int n_lanes = op->n_addresses < 32 || strstr(op->name, "_x4") ? 8
                : op->bytes <= 4                                ? 32
                : op->bytes == 8                                ? 16
                                                                : 8;
  if (one || two) n_lanes *= 2;
  *wavefronts = *ideal = 0;
  for (int first = 0; first < op->n_addresses; first += n_lanes) {
    int active;
    *wavefronts += slow_phase(op, addr + first, n_lanes, &active);
    *ideal += active;
  }
}

START_TEST(random_patterns_agree_with_the_slow_reckoning) {
  random_state = 20260101;
  int merged = 0, conflicting = 0;
  for (int round = 0; round < 8000; round++) {
    const BankOp *op = banks_op_at((int)random_below((uint32_t)banks_op_count()));
    if (!op->counted) continue;
    int64_t addr[BANK_LANES];
    random_addresses(op, addr);
    int wavefronts, ideal;
    slow_count(op, addr, &wavefronts, &ideal);
    BankCount count = banks_count(op, addr);
    ck_assert_msg(count.wavefronts == wavefronts && count.ideal == ideal,
                  "%s, round %d: %d %d, slowly %d %d", op->name, round, count.wavefronts,
                  count.ideal, wavefronts, ideal);
    merged += banks_merge_distance(op, addr) > 0;
    conflicting += count.conflicts > 0;
  }
  ck_assert_int_gt(merged, 100);
  ck_assert_int_gt(conflicting, 1000);
}
END_TEST

// Every word a lane asks for is served exactly once, in a row of the lane's phase and in the word's
// bank, and every cell was asked for.
static void check_map(const BankMap *map) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    for (int bank = 0; bank < BANK_COUNT; bank++) {
      int served = 0;
      for (int r = 0; r < map->n_rows; r++) {
        const BankCell *cell = &map->rows[r].cells[bank];
        if (!(cell->lanes >> lane & 1)) continue;
        served++;
        const BankPhase *phase = &map->phases[map->rows[r].phase];
        ck_assert(lane >= phase->first_lane && lane < phase->first_lane + phase->n_lanes);
        ck_assert_int_eq(cell->word, map->word_of[lane][bank]);
        ck_assert_int_eq(cell->word % BANK_COUNT, bank);
        ck_assert_int_eq(cell->lane, __builtin_ctz(cell->lanes));
      }
      ck_assert_int_eq(served, map->word_of[lane][bank] >= 0);
    }
  }
}

START_TEST(every_word_is_served_once) {
  random_state = 7;
  static BankMap map;
  for (int round = 0; round < 150; round++) {
    const BankOp *op = banks_op_at(round % banks_op_count());
    if (!op->counted) continue;
    int64_t addr[BANK_LANES];
    random_addresses(op, addr);
    banks_map(&map, op, addr);
    check_map(&map);
    ck_assert_int_eq(map.n_rows, map.count.wavefronts);
  }
}
END_TEST

START_TEST(the_rate_is_printed) {
  enum { ROUNDS = 200000 };
  int64_t addr[64][BANK_LANES];
  const BankOp *ops[64];
  random_state = 99;
  for (int i = 0; i < 64; i++) {
    ops[i] = banks_op_at(i % banks_op_count());
    random_addresses(ops[i], addr[i]);
  }
  clock_t start = clock();
  int total = 0;
  for (int i = 0; i < ROUNDS; i++) total += banks_count(ops[i % 64], addr[i % 64]).wavefronts;
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  printf("banks_count: %.2f million accesses a second in this build (%d wavefronts)\n",
         ROUNDS / seconds / 1e6, total);
  ck_assert_int_gt(total, 0);
}
END_TEST

Suite *suite_banks(void) {
  Suite *suite = suite_create("banks");
  TCase *rules = tcase_create("rules");
  tcase_add_test(rules, the_table_holds_every_operation);
  tcase_add_test(rules, narrow_lanes_on_one_word_share_it);
  tcase_add_test(rules, wide_accesses_sum_their_phases);
  tcase_add_test(rules, equal_pairs_merge_loads_only);
  tcase_add_test(rules, merging_can_add_ways);
  tcase_add_test(rules, one_odd_lane_stops_the_merge);
  tcase_add_test(rules, an_inactive_lane_agrees_with_anything);
  tcase_add_test(rules, an_inactive_pair_does_not_join_its_neighbours);
  tcase_add_test(rules, idle_phases_are_not_ideal_ones);
  tcase_add_test(rules, nobody_active_costs_nothing);
  tcase_add_test(rules, matrices_count_eight_rows_each);
  tcase_add_test(rules, cpasync_does_not_share_words);
  tcase_add_test(rules, sixteen_byte_cpasync_is_unknown);
  tcase_add_test(rules, copies_through_l1_wait_in_line);
  tcase_add_test(rules, copies_past_l1_are_written_as_their_sectors_lie);
  tcase_add_test(rules, copies_of_16_bytes_through_l1_conflict_as_stores_do);
  tcase_add_test(rules, misaligned_addresses_are_rounded_down_and_marked);
  tcase_add_test(rules, the_last_bytes_of_shared_memory);
  suite_add_tcase(suite, rules);
  TCase *maps = tcase_create("maps");
  tcase_add_test(maps, the_map_says_who_is_served_where);
  tcase_add_test(maps, random_patterns_agree_with_the_slow_reckoning);
  tcase_add_test(maps, every_word_is_served_once);
  tcase_add_test(maps, the_rate_is_printed);
  suite_add_tcase(suite, maps);
  return suite;
}
