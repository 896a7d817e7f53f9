// A line of words → an argument vector → a child → lines.
//
// Worked example: ":interpret --seed 3" at BM=16,BN=16 starts {"/proc/self/exe", "interpret",
// "--seed", "3", "-k", "BM=16,BN=16"}, because the usage of interpret names -k and none was given.
// The child's output is made harmless here, once, so that views draw it as it is.
#include "tui/frame/verbs.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "kernels/worker/process.h"
#include "tui/frame/view.h"

enum { WORDS_MAX = 64, LINES_MAX = 20000, LINE_BYTES = 1 << 16, END_MS = 20 };

struct Verbs {
  const Verb *table;
  int n_table;
  Arena *own, *arena;  // of this, of what was printed
  Process process;
  Reaper reaper;
  bool running;
  int n_lines;
  const char **line;
};

Verbs *verbs_new(const Verb *table, int n) {
  Arena *arena = arena_new("verbs");
  Verbs *verbs = ARENA_NEW(arena, Verbs);
  *verbs = (Verbs){.table = table, .n_table = n, .own = arena, .arena = arena_new("output")};
  verbs->process = process_none();
  verbs->line = ARENA_ARRAY(arena, const char *, LINES_MAX + 1);
  return verbs;
}

void verbs_free(Verbs *verbs) {
  if (!verbs) return;
  verbs_stop(verbs);
  arena_free(verbs->arena);
  arena_free(verbs->own);
}

int verbs_count(const Verbs *verbs) { return verbs ? verbs->n_table : 0; }
const char *verbs_name(const Verbs *verbs, int i) { return verbs->table[i].name; }
const char *verbs_usage(const Verbs *verbs, int i) { return verbs->table[i].usage; }

static const Verb *find(const Verbs *verbs, const char *name) {
  for (int i = 0; i < verbs_count(verbs); i++)
    if (str_equal(verbs->table[i].name, name)) return &verbs->table[i];
  return NULL;
}

bool verbs_has(const Verbs *verbs, const char *name) { return find(verbs, name) != NULL; }
bool verbs_running(const Verbs *verbs) { return verbs && verbs->running; }
int verbs_lines(const Verbs *verbs) { return verbs ? verbs->n_lines : 0; }
const char *verbs_line(const Verbs *verbs, int i) { return verbs->line[i]; }

static void add_line(Verbs *verbs, const char *text) {
  if (verbs->n_lines < LINES_MAX) verbs->line[verbs->n_lines++] = str_sanitise(verbs->arena, text);
}

Pager *pager_of(const struct Session *session) { return view_own(session, &help_view); }

// ---- words --------------------------------------------------------------------------------------

// The next word of *at, quotes taken off; NULL at the end.
static const char *next_word(Arena *arena, const char **at) {
  Str word = str_new(arena);
  const char *c = *at + strspn(*at, " ");
  if (!*c) return NULL;
  for (char quote = 0; *c && (quote || *c != ' '); c++) {
    if (quote ? *c == quote : *c == '\'' || *c == '"')
      quote = quote ? 0 : *c;
    else
      str_add_char(&word, *c);
  }
  *at = c;
  return word.text;
}

// Whether the option takes the word behind it: "--seed N", not "--json".
static bool takes_word(const Verb *verb, const char *option) {
  size_t n = strlen(option);
  const char *at = strstr(verb->usage, option);
  while (at && at[n] != ' ' && at[n] != ']') at = strstr(at + n, option);
  return at && at[n] == ' ' && at[n + 1] >= 'A' && at[n + 1] <= 'Z';
}

// A command that takes a state or a FILE ("interpret mine.txt") gets no state with a file.
static bool names_file(const Verb *verb, const char *const *word, int n) {
  if (!strstr(verb->usage, "| FILE")) return false;
  for (int i = 2; i < n; i++) {
    bool option = word[i][0] == '-' && word[i][1];
    if (!option) return true;
    if (takes_word(verb, word[i])) i++;
  }
  return false;
}

static bool wants_state(const Verb *verb, const char *const *word, int n) {
  for (int i = 0; i < n; i++)
    if (str_equal(word[i], "-k") || str_starts(word[i], "--state")) return false;
  return strstr(verb->usage, "-k STATE") != NULL && !names_file(verb, word, n);
}

// ---- the process --------------------------------------------------------------------------------

bool verbs_start(Verbs *verbs, const char *line, const char *state, Diags *diags) {
  verbs_stop(verbs);
  arena_reset(verbs->arena);
  verbs->n_lines = 0;
  const char *word[WORDS_MAX + 4] = {"/proc/self/exe"}, *at = line;
  int n = 1;
  for (const char *next; n < WORDS_MAX && (next = next_word(verbs->arena, &at));) word[n++] = next;
  const Verb *verb = n > 1 ? find(verbs, word[1]) : NULL;
  if (!verb) {
    diag_add(diags, "command", "there is no command \"%s\"", n > 1 ? word[1] : "");
    return false;
  }
  add_line(verbs, arena_printf(verbs->arena, "gemmview %s", line));
  if (wants_state(verb, word, n)) {
    word[n++] = "-k";
    word[n++] = arena_strdup(verbs->arena, state);
  }
  word[n] = NULL;
  ProcessOptions options = {.new_session = true, .line_limit = LINE_BYTES};
  verbs->running = process_start(&verbs->process, word, &options);
  if (!verbs->running) {
    diag_add(diags, "command", "%s could not be started", verb->name);
    return false;
  }
  close(verbs->process.in);  // it gets no input
  verbs->process.in = -1;
  return true;
}

static void take_lines(Verbs *verbs) {
  char *line;
  size_t n;
  while (line_reader_next(&verbs->process.lines, &line, &n) == LINE_READY) add_line(verbs, line);
}

static void add_words(Verbs *verbs) {
  process_read_words(&verbs->process);
  for (char *rest = verbs->process.words, *line; (line = strsep(&rest, "\n"));)
    if (*line) add_line(verbs, line);
}

static void end(Verbs *verbs) {
  char how[128] = "";
  const char *left = line_reader_rest(&verbs->process.lines);
  if (left && *left) add_line(verbs, left);
  add_words(verbs);
  process_describe_end(&verbs->process, &verbs->reaper, END_MS, how, sizeof how);
  add_line(verbs, "");
  add_line(verbs, *how ? how : "ended");
  verbs->running = false;
}

bool verbs_poll(Verbs *verbs) {
  if (!verbs_running(verbs)) return false;
  int before = verbs->n_lines;
  long got;
  while ((got = line_reader_fill(&verbs->process.lines, verbs->process.out)) > 0 &&
         verbs->n_lines < LINES_MAX)
    take_lines(verbs);
  process_read_words(&verbs->process);
  if (got >= 0) end(verbs);  // at its end, or more than anybody reads
  reaper_collect(&verbs->reaper);
  return verbs->n_lines > before;
}

void verbs_stop(Verbs *verbs) {
  if (!verbs_running(verbs)) return;
  process_kill(&verbs->process, &verbs->reaper);
  reaper_collect(&verbs->reaper);
  verbs->running = false;
}
