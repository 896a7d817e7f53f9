// "key value" lines of the file that GEMMVIEW_RECORD names → DriverSettings. The command writes it
// (cli/record/record_run.c); a program that is started without the command finds nothing to do.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/stand_in.h"

pthread_mutex_t driver_mutex = PTHREAD_MUTEX_INITIALIZER;

void driver_say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char line[1024];
  const int n = snprintf(line, sizeof line, "gemmview: ");
  vsnprintf(line + n, sizeof line - (size_t)n, format, args);
  va_end(args);
  fprintf(stderr, "%s\n", line);
}

enum { BUDGET = 2000000000, LINE_BYTES = 1 << 16 };

typedef struct TextKey {
  const char *key;
  size_t offset;
} TextKey;
static const TextKey text_keys[] = {
    {"real", offsetof(DriverSettings, real)},       {"kernel", offsetof(DriverSettings, kernel)},
    {"capsule", offsetof(DriverSettings, capsule)}, {"seen", offsetof(DriverSettings, seen)},
    {"command", offsetof(DriverSettings, command)}, {"device", offsetof(DriverSettings, device)},
    {"blocks", offsetof(DriverSettings, blocks)}};

static void take_line(DriverSettings *to, const char *key, const char *value) {
  for (size_t i = 0; i < sizeof text_keys / sizeof text_keys[0]; i++)
    if (str_equal(text_keys[i].key, key))
      *(const char **)(void *)((char *)to + text_keys[i].offset) = strdup(value);
  if (str_equal(key, "launch")) to->launch = strtoll(value, NULL, 10);
  if (str_equal(key, "budget")) to->budget = strtoll(value, NULL, 10);
  if (str_equal(key, "seconds")) to->seconds = strtoll(value, NULL, 10);
  if (str_equal(key, "no-data")) to->no_data = true;
  if (str_equal(key, "skips")) to->skips = true;
  if (str_equal(key, "times")) to->times = true;
  if (str_equal(key, "each-process")) to->each_process = true;
  const int most = (int)(sizeof to->attributes / sizeof to->attributes[0]);
  if (!str_equal(key, "attribute") || to->n_attributes == most) return;
  char *end = NULL;
  to->attributes[to->n_attributes].id = (int)strtol(value, &end, 10);
  to->attributes[to->n_attributes++].value = (int)strtol(end, NULL, 10);
}

static void read_settings(DriverSettings *to, const char *path) {
  FILE *file = path ? fopen(path, "re") : NULL;
  char *line = malloc(LINE_BYTES);
  while (file && line && fgets(line, LINE_BYTES, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *blank = strchr(line, ' ');
    if (blank) *blank = '\0';
    take_line(to, line, blank ? blank + 1 : "");
  }
  free(line);
  if (file) fclose(file);
}

const DriverSettings *driver_settings(void) {
  static DriverSettings settings = {.budget = BUDGET, .device = "gemmview's CPU", .blocks = "0"};
  static bool read;
  if (!read) {
    read = true;
    read_settings(&settings, getenv("GEMMVIEW_RECORD"));
  }
  return &settings;
}
