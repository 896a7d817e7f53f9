// Lines of JSON → kernels; see counted.h.
#include "kernels/toolchain/machine/counted.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

static const char *const words[] = {"state", "gpu", "driver", "compiler", "date", "method"};
enum { WORDS = sizeof words / sizeof *words };

static bool is_word(const char *key) {
  int i = 0;
  while (i < WORDS && !str_equal(words[i], key)) i++;
  return i < WORDS;
}

static void read_numbers(const JsonValue *line, CountedKernel *kernel, Diags *diags) {
  for (int i = 0; i < json_count(line); i++) {
    CountedNumber *number = &kernel->number[kernel->n];
    if (is_word(json_key_at(line, i))) continue;
    if (kernel->n == COUNTED_NUMBERS_MAX) {
      json_diag(diags, line, "more than %d numbers", COUNTED_NUMBERS_MAX);
      return;
    }
    number->name = json_key_at(line, i);
    kernel->n += json_read_double(json_at(line, i), &number->value, diags);
  }
  if (kernel->n == 0) json_diag(diags, line, "no number");
}

static void read_line(const JsonValue *line, CountedKernel *kernel, Diags *diags) {
  const char *state = NULL;
  if (json_object_get(line, "compiler")) {
    json_require_string(line, "compiler", &kernel->compiler, diags);
  } else {
    json_require_string(line, "gpu", &kernel->gpu, diags);
    json_require_string(line, "driver", &kernel->driver, diags);
  }
  json_require_string(line, "date", &kernel->date, diags);
  json_require_string(line, "method", &kernel->method, diags);
  read_numbers(line, kernel, diags);
  kernel->schedule = schedule_plain();
  if (json_require_string(line, "state", &state, diags))
    schedule_parse(&kernel->schedule, state, diags);
}

static int count_lines(const char *text, size_t n) {
  int lines = 0;
  for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
  return lines + 1;
}

const CountedKernels *counted_read(Arena *arena, const char *text, size_t n, const char *what,
                                   Diags *diags) {
  int before = diags->count;
  CountedKernels *counted = ARENA_NEW(arena, CountedKernels);
  CountedKernel *kernel = ARENA_ARRAY(arena, CountedKernel, count_lines(text, n));
  counted->kernel = kernel;
  for (size_t at = 0, length; at < n; at += length + 1) {
    const char *end = memchr(text + at, '\n', n - at);
    length = end ? (size_t)(end - text) - at : n - at;
    const JsonValue *line = length ? json_parse(arena, text + at, length, diags, what) : NULL;
    if (line) read_line(line, &kernel[counted->n++], diags);
  }
  return diags->count == before ? counted : NULL;
}

static bool has(const CountedKernel *kernel, const char *name, double *number) {
  for (int i = 0; i < kernel->n; i++) {
    if (!str_equal(kernel->number[i].name, name)) continue;
    *number = kernel->number[i].value;
    return true;
  }
  return false;
}

const CountedKernel *counted_find(const CountedKernels *counted, const Schedule *schedule,
                                  const char *name, double *number) {
  const CountedKernel *elsewhere = NULL;
  double there = 0;
  for (int i = 0; counted && i < counted->n; i++) {
    const CountedKernel *kernel = &counted->kernel[i];
    Schedule asked = *schedule;
    memcpy(asked.target, kernel->schedule.target, sizeof asked.target);
    if (!schedule_same(&asked, &kernel->schedule) || !has(kernel, name, number)) continue;
    if (str_equal(schedule->target, kernel->schedule.target)) return kernel;
    if (!elsewhere) there = *number;
    if (!elsewhere) elsewhere = kernel;
  }
  if (elsewhere) *number = there;
  return elsewhere;
}
