// `gemmview COMMAND --help`, from the tables: the usage of commands.def, each option in it with its
// sentence of option.def, what --json prints by documents.def, the examples of example.def.
//
// Worked example: the usage "[NAME] [--json | --csv]" names --json and --csv; both sentences are
// those of every command.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"

static const struct {
  const char *command, *option, *help;
} helps[] = {
#define OPTION_HELP(command, option, help) {command, option, help},
#include "cli/common/option.def"
#undef OPTION_HELP
};

static const struct {
  const char *command, *line;
} examples[] = {
#define EXAMPLE(command, line) {command, line},
#include "cli/common/example.def"
#undef EXAMPLE
};

// "NAME[=V,V...]" of "NAME[=V,V...]... | …", "CMD" of "CMD]... ": the bracket that closes the
// option is not its value's.
static int value_bytes(const char *value) {
  int n = 0, depth = 0;
  for (; value[n] && value[n] != ' '; n++) {
    depth += (value[n] == '[') - (value[n] == ']');
    if (depth < 0 || (depth == 0 && str_starts(value + n, "..."))) break;
  }
  return n;
}

// A word of the usage that starts with a dash, and the word behind it up to a blank or a bracket.
bool cli_next_option(const char **at, NamedOption *out) {
  for (const char *begin = *at; *begin; begin++) {
    bool starts = begin == *at || strchr(" [|(", begin[-1]);
    if (!starts || *begin != '-' || strchr(" ]", begin[1])) continue;
    size_t n = 1;
    while (isalnum((unsigned char)begin[n]) || begin[n] == '-') n++;
    snprintf(out->name, sizeof out->name, "%.*s", (int)n, begin);
    bool has_value = begin[n] == ' ' && !strchr("[|-", begin[n + 1]);
    const char *value = begin + n + has_value;
    snprintf(out->value, sizeof out->value, "%.*s", has_value ? value_bytes(value) : 0, value);
    *at = begin + n;
    return true;
  }
  return false;
}

const char *cli_option_help(const char *command, const char *option) {
  const char *everywhere = NULL;
  for (size_t i = 0; i < sizeof helps / sizeof *helps; i++) {
    if (!str_equal(helps[i].option, option)) continue;
    if (str_equal(helps[i].command, command)) return helps[i].help;
    if (!*helps[i].command) everywhere = helps[i].help;
  }
  return everywhere;
}

bool cli_names_before(const char *usage, const char *before, const char *option) {
  NamedOption named;
  for (const char *at = usage; cli_next_option(&at, &named) && at < before;)
    if (str_equal(named.name, option)) return true;
  return false;
}

const char *cli_example(const char *command, int n) {
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    if (str_equal(examples[i].command, command) && n-- == 0) return examples[i].line;
  return NULL;
}

enum { HELP_COL = 20, HELP_COLS = 79 };

// The text from column `col` on, its further lines under HELP_COL.
static void print_wrapped(int col, const char *text) {
  for (bool first = true; *text; first = false) {
    int room = HELP_COLS - HELP_COL, n = (int)strlen(text);
    if (n > room)
      for (n = room; n > 0 && text[n] != ' ';) n--;
    if (n == 0) n = (int)strcspn(text, " ");  // a word longer than a line
    printf("%*s%.*s\n", first ? HELP_COL - col : HELP_COL, "", n, text);
    text += n;
    text += strspn(text, " ");
  }
}

static void print_option(const char *head, const char *help) {
  int col = printf("  %s", head);
  if (col >= HELP_COL) col = putchar('\n') == '\n' ? 0 : col;
  print_wrapped(col, help);
}

// "schema, row, n", the members of a form in the order in which they are printed.
static void list_members(Str *out, const Form *form) {
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i];
    if (!field->key)
      list_members(out, field->form);
    else
      str_printf(out, "%s%s", out->length ? ", " : "", field->key);
  }
}

static bool is_of_command(const Document *document, const char *name) {
  const size_t n = strlen(name);
  return str_starts(document->command, name) &&
         (!document->command[n] || document->command[n] == ' ');
}

// One object's members are named; of many only the names, which gemmview schema takes.
static void print_documents(const char *command) {
  enum { NAMED = 3 };
  Arena *arena = arena_new("help");
  int n = 0;
  for (int i = 0; i < cli_document_count; i++) n += is_of_command(&cli_documents[i], command);
  if (n) printf("\n--json prints what gemmview schema describes:\n");
  for (int i = 0; i < cli_document_count; i++) {
    const Document *document = &cli_documents[i];
    Str members = str_new(arena);
    if (!is_of_command(document, command)) continue;
    if (n <= NAMED) list_members(&members, document->form);
    print_option(document->name, n <= NAMED ? members.text : document->form->help);
  }
  arena_free(arena);
}

void cli_print_help(const Command *command) {
  printf("usage: gemmview %s %s\n\n%s\n\n", command->name, command->usage, command->help);
  NamedOption option;
  for (const char *at = command->usage; cli_next_option(&at, &option);) {
    char head[sizeof option.name + sizeof option.value + 1];
    snprintf(head, sizeof head, "%s %s", option.name, option.value);
    const char *help = cli_option_help(command->name, option.name);
    if (!cli_names_before(command->usage, at, option.name)) print_option(head, help ? help : "");
  }
  print_option("--help", "this");
  print_documents(command->name);
  for (int i = 0; cli_example(command->name, i); i++)
    printf("%s  gemmview %s\n", i ? "" : "\nexamples:\n", cli_example(command->name, i));
}
