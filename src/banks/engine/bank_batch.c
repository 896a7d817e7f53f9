// JSON ↔ accesses; the reckoning is bank.c's and the checks are bank_input.c's.
//
// A line is read in the order op, addr, name, and as much as possible is reported at once: a line
// with an unknown op and a broken address list gives a diagnostic for the op only, since without
// the op there is no access size to check addresses against.
#include "banks/engine/bank_batch.h"

#include "banks/engine/bank_input.h"

static bool read_array(const BankOp *op, const JsonValue *array, int64_t addr[BANK_LANES],
                       Diags *diags) {
  int64_t values[BANK_LANES] = {0};
  int n = json_count(array);
  for (int i = 0; i < n && i < BANK_LANES; i++)
    if (!json_read_int64(json_at(array, i), INT32_MIN, INT64_C(1) << 48, &values[i], diags))
      return false;
  return bank_input_check(op, values, n, addr, diags);
}

static bool read_addresses(const BankOp *op, const JsonValue *root, int64_t addr[BANK_LANES],
                           Diags *diags) {
  const JsonValue *value = json_object_get(root, "addr");
  if (json_kind(value) != JSON_STRING) {
    value = json_require_array(root, "addr", diags);
    return value && read_array(op, value, addr, diags);
  }
  const char *text = NULL;
  return json_read_string(value, &text, diags) && bank_input_addresses(op, text, addr, diags);
}

bool bank_batch_read(Arena *arena, const char *text, size_t n, const char *what, BankLine *out,
                     Diags *diags) {
  *out = (BankLine){.measured_wavefronts = -1, .measured_conflicts = -1};
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root) return false;
  const char *op_name = NULL;
  if (!json_require_string(root, "op", &op_name, diags)) return false;
  out->op = bank_input_op(op_name, diags);
  if (!out->op || !read_addresses(out->op, root, out->addr, diags)) return false;
  int most = BANK_WAVEFRONTS_MAX * BANK_COUNT;
  return json_optional_string(root, "name", &out->name, diags) &&
         json_optional_int64(root, "wavefronts", 0, most, &out->measured_wavefronts, diags) &&
         json_optional_int64(root, "conflicts", 0, most, &out->measured_conflicts, diags);
}

bool bank_batch_agrees(const BankLine *line, BankCount count) {
  if (!count.known) return true;
  bool wavefronts = line->measured_wavefronts < 0 || line->measured_wavefronts == count.wavefronts;
  return wavefronts &&
         (line->measured_conflicts < 0 || line->measured_conflicts == count.conflicts);
}

static void put_counts(JsonWriter *writer, BankCount count) {
  json_member_known(writer, "wavefronts", count.known, count.wavefronts);
  json_member_known(writer, "conflicts", count.known, count.conflicts);
  json_member_known(writer, "ideal", count.known, count.ideal);
  json_member_known(writer, "ways", count.known, count.ways);
  json_member_known(writer, "phases", count.known, count.phases);
}

// The members "op" … "phases" inside an object that is open; null for what is unknown.
static void put_members(JsonWriter *writer, const BankOp *op, const char *name, BankCount count) {
  json_member_string(writer, "op", op->name);
  if (name) json_member_string(writer, "name", name);
  put_counts(writer, count);
}

void bank_batch_write(Str *out, const BankLine *line, BankCount count) {
  JsonWriter writer = json_writer(out);
  json_begin_object(&writer);
  put_members(&writer, line->op, line->name, count);
  json_end_object(&writer);
}

void bank_batch_write_error(Str *out, const char *error) {
  JsonWriter writer = json_writer(out);
  json_begin_object(&writer);
  json_member_null(&writer, "op");
  put_counts(&writer, (BankCount){.known = false});
  json_member_string(&writer, "error", error);
  json_end_object(&writer);
}

static void put_lanes(JsonWriter *writer, const char *key, uint32_t lanes) {
  json_key(writer, key);
  json_begin_array(writer);
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (lanes >> lane & 1) json_put_int(writer, lane);
  json_end_array(writer);
}

static void put_phase(JsonWriter *writer, const BankMap *map, const BankPhase *phase) {
  json_begin_object(writer);
  json_member_int(writer, "first_lane", phase->first_lane);
  json_member_int(writer, "n_lanes", phase->n_lanes);
  put_lanes(writer, "active", phase->active);
  json_member_known(writer, "wavefronts", map->count.known, phase->wavefronts);
  json_end_object(writer);
}

static void put_row(JsonWriter *writer, const BankRow *row) {
  json_begin_object(writer);
  json_member_int(writer, "phase", row->phase);
  json_key(writer, "served");
  json_begin_array(writer);
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    const BankCell *cell = &row->cells[bank];
    if (cell->lane < 0) continue;
    json_begin_object(writer);
    json_member_int(writer, "bank", bank);
    json_member_int(writer, "word", cell->word);
    put_lanes(writer, "lanes", cell->lanes);
    json_end_object(writer);
  }
  json_end_array(writer);
  json_end_object(writer);
}

void bank_batch_write_map(JsonWriter *writer, const BankMap *map) {
  put_members(writer, map->op, NULL, map->count);
  json_member_string(writer, "sass", map->op->sass);
  json_member_string(writer, "ptx", map->op->ptx);
  json_member_known(writer, "merge_distance", map->count.known, map->merge_distance);
  json_key(writer, "phase_list");
  json_begin_array(writer);
  for (int p = 0; p < map->count.phases; p++) put_phase(writer, map, &map->phases[p]);
  json_end_array(writer);
  json_key(writer, "rows");
  json_begin_array(writer);
  for (int r = 0; r < map->n_rows; r++) put_row(writer, &map->rows[r]);
  json_end_array(writer);
}
