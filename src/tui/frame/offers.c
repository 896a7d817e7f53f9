// The tables of commands, views, actions, rungs, ladders, lessons and knobs → names with a line
// each.
//
// Worked example: "rung pad" begins with a command that takes rungs, so the second word is looked
// up among the rungs of the present ladder: padded, with its title. "exp" is looked up among all
// words that a line may begin with: the views explore and the command export.
#include "tui/frame/offers.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "banks/engine/bank.h"
#include "base/str.h"
#include "model/interp/breakage.h"
#include "model/readings/rules/knob_use.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/palette_commands.h"
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/frame/view.h"

static void offer(Offers *all, const char *name, const char *line, const char *prefix) {
  if (all->n == OFFERS_MAX || strncasecmp(name, prefix, strlen(prefix)) != 0) return;
  for (int i = 0; i < all->n; i++)
    if (str_equal(all->offer[i].name, name)) return;
  all->offer[all->n++] = (Offer){name, line ? line : ""};
}

static void offer_actions(Offers *all, const Action *action, int n, const char *prefix) {
  for (int i = 0; i < n; i++) offer(all, action[i].name, action[i].help, prefix);
}

static void offer_knobs(Offers *all, const char *prefix) {
  for (int i = 0; i < KNOB_COUNT; i++) offer(all, knob_table[i].name, knob_table[i].help, prefix);
}

static void offer_views(Offers *all, const char *prefix) {
  for (int i = 0; i < view_count; i++) offer(all, view_table[i].name, view_table[i].help, prefix);
}

static void first_words(const Session *session, const char *prefix, Offers *all) {
  const ViewBody *body = view_table[session->at.view].body;
  const Verbs *verbs = pager_of(session)->verbs;
  for (int i = 0; i < palette_command_count; i++)
    offer(all, palette_commands[i].name, palette_commands[i].help, prefix);
  offer_views(all, prefix);
  offer_actions(all, body->actions, body->n_actions, prefix);
  offer_actions(all, global_actions, global_action_count, prefix);
  for (int i = 0; i < verbs_count(verbs); i++)
    offer(all, verbs_name(verbs, i), verbs_usage(verbs, i), prefix);
  offer_knobs(all, prefix);
}

static void second_words(const Session *session, const char *command, const char *prefix,
                         Offers *all) {
  const Tutor *tutor = tutor_of(session);
  if (str_starts(command, "rung") || str_starts(command, "compare"))
    for (int i = 0; i < session->doc.ladder->n_rungs; i++)
      offer(all, session->doc.ladder->rung[i].name, session->doc.ladder->rung[i].title, prefix);
  if (str_starts(command, "view") || str_starts(command, "pin")) offer_views(all, prefix);
  if (str_starts(command, "ladder") || str_starts(command, "claims "))
    for (int i = 0; i < session->doc.n_ladders; i++)
      offer(all, session->doc.ladders[i]->name, session->doc.ladders[i]->title, prefix);
  for (int i = 0; str_starts(command, "banks") && i < banks_op_count(); i++)
    offer(all, banks_op_at(i)->name, banks_op_at(i)->ptx, prefix);
  for (int i = 0; str_starts(command, "lesson") && i < tutor->n_lessons; i++)
    offer(all, tutor->lesson[i]->name, tutor->lesson[i]->title, prefix);
  if (str_starts(command, "break ") || str_starts(command, "pipeline break "))
    for (int i = 0; i < BREAK_COUNT; i++)
      offer(all, breakage_name((BreakageId)i), breakage_help((BreakageId)i), prefix);
  if (str_starts(command, "set") || str_starts(command, "compare") ||
      str_starts(command, "sweep") || str_starts(command, "knob"))
    offer_knobs(all, prefix);
}

// "export FILE  the kernel as …": what follows the command that the text begins with.
static const char *usage_of(const Session *session, const char *text) {
  const size_t n = strcspn(text, " ");
  const Verbs *verbs = pager_of(session)->verbs;
  if (!text[n]) return NULL;
  for (int i = 0; i < palette_command_count; i++) {
    const PaletteCommand *command = &palette_commands[i];
    if (strlen(command->name) == n && strncasecmp(command->name, text, n) == 0)
      return arena_printf(session->frame, "%s %s: %s", command->name, command->arguments,
                          command->help);
  }
  for (int i = 0; i < verbs_count(verbs); i++)
    if (strlen(verbs_name(verbs, i)) == n && strncasecmp(verbs_name(verbs, i), text, n) == 0)
      return arena_printf(session->frame, "%s %s", verbs_name(verbs, i), verbs_usage(verbs, i));
  return NULL;
}

const char *offers_word(const char *text) {
  const char *word = text;
  for (const char *c = text; *c; c++)
    if (*c == ' ' || *c == ',') word = c + 1;
  return word;
}

Offers offers_of(const Session *session, const char *text) {
  Offers all = {.usage = usage_of(session, text)};
  const char *word = offers_word(text);
  if (word == text || word[-1] == ',')
    first_words(session, word, &all);
  else
    second_words(session, text, word, &all);
  return all;
}

// ---- knobs --------------------------------------------------------------------------------------

// How near a filter is to a knob: 0 its name begins so, 3 only its help has it; -1: nowhere.
static int nearness(const Knob *knob, const char *filter) {
  if (strncasecmp(knob->name, filter, strlen(filter)) == 0) return 0;
  if (strcasestr(knob->name, filter)) return 1;
  if (strcasestr(knob->aliases, filter)) return 2;
  return strcasestr(knob->help, filter) ? 3 : -1;
}

// Columns of the values, so that what a knob means begins in one column; long layouts stand out.
static int value_cols(const Session *session) {
  enum { VALUE_MAX = 10 };
  const Schedule *now = &session->doc.now.schedule;
  int cols = 0;
  for (int i = 0; i < KNOB_COUNT; i++) {
    const int has = utf8_columns(knob_value_text(session->frame, now, (KnobId)i));
    if (knob_is_used((KnobId)i, now) && has > cols && has <= VALUE_MAX) cols = has;
  }
  return cols;
}

Offers offers_of_knobs(const Session *session, const char *filter) {
  const Schedule *now = &session->doc.now.schedule;
  const int cols = value_cols(session);
  Offers all = {0};
  for (int near = 0; near <= 3; near++)
    for (int i = 0; i < KNOB_COUNT; i++) {
      const Knob *knob = &knob_table[i];
      if (!knob_is_used((KnobId)i, now) || nearness(knob, filter) != near) continue;
      all.offer[all.n++] = (Offer){
          knob->name, arena_printf(session->frame, "%-*s  %s", cols,
                                   knob_value_text(session->frame, now, (KnobId)i), knob->help)};
    }
  return all;
}
