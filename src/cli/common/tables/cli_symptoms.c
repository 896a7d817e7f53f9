// The table of breakages, turned round: symptoms with the breakages that show them.
//
// A breakage that shows several symptoms, by the kernel and by chance, stands below each of them.
#include "cli/common/tables/cli_symptoms.h"

#include <stdio.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"

typedef struct Asked {
  Arena *arena;
  const Program *program;  // NULL: any
  Symptom first, last;
} Asked;

static bool may_be(const Asked *asked, Symptom symptom, BreakageId id) {
  if (!(breakage_seen(id) >> symptom & 1)) return false;
  return !asked->program || program_break(asked->arena, asked->program, id);
}

static void print_text(const Asked *asked) {
  char all[SYMPTOMS_BYTES];
  for (int s = (int)asked->first; s <= (int)asked->last; s++) {
    printf("%s%s: %s\n", s > (int)asked->first ? "\n" : "", symptom_name((Symptom)s),
           symptom_help((Symptom)s));
    for (int i = 0; i < BREAK_COUNT; i++)
      if (may_be(asked, (Symptom)s, (BreakageId)i))
        printf("  %-23s %s (%s)\n", breakage_name((BreakageId)i), breakage_help((BreakageId)i),
               breakage_symptoms(all, (BreakageId)i));
  }
}

static void put_breakage(JsonWriter *w, BreakageId id) {
  json_begin_object(w);
  json_member_string(w, "name", breakage_name(id));
  json_member_string(w, "help", breakage_help(id));
  json_end_object(w);
}

static void print_json(const Asked *asked) {
  Str out = str_new(asked->arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_key(&w, "symptoms");
  json_begin_array(&w);
  for (int s = (int)asked->first; s <= (int)asked->last; s++) {
    json_begin_object(&w);
    json_member_string(&w, "name", symptom_name((Symptom)s));
    json_member_string(&w, "help", symptom_help((Symptom)s));
    json_key(&w, "breakages");
    json_begin_array(&w);
    for (int i = 0; i < BREAK_COUNT; i++)
      if (may_be(asked, (Symptom)s, (BreakageId)i)) put_breakage(&w, (BreakageId)i);
    json_end_array(&w);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

bool cli_print_symptoms(Arena *arena, const Program *program, const char *name, bool json,
                        Diags *diags) {
  const char *names[SYMPTOM_COUNT + 1];
  for (int i = 0; i < SYMPTOM_COUNT; i++) names[i] = symptom_name((Symptom)i);
  names[SYMPTOM_COUNT] = "all";
  const bool all = str_equal(name, "all");
  const Symptom one = symptom_find(name);
  if (!all && one == SYMPTOM_COUNT) {
    diag_add_unknown(diags, "usage", "symptom", name, names, SYMPTOM_COUNT + 1);
    return false;
  }
  const Asked asked = {arena, program, all ? 0 : one, all ? SYMPTOM_COUNT - 1 : one};
  json ? print_json(&asked) : print_text(&asked);
  return true;
}
