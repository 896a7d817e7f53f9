// gemmview decode: the name of a cuBLAS or CUTLASS kernel, piece by piece, and the nearest
// schedule.
//
//   gemmview decode ampere_h16816gemm_128x128_ldg8_stages_64x3_nn
//   gemmview decode -k TARGET=a100,M=8192 s1688gemm_64x256_16x4
//
// Facts that no knob says stand behind the schedule. Exit status 1 when the schedule breaks a rule
// on the target (the rule is named), 2 when the text holds no such name.
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_ladder.h"
#include "model/lessons/claims.h"
#include "model/schedules/decode.h"

CommandRun cmd_decode;

typedef struct DecodeOptions {
  const char *state;
  bool json;
} DecodeOptions;

static const Option OPTIONS[] = {
    OPTION_STATE(DecodeOptions),
    OPTION_JSON(DecodeOptions),
};

enum { CLAIMS_MAX = 16 };

typedef struct Decoded {
  Arena *arena;
  DecodedKernel kernel;
  DecodedSchedule near;
  const Model *model;
  int n_claims;
  const ClaimRow *claim[CLAIMS_MAX];
  ClaimFound found[CLAIMS_MAX];
} Decoded;

// ---- what articles say of it --------------------------------------------------------------------

static void take_claims(Decoded *decoded, const ClaimList *list, const FactWorld *world,
                        Diags *diags) {
  for (int i = 0; list && i < list->n && decoded->n_claims < CLAIMS_MAX; i++) {
    const ClaimRow *row = &list->row[i];
    if (!row->kernel || !strstr(decoded->kernel.name, row->kernel)) continue;
    ClaimFound *found = &decoded->found[decoded->n_claims];
    if (claims_find(decoded->arena, world, row, found, diags))
      decoded->claim[decoded->n_claims++] = row;
  }
}

static bool find_claims(Decoded *decoded, const TargetTable *targets, Diags *diags) {
  Arena *arena = decoded->arena;
  FactWorld world = {.targets = targets, .ladders = cli_ladders(arena, diags)};
  while (world.ladders && world.ladders[world.n_ladders]) world.n_ladders++;
  EmbeddedList files = embed_list(arena, "claims/");
  for (int i = 0; i < files.count && !diags->count; i++) {
    const EmbeddedFile *file = embed_find(arena, files.paths[i]);
    const ClaimList *list = claims_read(arena, file->text, file->size, file->path, &world, diags);
    take_claims(decoded, list, &world, diags);
  }
  return !diags->count;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_text(const Decoded *decoded) {
  const DecodedKernel *kernel = &decoded->kernel;
  printf("%s: %s\n\n", kernel->name, decoded_family_name(kernel->family));
  for (int i = 0; i < kernel->n_parts; i++)
    printf("  %-22s %s\n", kernel->part[i].text,
           *kernel->part[i].meaning ? kernel->part[i].meaning : "(not known)");
  printf("\nnearest schedule\n  AUTO=0,%s\n", decoded->near.knobs);
  if (decoded->near.n_notes) puts("\ndifferences that the knobs cannot express");
  for (int i = 0; i < decoded->near.n_notes; i++) printf("  %s\n", decoded->near.note[i]);
  if (decoded->n_claims) puts("\npublished figures, beside those found here");
  for (int i = 0; i < decoded->n_claims; i++) {
    const ClaimFound *found = &decoded->found[i];
    printf("  %-42s %s", decoded->claim[i]->what, found->says);
    if (*found->model) printf("; here %s", found->model);
    printf(" (%s)\n", decoded->claim[i]->gpu);
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

static int claim_index(const Decoded *decoded, const ClaimFound *found) {
  return (int)(found - decoded->found);
}

#define FORM_FILE "cli/commands/forms/cmd_decode.form"
#include "base/form_make.h"

// ---- the command --------------------------------------------------------------------------------

static int run_given(Arena *arena, const DecodeOptions *given, int argc, char **argv,
                     Diags *diags) {
  if (argc != 2) {
    diag_add(diags, "usage", "the name of one kernel is needed")->nearest =
        "ampere_h16816gemm_128x128_ldg8_stages_64x3_nn";
    return cli_fail(diags);
  }
  Decoded decoded = {.arena = arena};
  Schedule base;
  TargetTable *targets = ARENA_NEW(arena, TargetTable);
  if (!decode_kernel(arena, argv[1], &decoded.kernel, diags)) return cli_fail(diags);
  if (!cli_schedule(given->state, &base, diags) || !cli_targets(arena, targets, diags))
    return cli_fail(diags);
  decoded.near = decode_schedule(arena, &decoded.kernel, &base);
  decoded.model = model_build(arena, targets, &decoded.near.schedule);
  if (!find_claims(&decoded, targets, diags)) return cli_fail(diags);
  if (given->json)
    cli_print_document(arena, &decode_form, &decoded, &decoded);
  else
    print_text(&decoded);
  if (decoded.model->ok) return CLI_OK;
  return cli_error(CLI_NO, "the nearest schedule is not legal: %s",
                   decoded.model->diags.first->text);
}

int cmd_decode(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  DecodeOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}
