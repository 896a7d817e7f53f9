// Any bytes as each file that a person may write: configuration, theme, ladder, recorded results,
// a solver's problem, a script of keys. Each is read or refused with findings safe to print; a
// configuration that is read is written so that it reads as the same again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banks/solver/solver_input.h"
#include "base/str.h"
#include "kernels/device/history/recorded.h"
#include "model/words/ladder.h"
#include "tui/canvas/theme.h"
#include "tui/frame/config.h"
#include "tui/frame/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(Arena *arena, bool ok, const Diags *diags) {
  if (!ok && diags->count == 0) abort();
  const char *text = diags_text(arena, diags);
  if (!str_equal(text, str_sanitise(arena, text))) abort();
}

static void try_config(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  Config config = config_default(), again = config_default();
  bool ok = config_read(arena, text, n, "config", &config, &diags);
  check(arena, ok, &diags);
  if (!ok) return;
  const char *written = config_text(arena, &config, false);
  if (!config_read(arena, written, strlen(written), "written", &again, &diags)) abort();
  if (!str_equal(config_text(arena, &again, false), written)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new("fuzz");
  const char *text = arena_strndup(arena, (const char *)data, size);
  try_config(arena, text, size);
  Diags diags = diags_new(arena);
  check(arena, theme_read(arena, text, size, "theme", &diags) != NULL, &diags);
  diags = diags_new(arena);
  check(arena, ladder_read(arena, text, size, "ladder", &diags) != NULL, &diags);
  diags = diags_new(arena);
  check(arena, recorded_read_json(arena, text, size, "results", &diags) != NULL, &diags);
  diags = diags_new(arena);
  SolverProblem problem;
  check(arena, solver_problem_read(arena, text, size, "problem", &problem, &diags), &diags);
  diags = diags_new(arena);
  check(arena, script_read(arena, text, "keys", &diags) != NULL, &diags);
  arena_free(arena);
  return 0;
}
