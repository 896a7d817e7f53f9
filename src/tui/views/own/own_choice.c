// Lists that the view opens over itself: the kernels of a file that has several, and the launches
// of a program that was recorded.
//
//   chain.cu launched these kernels; choose one and press Enter
//
//     times  grid          block     cluster      smem  kernel
//        40  1200          256       2               0  add<float>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "tui/views/own/own_work.h"

static bool lists_launches(const OwnWork *work) {
  return work->lists_launches && work->opened && work->opened->n_launches > 0;
}

static bool lists_kernels(const OwnWork *work) { return work->needs && work->needs->n > 0; }

int own_choices(const OwnWork *work) {
  if (lists_kernels(work)) return work->needs->n;
  return lists_launches(work) ? work->opened->n_launches : 0;
}

bool own_chooses(const OwnWork *work) { return own_choices(work) > 0; }

const char *own_choice_text(const OwnWork *work, int i) {
  return lists_kernels(work) ? work->needs->signature_of[i] : work->opened->launches[i].title;
}

int own_choice_words(Arena *arena, const OwnWork *work, const char *words[4]) {
  if (lists_kernels(work)) {
    words[0] = "--kernel";
    words[1] = work->needs->entry[work->choice];
    return 2;
  }
  const OpenedLaunch *launch = &work->opened->launches[work->choice];
  words[0] = "--kernel";
  words[1] = launch->kernel;
  words[2] = "--launch";
  words[3] = arena_printf(arena, "%" PRId64, launch->first);
  return 4;
}

bool own_list_launches(OwnWork *work) {
  const Opened *o = work->opened;
  if (!o || o->n_launches == 0) return false;
  work->lists_launches = true;
  work->choice = 0;
  for (int i = 0; i < o->n_launches; i++)
    if (o->launches[i].held) work->choice = i;
  return true;
}

// ---- drawn --------------------------------------------------------------------------------------

static const char *file_name(const OwnWork *work) {
  const char *file = opened_run_file(work->run), *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

enum {
  TIMES_END = 10,
  GRID_AT = 12,
  BLOCK_AT = 27,
  CLUSTER_AT = 40,
  SMEM_END = 58,
  KERNEL_AT = 60
};

// "8x7"; the extents of 1 at the end are left out.
static void draw_extents(Canvas *canvas, Rect row, int col, const int at[3]) {
  if (at[2] > 1)
    canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%dx%dx%d", at[0], at[1], at[2]);
  else if (at[1] > 1)
    canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%dx%d", at[0], at[1]);
  else if (at[0] > 0)
    canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%d", at[0]);
  else
    canvas_text(canvas, row, 0, col, STYLE_DIM, "-");
}

static void draw_launch(Canvas *canvas, Rect row, const OpenedLaunch *l) {
  canvas_printf(canvas, row, 0, 0, STYLE_TEXT, "%*" PRId64, TIMES_END, l->times);
  if (l->held) canvas_text(canvas, row, 0, 1, STYLE_ACCENT, "▸");
  canvas_printf(canvas, row, 0, CLUSTER_AT, STYLE_TEXT, "%*" PRId64, SMEM_END - CLUSTER_AT,
                l->smem);
  draw_extents(canvas, row, GRID_AT, l->grid);
  draw_extents(canvas, row, BLOCK_AT, l->block);
  draw_extents(canvas, row, CLUSTER_AT, l->cluster);
  canvas_fit(canvas, row, 0, KERNEL_AT, row.cols - KERNEL_AT - 1, ALIGN_LEFT,
             l->note ? STYLE_DIM : STYLE_ACCENT, l->title);
}

// The source that was run, or the command that a capsule is of.
static const char *launcher(const OwnWork *work) {
  const char *program = work->opened->program;
  return program && !opened_run_has(work->run, "--main") ? program : file_name(work);
}

static void draw_launches_head(Canvas *canvas, Rect in, const OwnWork *work) {
  canvas_printf(canvas, in, 0, 1, STYLE_TITLE,
                "%s launched these kernels; choose one and press Enter", launcher(work));
  canvas_printf(canvas, in, 2, 0, STYLE_LABEL, "%*s", TIMES_END, "times");
  canvas_text(canvas, in, 2, GRID_AT, STYLE_LABEL, "grid");
  canvas_text(canvas, in, 2, BLOCK_AT, STYLE_LABEL, "block");
  canvas_printf(canvas, in, 2, CLUSTER_AT, STYLE_LABEL, "%*s", SMEM_END - CLUSTER_AT, "smem B");
  canvas_text(canvas, in, 2, CLUSTER_AT, STYLE_LABEL, "cluster");
  canvas_text(canvas, in, 2, KERNEL_AT, STYLE_LABEL, "kernel");
}

// The whole name of the chosen one, and why it was not run, in the last rows.
static void draw_launch_foot(Canvas *canvas, Rect in, const OpenedLaunch *l) {
  canvas_fit(canvas, in, 1, 1, in.cols - 2, ALIGN_LEFT, STYLE_TEXT, l->title);
  if (l->note) canvas_fit(canvas, in, 2, 1, in.cols - 2, ALIGN_LEFT, STYLE_WARN, l->note);
}

void own_draw_choice(Canvas *canvas, Rect in, const OwnWork *work) {
  enum { HEAD_ROWS = 3, FOOT_ROWS = 3 };
  const bool launches = !lists_kernels(work);
  const int n = own_choices(work);
  Rect head = rect_take_top(&in, launches ? HEAD_ROWS : 2);
  if (launches) {
    draw_launches_head(canvas, head, work);
    draw_launch_foot(canvas, rect_take_bottom(&in, FOOT_ROWS),
                     &work->opened->launches[work->choice]);
  } else
    canvas_printf(canvas, head, 0, 1, STYLE_TITLE, "%s has %d kernels; choose one and press Enter",
                  file_name(work), n);
  ViewList list = view_list(in, work->choice, n);
  while (view_list_next(canvas, &list)) {
    if (launches)
      draw_launch(canvas, list.row, &work->opened->launches[list.at]);
    else
      canvas_fit(canvas, list.row, 0, 2, in.cols - 3, ALIGN_LEFT, STYLE_ACCENT,
                 own_choice_text(work, list.at));
    view_list_mark(canvas, &list, OWN_SPOT_KERNEL, in.cols);
  }
}
