// gemmview completion: the shells' completions and the man page, made from the tables.
//
// Nothing is listed here that a table lists: the commands and their options come from commands.def
// (an option is a word of the usage that starts with a dash), the knobs from knob.def, the statuses
// from cli.h, the variables from environment.def, the views from views.def, GPUs and ladders from
// the data files, what words mean from the tables of their own. So what is completed is what
// exists.
//
//   usage "[NAME] [--json | --csv]"   →   options --json --csv
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/tables/cli_ladder.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/words/fragment.h"
#include "model/words/knob.h"
#include "tui/canvas/theme.h"

// The option words of a usage, each followed by `separator`.
static const char *options_of(Arena *arena, const char *usage, const char *separator) {
  Str out = str_new(arena);
  NamedOption option;
  for (const char *at = usage; cli_next_option(&at, &option);)
    if (!cli_names_before(usage, at, option.name)) str_printf(&out, "%s%s", option.name, separator);
  str_printf(&out, "--help");
  return out.text;
}

// data/lessons/04-banks.json is the lesson banks.
static void add_lessons(Str *out) {
  EmbeddedList list = embed_list(out->arena, "lessons/");
  for (int i = 0; i < list.count; i++) {
    const char *name = strrchr(list.paths[i], '/') + 1;
    name += strspn(name, "0123456789-_");
    str_printf(out, "%.*s ", (int)strcspn(name, "."), name);
  }
}

// The words after an option that takes one of a few.
static const char *values_of(Arena *arena, const char *option) {
  Str out = str_new(arena);
  if (str_equal(option, "--op"))
    for (int i = 0; i < banks_op_count(); i++) str_printf(&out, "%s ", banks_op_at(i)->name);
  if (str_equal(option, "--format")) str_add(&out, "text ansi svg json ");
  if (str_equal(option, "--color")) str_add(&out, "never 16 256 truecolor auto ");
  if (str_equal(option, "--break"))
    for (int i = 0; i < BREAK_COUNT; i++) str_printf(&out, "%s ", breakage_name((BreakageId)i));
  if (str_equal(option, "--symptom")) {
    for (int i = 0; i < SYMPTOM_COUNT; i++) str_printf(&out, "%s ", symptom_name((Symptom)i));
    str_add(&out, "all ");
  }
  if (str_equal(option, "--theme")) {
    EmbeddedList list = embed_list(arena, "themes/");
    str_add(&out, "default mono ");
    for (int i = 0; i < list.count; i++)
      str_printf(&out, "%.*s ", (int)strcspn(list.paths[i] + 7, "."), list.paths[i] + 7);
  }
  return out.text;
}

static const char *const valued[] = {"--op",    "--format", "--color",
                                     "--theme", "--break",  "--symptom"};
enum { N_VALUED = sizeof valued / sizeof *valued };

// The words a command takes where an argument is expected; "" when the shell offers files.
static const char *arguments_of(Arena *arena, const char *command) {
  Str out = str_new(arena);
  if (str_equal(command, "show")) {
#define VIEW(id, key, title, beside, help) str_add(&out, #id " ");
#include "tui/frame/views.def"
#undef VIEW
  }
  if (str_equal(command, "knobs"))
    for (int i = 0; i < KNOB_COUNT; i++) str_printf(&out, "%s ", knob_table[i].name);
  if (str_equal(command, "fragment"))
    for (int i = 0; i < atom_count; i++) str_printf(&out, "%s ", atom_table[i].name);
  if (str_equal(command, "lesson") || str_equal(command, "teach")) add_lessons(&out);
  if (str_equal(command, "completion")) str_add(&out, "bash zsh fish man ");
  if (str_equal(command, "classroom")) str_add(&out, "init ");
  if (str_equal(command, "config")) str_add(&out, "path defaults check set ");
  if (str_equal(command, "ladder") || str_equal(command, "ladders")) {
    EmbeddedList list = embed_list(arena, "ladders/");
    for (int i = 0; i < list.count; i++)
      str_printf(&out, "%.*s ", (int)strcspn(list.paths[i] + 8, "."), list.paths[i] + 8);
  }
  Diags diags = diags_new(arena);
  TargetTable table;
  if (str_equal(command, "targets") && cli_targets(arena, &table, &diags))
    for (int i = 0; i < table.count; i++) str_printf(&out, "%s ", table.targets[i].id);
  return out.text;
}

// The words of a state: knobs, and the rungs that it may begin with.
static const char *state_words(Arena *arena) {
  Str out = str_new(arena);
  Diags unused = diags_new(arena);
  const Ladder *const *ladders = cli_ladders(arena, &unused);
  for (int i = 0; i < KNOB_COUNT; i++) str_printf(&out, "%s%s=", i ? " " : "", knob_table[i].name);
  for (int l = 0; ladders && ladders[l]; l++)
    for (int r = 0; r < ladders[l]->n_rungs; r++)
      str_printf(&out, " %s/%s", ladders[l]->name, ladders[l]->rung[r].name);
  return out.text;
}

static const char *command_words(Arena *arena) {
  Str out = str_new(arena);
  for (int i = 0; i < cli_command_count; i++)
    str_printf(&out, "%s%s", i ? " " : "", cli_commands[i].name);
  return out.text;
}

// A state is one word of NAME=value parts; the part after the last comma is completed.
static void print_bash(Arena *arena) {
  printf(
      "# Completion of gemmview for bash, made by: gemmview completion bash\n"
      "_gemmview() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words\n"
      "  local line=${COMP_LINE:0:COMP_POINT}\n"
      "  local last=${line##* }\n"
      "  if [[ $line =~ (-k|--state)[[:space:]=]*[^[:space:]]*$ && $COMP_CWORD -gt 1 ]]; then\n"
      "    local part=${last##*,}\n"
      "    [[ $part == *=* ]] && return\n"
      "    compopt -o nospace\n"
      "    local head=${word%%\"${word##*,}\"}\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W '%s' -- \"$part\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[COMP_CWORD-1]} in\n",
      state_words(arena));
  for (int i = 0; i < N_VALUED; i++)
    printf("    %s) words='%s' ;;\n", valued[i], values_of(arena, valued[i]));
  printf(
      "  esac\n"
      "  if [[ $words ]]; then :\n"
      "  elif ((COMP_CWORD == 1)); then\n"
      "    words='%s --help --version'\n"
      "  else\n"
      "    case $command in\n",
      command_words(arena));
  for (int i = 0; i < cli_command_count; i++)
    printf("      %s) words='%s%s' ;;\n", cli_commands[i].name,
           arguments_of(arena, cli_commands[i].name),
           options_of(arena, cli_commands[i].usage, " "));
  printf(
      "      *) words='' ;;\n"
      "    esac\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  ((${#COMPREPLY[@]})) || compopt -o default\n"
      "}\n"
      "complete -F _gemmview gemmview\n");
}

// Text for inside a zsh 'name:description' in single quotes: colons and quotes end it.
static const char *zsh_text(Arena *arena, const char *text) {
  Str out = str_new(arena);
  for (; *text; text++)
    if (*text == ':')
      str_add(&out, "\\:");
    else if (*text == '\'')
      str_add(&out, "'\\''");
    else
      str_add_char(&out, *text);
  return out.text;
}

static void print_zsh(Arena *arena) {
  printf(
      "#compdef gemmview\n"
      "# Completion of gemmview for zsh, made by: gemmview completion zsh\n"
      "local -a commands words\n"
      "commands=(\n");
  for (int i = 0; i < cli_command_count; i++)
    printf("  '%s:%s'\n", cli_commands[i].name, zsh_text(arena, cli_commands[i].help));
  printf(
      ")\n"
      "if ((CURRENT == 2)); then\n"
      "  _describe command commands\n"
      "  return\n"
      "fi\n"
      "if [[ ${words[CURRENT-1]} == (-k|--state) ]]; then\n"
      "  compset -P '*,'\n"
      "  compadd -S '' -- %s\n"
      "  return\n"
      "fi\n"
      "case ${words[CURRENT-1]} in\n",
      state_words(arena));
  for (int i = 0; i < N_VALUED; i++)
    printf("  %s) compadd -- %s; return ;;\n", valued[i], values_of(arena, valued[i]));
  printf("esac\ncase ${words[2]} in\n");
  for (int i = 0; i < cli_command_count; i++)
    printf("  %s) compadd -- %s%s ;;\n", cli_commands[i].name,
           arguments_of(arena, cli_commands[i].name),
           options_of(arena, cli_commands[i].usage, " "));
  printf("esac\n_files\n");
}

// Text for inside double quotes of fish.
static const char *fish_text(Arena *arena, const char *text) {
  Str out = str_new(arena);
  for (; *text; text++) {
    if (strchr("\"\\$", *text)) str_add_char(&out, '\\');
    str_add_char(&out, *text);
  }
  return out.text;
}

static void print_fish(Arena *arena) {
  printf(
      "# Completion of gemmview for fish, made by: gemmview completion fish\n"
      "complete -c gemmview -n __fish_use_subcommand -l version\n"
      "complete -c gemmview -l help -s h -d \"usage and one sentence\"\n");
  for (int i = 0; i < cli_command_count; i++) {
    const Command *c = &cli_commands[i];
    printf("complete -c gemmview -n __fish_use_subcommand -a %s -d \"%s\"\n", c->name,
           fish_text(arena, c->help));
    const char *words = arguments_of(arena, c->name);
    if (*words)
      printf("complete -c gemmview -f -n \"__fish_seen_subcommand_from %s\" -a \"%s\"\n", c->name,
             words);
    NamedOption option;
    for (const char *at = c->usage; cli_next_option(&at, &option);) {
      if (cli_names_before(c->usage, at, option.name)) continue;
      bool is_long = option.name[1] == '-';
      printf("complete -c gemmview -n \"__fish_seen_subcommand_from %s\" -%c %s%s -d \"%s\"\n",
             c->name, is_long ? 'l' : 's', option.name + 1 + is_long, *option.value ? " -r" : "",
             fish_text(arena, cli_option_help(c->name, option.name)));
      const char *values = values_of(arena, option.name);
      if (*values)
        printf("complete -c gemmview -f -n \"__fish_seen_subcommand_from %s\" -l %s -a \"%s\"\n",
               c->name, option.name + 2, values);
    }
  }
}

// Text for troff: backslashes and dashes are escaped, and no line starts with a control character.
static const char *man_text(Arena *arena, const char *text) {
  Str out = str_new(arena);
  if (*text == '.' || *text == '\'') str_add(&out, "\\&");
  for (; *text; text++)
    if (*text == '-')
      str_add(&out, "\\-");
    else if (*text == '\\')
      str_add(&out, "\\e");
    else
      str_add_char(&out, *text);
  return out.text;
}

static void print_man_entry(Arena *arena, const char *head, const char *text) {
  printf(".TP\n.B %s\n", man_text(arena, head));
  printf("%s\n", man_text(arena, text));
}

// The names of breakages, wrong programs and themes.
static void print_man_words(Arena *arena) {
  printf(".SH FINDINGS\nFindings of gemmview interpret.\n");
  for (int i = 0; i < FINDING_COUNT; i++)
    print_man_entry(arena, finding_name((FindingKind)i), finding_help((FindingKind)i));
  printf(".SH BREAKAGES\nThe faults that gemmview interpret \\-\\-break makes on purpose.\n");
  char seen[SYMPTOMS_BYTES];
  for (int i = 0; i < BREAK_COUNT; i++)
    print_man_entry(arena, breakage_name((BreakageId)i),
                    arena_printf(arena, "%s; on a GPU: %s", breakage_help((BreakageId)i),
                                 breakage_symptoms(seen, (BreakageId)i)));
  printf(".SH SYMPTOMS\nSymptoms of a fault on a GPU.\n");
  for (int i = 0; i < SYMPTOM_COUNT; i++)
    print_man_entry(arena, symptom_name((Symptom)i), symptom_help((Symptom)i));
  printf(
      ".SH THEMES\n"
      "Write a theme of your own to themes/NAME.json in the folder GEMMVIEW_DATA; gemmview\\(aqs "
      "themes are in data/themes. A theme may style any of these:\n");
  for (int i = 0; i < style_address(0); i++)
    print_man_entry(arena, style_name((StyleRole)i), style_help((StyleRole)i));
  print_man_entry(arena, "address_0 to address_31",
                  "addresses and banks, by their number modulo 32");
}

// Below the command, set in: its options and its examples.
static void print_man_options(Arena *arena, const Command *c) {
  NamedOption option;
  printf(".RS\n");
  for (const char *at = c->usage; cli_next_option(&at, &option);)
    if (!cli_names_before(c->usage, at, option.name))
      print_man_entry(arena, arena_printf(arena, "%s %s", option.name, option.value),
                      cli_option_help(c->name, option.name));
  for (int i = 0; cli_example(c->name, i); i++)
    printf("%s\ngemmview %s\n.EE\n", i ? ".EX" : ".PP\nExamples:\n.EX",
           man_text(arena, cli_example(c->name, i)));
  printf(".RE\n");
}

static void print_man_programs(void) {
  printf(
      ".SH PROGRAMS\n"
      "gemmview loops \\-\\-full prints the complete text of a program; gemmview interpret "
      "\\-\\-dump prints the program that it would run, broken on purpose or not. interpret, "
      "check and cuda read such a text back, edited or not. They take a state after \\-k, or a "
      "FILE; \\- is standard input. A body is indented further than its head, # begins a remark, "
      "and @KNOB names the knob that made a statement (without it, the knob of the statement "
      "around). Findings name statements by their lines: stmt 27 is line 27. Numbers that follow "
      "from other lines (guards, bytes of a slab, threads) are compared with those lines.\n");
}

static void print_man_tables(Arena *arena) {
  Schedule defaults = schedule_default();
  printf(".SH KNOBS\nA state is a list of NAME=value, separated by commas. %s\n", knob_auto_rule);
  for (int i = 0; i < KNOB_COUNT; i++)
    print_man_entry(arena, knob_table[i].name,
                    arena_printf(arena, "%s; default %s%s%s", knob_table[i].help,
                                 knob_value_text(arena, &defaults, (KnobId)i),
                                 knob_auto_text((KnobId)i) ? "; auto: " : "",
                                 knob_auto_text((KnobId)i) ? knob_auto_text((KnobId)i) : ""));
  print_man_programs();
  printf(".SH EXIT STATUS\n");
#define CLI_STATUS(name, value, help) print_man_entry(arena, #value, help);
  CLI_STATUSES(CLI_STATUS)
#undef CLI_STATUS
  printf(
      ".SH CONFIGURATION\n"
      "$XDG_CONFIG_HOME/gemmview/config.json, else ~/.config/gemmview/config.json, is one JSON "
      "object; gemmview config defaults prints a complete one. The explorer reads it; options "
      "override it.\n");
#define SETTING(name, kind, field, default, help) print_man_entry(arena, name, help);
#include "tui/frame/config.def"
#undef SETTING
  print_man_entry(arena, "keys",
                  "for \"global\" and for each view: a key and its action; \"\" frees the key");
  printf(
      ".SH PICTURES\nEvery screen is a picture too: :save-display FILE in the explorer, gemmview "
      "show "
      "VIEW \\-\\-format svg without it. screenshots/ in the sources has one of each view, with "
      "the "
      "keys that led there in screenshots/NAME.keys.\n");
  printf(".SH ENVIRONMENT\n");
#define ENVIRONMENT(name, help) print_man_entry(arena, name, help);
#include "cli/common/environment.def"
#undef ENVIRONMENT
  print_man_words(arena);
}

static void print_man(Arena *arena) {
  printf(
      ".TH GEMMVIEW 1 \"\" \"gemmview %s\" \"User Commands\"\n"
      ".SH NAME\ngemmview \\- GPU matrix multiplication, from knobs to a measured kernel\n"
      ".SH SYNOPSIS\n.B gemmview\n[\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]]\n"
      ".SH DESCRIPTION\nWithout a command it is the explorer: a terminal program in which the "
      "knobs of a schedule, the loop nest they make, the shared\\-memory accesses, the CUDA "
      "text and the measured time are shown together.\n"
      ".SH COMMANDS\n",
      cli_version);
  for (int i = 0; i < cli_command_count; i++) {
    const Command *c = &cli_commands[i];
    print_man_entry(arena, arena_printf(arena, "%s %s", c->name, c->usage), c->help);
    print_man_options(arena, c);
  }
  print_man_tables(arena);
}

static const struct {
  const char *name;
  void (*print)(Arena *arena);
} forms[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}, {"man", print_man}};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

int cmd_completion(Arena *arena, int argc, char **argv) {
  if (argc != 2)
    return cli_error(CLI_USAGE,
                     "a shell is needed: bash, zsh, fish, or man for the "
                     "man page");
  const char *names[N_FORMS];
  for (int i = 0; i < N_FORMS; i++) names[i] = forms[i].name;
  for (int i = 0; i < N_FORMS; i++) {
    if (!str_equal(argv[1], names[i])) continue;
    forms[i].print(arena);
    return CLI_OK;
  }
  Diags diags = diags_new(arena);
  diag_add(&diags, "usage", "\"%s\": choose bash, zsh, fish or man", str_sanitise(arena, argv[1]))
      ->nearest = nearest_name(argv[1], names, N_FORMS);
  return cli_fail(&diags);
}
