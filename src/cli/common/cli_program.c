// File → text → program.
#include "cli/common/cli_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/disk.h"
#include "base/str.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"

const char *cli_program_file(const char *command, int argc, char **argv, const char *state,
                             Diags *diags) {
  if (argc > 2)
    diag_add(diags, "usage", "%s takes one FILE, not \"%s\" too; give a state with -k", command,
             str_sanitise(diags->arena, argv[2]));
  if (argc > 1 && state)
    diag_add(diags, "usage", "a program comes from a state (-k) or from a FILE, not from both");
  return argc == 2 && !state ? argv[1] : NULL;
}

const char *cli_program_name(Arena *arena, const char *path) {
  return str_equal(path, "-") ? "stdin" : str_sanitise(arena, path);
}

// Up to one byte more than a program may have.
static char *read_text(Arena *arena, FILE *file, size_t *size) {
  char *text = arena_alloc(arena, PARSE_BYTES_MAX + 1);
  *size = fread(text, 1, PARSE_BYTES_MAX + 1, file);
  return ferror(file) ? NULL : text;
}

const Program *cli_program(Arena *arena, const char *path, Diags *diags) {
  bool from_stdin = str_equal(path, "-");
  const char *name = cli_program_name(arena, path);
  const char *why = NULL;
  FILE *file = from_stdin ? stdin : disk_open(path, true, &why);
  size_t size;
  char *text = file ? read_text(arena, file, &size) : NULL;
  if (!text)
    diag_add(diags, "file", "%s cannot be read: %s; give a state with -k", name,
             why ? why : strerror(errno));
  if (file && !from_stdin) fclose(file);
  return text ? program_parse(arena, text, size, name, diags) : NULL;
}

void cli_print_program(Arena *arena, const Program *program, const char *from) {
  printf("# %s\n%s", from, program_text_full(arena, program));
}
