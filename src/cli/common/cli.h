// The subcommands: one table, read by the dispatcher, the help, the completions and the man page.
#pragma once
#include "base/diag.h"

// Exit statuses; every subcommand returns one of these. The man page reads the sentences.
#define CLI_STATUSES(X)                                                       \
  X(OK, 0, "success")                                                         \
  X(NO, 1, "the answer is no: a check failed, texts differ, or it is slower") \
  X(USAGE, 2, "the command line, a state or a file is not legal")             \
  X(MISSING, 3, "there is no GPU, no worker or no tool for this")             \
  X(COMPILE, 4, "the kernel did not compile")                                 \
  X(BENCH, 5, "the kernel failed its check, or its time cannot be trusted")   \
  X(TIMEOUT, 124, "it took longer than allowed")                              \
  X(INTERRUPTED, 130, "it was interrupted")

enum {
#define CLI_STATUS(name, value, help) CLI_##name = value,
  CLI_STATUSES(CLI_STATUS)
#undef CLI_STATUS
};

// argv[0] is the subcommand's name. --help never arrives here: the dispatcher answers it. Memory
// that a command takes from `arena` ends with it.
typedef int CommandRun(Arena *arena, int argc, char **argv);

typedef struct Command {
  const char *name;
  CommandRun *run;
  const char *usage;  // the arguments: "--op OP --addr LIST | --batch FILE [--json]"
  const char *help;   // one sentence, the first line of the help
} Command;

// cmd_NAME of every row of the table.
#define COMMAND(name, usage, help) CommandRun cmd_##name;
#include "cli/common/commands.def"
#undef COMMAND

extern const Command cli_commands[];
extern const int cli_command_count;
const Command *cli_find_command(const char *name);  // NULL: there is none

// The whole program but for main(): options before the subcommand, dispatch, exit status.
int cli_main(int argc, char **argv);

// The options that a usage names, one after the other: "--op" with "OP", "--json" with "". False
// after the last one. `*at` begins as the usage.
typedef struct NamedOption {
  char name[24], value[40];
} NamedOption;

bool cli_next_option(const char **at, NamedOption *out);

// Whether the usage names the option already before `before`, where cli_next_option stands.
bool cli_names_before(const char *usage, const char *before, const char *option);

// Example `n` of the command, without "gemmview "; NULL after the last one.
const char *cli_example(const char *command, int n);

// The help of the option for the command; NULL for one that no usage has.
const char *cli_option_help(const char *command, const char *option);

// `gemmview COMMAND --help`: usage, options, examples.
void cli_print_help(const Command *command);

// Prints the findings on stderr, each after "gemmview: ", and returns CLI_USAGE.
int cli_fail(const Diags *diags);

// The same for one sentence; returns `status`.
int cli_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The text as the file of that name, whole or not at all (base/disk.h); says why not.
int cli_write(Arena *arena, const char *path, const char *text);
int cli_write_bytes(Arena *arena, const char *path, const void *bytes, size_t n);

// A field of a CSV row in quotes, its own quotes doubled, and what follows it; NULL is an empty
// field.
void cli_csv_text(const char *text, char after);

extern const char cli_version[];
