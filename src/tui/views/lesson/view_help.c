// help: every key and command, out of the tables that do the work.
//
// Lines are made in `prepare`: the view one came from first, then what works everywhere, with the
// keys that the view has left to it, then the commands of the palette, the knobs and the glossary.
// The typed words filter them: a line stays where its keys or its words have it.
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "tui/frame/palette_commands.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"

enum { LINES_MAX = 512, KEY_COLS = 16 };

typedef struct HelpLine {
  Style style;
  const char *keys, *text;  // keys NULL: a heading
} HelpLine;

typedef struct Help {
  const char *filter;
  int n_lines, n_max;
  HelpLine *line;
} Help;

static Help *help_new(Arena *arena, int n_max) {
  Help *help = ARENA_NEW(arena, Help);
  *help = (Help){.n_max = n_max, .line = ARENA_ARRAY(arena, HelpLine, n_max)};
  return help;
}

static void add(Help *help, Style style, const char *keys, const char *text) {
  const bool filtered = help->filter && *help->filter;
  if (filtered && (!keys || (!strcasestr(keys, help->filter) && !strcasestr(text, help->filter))))
    return;
  if (help->n_lines < help->n_max) help->line[help->n_lines++] = (HelpLine){style, keys, text};
}

// Keys and what they do, in the lines that they take.
static void add_wrapped(Session *session, Help *help, const char *keys, const char *text) {
  const int cols = session->cols - KEY_COLS - 3;
  const char *filter = help->filter;
  if (filter && *filter && !strcasestr(keys, filter) && !strcasestr(text, filter)) return;
  help->filter = NULL;  // its further rows go with the first
  for (size_t skip; *text; keys = "") {
    size_t n = cols < 1 ? strlen(text) : canvas_line_bytes(text, cols, &skip);
    add(help, STYLE_TEXT, keys, arena_strndup(session->frame, text, n));
    text += cols < 1 ? n : n + skip;
  }
  help->filter = filter;
}

static void add_actions(Session *session, Help *help, const char *context, const Action *action,
                        int n) {
  for (int i = 0; i < n; i++) {
    const char *keys = keymap_keys(session->frame, session->keymap, context, action[i].name);
    if (!*keys) keys = arena_printf(session->frame, ":%s", action[i].name);
    add_wrapped(session, help, keys, action[i].help);
  }
}

// Shows the output of a command instead; its own name is the heading.
static void prepare_output(Session *session) {
  int n = verbs_lines(pager_of(session)->verbs);
  Help *help = help_new(session->frame, n + 1);
  for (int i = 0; i < n; i++)
    add(help, i ? STYLE_TEXT : STYLE_HEADER, NULL, verbs_line(pager_of(session)->verbs, i));
  if (verbs_running(pager_of(session)->verbs))
    add(help, STYLE_NOTE, NULL,
        arena_printf(session->frame, "running; %s ends it", view_key_name(session, "quit")));
  session->prepared = help;
}

static void add_knobs(Session *session, Help *help) {
  add(help, STYLE_TEXT, NULL, "");
  add(help, STYLE_HEADER, NULL, "Knobs");
  for (int i = 0; i < KNOB_COUNT; i++)
    add_wrapped(session, help, knob_table[i].name, knob_table[i].help);
}

// data/glossary.tsv: a word, a tab, what it means.
static void add_words(Session *session, Help *help) {
  const EmbeddedFile *file = embed_find(session->frame, "glossary.tsv");
  if (!file) return;
  add(help, STYLE_TEXT, NULL, "");
  add(help, STYLE_HEADER, NULL, "Words");
  const char *text = arena_strndup(session->frame, file->text, file->size);
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    const size_t word = strcspn(text, "\t");
    if (word < n)
      add_wrapped(session, help, arena_strndup(session->frame, text, word),
                  arena_strndup(session->frame, text + word + 1, n - word - 1));
  }
}

static void help_prepare(Session *session) {
  if (pager_of(session)->shown) {
    prepare_output(session);
    return;
  }
  Help *help = help_new(session->frame, LINES_MAX);
  help->filter = pager_of(session)->filter;
  const View *view = &view_table[session->at.view_before];
  add(help, STYLE_HEADER, NULL, arena_printf(session->frame, "%s: %s", view->title, view->help));
  add_actions(session, help, view->name, view->body->actions, view->body->n_actions);
  add(help, STYLE_TEXT, NULL, "");
  add(help, STYLE_HEADER, NULL, "Everywhere");
  for (int i = 0; i < view_count - 1; i++)
    add_wrapped(session, help,
                keymap_keys(session->frame, session->keymap, view->name,
                            arena_printf(session->frame, "view %s", view_table[i].name)),
                arena_printf(session->frame, "%s: %s", view_table[i].title, view_table[i].help));
  add_actions(session, help, view->name, global_actions, global_action_count);
  add(help, STYLE_TEXT, NULL, "");
  add(help, STYLE_HEADER, NULL, "Commands, after a colon; every name above is one too");
  for (int i = 0; i < palette_command_count; i++) {
    const PaletteCommand *command = &palette_commands[i];
    add_wrapped(session, help, arena_printf(session->frame, ":%s", command->name),
                arena_printf(session->frame, "%s  %s", command->arguments, command->help));
  }
  add_knobs(session, help);
  add_words(session, help);
  if (help->n_lines == 0) {
    help->filter = NULL;
    add(help, STYLE_NOTE, NULL,
        arena_printf(session->frame, "no line has \"%s\"", pager_of(session)->filter));
  }
  session->prepared = help;
}

static void help_draw(Canvas *canvas, Rect in, const Session *session) {
  const Help *help = session->prepared;
  int cursor = session_view_state_const(session)->cursor;
  ViewList list = view_list(in, cursor, help->n_lines);
  while (view_list_next(canvas, &list)) {
    const HelpLine *line = &help->line[list.at];
    int col = 1;
    if (line->keys) {
      canvas_fit(canvas, list.row, 0, 1, KEY_COLS, ALIGN_LEFT, STYLE_KEY, line->keys);
      col += KEY_COLS + 1;
    }
    canvas_fit(canvas, list.row, 0, col, in.cols - col, ALIGN_LEFT, line->style, line->text);
    if (list.at == cursor) canvas_over(canvas, list.row, STYLE_SELECTED);
  }
}

static int help_count(const Session *session) {
  const Help *help = session->prepared;
  return help ? help->n_lines : 0;
}

static const char *help_line(const Session *session, int i) {
  const Help *help = session->prepared;
  return help->line[i].text;
}

static void help_enter(Session *session) {
  session_view_state(session)->cursor = 0;
  pager_of(session)->shown = false;
  pager_of(session)->filter[0] = '\0';
}

// Letters filter while they are typed; the key of help closes it from there, too.
static void help_typed(Session *session, TextFieldResult result) {
  Pager *pager = pager_of(session);
  session_view_state(session)->cursor = 0;
  if (result == TEXTFIELD_CHANGED && strchr(session->prompt.field.text, '?')) {
    view_show(session, session->at.view_before);
    return;
  }
  if (result == TEXTFIELD_CANCELLED) pager->filter[0] = '\0';
  if (result == TEXTFIELD_CHANGED)
    snprintf(pager->filter, sizeof pager->filter, "%.60s", session->prompt.field.text);
}

const Form help_data_form = {.name = "help_data", .help = "no data"};

const ViewBody help_view = {.state_bytes = sizeof(Pager),
                            .shows_subject = true,
                            .enter = help_enter,
                            .prepare = help_prepare,
                            .draw = help_draw,
                            .filters = true,
                            .typed = help_typed,
                            .field_label = "filter: ",
                            .count = help_count,
                            .line = help_line};
