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
#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
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
  if (decoded->near.n_notes) puts("\nwhat the knobs do not say, or say in its place");
  for (int i = 0; i < decoded->near.n_notes; i++) printf("  %s\n", decoded->near.note[i]);
  if (decoded->n_claims) puts("\npublished of it, beside what is found here");
  for (int i = 0; i < decoded->n_claims; i++) {
    const ClaimFound *found = &decoded->found[i];
    printf("  %-42s %s", decoded->claim[i]->what, found->says);
    if (*found->model) printf("; here %s", found->model);
    printf(" (%s)\n", decoded->claim[i]->gpu);
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_kernel(JsonWriter *w, const DecodedKernel *kernel) {
  json_member_string(w, "name", kernel->name);
  json_member_string(w, "family", decoded_family_name(kernel->family));
  json_member_known(w, "arch", kernel->arch != 0, kernel->arch);
  json_member_bool(w, "tensor", kernel->tensor);
  json_member_bool(w, "warpgroup", kernel->warpgroup);
  json_member_bool(w, "tensor_memory", kernel->tensor_memory);
  json_member_bool(w, "pair", kernel->pair);
  json_member_bool(w, "block_scaled", kernel->blocks);
  json_member_bool(w, "roles", kernel->roles);
  json_member_string(w, "type", dtype_name(kernel->type));
  json_member_string(w, "accumulator", dtype_name(kernel->acc));
  json_member_string(w, "layout", *kernel->layout ? kernel->layout : NULL);
  const struct {
    const char *key;
    int value;
  } numbers[] = {
      {"tile_m", kernel->tile_m},       {"tile_n", kernel->tile_n},
      {"tile_k", kernel->tile_k},       {"stages", kernel->stages},
      {"mma_m", kernel->mma_m},         {"mma_n", kernel->mma_n},
      {"mma_k", kernel->mma_k},         {"warps_m", kernel->warps_m},
      {"warps_n", kernel->warps_n},     {"cluster_m", kernel->cluster_m},
      {"cluster_n", kernel->cluster_n}, {"align", kernel->align},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    json_member_known(w, numbers[i].key, numbers[i].value != 0, numbers[i].value);
}

static void put_parts(JsonWriter *w, const DecodedKernel *kernel) {
  json_key(w, "parts");
  json_begin_array(w);
  for (int i = 0; i < kernel->n_parts; i++) {
    const char *meaning = kernel->part[i].meaning;
    json_begin_object(w);
    json_member_string(w, "text", kernel->part[i].text);
    json_member_string(w, "meaning", *meaning ? meaning : NULL);
    json_end_object(w);
  }
  json_end_array(w);
}

static void print_json(const Decoded *decoded) {
  Str out = str_new(decoded->arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "decode");
  put_kernel(&w, &decoded->kernel);
  put_parts(&w, &decoded->kernel);
  json_member_string(&w, "knobs", decoded->near.knobs);
  json_member_string(&w, "state", schedule_text(decoded->arena, &decoded->near.schedule));
  json_member_bool(&w, "legal", decoded->model->ok);
  json_key(&w, "notes");
  json_begin_array(&w);
  for (int i = 0; i < decoded->near.n_notes; i++) json_put_string(&w, decoded->near.note[i]);
  json_end_array(&w);
  json_key(&w, "claims");
  json_begin_array(&w);
  for (int i = 0; i < decoded->n_claims; i++) {
    json_begin_object(&w);
    json_member_string(&w, "what", decoded->claim[i]->what);
    json_member_string(&w, "claim", decoded->found[i].says);
    json_member_string(&w, "found", *decoded->found[i].model ? decoded->found[i].model : NULL);
    json_member_string(&w, "gpu", decoded->claim[i]->gpu);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

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
    print_json(&decoded);
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
