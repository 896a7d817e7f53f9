// The source view of A|B: what differs, how often each instruction is used, whether the compiler
// made the same of both, and the ribbon. Listings are handed in, as a worker would.
#include "tui/frame/explorer.h"
#include "tui/views/program/source.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "kernels/toolchain/emit_plan.h"
#include "padded_code.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void open_at(const char *ladder, const char *rung) {
  session = explorer_open(&(SessionOptions){.ladder = ladder, .rung = rung}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, 30, 100, false);
  view_show(session, view_find("source"));
  drive_frame(session, canvas);
}

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  open_at(NULL, "vectorized");
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }
static void keys(const char *text) { ck_assert(drive_keys(session, canvas, text, &diags)); }

static const char ptx_wide[] =
    "// made for A\n.version 9.0\n$L_1:\n\tld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%r1];\n"
    "\tfma.rn.f32 %f5, %f1, %f2, %f5;\n\tfma.rn.f32 %f6, %f1, %f3, %f6;\n\tbar.sync 0;\n\tret;\n";
static const char ptx_narrow[] =
    "// made for B\n.version 9.0\n$L_1:\n\tld.shared.f32 %f1, [%r1];\n"
    "\tld.shared.f32 %f2, [%r1+4];\n\tld.shared.f32 %f3, [%r1+8];\n"
    "\tfma.rn.f32 %f5, %f1, %f2, %f5;\n\tfma.rn.f32 %f6, %f1, %f3, %f6;\n\tbar.sync 0;\n\tret;\n";

static const SassLine sass_lines[] = {
    {"matmul", "LDS.128 R4, [R2]", "LDS.128", 0, 12, 8},
    {"matmul", "FFMA R8, R4, R6, R8", "FFMA", 16, 14, 9},
    {"matmul", "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING", 32, 20, 9},
    {"matmul", "EXIT", "EXIT", 48, -1, 0}};
static const SassLine sass_other[] = {{"matmul", "LDS.128 R4, [R2]", "LDS.128", 0, 12, 8},
                                      {"matmul", "FFMA R8, R4, R5, R8", "FFMA", 16, 14, 9},
                                      {"matmul", "FFMA R9, R4, R6, R9", "FFMA", 32, 14, 9},
                                      {"matmul", "EXIT", "EXIT", 48, -1, 0}};
static const SassCount counts[] = {{"matmul", "LDS.128", 1},
                                   {"matmul", "FFMA", 1},
                                   {"matmul", "BAR.SYNC.DEFER_BLOCKING", 1},
                                   {"matmul", "EXIT", 1}};
static const SassCount counts_other[] = {
    {"matmul", "FFMA", 2}, {"matmul", "LDS.128", 1}, {"matmul", "EXIT", 1}};

static void compiled(const Side *side, const char *ptx, bool other_sass) {
  Compiled *compiled = results_begin_compile(&session->background.results, side->picture->key);
  results_add_compile(
      compiled,
      &(CompileResult){
          .ok = true, .ptx = ptx, .ptx_ms = 12, .cubin_ms = 80, .compiler = "NVRTC 13.0"});
  SassResult sass = {.ok = true,
                     .n_lines = 4,
                     .lines = other_sass ? sass_other : sass_lines,
                     .n_counts = other_sass ? 3 : 4,
                     .counts = other_sass ? counts_other : counts};
  results_add_sass(compiled, &sass);
}

START_TEST(cuda_differs_line_by_line) {
  keys("c");
  ck_assert(shows("A = rung"));
  const Source *source = session->prepared;
  ck_assert_int_gt(source->n_added, 3);
  ck_assert_int_gt(source->n_removed, 3);
  int added = 0, removed = 0;
  for (int i = 0; i < source->n_lines; i++) {
    added += source->line[i].text && source->line[i].kind == DIFF_ADDED;
    removed += source->line[i].text && source->line[i].kind == DIFF_REMOVED;
    ck_assert(source->line[i].text || i == 0 || source->line[i - 1].text);
  }
  ck_assert_int_eq(added, source->n_added);
  ck_assert_int_eq(removed, source->n_removed);
  golden_check("screens/source_compare.txt", export_text(arena, canvas));
}
END_TEST

START_TEST(the_same_cuda_is_said_so) {
  ck_assert(session_compare(session, &session->doc.now.schedule, "itself"));
  drive_frame(session, canvas);
  ck_assert(shows("CUDA identical: yes"));
}
END_TEST

START_TEST(ptx_is_counted_in_both) {
  keys("c l");
  compiled(&session->doc.then, ptx_narrow, false);
  compiled(&session->doc.now, ptx_wide, false);
  drive_frame(session, canvas);
  const Source *source = session->prepared;
  ck_assert_str_eq(source->opcode[0].opcode, "ld.shared.f32");
  ck_assert_int_eq(source->opcode[0].a, 3);
  ck_assert_int_eq(source->opcode[0].b, 0);
  ck_assert_str_eq(source->identity, "PTX identical: no  SASS identical: yes");
  ck_assert(shows("SASS identical: yes"));
  ck_assert(shows("-3"));
  golden_check("screens/source_ptx_compare.txt", export_text(arena, canvas));
}
END_TEST

// One place in three texts: from a line of CUDA to its instruction, over a PTX that has no line
// map, and back.
START_TEST(texts_are_scrolled_together) {
  keys("# 1 4 Enter l l");  // nothing is compiled yet
  compiled(&session->doc.now, ptx_wide, false);
  drive_frame(session, canvas);
  ck_assert_int_eq(source_chosen(session)->mode, SOURCE_SASS);
  ck_assert_int_eq(session_view_state(session)->cursor, 1);
  keys("j h h");
  ck_assert_int_eq(source_chosen(session)->mode, SOURCE_CUDA);
  ck_assert_int_eq(session_view_state(session)->cursor, 19);
  keys("j j j h");  // three lines further, nearest instruction: that of line 20
  ck_assert_int_eq(source_chosen(session)->mode, SOURCE_SASS);
  ck_assert_int_eq(session_view_state(session)->cursor, 2);
}
END_TEST

// The text that a person sees and copies is the one that is compiled: PTX and SASS point into it.
START_TEST(the_screen_has_the_text_of_the_command_line) {
  const Model *model = session_model(session);
  const Plan *plan = plan_from_model(arena, model, NULL);
  ck_assert_str_eq(side_emission(&session->doc.now)->text, plan->cuda);
  ck_assert(strstr(plan->cuda, "\n// for sm_90a (H200 SXM)\n") != NULL);
}
END_TEST

START_TEST(a_text_opens_at_the_loop_over_slabs) {
  const Source *source = session->prepared;
  ck_assert(strstr(source->line[source->cursor].text, "for (int k_o = 0;") != NULL);
  ck_assert_int_eq(source->n_lines, source->n_whole - source->n_folded + 1);
  const int number = source->line[source->cursor].number;
  keys("z");
  source = session->prepared;
  ck_assert_int_eq(source->line[source->cursor].number, number);
  ck_assert_int_eq(source->n_lines, source->n_whole);
  keys("g");
  ck_assert(!shows("folded"));
  keys("z");
  ck_assert(shows("lines folded, z opens them"));
}
END_TEST

START_TEST(a_number_leads_to_its_line) {
  keys(": 9 0 Enter");
  const Source *source = session->prepared;
  ck_assert_int_eq(source->line[source->cursor].number, 90);
  ck_assert_int_gt(source->n_folded, 0);
  keys("# 1 0 Enter");  // a folded line: it opens
  source = session->prepared;
  ck_assert_int_eq(source->line[source->cursor].number, 10);
  ck_assert_int_eq(source->n_folded, 0);
  keys(": 9 9 9 9 Enter");
  ck_assert(shows("lines here are 1 to"));
  ck_assert(shows("not \"9999\""));
}
END_TEST

static const char ptx_long[] =
    "\tld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%r1+0123456789012345678901234567890123456789];\n"
    "\tfma.rn.f32 %f5, %f1, %f2, %f5;\n";

START_TEST(a_match_is_brought_into_sight) {
  compiled(&session->doc.now, ptx_long, false);
  keys("l");
  canvas_resize(canvas, 24, 60);
  drive_frame(session, canvas);
  ck_assert(!shows("789];"));
  keys("/ 7 8 9 ] Enter");
  ck_assert(shows("789];"));
  ck_assert(!shows("ld.shared"));
  keys("< < < <");
  ck_assert(shows("ld.shared"));
  keys(">");
  ck_assert(!shows(" ld.shared"));
  keys("l");  // another text begins at its beginning
  ck_assert_int_eq(source_chosen(session)->across, 0);
}
END_TEST

// What is folded away is not found, and what is found is on the screen.
START_TEST(what_is_folded_is_not_found) {
  keys("/ _ _ d e v i c e Enter");
  ck_assert(shows("\"__device\" is not here"));
  keys("z n");
  const Source *source = session->prepared;
  ck_assert(strstr(source->line[source->cursor].text, "__device") != NULL);
}
END_TEST

START_TEST(three_texts_stand_side_by_side) {
  compiled(&session->doc.now, ptx_wide, false);
  canvas_resize(canvas, 50, 160);
  keys("# 1 4 Enter");
  ck_assert(shows("matmul") && shows("ld.shared.v4.f32") && shows("FFMA R8, R4, R6, R8"));
  const Source *source = session->prepared;
  ck_assert_ptr_eq(source->beside[SOURCE_CUDA], source);
  ck_assert_int_eq(source->beside[SOURCE_SASS]->cursor, 1);
  keys("l l");
  source = session->prepared;
  ck_assert_int_eq(source->mode, SOURCE_SASS);
  ck_assert_int_eq(source->cursor, 1);
  keys("j");
  source = session->prepared;
  const Source *cuda = source->beside[SOURCE_CUDA];
  ck_assert_int_eq(cuda->line[cuda->cursor].number, 20);
  golden_check("screens/source_beside.txt", export_text(arena, canvas));
}
END_TEST

// wide_tile has eleven accesses: none of their numbers stands upon the number of its line, nor upon
// the bar of the loop that the cursor is on.
START_TEST(numbers_of_lines_and_accesses_stand_apart) {
  explorer_close(session);
  open_at("hgemm", "wide_tile");
  int shown = 0;
  keys("z g");
  for (int i = 0; i < 24; i++) {
    keys("s");
    const Source *source = session->prepared;
    const SourceLine *line = &source->line[source->cursor];
    if (line->site < 10) continue;
    ck_assert_msg(shows(arena_printf(arena, "%4d┃%d", line->number, line->site)) ||
                      shows(arena_printf(arena, "%4d %d", line->number, line->site)),
                  "%s", export_text(arena, canvas));
    shown++;
  }
  ck_assert_int_ge(shown, 2);
}
END_TEST

// Whatever has come and whatever room there is; keys of every text.
START_TEST(columns_fit_every_screen) {
  session->background.worker.present = true;  // nothing is compiled yet
  for (int round = 0; round < 2; round++) {
    for (int cols = 150; cols <= 250; cols += 9)
      for (int rows = 12; rows <= 64; rows += 13) {
        canvas_resize(canvas, rows, cols);
        drive_frame(session, canvas);
        keys("l > j G z l s < g k l z");
        ck_assert(shows("CUDA") && shows("PTX") && shows("SASS"));
      }
    compiled(&session->doc.now, ptx_wide, false);
  }
}
END_TEST

START_TEST(a_comment_does_not_make_ptx_another) {
  keys("c");
  compiled(&session->doc.then, "// one\n\tret;\n", false);
  compiled(&session->doc.now, "// two\n\tret;\n", true);
  drive_frame(session, canvas);
  const Source *source = session->prepared;
  ck_assert_str_eq(source->identity, "PTX identical: yes  SASS identical: no");
}
END_TEST

START_TEST(the_ribbon_is_in_order) {
  keys("h");
  compiled(&session->doc.now, ptx_wide, false);
  drive_frame(session, canvas);
  const Source *source = session->prepared;
  ck_assert_int_eq(source->mode, SOURCE_SASS);
  ck_assert_int_eq(source->ribbon.n, 4);
  ck_assert(strncmp(source->ribbon.letter, "LFBJ", 4) == 0);
  ck_assert(shows(" B LFBJ"));
  ck_assert(shows("F fma  M mma"));
}
END_TEST

static const struct {
  const char *opcode;
  char letter;
} classes[] = {{"FFMA", 'F'},
               {"FFMA.FTZ", 'F'},
               {"HMMA.16816.F32", 'M'},
               {"LDS.128", 'L'},
               {"LDSM.16.M88.4", 'L'},
               {"LDGSTS.E.BYPASS.128", 'A'},
               {"LDG.E.128", 'G'},
               {"LDGDEPBAR", 'A'},
               {"STS.64", 'S'},
               {"STG.E", 'W'},
               {"BAR.SYNC", 'B'},
               {"UTMALDG.2D", 'A'},
               {"SYNCS.PHASECHK.TRANS64.TRYWAIT", 'B'},
               {"USETMAXREG.TRY_ALLOC.CTAPOOL", 'B'},
               {"WARPSYNC.ALL", 'B'},
               {"cp.async.bulk.tensor.2d.shared::cluster.global", 'A'},
               {"mbarrier.arrive.expect_tx.shared.b64", 'B'},
               {"mbarrier.try_wait.parity.shared.b64", 'B'},
               {"setmaxnreg.dec.sync.aligned.u32", 'B'},
               {"IMAD.WIDE", '.'},
               {"BRA", 'J'},
               {"fma.rn.f32", 'F'},
               {"mma.sync.aligned.m16n8k16", 'M'},
               {"ld.shared.v4.f32", 'L'},
               {"ld.global.f32", 'G'},
               {"ld.param.u64", '.'},
               {"cp.async.cg.shared.global", 'A'},
               {"cp.async.wait_group", 'B'},
               {"bar.sync", 'B'},
               {"barrier.sync", 'B'},
               {"branch", '.'},
               {"LDSX", '.'}};

START_TEST(instructions_have_classes) {
  char letter = source_class_of(classes[_i].opcode);

  ck_assert_msg(letter == classes[_i].letter, "%s is %c", classes[_i].opcode, letter);
}
END_TEST

// What the article reads off its listings: 3 ldmatrix, and 4 others up to the fourth.
START_TEST(bursts_of_reads_are_counted) {
#define READ "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];\n"
#define PRODUCT "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};\n"
#define OTHER "\tadd.s32 %r1, %r1, 1;\n"
#define BAR "\tbar.sync 0;\n"
  compiled(&session->doc.now,
           READ BAR READ READ OTHER READ OTHER PRODUCT OTHER PRODUCT READ PRODUCT READ BAR OTHER BAR
               READ PRODUCT OTHER "\tret;\n",
           false);
  keys("l");
  const Ribbon *ribbon = &((const Source *)session->prepared)->ribbon;
  ck_assert_int_eq(ribbon->n_bursts, 2);
  ck_assert_int_eq(ribbon->burst[0].reads, 3);
  ck_assert_int_eq(ribbon->burst[0].others, 4);
  ck_assert_int_eq(ribbon->burst[1].reads, 1);
  ck_assert_int_eq(ribbon->burst[1].others, -1);
  ck_assert(shows("reads before a product 3, 1; then others 4, no more"));
}
END_TEST

// Three additions stand before each copy: the ribbon shows where the copies are.
START_TEST(the_ribbon_shows_what_stands_among_addresses) {
  Str ptx = str_new(arena);
  for (int i = 0; i < 100; i++)
    str_add(&ptx,
            "\tadd.s32 %r1, %r1, 1;\n\tadd.s32 %r1, %r1, 1;\n\tadd.s32 %r1, %r1, 1;\n"
            "\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n");
  for (int i = 0; i < 100; i++) str_add(&ptx, "\tadd.s32 %r1, %r1, 1;\n");
  compiled(&session->doc.now, ptx.text, false);
  keys("l");
  ck_assert(shows("AAAAAAAAAA..."));
  ck_assert(!shows(".A."));
}
END_TEST

START_TEST(opcodes_leave_out_what_they_share) {
  ck_assert_str_eq(source_short_opcode(arena, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"),
                   "ldmatrix.m8n8.x4.shared.b16");
  ck_assert_str_eq(source_short_opcode(arena, "bar.sync"), "bar.sync");
}
END_TEST

START_TEST(register_banks_are_marked_and_counted) {
  keys("l l");
  compiled(&session->doc.now, ptx_wide, false);
  keys("z");
  ck_assert_msg(shows("1 FFMA: 1 read a bank twice (!), .reuse spares 0 (r); 0 to 2 clocks lost"),
                "%s", export_text(arena, canvas));
  ck_assert_msg(shows("!FFMA R8, R4, R6, R8"), "%s", export_text(arena, canvas));
}
END_TEST

// Once the machine code itself has come: stall, wait mask, scoreboards and reuse, and what would
// take two registers of one bank apart.
START_TEST(control_words_stand_in_the_gutter) {
  static const SassLine lines[] = {
      {"matmul", "LDS.128 R96, [R108+0x10]", "LDS.128", 0x780, 12, 8},
      {"matmul", "FFMA R64, R84, R88.reuse, R64", "FFMA", 0x790, 14, 9},
      {"matmul", "EXIT", "EXIT", 0x1000, -1, 0}};
  const SassResult sass = {.ok = true, .n_lines = 3, .lines = lines};
  const KernelTexts code = {1, {{"matmul", padded_code()}}};
  keys("l l");
  Compiled *c = results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(c, &(CompileResult){.ok = true, .ptx = ptx_wide});
  results_add_sass(c, &sass);
  drive_frame(session, canvas);
  ck_assert(!shows("stl wait w r use"));
  results_add_code(c, &code);
  drive_frame(session, canvas);
  ck_assert(shows("stl wait w r use"));
  ck_assert_msg(shows("  1    0 - -   b !FFMA R64, R84"), "%s", export_text(arena, canvas));
  ck_assert_msg(shows("  1    . 2 -   .  LDS.128 R96"), "%s", export_text(arena, canvas));
  keys("g z j");
  ck_assert_msg(shows("one register bank gives R84 and R88; R64 exchanged with R"), "%s",
                export_text(arena, canvas));
}
END_TEST

START_TEST(no_disassembler_is_said_so) {
  Compiled *c = results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(c, &(CompileResult){.ok = true, .ptx = ptx_wide, .ptx_ms = 1, .cubin_ms = 2});
  keys("h");
  ck_assert(shows("nvdisasm is not installed"));
}
END_TEST

Suite *suite_source(void);
Suite *suite_source(void) {
  Suite *suite = suite_create("source");
  TCase *tcase = tcase_create("source");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, texts_are_scrolled_together);
  tcase_add_test(tcase, the_screen_has_the_text_of_the_command_line);
  tcase_add_test(tcase, a_text_opens_at_the_loop_over_slabs);
  tcase_add_test(tcase, a_number_leads_to_its_line);
  tcase_add_test(tcase, a_match_is_brought_into_sight);
  tcase_add_test(tcase, what_is_folded_is_not_found);
  tcase_add_test(tcase, three_texts_stand_side_by_side);
  tcase_add_test(tcase, numbers_of_lines_and_accesses_stand_apart);
  tcase_add_test(tcase, columns_fit_every_screen);
  tcase_add_test(tcase, cuda_differs_line_by_line);
  tcase_add_test(tcase, the_same_cuda_is_said_so);
  tcase_add_test(tcase, ptx_is_counted_in_both);
  tcase_add_test(tcase, a_comment_does_not_make_ptx_another);
  tcase_add_test(tcase, the_ribbon_is_in_order);
  tcase_add_test(tcase, bursts_of_reads_are_counted);
  tcase_add_test(tcase, the_ribbon_shows_what_stands_among_addresses);
  tcase_add_test(tcase, opcodes_leave_out_what_they_share);
  tcase_add_loop_test(tcase, instructions_have_classes, 0, sizeof classes / sizeof *classes);
  tcase_add_test(tcase, register_banks_are_marked_and_counted);
  tcase_add_test(tcase, control_words_stand_in_the_gutter);
  tcase_add_test(tcase, no_disassembler_is_said_so);
  suite_add_tcase(suite, tcase);
  return suite;
}
