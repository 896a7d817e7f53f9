// A table of offsets → swizzle(base + shape(row, col)).
//
// For each swizzle there could be, fewest bits first, the table is unswizzled and taken as a sum of
// a function of the row and one of the column. Either is nested shapes and strides if it repeats:
// the first stride is f(1), its shape the longest run of multiples, and all that follows must be
// that run again, so much higher. A wrong swizzle is seen at a few powers of two already, so the
// whole table is read for few of them.
//
// Worked example, 8 rows of 64 halves, swizzle:3,4,3 of bytes. Element (1,0) lies at 64 ^ 8 = 72,
// (2,0) at 128 ^ 16 = 144: without a swizzle f(2) is no 2 * f(1), and (1,8) lies at 64. With
// Sw<3,3,3> of elements, 72 and 144 become 64 and 128: rows 8:64, columns 64:1.
#include "banks/layouts/layout_form.h"

#include "base/whole.h"

int64_t layout_form_element(const LayoutForm *form, int row, int col) {
  const LayoutSlab *slab = &form->layout->slab;
  return form->layout->offset_of[row * slab->row_bytes + col * slab->elem_bytes] / slab->elem_bytes;
}

// The element's place before the swizzle that is being tried, from element (0, 0) on.
static int64_t place(const LayoutForm *form, int row, int col) {
  return cute_swizzle(form->swizzle, layout_form_element(form, row, col)) - form->base;
}

static bool adds_up(const LayoutForm *form, int row, int col) {
  return place(form, row, col) == place(form, row, 0) + place(form, 0, col);
}

static bool adds_up_at_powers(const LayoutForm *form) {
  for (int row = 1; row < form->rows; row *= 2)
    for (int col = 1; col < form->cols; col *= 2)
      if (!adds_up(form, row, col)) return false;
  return true;
}

static bool adds_up_everywhere(const LayoutForm *form) {
  for (int row = 1; row < form->rows; row++)
    for (int col = 1; col < form->cols; col++)
      if (!adds_up(form, row, col)) return false;
  return true;
}

// One axis: `at` along the rows, or along the columns.
typedef struct Axis {
  const LayoutForm *form;
  bool rows;
  int n;
} Axis;

static int64_t along(const Axis *axis, int i) {
  return axis->rows ? place(axis->form, i, 0) : place(axis->form, 0, i);
}

// The number of multiples of the stride that follow each other from the start, in steps of `step`.
static int run_of(const Axis *axis, int step, int64_t stride) {
  int n = 1;
  while (n < axis->n / step && along(axis, n * step) == n * stride) n++;
  return n;
}

static bool repeats(const Axis *axis, int step, int n, int64_t stride) {
  for (int i = step; i < step * n; i++)
    if (along(axis, i) != along(axis, i % step) + i / step * stride) return false;
  return true;
}

static bool nest(CuteAlgebra *algebra, const Axis *axis, CuteLayout *out) {
  CuteLayout leaf[CUTE_LEAVES_MAX];
  int n = 0;
  for (int step = 1; step < axis->n;) {
    int64_t stride = along(axis, step);
    int run = run_of(axis, step, stride);
    if (stride < 0 || axis->n / step % run != 0 || n == CUTE_LEAVES_MAX) return false;
    if (!repeats(axis, step, run, stride)) return false;
    leaf[n++] = cute_leaf(run, stride);
    step *= run;
  }
  *out = n == 0 ? cute_leaf(1, 0) : n == 1 ? leaf[0] : cute_tuple(algebra, n, leaf);
  return true;
}

static bool try_swizzle(Arena *arena, LayoutForm *form, CuteSwizzle swizzle) {
  CuteAlgebra algebra = {.arena = arena};
  form->swizzle = swizzle;
  form->base = 0;
  form->base = place(form, 0, 0);
  CuteLayout mode[2];
  if (!adds_up_at_powers(form)) return false;
  if (!nest(&algebra, &(Axis){form, true, form->rows}, &mode[0])) return false;
  if (!nest(&algebra, &(Axis){form, false, form->cols}, &mode[1])) return false;
  if (!adds_up_everywhere(form)) return false;
  form->shape = cute_tuple(&algebra, 2, mode);
  return true;
}

static bool find_swizzle(Arena *arena, LayoutForm *form) {
  if (try_swizzle(arena, form, (CuteSwizzle){0, 0, 0})) return true;
  int end = log2_up(form->layout->storage_bytes / form->layout->slab.elem_bytes);
  for (int bits = 1; 2 * bits <= end; bits++)
    for (int shift = bits; shift + bits <= end; shift++)
      for (int base = 0; base + shift + bits <= end; base++)
        for (int sign = 1; sign >= -1; sign -= 2)
          if (try_swizzle(arena, form, (CuteSwizzle){bits, base, sign * shift})) return true;
  return false;
}

LayoutForm layout_form(Arena *arena, const Layout *layout) {
  const LayoutSlab *slab = &layout->slab;
  LayoutForm form = {.layout = layout, .facts = layout_examine(arena, layout), .rows = slab->rows};
  form.cols = slab->row_bytes / slab->elem_bytes;
  form.affine = form.facts.whole_bytes >= slab->elem_bytes && find_swizzle(arena, &form);
  return form;
}

static bool is_compact(const LayoutForm *form, int fast, int64_t extent) {
  if (!form->affine || form->base != 0) return false;
  CuteLayout along_fast = form->shape.mode[fast], along_slow = form->shape.mode[1 - fast];
  bool fast_ok = along_fast.rank == 0 && (along_fast.shape == 1 || along_fast.stride == 1);
  return fast_ok && along_slow.rank == 0 && (along_slow.shape == 1 || along_slow.stride == extent);
}

bool layout_form_is_row_major(const LayoutForm *form) { return is_compact(form, 1, form->cols); }
bool layout_form_is_column_major(const LayoutForm *form) { return is_compact(form, 0, form->rows); }

int64_t layout_form_pad(const LayoutForm *form) {
  if (!form->affine || form->swizzle.bits || form->base) return 0;
  CuteLayout rows = form->shape.mode[0], cols = form->shape.mode[1];
  bool together = cols.rank == 0 && cols.stride <= 1 && rows.rank == 0;
  return together && form->rows > 1 ? max64(0, rows.stride - form->cols) : 0;
}
