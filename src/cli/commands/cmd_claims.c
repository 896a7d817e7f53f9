// gemmview claims: what the articles count, beside what is found here.
//
//   gemmview claims              every ladder's
//   gemmview claims tf32         those of one
//
// Exit status 0 also where a claim and the model differ: the sentence beside it says why.
#include <math.h>
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "tui/session/claim_rows.h"

typedef struct ClaimsOptions {
  bool json, csv;
} ClaimsOptions;

static const Option options[] = {OPTION_JSON(ClaimsOptions), OPTION_CSV(ClaimsOptions)};

static void print_text(Arena *arena, const Published *said) {
  printf("%s: %s\n", said->list->ladder, said->list->source);
  for (int i = 0; i < said->list->n; i++) {
    const ClaimRow *row = &said->list->row[i];
    const ClaimFound *found = &said->found[i];
    printf("\n%s\n  article  %s (%s)\n", row->what, found->says, row->gpu);
    if (*found->model)
      printf("  here     %s, %s: %s\n", found->model, fact_origin_text(found->value.origin),
             claim_verdict_text(arena, found));
    printf("  %s\n", found->why);
  }
}

// A claim beside the value found here.
typedef struct ShownClaim {
  const ClaimList *list;
  const ClaimRow *row;
  const ClaimFound *found;
} ShownClaim;

enum { CLAIMS_MAX = 4096 };

typedef struct ClaimsShown {
  int n;
  ShownClaim claim[CLAIMS_MAX];
} ClaimsShown;

#define FORM_FILE "cli/commands/forms/cmd_claims.form"
#include "base/form_make.h"

static void take(ClaimsShown *shown, const Published *said) {
  for (int r = 0; r < said->list->n && shown->n < CLAIMS_MAX; r++)
    shown->claim[shown->n++] = (ShownClaim){said->list, &said->list->row[r], &said->found[r]};
}

#define COLUMNS "ladder,what,claim,found,verdict,state"

static bool print(Arena *arena, Session *session, const ClaimsOptions *given, const char *name,
                  Diags *diags) {
  ClaimsShown *shown = ARENA_NEW(arena, ClaimsShown);
  if (name && !session_go_ladder(session, name, diags)) return false;
  if (given->csv) form_csv_heading(stdout, COLUMNS);
  for (int i = 0, told = 0; i < session->doc.n_ladders; i++) {
    if (name && session->doc.ladders[i] != session->doc.ladder) continue;
    const Published *said = published_of(session, session->doc.ladders[i]);
    if (said->trouble) diag_add(diags, "claims", "%s", said->trouble);
    if (given->json || given->csv) take(shown, said);
    if (given->json || given->csv || said->list->n == 0) continue;
    if (told++) puts("");
    print_text(arena, said);
  }
  if (given->json) cli_print_document(arena, &claims_form, shown, NULL);
  for (int i = 0; given->csv && i < shown->n; i++)
    form_csv_row(stdout, arena, &shown_claim_form, COLUMNS, &shown->claim[i], NULL);
  return !diags->count;
}

int cmd_claims(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  ClaimsOptions given = {0};
  bool ok = options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags);
  if (ok && argc > 2) diag_add(&diags, "usage", "one ladder is needed, not %d", argc - 1);
  if (ok && given.json && given.csv)
    diag_add(&diags, "usage", "--json and --csv exclude each other");
  if (diags.count) return cli_fail(&diags);
  Session *session = session_open(&(SessionOptions){0}, &diags);
  ok = session && print(arena, session, &given, argc > 1 ? argv[1] : NULL, &diags);
  int status = ok ? CLI_OK : cli_fail(&diags);
  if (session) session_close(session);
  return status;
}
