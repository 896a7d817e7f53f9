// Files of claims: JSON text in, a const ClaimList out; and a claim put beside the model.
//
// Worked example: {"what": "registers of a thread", "rung": "fp32/tma", "value": 255, "unit":
// "registers", "fact": "registers", "why": "…"} builds the rung's program, asks it for the fact
// "registers", finds 162 and says that the two differ.
#include "model/lessons/claims.h"

#include <math.h>

#include "base/json.h"
#include "base/str.h"

static const char *const list_keys[] = {"ladder", "source", "gpu", "claims"};
static const char *const row_keys[] = {"what", "rung", "state", "value",  "unit",  "says",
                                       "fact", "why",  "gpu",   "kernel", "beside"};
static const char *const beside_keys[] = {"what", "value", "unit", "fact"};

static const double ROUNDED = 0.0005;

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

const char *claim_verdict_name(ClaimVerdict verdict) {
  static const char *const names[] = {[CLAIM_TOLD] = "told",
                                      [CLAIM_AGREES] = "agrees",
                                      [CLAIM_DIFFERS] = "differs",
                                      [CLAIM_ABOVE] = "above"};
  return names[verdict];
}

const char *claim_verdict_text(Arena *arena, const ClaimFound *found) {
  if (found->verdict != CLAIM_ABOVE) return claim_verdict_name(found->verdict);
  return arena_printf(arena, "above the %slimit by %.2g %%",
                      found->value.origin == FACT_ESTIMATED ? "estimated " : "",
                      100 * found->above);
}

// ---- reading ------------------------------------------------------------------------------------

static void tell(Diags *diags, const JsonValue *object, const char *key, const Diags *inner) {
  const JsonValue *value = json_object_get(object, key);
  for (const Diag *d = inner->first; d; d = d->next)
    json_diag(diags, value ? value : object, "%s", d->text)->nearest = d->nearest;
}

static void read_schedule(const FactWorld *world, const JsonValue *object, Schedule *out,
                          Diags *diags) {
  const char *rung_name = NULL, *knobs = NULL;
  *out = schedule_plain();
  Diags inner = diags_new(diags->arena);
  if (json_optional_string(object, "rung", &rung_name, diags) && rung_name) {
    const Rung *rung = fact_find_rung(world, rung_name, NULL, &inner);
    if (rung) *out = rung->schedule;
    tell(diags, object, "rung", &inner);
  }
  inner = diags_new(diags->arena);
  if (json_optional_string(object, "state", &knobs, diags) && knobs &&
      !schedule_parse(out, knobs, &inner))
    tell(diags, object, "state", &inner);
}

static void read_beside(const JsonValue *object, ClaimBeside *out, Diags *diags) {
  const JsonValue *value = json_object_get(object, "value");
  out->unit = "";
  json_check_keys(object, beside_keys, COUNT(beside_keys), diags);
  json_require_string(object, "what", &out->what, diags);
  json_require_string(object, "fact", &out->fact, diags);
  json_optional_string(object, "unit", &out->unit, diags);
  if (!value || !json_read_double(value, &out->value, diags))
    json_diag(diags, object, "\"value\" is missing");
}

static void read_all_beside(Arena *arena, const JsonValue *object, ClaimRow *row, Diags *diags) {
  const JsonValue *all = json_object_get(object, "beside");
  if (!all) return;
  row->n_beside = json_count(json_require_array(object, "beside", diags));
  ClaimBeside *beside = ARENA_ARRAY(arena, ClaimBeside, row->n_beside);
  for (int i = 0; i < row->n_beside; i++) read_beside(json_at(all, i), &beside[i], diags);
  row->beside = beside;
}

static void read_row(const FactWorld *world, const JsonValue *object, const char *gpu,
                     ClaimRow *row, Diags *diags) {
  row->gpu = gpu;
  row->unit = "";
  json_check_keys(object, row_keys, COUNT(row_keys), diags);
  json_require_string(object, "what", &row->what, diags);
  json_require_string(object, "why", &row->why, diags);
  json_optional_string(object, "says", &row->says, diags);
  json_optional_string(object, "unit", &row->unit, diags);
  json_optional_string(object, "fact", &row->fact, diags);
  json_optional_string(object, "gpu", &row->gpu, diags);
  json_optional_string(object, "kernel", &row->kernel, diags);
  const JsonValue *number = json_object_get(object, "value");
  row->has_value = number && json_read_double(number, &row->value, diags);
  if (row->has_value == (row->says != NULL))
    json_diag(diags, object, "a claim needs a \"value\", or text in \"says\"");
  read_schedule(world, object, &row->schedule, diags);
  read_all_beside(diags->arena, object, row, diags);
}

const ClaimList *claims_read(Arena *arena, const char *text, size_t n, const char *what,
                             const FactWorld *world, Diags *diags) {
  int before = diags->count;
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root) return NULL;
  ClaimList *list = ARENA_NEW(arena, ClaimList);
  const char *gpu = NULL;
  json_check_keys(root, list_keys, COUNT(list_keys), diags);
  json_require_string(root, "ladder", &list->ladder, diags);
  json_require_string(root, "source", &list->source, diags);
  json_require_string(root, "gpu", &gpu, diags);
  const JsonValue *claims = json_require_array(root, "claims", diags);
  list->n = json_count(claims);
  ClaimRow *row = ARENA_ARRAY(arena, ClaimRow, list->n);
  for (int i = 0; i < list->n; i++) read_row(world, json_at(claims, i), gpu, &row[i], diags);
  list->row = row;
  return diags->count == before ? list : NULL;
}

// ---- finding ------------------------------------------------------------------------------------

// The claim in the fact's own words, so that both read alike: "8 ways", "1 block".
static const char *say(Arena *arena, const ClaimRow *row) {
  if (!row->has_value) return row->says;
  bool whole = !(row->value > floor(row->value));
  FactValue value = {.kind = whole ? FACT_COUNT : FACT_REAL, .unit = row->unit};
  value.number = row->value;
  return fact_say(arena, &value);
}

// The share by which the claim is above what the fact says that it can be at most; 0 where it is
// not. What a printed figure was rounded by does not count.
static double above_limit(const ClaimRow *row, const FactValue *value) {
  const double above = row->value / value->limit - 1;
  return value->limit > 0 && above > ROUNDED ? above : 0;
}

// Published figures are rounded: two digits of them count.
static void judge(const ClaimRow *row, ClaimFound *out) {
  const FactValue *value = &out->value;
  bool counts = value->kind == FACT_COUNT || value->kind == FACT_REAL;
  if (row->has_value != counts || (!counts && value->kind != FACT_WORD)) return;
  double off = fabs(row->value - value->number), most = fmax(fabs(row->value), value->number);
  bool right = counts ? off <= 0.02 * most : fact_check(value, row->says) == FACT_RIGHT;
  out->above = counts ? above_limit(row, value) : 0;
  out->verdict = out->above > 0 ? CLAIM_ABOVE : right ? CLAIM_AGREES : CLAIM_DIFFERS;
}

// A sentence about records keeps its dashes if the records are other people's, or none.
static const char *fill(const FactScene *scene, const char *why, Diags *diags) {
  Diags inner = diags_new(scene->arena);
  const char *text = fact_fill(scene, why, &inner);
  for (const Diag *d = inner.first; d; d = d->next)
    if (!str_equal(d->rule, "record"))
      diag_add(diags, d->rule, "%s", d->text)->nearest = d->nearest;
  return text;
}

static const char *number_text(Arena *arena, double number, const char *unit) {
  return fact_say(arena, &(FactValue){.kind = FACT_COUNT, .unit = unit, .number = number});
}

// " Of the same line: stack 304 B (here 32), …": ours by the facts that are named.
static const char *with_beside(const FactScene *scene, const ClaimRow *row, const char *why,
                               Diags *diags) {
  Str out = str_new(scene->arena);
  str_printf(&out, "%s Of the same line of the table:", why);
  for (int i = 0; i < row->n_beside; i++) {
    const ClaimBeside *beside = &row->beside[i];
    FactValue value;
    const char *here = "-";
    if (fact_compute(scene, beside->fact, &value, diags))
      here = number_text(scene->arena, value.number, beside->unit);
    str_printf(&out, "%s %s %s (here %s)", i ? "," : "", beside->what,
               number_text(scene->arena, beside->value, beside->unit), here);
  }
  str_add(&out, ".");
  return out.text;
}

bool claims_find(Arena *arena, const FactWorld *world, const ClaimRow *row, ClaimFound *out,
                 Diags *diags) {
  int before = diags->count;
  *out = (ClaimFound){.says = say(arena, row), .model = "", .why = row->why};
  const Model *model = model_build(arena, world->targets, &row->schedule);
  if (!model->ok) {
    diag_add(diags, model->diags.first->rule, "%s", model->diags.first->text);
    return false;
  }
  FactScene scene = {.arena = arena, .world = world, .model = model};
  out->why = fill(&scene, row->why, diags);
  if (row->n_beside) out->why = with_beside(&scene, row, out->why, diags);
  if (!row->fact) return diags->count == before;
  if (!fact_compute(&scene, row->fact, &out->value, diags)) return false;
  out->model = fact_say(arena, &out->value);
  judge(row, out);
  return diags->count == before;
}
