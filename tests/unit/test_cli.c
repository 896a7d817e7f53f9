// The table of subcommands, the dispatcher and the options.
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/options.h"
#include "cli_harness.h"

Suite *suite_cli(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

typedef struct Given {
  bool json;
  const char *state;
  int lane;
  OptionSize size;
  OptionList worker;
} Given;

static const Option options[] = {
    OPTION_JSON(Given),
    OPTION_STATE(Given),
    OPTION_SIZE(Given),
    {.name = "lane", .kind = OPTION_KIND_INT, .offset = offsetof(Given, lane), .lo = 0, .hi = 31},
    {.name = "worker", .kind = OPTION_KIND_LIST, .offset = offsetof(Given, worker)},
};

static Given given;
static int n_args;
static char *args[16];

// Splits at blanks; the command's name is put in front.
static bool parse(const char *line) {
  char *copy = arena_strdup(arena, line);
  n_args = 0;
  args[n_args++] = arena_strdup(arena, "show");
  for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) args[n_args++] = word;
  given = (Given){.size = {80, 24}};
  diags = diags_new(arena);
  return options_parse(options, sizeof options / sizeof options[0], &given, &n_args, args, &diags);
}

START_TEST(options_are_read_in_every_spelling) {
  ck_assert(parse("explore --json -k BM=8 --size 120x40 --lane=31"));
  ck_assert(given.json && given.lane == 31 && given.size.width == 120 && given.size.height == 40);
  ck_assert_str_eq(given.state, "BM=8");
  ck_assert_int_eq(n_args, 2);
  ck_assert_str_eq(args[1], "explore");
  ck_assert(parse("-kBM=8,BN=4 a b"));
  ck_assert_str_eq(given.state, "BM=8,BN=4");
  ck_assert_int_eq(n_args, 3);
  ck_assert(parse("--state=x --state=y"));
  ck_assert_str_eq(given.state, "y");
  ck_assert(parse("--worker a --worker=b"));
  ck_assert_int_eq(given.worker.count, 2);
  ck_assert_str_eq(given.worker.items[1], "b");
  ck_assert(parse("-- --json -k"));
  ck_assert(!given.json);
  ck_assert_int_eq(n_args, 3);
  ck_assert(parse("-"));
  ck_assert_int_eq(n_args, 2);
  ck_assert(parse("-k -1"));
  ck_assert_str_eq(given.state, "-1");
}
END_TEST

static const struct {
  const char *line, *told, *nearest;
} bad[] = {
    {"--jsno", "there is no option \"--jsno\"", "--json"},
    {"-q", "there is no option \"-q\"", NULL},
    {"--json=1", "--json takes no value", NULL},
    {"-k", "-k needs a value", NULL},
    {"--size", "--size needs a value", NULL},
    {"--size 80", "\"80\" is not WIDTHxHEIGHT", "80x24"},
    {"--size 80x", "is not WIDTHxHEIGHT", "80x24"},
    {"--size 0x24", "is not WIDTHxHEIGHT", "1x24"},
    {"--size 80x-1", "is not WIDTHxHEIGHT", "80x24"},
    {"--size 80x1001", "is not WIDTHxHEIGHT", "80x1000"},
    {"--size 99999999999999999999x1", "is not WIDTHxHEIGHT", "1000x1"},
    {"--lane 32", "\"32\" is not a whole number from 0 to 31", "31"},
    {"--lane -1", "\"-1\" is not a whole number", "0"},
    {"--lane 3x", "\"3x\" is not a whole number", NULL},
    {"--lane=", "\"\" is not a whole number", NULL},
    {"--lane 99999999999999999999", "is not a whole number", "31"},
    {"--\x1b[2J", "there is no option", NULL},
};

START_TEST(bad_options_are_told) {
  ck_assert(!parse(bad[_i].line));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_msg(strstr(diags.first->text, bad[_i].told) != NULL, "%s", diags.first->text);
  ck_assert_ptr_null(strchr(diags.first->text, '\x1b'));
  ck_assert_pstr_eq(diags.first->nearest, bad[_i].nearest);
}
END_TEST

// "hgemm/swizzle,M=512" is the rung's state with M as said; what is no rung is told.
START_TEST(a_state_may_begin_with_a_rung) {
  if (!cli_has_program()) return;
  Arena *own = arena_new("rung");
  CliRun whole = cli_run(own,
                         "loops -k AUTO=0,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,"
                         "FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3,M=512");
  CliRun named = cli_run(own, "loops -k hgemm/swizzle,M=512");
  CliRun numbered = cli_run(own, "loops -k HGEMM/2,M=512");
  ck_assert_msg(whole.status == named.status && named.status == numbered.status, "%s", named.err);
  ck_assert_str_eq(whole.out, named.out);
  ck_assert_str_eq(whole.out, numbered.out);
  CliRun wrong = cli_run(own, "loops -k hgemm/swizle");
  ck_assert_int_eq(wrong.status, 2);
  ck_assert_ptr_nonnull(strstr(wrong.err, "nearest: swizzle"));
  ck_assert_ptr_nonnull(strstr(cli_run(own, "loops -k hgem/swizzle").err, "nearest: hgemm"));
  ck_assert_ptr_nonnull(strstr(cli_run(own, "loops -k hgemm/2,BM=x").err, "BM"));
  ck_assert_ptr_nonnull(strstr(cli_run(own, "export --rung 2").err, "nearest: -k LADDER/RUNG"));
  CliRun twice = cli_run(own, "show explore --ladder fp32 -k hgemm/2");
  ck_assert_ptr_nonnull(strstr(twice.err, "the rung is given twice"));
  CliRun shown = cli_run(own, "show explore -k hgemm/swizzle,GROUP_M=8");
  ck_assert_ptr_nonnull(strstr(shown.out, "hgemm · 2 of 5 · swizzle +1 edit"));
  arena_free(own);
}
END_TEST

START_TEST(all_mistakes_are_told_at_once) {
  ck_assert(!parse("--nope --lane x --size 1 --json"));
  ck_assert_int_eq(diags.count, 3);
  ck_assert(given.json);
}
END_TEST

START_TEST(every_command_has_a_usage_and_one_sentence) {
  ck_assert_int_ge(cli_command_count, 1);
  for (int i = 0; i < cli_command_count; i++) {
    const Command *c = &cli_commands[i];
    ck_assert_ptr_nonnull(c->run);
    ck_assert_msg(strlen(c->help) > 10 && !strchr(c->help, '\n'), "%s", c->name);
    ck_assert_msg(c->help[strlen(c->help) - 1] != '.', "%s", c->name);
    ck_assert_ptr_null(strchr(c->usage, '\n'));
    for (int j = 0; j < i; j++) ck_assert_str_ne(cli_commands[j].name, c->name);
  }
}
END_TEST

// Every option that a usage names is explained, no explanation is left over, and the examples use
// what the usage has.
START_TEST(every_option_is_explained) {
  static const char *const explained[] = {
#define OPTION_HELP(command, option, help) command "\t" option,
#include "cli/common/option.def"
#undef OPTION_HELP
  };
  for (int i = 0; i < cli_command_count; i++) {
    NamedOption option;
    for (const char *at = cli_commands[i].usage; cli_next_option(&at, &option);) {
      const char *help = cli_option_help(cli_commands[i].name, option.name);
      ck_assert_msg(help != NULL, "%s %s", cli_commands[i].name, option.name);
      ck_assert_msg(!strchr(option.value, ']') || strchr(option.value, '['), "%s", option.value);
    }
    for (int n = 0; cli_example(cli_commands[i].name, n); n++) {
      const char *line = cli_example(cli_commands[i].name, n);
      // Behind two dashes stand another program's words.
      for (const char *at = line; cli_next_option(&at, &option) && strcmp(option.name, "--") != 0;)
        ck_assert_msg(
            cli_names_before(cli_commands[i].usage, (const char *)UINTPTR_MAX, option.name),
            "%s: %s", line, option.name);
    }
  }
  for (size_t i = 0; i < sizeof explained / sizeof *explained; i++) {
    const char *option = strchr(explained[i], '\t') + 1;
    int users = 0;
    for (int c = 0; c < cli_command_count; c++) {
      const char *name = cli_commands[c].name;
      size_t n = strlen(name);
      bool meant =
          *explained[i] == '\t' || (strncmp(explained[i], name, n) == 0 && explained[i][n] == '\t');
      NamedOption named;
      for (const char *at = cli_commands[c].usage; meant && cli_next_option(&at, &named);)
        users += str_equal(named.name, option);
    }
    ck_assert_msg(users > 0, "no usage has %s", explained[i]);
  }
}
END_TEST

START_TEST(the_value_of_an_option_ends_with_it) {
  static const char usage[] =
      "-k STATE [--knob NAME[=V,V...]...] [--worker CMD]... [--json | --csv] FILE";
  static const char *const expected[][2] = {{"-k", "STATE"},
                                            {"--knob", "NAME[=V,V...]"},
                                            {"--worker", "CMD"},
                                            {"--json", ""},
                                            {"--csv", ""}};
  const char *at = usage;
  NamedOption option;
  for (int i = 0; i < 5; i++) {
    ck_assert(cli_next_option(&at, &option));
    ck_assert_str_eq(option.name, expected[i][0]);
    ck_assert_str_eq(option.value, expected[i][1]);
  }
  ck_assert(!cli_next_option(&at, &option));
}
END_TEST

Suite *suite_cli(void) {
  Suite *suite = suite_create("cli");
  TCase *tests = tcase_create("cli");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, options_are_read_in_every_spelling);
  tcase_add_loop_test(tests, bad_options_are_told, 0, (int)(sizeof bad / sizeof bad[0]));
  tcase_add_test(tests, a_state_may_begin_with_a_rung);
  tcase_add_test(tests, all_mistakes_are_told_at_once);
  tcase_add_test(tests, every_command_has_a_usage_and_one_sentence);
  tcase_add_test(tests, every_option_is_explained);
  tcase_add_test(tests, the_value_of_an_option_ends_with_it);
  suite_add_tcase(suite, tests);
  return suite;
}
