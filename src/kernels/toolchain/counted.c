// Lines of JSON → kernels; see counted.h.
#include "kernels/toolchain/counted.h"

#include <string.h>

#include "base/json.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const char *const keys[] = {
    "state", "gpu", "driver", "date", "method", "wavefronts_lds", "wavefronts_ldgsts", "time_us"};

static void read_line(const JsonValue *line, CountedKernel *kernel, Diags *diags) {
  const char *state = NULL;
  json_check_keys(line, keys, COUNT(keys), diags);
  json_require_string(line, "gpu", &kernel->gpu, diags);
  json_require_string(line, "driver", &kernel->driver, diags);
  json_require_string(line, "date", &kernel->date, diags);
  json_require_string(line, "method", &kernel->method, diags);
  json_require_double(line, "wavefronts_lds", &kernel->wavefronts_lds, diags);
  json_require_double(line, "wavefronts_ldgsts", &kernel->wavefronts_ldgsts, diags);
  json_require_double(line, "time_us", &kernel->time_us, diags);
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

const CountedKernel *counted_find(const CountedKernels *counted, const Schedule *schedule) {
  for (int i = 0; counted && i < counted->n; i++) {
    Schedule asked = *schedule;
    memcpy(asked.target, counted->kernel[i].schedule.target, sizeof asked.target);
    if (schedule_same(&asked, &counted->kernel[i].schedule)) return &counted->kernel[i];
  }
  return NULL;
}
