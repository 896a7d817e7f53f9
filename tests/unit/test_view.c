// Every view on every rung at many sizes, the reviewed screens, the tables, and what drawing may
// do.
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "model/readings/rules/knob_use.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/views/program/source.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) {
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static Session *open_rung(const char *rung, bool ascii) {
  Session *session = explorer_open(&(SessionOptions){.rung = rung, .ascii = ascii}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  return session;
}

// ---- reviewed screens ---------------------------------------------------------------------------

static const struct {
  const char *name, *view, *rung, *keys;
  int cols, rows;
  bool ascii;
} screens[] = {
    {"explore_80x24", "explore", "padded", NULL, 80, 24, false},
    {"explore_80x24_ascii", "explore", "padded", NULL, 80, 24, true},
    {"explore_120x40", "explore", "padded", "Down Down Down Right", 120, 40, false},
    {"explore_200x60", "explore", "cell_groups", NULL, 200, 60, false},
    {"explore_40x12", "explore", "padded", NULL, 40, 12, false},
    {"explore_naive", "explore", "naive", NULL, 80, 24, false},
    {"explore_pipelined", "explore", "pipelined", "Tab j j j j", 80, 24, false},
    {"explore_illegal", "explore", "padded", "l l l l l l l l", 80, 24, false},
    {"explore_compare", "explore", "cell_groups", "c", 80, 24, false},
    {"loops_80x24", "loops", "padded", NULL, 80, 24, false},
    {"loops_pass", "loops", "padded", "d h h", 120, 40, false},
    {"loops_rung", "loops", "padded", "d d d", 80, 24, false},
    {"banks_80x24", "banks", "padded", NULL, 80, 24, false},
    {"banks_compare", "banks", "cell_groups", "c", 80, 24, false},
    {"banks_lanes", "banks", "padded", "v l", 120, 40, false},
    {"banks_slab", "banks", "padded", "v v", 120, 40, false},
    {"banks_naive", "banks", "naive", NULL, 80, 24, false},
    {"banks_cp_async", "banks", "cp_async", "g", 80, 24, false},
    {"source_cuda", "source", "padded", "s", 80, 24, false},
    {"source_ptx_missing", "source", "padded", "l", 80, 24, false},
    {"measure_100x30", "measure", "padded", NULL, 100, 30, false},
    {"measure_compare", "measure", "cell_groups", "c k", 80, 24, false},
    {"measure_80x24", "measure", "padded", NULL, 80, 24, false},
    {"measure_numbers", "measure", "cell_groups", "l", 80, 24, false},
    {"measure_numbers_120x40", "measure", "splitk", "l", 120, 40, false},
    {"measure_sweep", "measure", "splitk", ": s w e e p Space S P L I T K Enter", 80, 24, false},
    {"measure_sweep_ascii", "explore", "padded", "j j w", 80, 24, true},
    {"measure_errors_none", "measure", "padded", "h", 80, 24, false},
    {"fragments_a", "fragments", "padded", "j j j l l l l l", 80, 24, false},
    {"fragments_b_ascii", "fragments", "padded", "Tab l j j", 80, 24, true},
    {"fragments_s8", "fragments", "padded", "a a a a a a j G", 120, 40, false},
    {"fragments_wgmma", "fragments", "padded",
     "A A A A A A A A A A A A A A A A A A Tab Tab j PgDn PgDn l l l", 120, 40, false},
    {"fragments_wgmma_a", "fragments", "padded",
     "A A A A A A A A A A A A A A A A A A PgDn j j j l l l", 80, 24, false},
    {"fragments_wgmma_c_ascii", "fragments", "padded",
     "A A A A A A A A A A A A A A A A A A Tab Tab PgDn l l l", 80, 24, true},
    {"fragments_tcgen05", "fragments", "padded", "A A A A A A A A A A A A A PgDn j l l", 120, 40,
     false},
    {"fragments_mxf4", "fragments", "padded", "A A A A A A l l j", 120, 40, false},
    {"fragments_sfa", "fragments", "padded", "A A A A A Tab Tab Tab j j l", 80, 24, false},
    {"fragments_tcgen05_80", "fragments", "padded", "A A A A A A A A A A A A A PgDn j", 80, 24,
     false},
    {"fragments_factors", "fragments", "padded", "A A Tab Tab Tab j j l", 80, 24, false},
    {"fragments_ldmatrix", "fragments", "padded", "v j j j j j", 80, 24, false},
    {"fragments_ldmatrix_trans", "fragments", "padded", "v v Tab j j j", 80, 24, false},
    {"fragments_ldmatrix_tf32", "fragments", "padded", "a a a a v Right j", 120, 30, false},
    {"fragments_40x12", "fragments", "padded", "v j", 40, 12, false},
    {"fragments_rows", "fragments", "padded", "r j j j l", 80, 24, false},
    {"fragments_rows_wgmma", "fragments", "padded",
     "A A A A A A A A A A A A A A A A A A r PgDn PgDn j l l", 120, 40, false},
    {"fragments_relayout", "fragments", "padded", "a p j j j l l l l l l l l l", 80, 24, false},
    {"fragments_relayout_tf32", "fragments", "padded", "a a a a p j j l", 120, 40, false},
    {"fragments_relayout_s8_ascii", "fragments", "padded", "a a a a a a p j j l", 80, 24, true},
    {"grid_80x24", "grid", "padded", "j j l l", 80, 24, false},
    {"grid_120x40", "grid", "padded", "j j l v", 120, 40, false},
    {"grid_order", "grid", "padded", "o", 80, 24, false},
    {"grid_ascii", "grid", "padded", "o j j l", 120, 40, true},
    {"grid_40x12", "grid", "padded", "l", 40, 12, false},
    {"grid_splits", "grid", "splitk", "j j j - - l", 80, 24, false},
    {"grid_few_tiles", "grid", "padded", ": s e t Space M = 5 1 2 , N = 5 1 2 Enter l", 80, 24,
     false},
    {"tiles_80x24", "tiles", "pipelined", "j j l", 80, 24, false},
    {"tiles_cta", "tiles", "pipelined", "e A Space 2 1 1 Space 5 3 Enter Enter", 120, 40, false},
    {"tiles_warp_ascii", "tiles", "pipelined", "Enter Enter Tab l l j", 80, 24, true},
    {"tiles_thread", "tiles", "cell_groups", "Enter Enter Enter j l", 80, 24, false},
    {"tiles_compare", "tiles", "cell_groups", "c Enter e C Space 9 Space 7 0 Enter", 120, 40,
     false},
    {"tiles_40x12", "tiles", "padded", "Enter", 40, 12, false},
    {"pipeline_80x24", "pipeline", "padded", NULL, 80, 24, false},
    {"pipeline_naive_ascii", "pipeline", "naive", "l l", 80, 24, true},
    {"pipeline_compare", "pipeline", "padded", "c", 80, 24, false},
    {"pipeline_all", "pipeline", "pipelined", "a", 120, 40, false},
    {"pipeline_40x12", "pipeline", "padded", NULL, 40, 12, false},
    {"tiles_unstaged", "tiles", "naive", "Enter Tab l l", 80, 24, false},
    {"help", "explore", "padded", "?", 80, 24, false},
    {"palette", "explore", "padded", ": c o", 80, 24, false},
    {"too_small", "explore", "padded", NULL, 39, 11, false},
};

START_TEST(reviewed_screen) {
  Session *session = open_rung(screens[_i].rung, screens[_i].ascii);
  Canvas *canvas = canvas_new(arena, screens[_i].rows, screens[_i].cols, screens[_i].ascii);
  view_show(session, view_find(screens[_i].view));
  drive_frame(session, canvas);
  if (screens[_i].keys) ck_assert(drive_keys(session, canvas, screens[_i].keys, &diags));
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", screens[_i].name), export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// Boxes of TMA, mbarriers, warp roles and the ring of cp.async, which stand in no ladder of the
// tests.
#define ROLES                                                                                      \
  "AUTO=0,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=" \
  "3,"                                                                                             \
  "BUFFER_COUNT=3,GROUP_M=32,EPILOGUE=1,SERPENTINE=1,UNROLL_RING=1,FRAG_BUFFER=2,"                 \
  "WARP_SPECIALIZE=1"
#define LISTS                                                                                     \
  "M=8192,N=8192,K=8192,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1,"     \
  "SWIZZLE=3,BUFFER_COUNT=4,WARP_SPECIALIZE=1,PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8,CLUSTER_M=2," \
  "MULTICAST=1"
#define ATTENTION                                                                           \
  "AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=128,ATOM_KIND=mma_m16n8k16_bf16,WM=4," \
  "FN=8,FUSE=1,STAGE=11,LDMATRIX=2,ASYNC_COPY=1,SWIZZLE=3,EAGER_KV=1,TARGET=h200"
#define TILES                                                                                      \
  "AUTO=0,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=" \
  "3,"                                                                                             \
  "BUFFER_COUNT=3,GROUP_M=32,EPILOGUE=1,SERPENTINE=1,FRAG_BUFFER=2,"                               \
  "WARP_SPECIALIZE=1"                                                                              \
  ",PERSISTENT=1"
#define RING                                                                                  \
  "AUTO=0,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1," \
  "LDMATRIX=1,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2"
#define WGMMA "M=512,N=512,K=512,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,BK=4,WM=2"
#define SCALED_PAIR                                                                         \
  "AUTO=0,ATOM_KIND=tcgen05_m128n256k64_mxf4,TARGET=b200,B_COL=1,ATOM_N=256,BK=4,STAGE=11," \
  "SWIZZLE=3,TMA=1,BUFFER_COUNT=4,PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1,"   \
  "CLUSTER_M=2,CTA_GROUP=2"
#define PAIR                                                                                      \
  "AUTO=0,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,WM=2,ATOM_N=256,BK=4,STAGE=11,"   \
  "SWIZZLE=3,TMA=1,BUFFER_COUNT=4,GROUP_M=8,PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=" \
  "1,EPI_N=64,CLUSTER_M=2,CTA_GROUP=2"
#define BOXES "AUTO=0,BM=8,BN=32,FM=26,FN=4,BK=32,TMA=1,STAGE=11"

static const struct {
  const char *name, *view, *state, *keys;
  int cols, rows;
} role_screens[] = {
    {"explore_roles_80x24", "explore", ROLES, "k k k k k k k", 80, 24},
    {"explore_roles_80x44", "explore", ROLES, NULL, 80, 44},
    {"explore_roles_120x40", "explore", ROLES, NULL, 120, 40},
    {"explore_roles_200x60", "explore", ROLES, NULL, 200, 60},
    {"explore_tma_80x24", "explore", BOXES, NULL, 80, 24},
    {"explore_tma_roles_80x44", "explore", BOXES ",BUFFER_COUNT=2,WARP_SPECIALIZE=1", NULL, 80, 44},
    {"loops_roles_120x40", "loops", ROLES, NULL, 120, 40},
    {"pipeline_roles_80x24", "pipeline", ROLES, NULL, 80, 24},
    {"pipeline_roles_120x40", "pipeline", ROLES, "Right Right", 120, 40},
    {"pipeline_roles_end", "pipeline", ROLES, "G", 80, 24},
    {"pipeline_roles_stuck", "pipeline", ROLES,
     ": p i p e l i n e Space b r e a k Space m o r e _ b y t e s Enter", 80, 24},
    {"pipeline_roles_race", "pipeline", ROLES,
     ": p i p e l i n e Space b r e a k Space e m p t y _ w a i t Enter", 80, 24},
    {"pipeline_pair_stuck", "pipeline", PAIR,
     ": p i p e l i n e Space b r e a k Space e m p t y _ p h a s e Enter", 80, 24},
    {"pipeline_checklist", "pipeline", PAIR, "i j j", 120, 40},
    {"pipeline_checklist_80x24", "pipeline", ROLES, "i G", 80, 24},
    {"pipeline_checklist_broken", "pipeline", PAIR,
     ": p i p e l i n e Space b r e a k Space p a i r _ e n d Enter i", 80, 24},
    {"pipeline_checklist_none", "pipeline", RING, "i", 80, 24},
    {"pipeline_ring_sequential", "pipeline", RING, "v", 80, 24},
    {"pipeline_boxes_80x24", "pipeline", BOXES, "k k k k l l l", 80, 24},
    {"loops_roles_steps", "loops", ROLES, "s", 80, 24},
    {"loops_tma_80x24", "loops", BOXES, "G", 80, 24},
    {"loops_tma_steps", "loops", BOXES, "s", 80, 24},
    {"swizzle_panels", "swizzle", ROLES, "j", 80, 24},
    // What was left out stands in parentheses; on it the line below says why.
    {"explore_auto_80x24", "explore", "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,TMA=1",
     "j j j j j j j j", 80, 24},
    // The ring of cp.async, ldmatrix and mma.sync.
    {"explore_ring_120x40", "explore", RING, NULL, 120, 40},
    {"loops_ring_120x40", "loops", RING, NULL, 120, 40},
    {"loops_ring_steps", "loops", RING, "s", 80, 24},
    {"banks_ring", "banks", RING, "j j", 120, 40},
    {"tiles_ring", "tiles", RING, "e A Space 7 0 Space 3 0 Enter", 120, 40},
    {"source_ring", "source", RING, NULL, 120, 40},
    {"banks_roles", "banks", ROLES, NULL, 80, 24},
    {"tiles_wgmma", "tiles", WGMMA, "e B Space 7 0 Space 3 0 0 Enter", 80, 24},
    {"memory_shared", "memory", PAIR, NULL, 80, 24},
    {"memory_barriers", "memory", PAIR, "v", 80, 24},
    {"memory_tensor", "memory", PAIR, "v v", 80, 24},
    {"memory_cluster", "memory", PAIR, "v v v", 80, 24},
    {"memory_120x40", "memory", PAIR, "v v", 120, 40},
    {"memory_factors", "memory", SCALED_PAIR, "v v", 80, 24},
    {"descriptor_factors", "descriptor", SCALED_PAIR, "v v", 120, 40},
    {"memory_multicast", "memory", LISTS, "k j j j", 80, 24},
    {"memory_attention", "memory", ATTENTION, NULL, 80, 24},
    {"memory_40x12", "memory", RING, NULL, 40, 12},
    {"memory_compare", "memory", PAIR, "c v", 120, 40},
    {"descriptor_80x24", "descriptor", WGMMA, "j", 80, 24},
    {"descriptor_tcgen05", "descriptor", PAIR, "> o", 80, 24},
    {"descriptor_instruction", "descriptor", PAIR, "v v", 80, 24},
    {"descriptor_instruction_120x40", "descriptor", PAIR, "v v", 120, 40},
    {"descriptor_b", "descriptor", WGMMA, "o > j Tab j j l l l l l l l l l v", 80, 24},
    {"descriptor_120x40", "descriptor", WGMMA, "o j", 120, 40},
    {"descriptor_word", "descriptor", WGMMA, "j e Ctrl-U l b o = 1 0 2 4 , s b o = 1 6 Enter", 120,
     40},
    {"descriptor_word_80x24", "descriptor", WGMMA, "j j j j l l", 80, 24},
    {"descriptor_typo", "descriptor", WGMMA, "e Ctrl-U s b o = 7 Enter", 80, 24},
    {"descriptor_40x12", "descriptor", WGMMA, "Tab", 40, 12},
    {"descriptor_no_swizzle", "descriptor", WGMMA ",SWIZZLE=0,B_COL=1", "j", 80, 24},
    {"descriptor_none", "descriptor", ROLES, NULL, 80, 24},
    {"descriptor_a_in_registers", "descriptor", WGMMA ",A_REGS=1", NULL, 80, 24},
    {"source_roles", "source", ROLES, NULL, 80, 24},
    {"grid_roles", "grid", ROLES, NULL, 120, 40},
    {"grid_persistent", "grid", TILES ",TILE_ORDER=hilbert", "l l v", 120, 40},
    {"grid_places_80x24", "grid", LISTS, NULL, 80, 24},
    {"grid_places_120x40", "grid", LISTS, "l l", 120, 40},
    {"grid_places_order", "grid", LISTS, "o", 120, 40},
    {"grid_places_off", "grid", LISTS, "p", 80, 24},
    {"tiles_persistent", "tiles", TILES, "Enter", 80, 24},
    {"explore_persistent", "explore", TILES, NULL, 80, 40},
    {"explore_attention", "explore", ATTENTION, NULL, 120, 40},
    {"loops_attention", "loops", ATTENTION, NULL, 80, 24},
    {"loops_attention_tiles", "loops", ATTENTION ",FRAG_BUFFER=2", "t", 80, 24},
    {"loops_ring_tiles", "loops", RING, "t j", 120, 40},
    {"tiles_attention", "tiles", ATTENTION ",CAUSAL=1", NULL, 80, 24},
    {"tiles_attention_o", "tiles", ATTENTION, "p Enter", 120, 40},
    {"pipeline_attention", "pipeline", ATTENTION, NULL, 120, 40},
    {"grid_attention", "grid", ATTENTION ",CAUSAL=1", NULL, 100, 24},
    {"tiles_roles", "tiles", ROLES, "e B Space 7 0 Space 3 0 0 Enter", 120, 40},
};

START_TEST(a_screen_of_roles) {
  SessionOptions options = {.state = role_screens[_i].state};
  Session *session = explorer_open(&options, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  Canvas *canvas = canvas_new(arena, role_screens[_i].rows, role_screens[_i].cols, false);
  view_show(session, view_find(role_screens[_i].view));
  drive_frame(session, canvas);
  if (role_screens[_i].keys) ck_assert(drive_keys(session, canvas, role_screens[_i].keys, &diags));
  drive_wait(session);
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", role_screens[_i].name),
               export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// ---- scripts ------------------------------------------------------------------------------------

START_TEST(scripts_see_what_they_expect) {
  DIR *folder = opendir("tests/screens");
  ck_assert_ptr_nonnull(folder);
  int n = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!strstr(entry->d_name, ".keys")) continue;
    Session *session = open_rung("padded", false);
    Canvas *canvas = canvas_new(arena, 24, 80, false);
    drive_frame(session, canvas);
    const char *path = arena_printf(arena, "tests/screens/%s", entry->d_name);
    bool ok = drive_script_file(session, canvas, path, &diags);
    ck_assert_msg(ok, "%s: %s", path, diags_text(arena, &diags));
    explorer_close(session);
    n++;
  }
  closedir(folder);
  ck_assert_int_ge(n, 3);
}
END_TEST

// ---- all sizes ----------------------------------------------------------------------------------

// Cells beyond the canvas cannot be written, so what is looked for is a crash, a sanitizer's
// complaint, an empty screen, or a frame around the view that something was drawn over.
static void check_frame(const Canvas *on, int view) {
  bool blank = true;
  for (int i = 0; i < on->rows * on->cols && blank; i++) blank = on->cells[i].text[0] == ' ';
  ck_assert_msg(!blank, "%s at %dx%d is blank", view_table[view].name, on->cols, on->rows);
  if (on->rows < VIEW_ROWS_MIN || on->cols < VIEW_COLS_MIN) return;
  const char *footer = export_row(arena, on, on->rows - 1), *state = export_row(arena, on, 1);
  const char *way_out = view == view_find("help") ? "q back" : "q quit";
  ck_assert_msg(strstr(footer, way_out) && str_starts(state, " fp32 "), "%s at %dx%d: %s / %s",
                view_table[view].name, on->cols, on->rows, state, footer);
}

// All of 1…250 × 1…120 in `make stress`, each size on one of five rungs; a part of them otherwise.
START_TEST(every_view_at_every_size) {
  static const char *const rungs[] = {"naive", "padded", "pipelined", "cp_async",
                                      "splitk_partials"};
  Session *session = open_rung(rungs[_i], false);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  int every = 120 * 250 / stress_count(stress_is_on() ? 400 : 200, 120 * 250);
  for (int view = 0; view < view_count; view++) {
    view_show(session, view);
    for (int at = _i; at < 120 * 250; at += 5 * every) {
      int rows = 1 + at / 250, cols = 1 + (at + 7 * rows) % 250;
      canvas_resize(canvas, rows, cols);
      drive_frame(session, canvas);
      check_frame(canvas, view);
      session->doc.comparing = false;
      if ((rows + cols) % 3 == 0) session_compare(session, NULL, NULL);
      if (at % 500 < 5)
        arena_reset(diags.arena), diags = diags_new(arena),
                                  canvas = canvas_new(arena, 24, 80, false);
    }
  }
  explorer_close(session);
}
END_TEST

// Keys at random, sizes at random: the session must stand everything.
START_TEST(random_keys) {
  static const char *const keys[] = {
      "Up",     "Down", "Left", "Right", "Tab", "S-Tab", "PgDn",     "PgUp", "[", "]", "u",
      "Ctrl-R", "c",    "C",    "s",     "S",   "f",     "Enter",    "v",    "d", "1", "2",
      "3",      "4",    "5",    "6",     "7",   "8",     "9",        "0",    "0", "o", "+",
      "-",      "e",    "w",    "a",     "A",   "?",     "Esc",      "g",    "G", "n", "N",
      "y",      "r",    "L",    "=",     "t",   "Space", "Backspace"};
  Session *session = open_rung("padded", false);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)_i;
  int n = stress_count(stress_is_on() ? 1000 : 500, 1000000);
  drive_frame(session, canvas);
  for (int i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned pick = (unsigned)(state >> 33);
    // One of the keys that do something, or the byte of any key but Ctrl-S, which leads to a file.
    uint32_t byte = 1 + pick / 97 % 126;
    Key named = key_parse(keys[pick % (sizeof keys / sizeof *keys)], NULL);
    Key key = pick / 53 % 3 && byte != 19 ? key_from_character(byte) : named;
    Event event = {.kind = EVENT_KEY, .key = key};
    if (pick % 61 == 0)
      event = (Event){.kind = EVENT_RESIZE,
                      .rows = 1 + (int)(pick / 61 % 70),
                      .cols = 1 + (int)(pick / 71 % 200)};
    if (pick % 67 == 0)
      event = (Event){.kind = EVENT_MOUSE,
                      .mouse = MOUSE_PRESS,
                      .button = 1,
                      .row = (int)(pick / 67 % 24),
                      .col = (int)(pick / 73 % 80)};
    if (event.kind == EVENT_KEY) {
      view_key(session, event.key);
      session->wishes = (Wishes){0};  // nothing is saved, copied or timed
    }
    if (event.kind == EVENT_MOUSE) drive_frame(session, canvas);  // as the explorer does
    ck_assert(event.kind == EVENT_KEY || drive_event(session, canvas, &event, &diags));
    if (pick % 4 == 0)
      drive_frame(session, canvas);
    else
      view_prepare(session, canvas->rows, canvas->cols);
    if (i % 4096) continue;  // what commands and copies leave behind
    arena_reset(arena);
    diags = diags_new(arena);
    canvas = canvas_new(arena, 24, 80, false);
    drive_frame(session, canvas);
  }
  explorer_close(session);
}
END_TEST

// ---- what drawing may do ------------------------------------------------------------------------

START_TEST(drawing_allocates_nothing_and_changes_nothing) {
  Session *session = open_rung("padded", false);
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  session_compare(session, NULL, NULL);
  for (int view = 0; view < view_count; view++) {
    view_show(session, view);
    view_prepare(session, 40, 120);
    size_t frame = arena_used(session->frame), app = arena_used(session->app);
    size_t gen = arena_used(session->doc.now.arena[0]) + arena_used(session->doc.now.arena[1]);
    Session *copy = arena_alloc(arena, sizeof *copy);
    memcpy(copy, session, sizeof *copy);
    view_draw(canvas, session);
    ck_assert_uint_eq(arena_used(session->frame), frame);
    ck_assert_uint_eq(arena_used(session->app), app);
    ck_assert_uint_eq(arena_used(session->doc.now.arena[0]) + arena_used(session->doc.now.arena[1]),
                      gen);
    ck_assert_int_eq(memcmp(copy, session, sizeof *copy), 0);
  }
  explorer_close(session);
}
END_TEST

// ---- the tables ---------------------------------------------------------------------------------

// Keys that mean the same everywhere are never anything else in a view; what moving sideways means
// is the view's own business.
START_TEST(no_view_takes_a_reserved_key) {
  Session *session = open_rung("padded", false);
  for (int view = 0; view < view_count; view++)
    for (Key key = 33; key < 127; key++) {
      if (!key_is_reserved(key) || strchr("hjkl", (int)key)) continue;
      const char *here = keymap_action(session->keymap, view_table[view].name, key);
      const char *global = keymap_action(session->keymap, KEYMAP_GLOBAL, key);
      bool same = here == global || (here && global && str_equal(here, global));
      ck_assert_msg(same, "%s: %c is %s", view_table[view].name, (int)key, here);
    }
  explorer_close(session);
}
END_TEST

START_TEST(every_action_has_help_and_a_way_in) {
  Session *session = open_rung("padded", false);
  for (int view = 0; view < view_count; view++) {
    const ViewBody *body = view_table[view].body;
    session->at.view = view;
    for (int i = 0; i < body->n_actions; i++) {
      const Action *action = &body->actions[i];
      ck_assert(action->help && *action->help && action->run);
      ck_assert_ptr_eq(view_find_action(session, action->name), action);
      if (*action->keys)
        ck_assert_msg(keymap_key(session->keymap, view_table[view].name, action->name) != KEY_NONE,
                      "%s: %s has no key", view_table[view].name, action->name);
      if (action->pair) ck_assert_ptr_nonnull(view_find_action(session, action->pair));
    }
  }
  explorer_close(session);
}
END_TEST

static const char *const families[] = {"BM=8",
                                       "AUTO=0,ATOM_KIND=mma_m16n8k16_f16,FM=2,FN=2,BK=2,STAGE=11"};

START_TEST(every_used_knob_can_be_reached) {
  Session *session = explorer_open(&(SessionOptions){.state = families[_i]}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
  bool seen[KNOB_COUNT] = {false};
  const Key down = key_parse("Down", &diags);
  for (int i = 0; i < KNOB_COUNT; i++) {  // Down goes once through the list of knobs
    ck_assert(drive_keys(session, canvas, "K", &diags));
    for (int k = 0; k < i; k++) view_key(session, down);
    ck_assert(drive_keys(session, canvas, "Enter", &diags));
    seen[session->at.knob] = true;
  }
  for (int i = 0; i < KNOB_COUNT; i++)
    ck_assert_msg(seen[i] == knob_is_used((KnobId)i, &session->doc.now.schedule), "%s",
                  knob_table[i].name);
  explorer_close(session);
}
END_TEST

// Hostile text from a worker is drawn, never acted on.
START_TEST(escape_sequences_are_only_text) {
  Session *session = open_rung("padded", false);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(compiled,
                      &(CompileResult){.ok = true,
                                       .ptx_ms = 1,
                                       .cubin_ms = -1,
                                       .ptx = "\033]52;c;AAAA\007mov\n\033[2Jx\302\2331m"});
  session_say(session, SAID_NOTE, "\033[31mred");
  view_show(session, view_find("source"));
  source_chosen(session)->mode = SOURCE_PTX;
  drive_frame(session, canvas);
  const char *text = export_text(arena, canvas);
  ck_assert_ptr_null(strchr(text, '\033'));
  ck_assert_ptr_null(strchr(text, '\007'));
  ck_assert_ptr_null(strstr(text, "\302\233"));
  ck_assert_ptr_nonnull(strstr(text, "mov"));
  explorer_close(session);
}
END_TEST

Suite *suite_view(void);
Suite *suite_view(void) {
  Suite *suite = suite_create("view");
  TCase *tcase = tcase_create("view");
  tcase_set_timeout(tcase, 300);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, reviewed_screen, 0, sizeof screens / sizeof *screens);
  tcase_add_loop_test(tcase, a_screen_of_roles, 0, sizeof role_screens / sizeof *role_screens);
  tcase_add_test(tcase, scripts_see_what_they_expect);
  tcase_add_test(tcase, drawing_allocates_nothing_and_changes_nothing);
  tcase_add_test(tcase, no_view_takes_a_reserved_key);
  tcase_add_test(tcase, every_action_has_help_and_a_way_in);
  tcase_add_loop_test(tcase, every_used_knob_can_be_reached, 0, 2);
  tcase_add_test(tcase, escape_sequences_are_only_text);
  suite_add_tcase(suite, tcase);
  // Cases of their own, so that CK_RUN_CASE=sizes can ask for one of them, and the seeds of the
  // keys can run side by side.
  static const char *const seeds[] = {"keys_0", "keys_1", "keys_2"};
  TCase *sizes = tcase_create("sizes");
  tcase_set_timeout(sizes, 4 * 3600);
  tcase_add_checked_fixture(sizes, setup, teardown);
  tcase_add_loop_test(sizes, every_view_at_every_size, 0, 5);
  suite_add_tcase(suite, sizes);
  for (int seed = 0; seed < 3; seed++) {
    TCase *keys = tcase_create(seeds[seed]);
    tcase_set_timeout(keys, 4 * 3600);
    tcase_add_checked_fixture(keys, setup, teardown);
    tcase_add_loop_test(keys, random_keys, seed, seed + 1);
    suite_add_tcase(suite, keys);
  }
  return suite;
}
