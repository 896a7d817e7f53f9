// Sites → arrays, and the length of their rows.
//
// A variable of the text is one array. The memory that the launch adds has no names: sites that
// overlap share an array. The pitch comes from the caller (who has read the declaration, or was
// told), else from strides: the least step between rows that is as long as the run along one row;
// else rows are lines of 128 bytes.
#include "ptx/record/fit.h"
#include "ptx/record/record_inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "ptx/run/run.h"

enum { ARRAYS_MAX = 64 };

typedef struct Extent {
  int64_t first, end;
} Extent;

static Extent extent_of(const PtxSite *site) {
  Extent extent = {INT64_MAX, 0};
  for (const RecordedPattern *p = site->recorded.patterns; p; p = p->next)
    for (int lane = 0; lane < BANK_LANES; lane++) {
      if (p->addr[lane] < 0) continue;
      extent.first = min64(extent.first, p->addr[lane]);
      extent.end = max64(extent.end, p->addr[lane] + site->recorded.bytes);
    }
  return extent;
}

static void add_variables(Arena *arena, const PtxRecord *r, const PtxMachine *machine,
                          PtxArrays *out) {
  for (int i = 0; i < r->module->n_variables && out->n < ARRAYS_MAX; i++) {
    const PtxVariable *v = &r->module->variables[i];
    const int64_t at = ptx_machine_variable(machine, i);
    if (at < 0 || v->bytes == 0) continue;
    out->items[out->n++] =
        (PtxArray){.name = ptx_plain_name(arena, v->name), .at = {.base = at, .bytes = v->bytes}};
  }
}

// The array of a site of dynamic memory grows until no other overlaps it.
static void add_dynamic(PtxRecord *r, PtxArrays *out, int static_smem) {
  const int first = out->n;
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const PtxSite *site = r->site[pc];
    if (!site || site->space != PTX_SPACE_SHARED) continue;
    Extent extent = extent_of(site);
    if (extent.first < static_smem || extent.end == 0) continue;
    for (int i = first; i < out->n; i++) {
      RecordedArray *at = &out->items[i].at;
      if (extent.first >= at->base + at->bytes || extent.end <= at->base) continue;
      extent.first = min64(extent.first, at->base);
      extent.end = max64(extent.end, at->base + at->bytes);
      out->items[i--] = out->items[--out->n];
    }
    if (out->n < ARRAYS_MAX)
      out->items[out->n++] =
          (PtxArray){.at = {.base = extent.first, .bytes = extent.end - extent.first}};
  }
}

static void take_sites(PtxRecord *r, const PtxArrays *arrays) {
  for (int pc = 0; pc < r->module->n_code; pc++) {
    PtxSite *site = r->site[pc];
    if (!site || site->space != PTX_SPACE_SHARED) continue;
    const Extent extent = extent_of(site);
    for (int i = 0; i < arrays->n; i++) {
      const RecordedArray *at = &arrays->items[i].at;
      if (extent.first >= at->base && extent.end <= at->base + at->bytes) site->array = i;
    }
  }
}

// ---- pitch --------------------------------------------------------------------------------------

typedef struct Stride {
  int64_t step, span;  // span: step times how far it goes
} Stride;

static void add_stride(Stride *strides, int *n, int64_t step, int64_t span) {
  if (step > 0 && *n < 256) strides[(*n)++] = (Stride){step, span};
}

static void add_strides(Stride *strides, int *n, const Fit *fit) {
  for (int d = 0; d < 3; d++)
    for (int b = 0, end; b < fit->n_bits[d]; b = end) {
      for (end = b + 1; end < fit->n_bits[d] && fit->bit[d][end] == 2 * fit->bit[d][end - 1];)
        end++;
      add_stride(strides, n, fit->bit[d][b], fit->bit[d][b] * (INT64_C(1) << (end - b)));
    }
  for (int i = 0; i < fit->n_digits; i++)
    add_stride(strides, n, fit->digit[i].step, fit->digit[i].step * fit->digit[i].count);
}

static int by_step(const void *a, const void *b) {
  const Stride *x = a, *y = b;
  return (x->step > y->step) - (x->step < y->step);
}

static int64_t pitch_of_strides(Arena *arena, const PtxRecord *r, int array) {
  Stride strides[256];
  int n = 0;
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const PtxSite *site = r->site[pc];
    if (!site || site->array != array) continue;
    const Fit fit = ptx_fit(arena, r, site);
    if (fit.ok && !fit.is_xor) add_strides(strides, &n, &fit);
  }
  qsort(strides, (size_t)n, sizeof *strides, by_step);
  for (int i = 1; i < n; i++)
    if (strides[i].step > strides[0].step && strides[i].step >= strides[0].span &&
        strides[0].span > 0)
      return strides[i].step;
  return 0;
}

static int element_of(const PtxRecord *r, int array) {
  int least = 4;
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const PtxSite *site = r->site[pc];
    if (!site || site->array != array) continue;
    const BankOp *op = site->recorded.op;
    const bool rows = op && (op->kind == BANK_LDMATRIX || op->kind == BANK_STMATRIX);
    least = min_int(least, rows ? 2 : site->recorded.bytes);
  }
  return least;
}

static bool fits(const RecordedArray *at, int64_t pitch) {
  return pitch >= at->elem_bytes && pitch <= at->bytes && pitch % at->elem_bytes == 0;
}

static void find_pitch(Arena *arena, const PtxRecord *r, PtxArray *array, int index,
                       const PtxPitch *pitches, int n) {
  array->at.elem_bytes = element_of(r, index);
  for (int i = 0; i < n; i++)
    if (str_equal(pitches[i].name, array->name) &&
        (!pitches[i].array_bytes || pitches[i].array_bytes == array->at.bytes)) {
      if (pitches[i].elem_bytes) array->at.elem_bytes = pitches[i].elem_bytes;
      if (!fits(&array->at, pitches[i].bytes)) continue;
      array->at.row_bytes = (int)pitches[i].bytes;
      array->at.has_rows = true;
      array->pitch_from = pitches[i].from;
      return;
    }
  const int64_t pitch = pitch_of_strides(arena, r, index);
  const bool known = fits(&array->at, pitch);
  array->at.row_bytes =
      (int)(known ? pitch
                  : round_up(min64(BANK_LINE_BYTES, array->at.bytes), array->at.elem_bytes));
  array->at.has_rows = known;
  array->pitch_from = known ? "strides" : "a line of banks";
}

PtxArrays ptx_record_arrays(Arena *arena, PtxRecord *record, const PtxMachine *machine,
                            const PtxPitch *pitches, int n) {
  const int static_smem = ptx_machine_static_smem(machine);
  PtxArrays arrays = {.items = ARENA_ARRAY(arena, PtxArray, ARRAYS_MAX)};
  add_variables(arena, record, machine, &arrays);
  add_dynamic(record, &arrays, static_smem);
  take_sites(record, &arrays);
  for (int i = 0; i < arrays.n; i++) {
    PtxArray *array = &arrays.items[i];
    if (!array->name)
      array->name = arena_printf(arena, "dynamic+%d", (int)(array->at.base - static_smem));
    find_pitch(arena, record, array, i, pitches, n);
  }
  return arrays;
}

const RecordedSite *ptx_record_of_array(Arena *arena, const PtxRecord *record, int array, int *n) {
  RecordedSite *sites = ARENA_ARRAY(arena, RecordedSite, record->module->n_code + 1);
  *n = 0;
  for (int pc = 0; pc < record->module->n_code; pc++)
    if (record->site[pc] && record->site[pc]->array == array)
      sites[(*n)++] = record->site[pc]->recorded;
  return sites;
}
