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

// ---- JSON ---------------------------------------------------------------------------------------

static int lane_count(uint32_t lanes) { return __builtin_popcount(lanes); }

static const int *lanes_of(Arena *arena, uint32_t lanes) {
  int *lane = ARENA_ARRAY(arena, int, BANK_LANES), n = 0;
  for (int i = 0; i < BANK_LANES; i++)
    if (lanes >> i & 1) lane[n++] = i;
  return lane;
}

static const BankCell **busy_cells(Arena *arena, const BankRow *row) {
  const BankCell **cell = ARENA_ARRAY(arena, const BankCell *, BANK_COUNT);
  for (int bank = 0; bank < BANK_COUNT; bank++)
    cell[bank] = row->cells[bank].lane < 0 ? NULL : &row->cells[bank];
  return cell;
}

#define FORM_FILE "banks/engine/bank_batch.form"
#include "base/form_make.h"

static void write_answer(Str *out, const BankAnswer *answer) {
  JsonWriter writer = json_writer(out);
  form_write(&writer, NULL, &bank_answer_form, answer, NULL);
}

void bank_batch_write(Str *out, const BankLine *line, BankCount count) {
  write_answer(out, &(BankAnswer){.op = line->op, .name = line->name, .count = count});
}

void bank_batch_write_error(Str *out, const char *error) {
  write_answer(out, &(BankAnswer){.error = error});
}
