// Finds the subcommand and turns its answer into the exit status.
//
//   gemmview bnaks --op lds32     →  gemmview: there is no command "bnaks"; … nearest: banks (2)
//   gemmview banks --help         →  usage and help of that row of the table on stdout         (0)
#include "cli/common/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/disk.h"
#include "base/foreign.h"
#include "base/nearest.h"
#include "base/str.h"

const char cli_version[] = "0.1.0";

const Command cli_commands[] = {
#define COMMAND(name, usage, help) {#name, cmd_##name, usage, help},
#define COMMAND_AS(id, name, usage, help) {name, cmd_##id, usage, help},
#include "cli/common/commands.def"
#undef COMMAND
};
const int cli_command_count = sizeof cli_commands / sizeof cli_commands[0];

int cli_fail(const Diags *diags) {
  for (const Diag *d = diags->first; d; d = d->next)
    fprintf(stderr, "gemmview: %s%s%s\n", d->text, d->nearest ? "; nearest: " : "",
            d->nearest ? str_sanitise(diags->arena, d->nearest) : "");
  return CLI_USAGE;
}

int cli_error(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Arena *arena = arena_new("error");
  Str text = str_new(arena);
  str_vprintf(&text, format, args);
  va_end(args);
  // It may quote what was typed, or what a file is called.
  fprintf(stderr, "gemmview: %s\n", str_sanitise(arena, text.text));
  arena_free(arena);
  return status;
}

int cli_write(Arena *arena, const char *path, const char *text) {
  return cli_write_bytes(arena, path, text, strlen(text));
}

int cli_write_bytes(Arena *arena, const char *path, const void *bytes, size_t n) {
  if (disk_write_bytes(path, bytes, n)) return CLI_OK;
  bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT || errno == EIO;
  return cli_error(full ? CLI_NO : CLI_USAGE, "%s %s: %s", str_sanitise(arena, path),
                   full ? "could not be written completely" : "cannot be written", strerror(errno));
}

void cli_csv_text(const char *text, char after) { foreign_cell(stdout, text, after); }

// Flushes stdout; a document that could not be written whole is an error of its own.
static int cli_flush(int status) {
  const bool ended_well = fflush(stdout) == 0;
  if (ended_well && !ferror(stdout)) return status;
  // The reason of an earlier fault is not kept.
  const char *why = ended_well ? "not all of it" : strerror(errno);
  int failed = cli_error(CLI_NO, "the output could not be written: %s", why);
  return status == CLI_OK ? failed : status;
}

static void print_overview(FILE *out) {
  fputs(
      "gemmview: GPU matrix multiplication, from knobs to a measured kernel\n\n"
      "usage: gemmview [-k STATE] ...     the explorer\n"
      "       gemmview COMMAND ...\n\n",
      out);
  for (int i = 0; i < cli_command_count; i++)
    fprintf(out, "  %-12s %s\n", cli_commands[i].name, cli_commands[i].help);
  fputs(
      "\n"
      "STATE is one line, [LADDER/RUNG,]KNOB=value,...: gemmview knobs and gemmview ladders\n"
      "list both, and y copies the state of the explorer.\n"
      "gemmview help COMMAND tells more; gemmview --version prints the version.\n",
      out);
}

const Command *cli_find_command(const char *name) {
  for (int i = 0; i < cli_command_count; i++)
    if (str_equal(cli_commands[i].name, name)) return &cli_commands[i];
  return NULL;
}

static int fail_unknown(const char *name) {
  Arena *arena = arena_new("cli");
  Diags diags = diags_new(arena);
  const char **names = ARENA_ARRAY(arena, const char *, cli_command_count);
  for (int i = 0; i < cli_command_count; i++) names[i] = cli_commands[i].name;
  Diag *diag = diag_add(&diags, "usage", "there is no %s \"%s\"; gemmview --help lists all",
                        *name == '-' ? "option" : "command", str_sanitise(arena, name));
  diag->nearest = nearest_name(name, names, cli_command_count);
  int status = cli_fail(&diags);
  arena_free(arena);
  return status;
}

static bool asks_for_help(int argc, char **argv) {
  for (int i = 1; i < argc && !str_equal(argv[i], "--"); i++)
    if (str_equal(argv[i], "--help") || str_equal(argv[i], "-h")) return true;
  return false;
}

static int run_command(const Command *command, int argc, char **argv) {
  if (asks_for_help(argc, argv)) {
    cli_print_help(command);
    return CLI_OK;
  }
  Arena *arena = arena_new(command->name);
  int status = command->run(arena, argc, argv);
  arena_free(arena);
  return status;
}

// `gemmview`, `gemmview -k STATE`: no command, so the explorer with the given state.
static bool is_explorer(const char *first) {
  return !first || (*first == '-' && !str_equal(first, "--version") &&
                    !str_equal(first, "--help") && !str_equal(first, "-h"));
}

int cli_main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN);  // a write that goes too far fails, and that is said
  const char *first = argc > 1 ? argv[1] : NULL;
  const char *const general[] = {"version", "help"};
  const char *meant = is_explorer(first) && first && str_starts(first, "--") && first[2]
                          ? nearest_name(first + 2, general, 2)
                          : NULL;
  if (meant)
    return cli_error(CLI_USAGE, "there is no option \"%s\" here; nearest: --%s", first, meant);
  if (is_explorer(first)) return cli_flush(run_command(cli_find_command("explore"), argc, argv));
  if (str_equal(first, "--version")) {
    printf("gemmview %s\n", cli_version);
    return cli_flush(CLI_OK);
  }
  const Command *about = argc == 3 && str_equal(first, "help") ? cli_find_command(argv[2]) : NULL;
  if (about) {
    cli_print_help(about);
    return cli_flush(CLI_OK);
  }
  if (argc == 3 && str_equal(first, "help")) return fail_unknown(argv[2]);
  if (str_equal(first, "--help") || str_equal(first, "-h") || str_equal(first, "help")) {
    print_overview(stdout);
    return cli_flush(CLI_OK);
  }
  const Command *command = cli_find_command(first);
  if (!command) return fail_unknown(first);
  return cli_flush(run_command(command, argc - 1, argv + 1));
}
