// The table of breakages, turned round: symptoms with the breakages that show them.
//
// A breakage that shows several symptoms, by the kernel and by chance, stands below each of them.
#include "cli/common/tables/cli_symptoms.h"

#include <stdio.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/documents.h"

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

typedef struct ShownSymptom {
  Symptom symptom;
  int n;  // breakages that show it
  BreakageId breakage[BREAK_COUNT];
} ShownSymptom;

typedef struct SymptomsShown {
  int n;
  ShownSymptom symptom[SYMPTOM_COUNT];
} SymptomsShown;

#define FORM_FILE "cli/common/tables/cli_symptoms.form"
#include "base/form_make.h"

static void print_json(const Asked *asked) {
  SymptomsShown *shown = ARENA_NEW(asked->arena, SymptomsShown);
  for (int s = (int)asked->first; s <= (int)asked->last; s++) {
    ShownSymptom *at = &shown->symptom[shown->n++];
    *at = (ShownSymptom){.symptom = (Symptom)s};
    for (int i = 0; i < BREAK_COUNT; i++)
      if (may_be(asked, (Symptom)s, (BreakageId)i)) at->breakage[at->n++] = (BreakageId)i;
  }
  cli_print_document(asked->arena, &symptoms_form, shown, NULL);
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
