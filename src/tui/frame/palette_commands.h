// The table of the prompt's commands: ":rung padded", ":export k.cu".
#pragma once
#include "base/diag.h"
#include "tui/session/session.h"

typedef struct PaletteCommand {
  const char *name, *arguments, *help;
  bool (*run)(Session *session, const char *argument, Diags *diags);  // false after findings
} PaletteCommand;

extern const PaletteCommand palette_commands[];
extern const int palette_command_count;

// Replaces the whole state, as the command does and a line of an article's listing.
bool palette_run_state(Session *session, const char *argument, Diags *diags);
