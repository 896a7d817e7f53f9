// One JSON object, a row for each lesson:
//   {"schema":"gemmview/1","lessons":[{"name":"banks","step":3,"right":[1,2],"shown":[]}]}
//
// Steps count from 1, as on the screen. Rows of lessons that this program does not have are passed
// over and written back as they are, so that a folder of the user's own lessons may come and go;
// steps that a lesson has no longer are passed over too.
#include "tui/frame/lesson_progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/form.h"
#include "base/str.h"

enum { PROGRESS_BYTES_MAX = 1 << 20 };

const char *progress_path(Arena *arena) { return disk_path(arena, DISK_STATE, "lessons.json"); }

// ---- reading ------------------------------------------------------------------------------------

static char *read_file(Arena *arena, const char *path, size_t *size, int *error) {
  *error = 0;
  FILE *file = disk_open(path, false, NULL);
  if (!file) {
    *error = errno;
    return NULL;
  }
  char *text = arena_alloc(arena, PROGRESS_BYTES_MAX + 1);
  *size = fread(text, 1, PROGRESS_BYTES_MAX + 1, file);
  if (ferror(file) || *size > PROGRESS_BYTES_MAX) *error = *size > PROGRESS_BYTES_MAX ? EFBIG : EIO;
  fclose(file);
  return *error ? NULL : text;
}

static uint32_t read_steps(const JsonValue *row, const char *key, int n_steps, Diags *diags) {
  const JsonValue *steps = json_require_array(row, key, diags);
  uint32_t bits = 0;
  for (int i = 0; i < json_count(steps); i++) {
    int step = 0;
    if (json_read_int(json_at(steps, i), 1, LESSON_STEPS_MAX, &step, diags) && step <= n_steps)
      bits |= UINT32_C(1) << (step - 1);
  }
  return bits;
}

static void read_row(const Tutor *tutor, const JsonValue *row, LessonMark *marks, Diags *diags) {
  static const char *const keys[] = {"name", "step", "right", "shown"};
  const char *name = NULL;
  int step = 1;
  json_check_keys(row, keys, 4, diags);
  if (!json_require_string(row, "name", &name, diags)) return;
  if (!json_require_int(row, "step", 1, LESSON_STEPS_MAX, &step, diags)) return;
  for (int i = 0; i < tutor->n_lessons; i++) {
    int n = tutor->lesson[i]->n_steps;
    if (!str_equal(tutor->lesson[i]->name, name)) continue;
    marks[i].step = step <= n ? step - 1 : 0;
    marks[i].right = read_steps(row, "right", n, diags);
    marks[i].shown = read_steps(row, "shown", n, diags) & ~marks[i].right;
  }
}

bool progress_load(Tutor *tutor, const char *path, Diags *diags) {
  static const char *const keys[] = {"schema", "lessons"};
  size_t size = 0;
  int error, before = diags->count;
  Arena *arena = arena_new("progress");
  char *text = read_file(arena, path, &size, &error);
  if (error && error != ENOENT)
    diag_add(diags, "progress", "%s: %s", str_sanitise(diags->arena, path), strerror(error));
  const JsonValue *root = text ? json_parse(arena, text, size, diags, path) : NULL;
  if (root) {
    LessonMark marks[TUTOR_LESSONS_MAX];
    memcpy(marks, tutor->mark, sizeof marks);
    json_check_keys(root, keys, 2, diags);
    const JsonValue *rows = json_require_array(root, "lessons", diags);
    for (int i = 0; i < json_count(rows); i++) read_row(tutor, json_at(rows, i), marks, diags);
    if (diags->count == before) memcpy(tutor->mark, marks, sizeof marks);
  }
  arena_free(arena);
  return diags->count == before;
}

// ---- writing ------------------------------------------------------------------------------------

static const int *steps_of(Arena *arena, uint32_t bits) {
  int *step = ARENA_ARRAY(arena, int, LESSON_STEPS_MAX), n = 0;
  for (int i = 0; i < LESSON_STEPS_MAX; i++)
    if (bits >> i & 1) step[n++] = i + 1;
  return step;
}

#define FORM_FILE "tui/frame/lesson_progress.form"
#include "base/form_make.h"

static bool is_known(const Tutor *tutor, const char *name) {
  for (int i = 0; i < tutor->n_lessons; i++)
    if (str_equal(tutor->lesson[i]->name, name)) return true;
  return false;
}

// The rows that are not ours. Of a file that cannot be read there are none.
static void put_others(Arena *arena, JsonWriter *w, const Tutor *tutor, const char *path) {
  size_t size = 0;
  int error;
  Diags ignored = diags_new(arena);
  const char *text = read_file(arena, path, &size, &error), *name = NULL;
  const JsonValue *root = text ? json_parse(arena, text, size, &ignored, path) : NULL;
  const JsonValue *rows = json_object_get(root, "lessons");
  for (int i = 0; i < json_count(rows); i++)
    if (json_require_string(json_at(rows, i), "name", &name, &ignored) && !is_known(tutor, name))
      json_put_value(w, json_at(rows, i));
}

static char *write_marks(Arena *arena, const Tutor *tutor, const char *path) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_key(&w, "lessons");
  json_begin_array(&w);
  for (int i = 0; i < tutor->n_lessons; i++) {
    const LessonMark *mark = &tutor->mark[i];
    if (mark->step || mark->right || mark->shown)
      form_write(&w, arena, &lesson_mark_form, mark, NULL);
  }
  put_others(arena, &w, tutor, path);
  json_end_array(&w);
  json_end_object(&w);
  str_add(&out, "\n");
  return out.text;
}

const char *progress_save(Arena *arena, const Tutor *tutor, const char *path) {
  const int lock = disk_lock(path);  // the rows of others are read first
  const bool ok = disk_replace(path, write_marks(arena, tutor, path));
  const char *why = ok ? NULL : arena_strdup(arena, strerror(errno));
  if (lock >= 0) close(lock);
  return why;
}
