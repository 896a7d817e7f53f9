// memory: a block on its chip. Shared memory piece by piece, mbarriers and the ring, tensor memory
// by columns, the CTAs of a cluster side by side.
//
// v, or Up and Down, choose the picture; where there is room those behind it follow. Under A|B each
// half of the screen has the pictures of one schedule. All of it is read off the program
// (model/readings/place/on_chip.h, smem_budget.h); nothing is an estimate.
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/frame/view.h"
#include "tui/views/memory/chip.h"

const ChipPicture chip_pictures[CHIP_PICTURES] = {
    {"shared", "the bytes of a stage, and the stages that fit", chip_draw_shared, chip_shared_rows,
     NULL},
    {"barriers", "arrivals, waits and phases of each mbarrier", chip_draw_barriers,
     chip_barriers_rows, chip_barriers_least},
    {"tensor", "the columns of each warpgroup's accumulators", chip_draw_tensor, chip_tensor_rows,
     NULL},
    {"cluster", "the slabs that each CTA fetches, and for which CTAs of the cluster",
     chip_draw_cluster, chip_cluster_rows, NULL},
};

typedef struct MemoryFrame {
  int n;
  ChipSide side[2];  // A, and what is edited; or that alone
} MemoryFrame;

static ChipSide side_of(Arena *arena, const Picture *picture) {
  const Model *model = picture->model;
  const OnChip *chip = on_chip(arena, model);
  return (ChipSide){model, chip, chip ? chip : on_chip_barriers(arena, model),
                    smem_budget(model->program, model->target)};
}

static void memory_prepare(Session *session) {
  MemoryFrame *frame = ARENA_NEW(session->frame, MemoryFrame);
  if (session->doc.comparing)
    frame->side[frame->n++] = side_of(session->frame, session->doc.then.picture);
  frame->side[frame->n++] = side_of(session->frame, session->doc.now.picture);
  session->prepared = frame;
}

typedef struct MemoryChosen {
  int picture;
} MemoryChosen;

static MemoryChosen *chosen_of(const Session *session) {
  return view_chosen(session, &memory_view);
}

// Sentences need more rows where there are fewer columns.
static int rows_of(const ChipSide *side, int picture, Rect in) {
  enum { NARROW = 70, MORE = 2 };
  return chip_pictures[picture].rows(side) + (in.cols < NARROW ? MORE : 0);
}

static int least_rows(const ChipSide *side, int picture, Rect in) {
  const ChipPicture *what = &chip_pictures[picture];
  return what->least ? what->least(side) : rows_of(side, picture, in);
}

// The chosen picture, and those behind it for which there is room; the last has all that is left.
static void draw_side(Canvas *canvas, Rect in, const ChipSide *side, int picture) {
  for (; picture < CHIP_PICTURES; picture++) {
    const int rows = rows_of(side, picture, in);
    const bool last =
        picture + 1 == CHIP_PICTURES || rows + 1 + least_rows(side, picture + 1, in) > in.rows;
    chip_pictures[picture].draw(canvas, rect_take_top(&in, last ? in.rows : rows), side);
    if (last) return;
    rect_take_top(&in, 1);
  }
}

static void memory_draw(Canvas *canvas, Rect in, const Session *session) {
  const MemoryFrame *frame = session->prepared;
  const int picture = chosen_of(session)->picture;
  if (frame->n == 2) draw_side(canvas, view_take_a(canvas, &in, 1), &frame->side[0], picture);
  draw_side(canvas, in, &frame->side[frame->n - 1], picture);
}

#define FORM_FILE "tui/views/memory/view_memory.form"
#include "base/form_make.h"

static void memory_move(Session *session, int delta) {
  chosen_of(session)->picture =
      (int)clamp_index((int64_t)chosen_of(session)->picture + delta, CHIP_PICTURES);
}

// By its name, or the next one.
static void change_picture(Session *session, const char *argument) {
  const char *names[CHIP_PICTURES], *nearest;
  for (int i = 0; i < CHIP_PICTURES; i++) {
    names[i] = chip_pictures[i].name;
    if (!argument || !str_equal_fold(argument, names[i])) continue;
    chosen_of(session)->picture = i;
    return;
  }
  if (!argument || !*argument) {
    chosen_of(session)->picture = (chosen_of(session)->picture + 1) % CHIP_PICTURES;
    return;
  }
  nearest = nearest_name(argument, names, CHIP_PICTURES);
  session_say(session, SAID_ERROR, "there is no picture \"%s\"%s%s", argument,
              nearest ? "; nearest: " : "", nearest ? nearest : "");
}

static int memory_count(const Session *session) {
  (void)session;
  return CHIP_PICTURES;
}

static const char *memory_line(const Session *session, int i) {
  (void)session;
  return chip_pictures[i].name;
}

static int memory_at(const Session *session) { return chosen_of(session)->picture; }
static void memory_go(Session *session, int i) { chosen_of(session)->picture = i; }

static const Action actions[] = {
    {"picture", "v", "picture", NULL,
     "the next picture: shared memory, mbarriers, tensor memory, the cluster; or picture NAME",
     change_picture},
};

const ViewBody memory_view = {
    .chosen_bytes = sizeof(MemoryChosen),
    .prepare = memory_prepare,
    .draw = memory_draw,
    .data = view_prepared,
    .move = memory_move,
    .move_label = "picture",
    .count = memory_count,
    .line = memory_line,
    .at = memory_at,
    .go = memory_go,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
