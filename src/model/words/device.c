// Worked example: an H200 whose row has 50 MiB of L2 and whose driver reports 60 gives one
// difference, and after device_apply() the row's l2_bytes is 62914560, by "driver".
#include "model/words/device.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const TargetSource driver_source = {
    .id = "driver", .title = "the driver of the GPU at hand", .measured = true};

// Whether `name` has `id` in it, case, blanks and dashes aside.
static bool name_has(const char *name, const char *id) {
  for (; *name; name++) {
    const char *a = name, *b = id;
    while (*a && *b) {
      if (*b == '-') b++;
      if (*a != ' ' && tolower((unsigned char)*a) != *b) break;
      b += *a++ != ' ';
    }
    if (!*b) return true;
  }
  return false;
}

const Target *device_target(const TargetTable *table, const Device *device) {
  const Target *first = *device->arch ? target_find(table, device->arch, NULL) : NULL;
  for (int i = 0; i < table->count; i++) {
    const Target *row = &table->targets[i];
    bool fits = !*device->arch || (first && row->cc == first->cc);
    if (fits && name_has(device->name, row->id)) return row;
  }
  return first;
}

// The driver's number for a field; 0: it tells none.
static double told(const Device *device, TargetField field) {
#define X(name) \
  if (field == TARGET_FIELD_##name) return (double)device->name;
  DEVICE_FIELD_TABLE(X)
#undef X
  return 0;
}

static DeviceWord compare(const Device *device, const Target *row) {
  DeviceWord word = {.row = row};
  for (int field = 0; row && field < TARGET_FIELD_COUNT; field++) {
    double driver = told(device, (TargetField)field);
    double table = target_number(row, (TargetField)field);
    if (driver > 0 && !(fabs(driver - table) < 0.5))
      word.differs[word.n++] = (DeviceDifference){(TargetField)field, table, driver};
  }
  return word;
}

const char *device_difference_text(Arena *arena, const Target *row, const DeviceDifference *d) {
  const TargetFieldInfo *field = &target_fields[d->field];
  const TargetSource *source = row->source[d->field];
  const char *table = target_knows(d->table) ? arena_printf(arena, "%.0f", d->table) : "nothing";
  return arena_printf(arena, "%s: %.0f %s by the driver, %s in the row %s%s%s%s", field->name,
                      d->driver, field->unit, table, row->id, source ? " (" : "",
                      source ? source->id : "", source ? ")" : "");
}

const char *device_word_text(Arena *arena, const DeviceWord *word) {
  Str text = str_new(arena);
  for (int i = 0; i < word->n; i++)
    str_printf(&text, "%s%s", i ? "; " : "",
               device_difference_text(arena, word->row, &word->differs[i]));
  return text.text;
}

static void set(Target *row, TargetField field, double number) {
  char *at = (char *)row + target_fields[field].offset;
  if (target_fields[field].is_int)
    *(int *)(void *)at = (int)number;
  else
    *(double *)(void *)at = number;
  row->source[field] = &driver_source;
}

DeviceWord device_apply(Arena *arena, const Device *device, TargetTable *table) {
  const DeviceWord word = compare(device, device_target(table, device));
  if (word.n == 0) return word;
  Target *rows = ARENA_ARRAY(arena, Target, table->count);
  memcpy(rows, table->targets, (size_t)table->count * sizeof *rows);
  for (int i = 0; i < word.n; i++)
    set(&rows[word.row - table->targets], word.differs[i].field, word.differs[i].driver);
  table->targets = rows;
  return word;
}

bool device_take_target(const TargetTable *table, const Target *row, Schedule *schedule) {
  if (schedule_is_given(schedule, KNOB_TARGET)) return false;
  if (row == target_find(table, schedule->target, NULL)) return false;
  snprintf(schedule->target, sizeof schedule->target, "%s", row->id);
  schedule_set(schedule, KNOB_TARGET, 0);
  return true;
}
