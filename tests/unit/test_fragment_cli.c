// gemmview fragment as a user calls it: the program itself is run, where the runner of the tests
// names it in $GEMMVIEW.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cli_harness.h"
#include "model/words/fragment.h"

Suite *suite_fragment_cli(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test fragment cli"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *arguments;
  int status;
  const char *says;
} calls[] = {
    {"m16n8k16.f16 A", 0, "\n 0  T0:0,1  T1:0,1  T2:0,1  T3:0,1  T0:4,5  T1:4,5  T2:4,5  T3:4,5\n"},
    {"m16n8k16.f16 A", 0, "lanes 16-23: [0][8] to [7][8]"},
    {"m16n8k16.f16 B", 0, "\n 9  T0:3  T4:3  T8:3  T12:3 T16:3 T20:3 T24:3 T28:3\n"},
    {"m16n8k16.f16 B", 0, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"},
    {"m16n8k16.f16 A --lane 0", 0,
     "lane 0 holds [0][0] [0][1] [8][0] [8][1] [0][8] [0][9] [8][8] [8][9]\n"},
    {"m16n8k16.f16 A --element 3,5", 0, "A[3][5] is value 1 of lane 14: register 0, half 1\n"},
    {"m16n8k32.s8 B --element 18,7", 0, "B[18][7] is value 6 of lane 28: register 1, byte 2\n"},
    {"m16n8k8.tf32 d --element=15,7", 0, "C[15][7] is value 3 of lane 31: register 3\n"},
    {"wgmma.m64n256k16.f16 C", 0, "columns 16 to 255 follow the same pattern (--full prints them)"},
    {"wgmma.m64n256k16.f16 C --full", 0, "63  T124:126,127 T125:126,127"},
    {"wgmma.m64n256k16.f16 A", 0, "in warp w (of lanes 32*w on) rows are 16*w further down"},
    {"wgmma.m64n256k16.f16 A --json", 0, "[127,63,8]"},
    {"m16n8k16.f16 C --row 11", 0,
     "row 11 lies in lanes 12 13 14 15: bits 0 1 of their numbers have no weight in\nthe row; each "
     "has values 2 3 of it\n  in each lane, values 2 3: 2 of 8 columns\n  shfl ^ 1: 4 of 8 "
     "columns\n"},
    {"wgmma.m64n64k16.f16 C --row 37", 0, "row 37 lies in lanes 84 85 86 87"},
    {"m16n8k16.f16 C", 0, "256 of 256 elements keep their lane"},
    {"m16n8k16.f16 C", 0, "  A r2 is atom 1 v 0,1 of C\n"},
    {"m16n8k8.tf32 C", 0, "32 of 128 elements keep their lane: [0][1] would go"},
    {"m16n8k32.s8 C", 0, "128 of 512 elements keep their lane"},
    {"m16n8k16.f16 C --json", 0, "\"elements\":256,\"kept\":256,\"in_place\":true"},
    {"m16n8k16.f16 C --row 3 --json", 0, "\"lanes\":[12,13,14,15],\"values\":[0,1]"},
    {"m16n8k16.f16 C --row 16", 2, "from 0 to 15; nearest: 15\n"},
    {"m16n8k16.f16 C --row 1 --lane 1", 2, "give one of --lane"},
    {"m8n8k4.f16 C --lane 21", 0, "lane 21 is of product 1\n\nlane 21 holds [5][0] [5][1] [7][0]"},
    {"m8n8k4.f16 B --element 3,7", 0, "lane 19: register 1, half 1; of the other products 4, 8"},
    {"m8n8k4.f16 A --json --element 5,1", 0, "[17,1,5,1],[21,1,5,1],[25,1,5,1],[29,1,5,1]"},
    {"m8n8k4.f16 A", 0, "the warp makes 4 products: a lane is of product lane / 4 % 4."},
    {"m8n8k4.col.row.f16 A", 0, ".row       B row-major: a lane has four of a row\n"},
    {"m8n8k4.f16 C --row 0", 0, "row 0 lies in lanes 0 2: bit 1 of their numbers has no weight"},
    {"tcgen05.m64n96k16.f16 C --lane 20", 0, "lane 20 holds nothing\n"},
    {"tcgen05.m64n96k16.f16 C --lane 20 --json", 0, "\"cells\":[],"},
    {"tcgen05.m64n96k16.f16 C", 0,
     "data path layout F: a lane has all columns of its row; lanes 16"},
    {"tcgen05.cta2.m128n96k16.f16 C --element 70,60", 0, "is value 12 of lane 198: register 12\n"},
    {"tcgen05.cta2.m128n96k16.f16 C --json", 0, "\"ctas\":2,\"products\":1,\"data_path\":\"B\""},
    {"tcgen05.ws.m32n64k16.f16 C --row 3", 0, "row 3 lies in lanes 3 35 67 99: bits 5 6 of"},
    {"tcgen05.ws.m32n64k16.f16 C --row 3", 0, "warp ^ 2, through shared memory: 64 of 64 columns"},
    {"tcgen05.m128n64k16.f16 C --row 3", 0, "row 3 lies in lane 3 alone; each has values 0 1 2"},
    {"tcgen05.m128n64k16.f16 C", 0, "  .cta_group::1 one CTA multiplies\n"},
    {"tcgen05.ws.m32n192k16.f16 C", 2, "N must be 64, 128 or 256; nearest: tcgen05.ws.m32n256k16"},
    {"--list", 0, "wgmma.m64n256k8.tf32 "},
    {"", 2, "an atom is needed"},
    {"m16n8k16.f16", 2, "nearest: m16n8k16.f16 A\n"},
    {"m16n8k17.f16 A", 2, "\"m16n8k17.f16\" is not a known atom; nearest: m16n8k16.f16\n"},
    {"m16n8k16.f16 F", 2, "\"F\" is not an operand: choose A, B or C; nearest: A\n"},
    {"m16n8k16.f16 E", 2, "m16n8k16.f16 takes no metadata: sp.m16n8k32.f16 does"},
    {"sp.m16n8k32.f16 E --row 1", 2, "E has no sums"},
    {"sp.m16n8k32.f16 E --element 9,5", 0, "E[9][5] is value 5 of lane 5: register 0, part 5"},
    {"sp.m16n8k32.f16 A", 0, "2 of each 4 columns are stored, as E says"},
    {"sp.m16n8k16.f16 E --lane 4", 0, "with selector s, from 0 to 3, lanes with lane % 4 = s"},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 E --lane 0", 0,
     "0x4 keeps the first of two columns"},
    {"SM90::GMMA::SPARSE::GMMA_64x128x32_F32F16F16_SS E", 0,
     "E of wgmma.sp.m64n128k32.f16, 64 x 8"},
    {"SM90::GMMA::MMA_64x128x16_F32F16F16_SS C", 0, "C of wgmma.m64n128k16.f16, 64 x 128"},
    {"wgmma.sp.m64n128k32.bf16 B", 2, "read from shared memory through a descriptor"},
    {"m16n8k16.f16 A B", 2, "one atom and one operand are needed"},
    {"wgmma.m64n8k8.tf32 B", 2, "read from shared memory through a descriptor"},
    {"wgmma.m64n12k16.f16 C", 2, "nearest: wgmma.m64n16k16.f16\n"},
    {"m16n8k16.f16 A --lane 32", 2, "not a whole number from 0 to 31; nearest: 31\n"},
    {"m16n8k16.f16 A --element 16,3", 2, "rows 0 to 15 and columns 0 to 15; nearest: 15,3\n"},
    {"m16n8k16.f16 A --element -1,99", 2, "nearest: 0,15\n"},
    {"m16n8k16.f16 A --element 99999999999999999999,1", 2, "nearest: 15,1\n"},
    {"m16n8k16.f16 A --element 3", 2, "\"3\" is not ROW,COLUMN"},
    {"m16n8k16.f16 A --element 3,x", 2, "\"3,x\" is not ROW,COLUMN"},
    {"m16n8k16.f16 A --element '3, 4'", 2, "\"3, 4\" is not ROW,COLUMN"},
    {"m16n8k16.f16 A --lane 1 --element 1,1", 2, "give one of --lane"},
    {"--list A", 2, "--list stands alone"},
};

START_TEST(answers) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "fragment %s", calls[_i].arguments));
  ck_assert_msg(run.status == calls[_i].status, "%s%s", run.out, run.err);
  const char *text = run.status ? run.err : run.out;
  ck_assert_msg(strstr(text, calls[_i].says), "no \"%s\" in\n%s", calls[_i].says, text);
  ck_assert_str_eq(run.status ? run.out : run.err, "");
}
END_TEST

static const char *const documents[] = {"m16n8k16.f16 A",
                                        "m16n8k16.f16 B",
                                        "m16n8k8.tf32 C",
                                        "m16n8k32.s8 A",
                                        "m8n8k4.f64 B",
                                        "m16n8k4.tf32 A --lane 7",
                                        "m16n8k16.f16 A --element 3,5",
                                        "wgmma.m64n256k16.f16.f16 C"};

static int int_at(const JsonValue *array, int index) {
  Diags diags = diags_new(arena);
  int value = -1;
  ck_assert(json_read_int(json_at(array, index), 0, 1 << 20, &value, &diags));
  return value;
}

static int int_of(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  int value = -1;
  ck_assert_msg(json_require_int(object, key, 0, 1 << 20, &value, &diags), "%s", key);
  return value;
}

// Every cell is [lane, value_index, row, col], lanes in order and values in register order.
START_TEST(cells_agree_with_the_model) {
  if (!cli_has_program()) return;
  char atom_name[64], operand[8];
  ck_assert_int_eq(sscanf(documents[_i], "%63s %7s", atom_name, operand), 2);
  CliRun run = cli_run(arena, arena_printf(arena, "fragment %s --json", documents[_i]));
  const JsonValue *root = cli_json(arena, &run);
  const JsonValue *cells = json_object_get(root, "cells");
  Diags diags = diags_new(arena);
  Atom atom;
  ck_assert(atom_parse(atom_name, &atom, &diags));
  FragmentMap map = fragment_map(&atom, (AtomOperand)(operand[0] - 'A'));
  bool whole = !strstr(documents[_i], "--");
  if (whole) ck_assert_int_eq(json_count(cells), map.rows * map.cols);
  ck_assert_int_eq(int_of(root, "registers") * int_of(root, "values_per_register"), map.n_values);
  for (int i = 0; i < json_count(cells); i++) {
    const JsonValue *cell = json_at(cells, i);
    int lane = int_at(cell, 0), value = int_at(cell, 1);
    FragmentElement at = fragment_map_element(&map, lane, value);
    ck_assert_int_eq(int_at(cell, 2), at.row);
    ck_assert_int_eq(int_at(cell, 3), at.col);
    if (whole) ck_assert_int_eq(lane * map.n_values + value, i);
  }
}
END_TEST

START_TEST(parts_of_the_whole) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, "fragment m16n8k16.f16 A --element 3,5 --json");
  const JsonValue *cells = json_object_get(cli_json(arena, &run), "cells");
  ck_assert_int_eq(json_count(cells), 1);
  ck_assert_int_eq(int_at(json_at(cells, 0), 0), 14);
  ck_assert_int_eq(int_at(json_at(cells, 0), 1), 1);
  run = cli_run(arena, "fragment m16n8k16.f16 A --lane 7 --json");
  cells = json_object_get(cli_json(arena, &run), "cells");
  ck_assert_int_eq(json_count(cells), 8);
  for (int i = 0; i < 8; i++) ck_assert_int_eq(int_at(json_at(cells, i), 0), 7);
  run = cli_run(arena, "fragment --list --json");
  ck_assert_int_eq(json_count(json_object_get(cli_json(arena, &run), "atoms")), atom_count);
}
END_TEST

// No line of a warp's atom is wider than a terminal of 80 columns.
START_TEST(text_fits_80_columns) {
  if (!cli_has_program()) return;
  const Atom *atom = &atom_table[_i];
  for (int operand = 0; operand < ATOM_OPERANDS; operand++) {
    if (!atom_in_registers(atom, (AtomOperand)operand)) continue;
    CliRun run = cli_run(arena, arena_printf(arena, "fragment %s %c", atom->name, "ABC"[operand]));
    for (const char *line = run.out; *line;) {
      size_t length = strcspn(line, "\n");
      ck_assert_msg(length <= 80, "%zu: %.*s", length, (int)length, line);
      ck_assert_msg(length == 0 || line[length - 1] != ' ', "\"%.*s\"", (int)length, line);
      line += length + (line[length] == '\n');
    }
  }
}
END_TEST

Suite *suite_fragment_cli(void) {
  Suite *suite = suite_create("fragment_cli");
  TCase *tc = tcase_create("fragment_cli");
  tcase_set_timeout(tc, 60);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_loop_test(tc, answers, 0, sizeof calls / sizeof calls[0]);
  tcase_add_loop_test(tc, cells_agree_with_the_model, 0, sizeof documents / sizeof documents[0]);
  tcase_add_test(tc, parts_of_the_whole);
  tcase_add_loop_test(tc, text_fits_80_columns, 0, atom_count);
  suite_add_tcase(suite, tc);
  return suite;
}
