// Accesses that a user brings along: how the line is read, what is offered instead, and that the
// offer is what it says.
#include <check.h>
#include <string.h>

#include "banks/solver/own_access.h"
#include "base/hash.h"
#include "base/str.h"
#include "golden.h"

Suite *suite_own_access(void);

static Arena *arena, *scratch;
static OwnAccess own;

static void setup(void) {
  arena = arena_new("test");
  scratch = arena_new("scratch");
}
static void teardown(void) {
  arena_free(arena);
  arena_free(scratch);
}

static const char *read(const char *line) {
  Diags diags = diags_new(arena);
  bool ok = own_access_read(arena, scratch, line, NULL, &own, &diags);
  ck_assert_msg(ok == (diags.count == 0), "%s", line);
  return diags_text(arena, &diags);
}

START_TEST(an_index_expression_counts_elements) {
  ck_assert_str_eq(read("(tid % 8) * 36 + lane/8"), "");
  ck_assert_str_eq(own.input.op->name, "lds32");
  ck_assert_str_eq(own.unit, "f32");
  ck_assert_int_eq(own.addr[9], 4 * 37);
  ck_assert_int_eq(own.count.wavefronts, 1);
  ck_assert_int_eq(own.n_layouts, 0);
  ck_assert_str_eq(read("LDS.128 bytes lane*16"), "");
  ck_assert_int_eq(own.addr[31], 496);
  ck_assert_str_eq(read("--op lds128 --addr 'lane*16'"), "");
  ck_assert_int_eq(own.addr[31], 496);
  ck_assert_str_eq(read("lds16 lane * 64"), "");
  ck_assert_int_eq(own.addr[1], 128);
  ck_assert_str_eq(read("warp 3 tid + 32 * warp"), "");
  ck_assert_int_eq(own.addr[0], 4 * (96 + 96));
  ck_assert_str_eq(read("warp 0 tid + 32 * warp"), "");
  ck_assert_int_eq(own.addr[1], 4);
  ck_assert_str_eq(read("warp 31 tid - 32 * warp"), "");
  ck_assert_int_eq(own.addr[1], 4);
  ck_assert_ptr_nonnull(strstr(read("lds128 lane"), "not a multiple of 16"));
  ck_assert_ptr_nonnull(strstr(read("lds32"), "no addresses"));
}
END_TEST

// The pitch of the rows is the factor to change; the other way costs no memory.
START_TEST(a_pitch_is_found_and_padded) {
  ck_assert_str_eq(read("(tid % 8) * 32 + lane/8"), "");
  ck_assert_int_eq(own.count.wavefronts, 8);
  ck_assert(own.pitch);
  ck_assert_int_eq(own.row, 32);
  ck_assert_int_eq(own.n_layouts, 2);
  ck_assert_int_eq(own.layout[0].count.wavefronts, 1);
  ck_assert(strstr(own.layout[0].expression, "i ^ ((i >> "));
  ck_assert_str_eq(own.layout[1].expression, "(tid % 8) * 36 + lane/8");
  ck_assert_int_eq(own.layout[1].pad, 4);
  ck_assert_int_eq(own.layout[1].count.wavefronts, 1);
  ck_assert_str_eq(read("lane * 32"), "");
  ck_assert_int_eq(own.count.wavefronts, 32);
  ck_assert_str_eq(own.layout[1].expression, "lane * 33");
  // Rows that are no power of two: a pad is all there is.
  ck_assert_str_eq(read("lane * 48"), "");
  ck_assert_str_eq(own.layout[own.n_layouts - 1].expression, "lane * 49");
}
END_TEST

// An expression without such a factor, and addresses, are shared memory line by line.
START_TEST(what_has_no_pitch_is_lines) {
  ck_assert_str_eq(read("(tid % 8) << 5 | lane/8"), "");
  ck_assert(!own.pitch);
  ck_assert_int_eq(own.n_layouts, 2);
  ck_assert_int_eq(own.layout[0].count.wavefronts, 1);
  ck_assert(strstr(own.layout[1].expression, "i + i / 32 * "));
  ck_assert_str_eq(read("lds128 0x7fffd9000400:0x7fffd9001400:0x80"), "");
  ck_assert_int_eq(own.addr[0], 0x400);
  ck_assert_int_eq(own.count.wavefronts, 32);
  ck_assert_int_eq(own.n_layouts, 2);
  ck_assert_int_eq(own.layout[0].count.wavefronts, 4);
  ck_assert(strstr(own.layout[0].expression, "addr ^ ((addr >> "));
  ck_assert(strstr(own.layout[1].expression, "addr + addr / 128 * 16"));
}
END_TEST

static const char *const lines[] = {
    "lds32 lane * 64",
    "sts64 f16 lane * 64 + 4 * (lane % 2)",
    "ldsm_x4 f16 (lane % 16) * 64 + lane / 16 * 8",
    "lds128 (lane % 8) * 64 + lane / 8 * 4",
    "lds128 bytes (lane % 8) * 128 + (lane / 8) * 16",
    "sts32 4 * (lane * 16) + lane % 4",
    "lds32 lane * 40",
    "lds32 0:8192:256",
    "lds64 f64 lane * 16",
    "lds32 bytes lane * 256",
    "lds32 0:131072:4096",
    "lds32 lane * lane * 32",
};

// Whatever is offered means the addresses that it shows, keeps lanes apart that were, and is
// cheaper.
START_TEST(every_offer_is_what_it_says) {
  for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
    ck_assert_str_eq(read(lines[l]), "");
    ck_assert_msg(own.n_layouts > 0, "%s", lines[l]);
    for (int i = 0; i < own.n_layouts; i++) {
      const OwnLayout *layout = &own.layout[i];
      BankCount count = banks_count(own.input.op, layout->addr);
      ck_assert_int_eq(count.wavefronts, layout->count.wavefronts);
      ck_assert_int_lt(count.wavefronts, own.count.wavefronts);
      for (int a = 0; a < own.input.op->n_addresses; a++)
        for (int b = 0; b < a; b++)
          ck_assert_msg((own.addr[a] == own.addr[b]) == (layout->addr[a] == layout->addr[b]),
                        "%s: %s", lines[l], layout->expression);
      if (!layout->whole) continue;
      int64_t addr[BANK_LANES];
      Diags diags = diags_new(arena);
      ck_assert(bank_input_read(&own.input, layout->expression, addr, &diags));
      ck_assert_mem_eq(addr, layout->addr, sizeof addr);
    }
  }
}
END_TEST

START_TEST(another_operation_or_unit) {
  OwnAccess other;
  Diags diags = diags_new(arena);
  ck_assert_str_eq(read("lane * 32"), "");
  ck_assert(own_access_as(arena, scratch, &own, banks_op_find("lds128"), NULL, &other, &diags));
  ck_assert_int_eq(other.count.wavefronts, 32);
  ck_assert(own_access_as(arena, scratch, &own, NULL, "bytes", &other, &diags));
  ck_assert_int_eq(other.addr[1], 32);
  ck_assert(!own_access_as(arena, scratch, &other, banks_op_find("ldsm_x4"), "s8", &own, &diags) ||
            diags.count == 0);
  ck_assert_str_eq(own_access_unit(0), "bytes");
  ck_assert_ptr_null(own_access_unit(4));
}
END_TEST

// All that is read of an access, and offered for it: tests/golden/told/own.txt.
static void tell(Str *out, const OwnAccess *o) {
  str_printf(out,
             "  %s of %s, %s is \"%s\"%s: rows of %d, steps of %d%s; %d of %d wavefronts; %s\n  ",
             o->input.op->name, o->unit, o->name, o->text, o->expression ? ", an expression" : "",
             o->row, o->step, o->pitch ? ", a pitch" : "", o->count.wavefronts, o->count.ideal,
             o->proof ? o->proof : "-");
  for (int lane = 0; lane < BANK_LANES; lane++) str_printf(out, " %d", (int)o->addr[lane]);
  str_add(out, "\n");
  for (int i = 0; i < o->n_layouts; i++) {
    const OwnLayout *l = &o->layout[i];
    uint64_t sum = HASH_START;
    for (int lane = 0; lane < BANK_LANES; lane++)
      sum = hash_bytes(sum, &l->addr[lane], sizeof l->addr[lane]);
    str_printf(out, "    %s: %s%s, pad %d, %d wavefronts; %08x\n", l->layout, l->expression,
               l->whole ? "" : " of what was there", l->pad, l->count.wavefronts, (unsigned)sum);
  }
}

START_TEST(accesses_are_read_and_mended_as_reviewed) {
  static const char *const texts[] = {"lane * 32",
                                      "lane % 4 * 64 + lane / 4",
                                      "(tid % 8) * 32 + lane / 8 * 4",
                                      "lane * 48",
                                      "lane / 2 * 128 + lane % 2 * 4",
                                      "(lane * 7) % 32 * 16",
                                      "1024 - lane * 32",
                                      "lane * 4096",
                                      "lane * 20000",
                                      "0 256 512 768 1024 1280 1536 1792",
                                      "0 128",
                                      "128 0 384 256",
                                      "4 132 260 388 516",
                                      "0x1000 0x1080 0x1100,,0x1200",
                                      "5000 5128 5256 5384 5512 5640",
                                      "(lane ^ 5) * 32 + warp"};
  static const char *const before[] = {"",           "lds64 ",     "lds128 ",      "sts32 ",
                                       "sts64 f64 ", "lds16 f16 ", "bytes lds32 ", "ldmatrix ",
                                       "warp 2 ",    "f32 sts128 "};
  Str out = str_new(arena);
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    for (size_t b = 0; b < sizeof before / sizeof *before; b++) {
      const char *line = arena_printf(arena, "%s%s", before[b], texts[t]), *said = read(line);
      str_printf(&out, "%s%s%s", line, *said ? ": " : "\n", said);
      if (!*said) tell(&out, &own);
    }
  golden_check("told/own.txt", out.text);
}
END_TEST

Suite *suite_own_access(void) {
  Suite *suite = suite_create("own_access");
  TCase *tcase = tcase_create("own");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, an_index_expression_counts_elements);
  tcase_add_test(tcase, a_pitch_is_found_and_padded);
  tcase_add_test(tcase, what_has_no_pitch_is_lines);
  tcase_add_test(tcase, every_offer_is_what_it_says);
  tcase_add_test(tcase, another_operation_or_unit);
  tcase_add_test(tcase, accesses_are_read_and_mended_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
