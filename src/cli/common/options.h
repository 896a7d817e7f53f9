// Options of one subcommand: a table in, a filled struct out.
//
//   typedef struct ShowOptions { bool json; const char *state; OptionSize size; } ShowOptions;
//   static const Option options[] = {
//       OPTION_JSON(ShowOptions),   // --json
//       OPTION_STATE(ShowOptions),  // -k STATE, --state STATE
//       OPTION_SIZE(ShowOptions),   // --size 120x40
//   };
//   ShowOptions given = {.size = {80, 24}};
//   if (!options_parse(options, 3, &given, &argc, argv, &diags)) return cli_fail(&diags);
//
// `--name value`, `--name=value`, `-k value` and `-kvalue` are alike; `--` ends the options; "-"
// is an argument. An option that was not given leaves its field alone; the last one given counts.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

typedef enum OptionKind {
  OPTION_KIND_FLAG,     // bool
  OPTION_KIND_TEXT,     // const char *
  OPTION_KIND_INT,      // int within lo … hi
  OPTION_KIND_SECONDS,  // double, seconds; lo … hi are milliseconds
  OPTION_KIND_SIZE,     // OptionSize, "WxH"
  OPTION_KIND_LIST,     // OptionList, may be given several times
} OptionKind;

typedef struct OptionSize {
  int width, height;
} OptionSize;

typedef struct OptionList {
  const char **items;  // in diags->arena
  int count;
} OptionList;

typedef struct Option {
  const char *name;  // without the dashes
  char letter;       // 0: there is no short form
  OptionKind kind;
  size_t offset;  // of the field in the command's struct
  int lo, hi;     // OPTION_KIND_INT, OPTION_KIND_SECONDS
} Option;

#define OPTION_JSON(T) \
  { .name = "json", .kind = OPTION_KIND_FLAG, .offset = offsetof(T, json) }
#define OPTION_CSV(T) \
  { .name = "csv", .kind = OPTION_KIND_FLAG, .offset = offsetof(T, csv) }
#define OPTION_STATE(T) \
  { .name = "state", .letter = 'k', .kind = OPTION_KIND_TEXT, .offset = offsetof(T, state) }
#define OPTION_PIN(T) \
  { .name = "pin", .kind = OPTION_KIND_LIST, .offset = offsetof(T, pin) }
#define OPTION_SIZE(T) \
  { .name = "size", .kind = OPTION_KIND_SIZE, .offset = offsetof(T, size) }

// argv[0] is the command's name. Afterwards argv[1 … *argc) are the arguments that are no options.
// false after adding a diagnostic of rule "usage" for every option that is unknown, lacks its value
// or has one it cannot take.
bool options_parse(const Option *options, int n, void *out, int *argc, char **argv, Diags *diags);

// The words behind "--", which are another program's; *argc ends in front of it. NULL ends them:
// there may be none.
char **options_behind(int *argc, char **argv);

// A whole decimal number within lo … hi; otherwise a diagnostic that calls it `what`.
bool option_parse_int(const char *text, int lo, int hi, const char *what, int *out, Diags *diags);
// --ptxas-opt: NULL or a level of the assembler, 0 to 3. False after a finding.
bool option_check_ptxas_opt(const char *level, Diags *diags);
