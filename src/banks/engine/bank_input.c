// Text → 32 checked addresses.
//
// The text that a debugger or a program prints around addresses is taken off first (bank_paste.h).
// Which of the two forms a text has is then decided by one look: a text in which a name of the lane
// occurs is an expression, everything else is a list. A list is cut into tokens at separators; each
// token gives one value, or several if it has colons. Values beyond 32 are counted but not kept, so
// that the message can say the number of them. Checks come last and are shared with addresses that
// were read from JSON: their number, each within shared memory, each a multiple of the access size.
//
// Worked example: lds128 with "0:128:16 18 _ …" gives lane 8 the value 18 and the diagnostic
//   addr_align: lane 8: 18 is not a multiple of 16, the size of an lds128 access; nearest: 16
// Hardware would raise a fault at that lane, so there is no count to show for the others either.
#include "banks/engine/bank_input.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_paste.h"
#include "banks/engine/formula.h"
#include "banks/engine/sector.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"

enum { VAR_LANE, VAR_THREAD, VAR_WARP, VARS };
static const FormulaName LANE_NAMES[] = {
    {"lane", VAR_LANE},          {"lane_id", VAR_LANE}, {"laneid", VAR_LANE}, {"tid", VAR_THREAD},
    {"threadIdx.x", VAR_THREAD}, {"tx", VAR_THREAD},    {"warp", VAR_WARP},   {"warp_id", VAR_WARP},
};

enum {
  N_LANE_NAMES = sizeof LANE_NAMES / sizeof LANE_NAMES[0],
  NAMED_AT_MOST = 4,  // of many lanes with the same fault, these are named and the rest counted
};

// Numbers beyond this are refused as they are read, so that sums of a few cannot overflow.
static const int64_t NUMBER_MAX = (int64_t)1 << 57;
// Generic addresses of shared memory begin at a multiple of this.
static const int64_t WINDOW_BYTES = (int64_t)1 << 24;

// "ld.shared.v4.f32" is "ld.shared.v4.b32" to the banks: the letter of the type is left out.
static bool same_ptx(const char *a, const char *b) {
  const char *dot_a = strrchr(a, '.'), *dot_b = strrchr(b, '.');
  if (!dot_a || !dot_b || dot_a - a != dot_b - b || !dot_a[1] || !dot_b[1]) return false;
  return strncmp(a, b, (size_t)(dot_a - a)) == 0 && str_equal(dot_a + 2, dot_b + 2);
}

// The table of shared memory, and after it the table of global memory.
static const BankOp *op_at(int index) {
  int n = banks_op_count();
  return index < n ? banks_op_at(index) : sectors_op_at(index - n);
}

// Finds an operation as disassemblers and PTX spell it: "LDS.128", "ld.shared.v4.f32", "LDS128".
static const BankOp *op_spelled(const char *name, int n) {
  for (int i = 0; i < n; i++)
    if (str_equal(name, op_at(i)->name)) return op_at(i);
  for (int i = 0; i < n; i++) {
    const BankOp *op = op_at(i);
    if (str_equal_fold(name, op->name) || str_equal_fold(name, op->sass) || same_ptx(name, op->ptx))
      return op;
  }
  return NULL;
}

// Finds a name among the first `n` operations.
static const BankOp *find_op(const char *name, int n, Diags *diags) {
  const BankOp *op = op_spelled(name, n);
  if (op) return op;
  const char **names = ARENA_ARRAY(diags->arena, const char *, n);
  Str all = str_new(diags->arena);
  for (int i = 0; i < n; i++) {
    names[i] = op_at(i)->name;
    str_printf(&all, "%s%s", i ? " " : "", names[i]);
  }
  Diag *diag = diag_add(diags, "bank_op", "there is no access \"%s\"; there are %s",
                        str_sanitise(diags->arena, name), all.text);
  diag->nearest = nearest_name(name, names, n);
  return NULL;
}

const BankOp *bank_input_op_find(const char *name) { return op_spelled(name, banks_op_count()); }

const BankOp *bank_input_op(const char *name, Diags *diags) {
  return find_op(name, banks_op_count(), diags);
}

const BankOp *bank_input_any_op(const char *name, Diags *diags) {
  return find_op(name, banks_op_count() + sectors_op_count(), diags);
}

static int64_t nearest_multiple(int64_t value, int64_t of) {
  int64_t below = value - value % of;
  return value - below > of / 2 ? below + of : below;
}

static void report_misaligned(const BankOp *op, int lane, int64_t value, Diags *diags) {
  Diag *diag = diag_add(diags, "addr_align",
                        "lane %d: %" PRId64 " is not a multiple of %d, the size of one %s access",
                        lane, value, op->bytes, op->name);
  diag->nearest = arena_printf(diags->arena, "%" PRId64, nearest_multiple(value, op->bytes));
}

// The last address at which there is room for the access.
static int64_t last_address(const BankOp *op) {
  return (op->kind == BANK_GLOBAL ? NUMBER_MAX : BANK_SMEM_BYTES_MAX) - op->bytes;
}

static void report_outside(const BankOp *op, int lane, int64_t value, Diags *diags) {
  int64_t last = last_address(op);
  Diag *diag;
  if (value < 0)
    diag = diag_add(diags, "addr_range",
                    "lane %d: %" PRId64 " is negative; only -1 is allowed, for an inactive lane",
                    lane, value);
  else if (op->kind == BANK_GLOBAL)
    diag =
        diag_add(diags, "addr_range",
                 "lane %d: %" PRId64 " is too large for an address: at most 2^57, with its bytes",
                 lane, value);
  else
    diag = diag_add(diags, "addr_range",
                    "lane %d: %" PRId64 " is outside shared memory: %d bytes at %" PRId64
                    " end past 228 KiB, the shared memory of an SM",
                    lane, value, op->bytes, value);
  diag->nearest = value < 0 ? "-1" : arena_printf(diags->arena, "%" PRId64, last);
}

static bool check_values(const BankOp *op, const int64_t *values, int n, Diags *diags) {
  int faults = 0;
  for (int lane = 0; lane < n; lane++) {
    int64_t value = values[lane];
    bool outside = value < BANK_INACTIVE || value > last_address(op);
    bool misaligned = value >= 0 && value % op->bytes != 0;
    if (!outside && !misaligned) continue;
    if (++faults > NAMED_AT_MOST) continue;
    if (outside)
      report_outside(op, lane, value, diags);
    else
      report_misaligned(op, lane, value, diags);
  }
  if (faults > NAMED_AT_MOST)
    diag_add(diags, "addr_more", "and %d more lanes like these", faults - NAMED_AT_MOST);
  return faults == 0;
}

static bool check_count(const BankOp *op, int64_t n, Diags *diags) {
  int wanted = op->n_addresses;
  if (n == wanted || n == BANK_LANES) return true;
  const char *plural = n == 1 ? "" : "es";
  Diag *diag;
  if (wanted < BANK_LANES)
    diag = diag_add(diags, "addr_count",
                    "%" PRId64 " address%s, but %s takes %d, one for each matrix row (or 32)", n,
                    plural, op->name, wanted);
  else
    diag = diag_add(diags, "addr_count",
                    "%" PRId64 " address%s, but a warp has 32 lanes (write _ for an inactive one)",
                    n, plural);
  diag->nearest = arena_printf(diags->arena, "%d", n > wanted && n > BANK_LANES - 8 ? 32 : wanted);
  return false;
}

// Takes the begin of the window off generic addresses of shared memory. Offsets stay as they are;
// lanes in different windows, or one far into its own, cannot all be shared memory.
static bool leave_window(const BankOp *op, const int64_t *values, int n, int64_t out[BANK_LANES],
                         Diags *diags) {
  int first = 0;
  memcpy(out, values, sizeof *values * (size_t)n);
  if (op->kind == BANK_GLOBAL) return true;
  while (first < n && values[first] < 0) first++;
  for (int lane = first; lane < n; lane++) {
    int64_t window = values[first] / WINDOW_BYTES;
    if (values[lane] < 0) continue;
    if (values[lane] / WINDOW_BYTES != window) {
      diag_add(diags, "addr_range",
               "lanes %d and %d are at 0x%" PRIx64 " and 0x%" PRIx64
               ", 16 MiB or more apart: they cannot both be in shared memory",
               first, lane, (uint64_t)values[first], (uint64_t)values[lane]);
      return false;
    }
    out[lane] = values[lane] % WINDOW_BYTES;
    if (window == 0 || out[lane] < BANK_SMEM_BYTES_MAX) continue;
    diag_add(diags, "addr_range",
             "lane %d: 0x%" PRIx64 " is byte %" PRId64
             " of its window, and shared memory ends at 228 KiB: an address of global memory?",
             lane, (uint64_t)values[lane], out[lane]);
    return false;
  }
  return true;
}

bool bank_input_check(const BankOp *op, const int64_t *values, int n, int64_t addr[BANK_LANES],
                      Diags *diags) {
  int64_t offset[BANK_LANES];
  if (!check_count(op, n, diags) || !leave_window(op, values, op->n_addresses, offset, diags) ||
      !check_values(op, offset, op->n_addresses, diags))
    return false;
  for (int lane = 0; lane < BANK_LANES; lane++)
    addr[lane] = lane < op->n_addresses ? offset[lane] : BANK_INACTIVE;
  return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool names_lane(const char *text) {
  for (const char *at = text; *at;) {
    size_t n = 0;
    while (is_word(at[n])) n++;
    for (int i = 0; i < N_LANE_NAMES; i++)
      if (n == strlen(LANE_NAMES[i].name) && memcmp(at, LANE_NAMES[i].name, n) == 0) return true;
    at += n > 0 ? n : 1;
  }
  return false;
}

bool bank_input_is_expression(const char *text) { return names_lane(text); }

bool bank_input_values(const BankInput *input, const char *expression, int64_t values[BANK_LANES],
                       Diags *diags) {
  const Formula *formula = formula_parse(diags->arena, expression, LANE_NAMES, N_LANE_NAMES, diags);
  if (!formula) return false;
  for (int lane = 0; lane < input->op->n_addresses; lane++) {
    const int64_t variables[VARS] = {[VAR_LANE] = lane,
                                     [VAR_THREAD] = BANK_LANES * input->warp + lane,
                                     [VAR_WARP] = input->warp};
    const char *why;
    if (formula_eval(formula, variables, &values[lane], &why)) continue;
    diag_add(diags, "expression", "\"%s\" %s for lane %d", str_sanitise(diags->arena, expression),
             why, lane);
    return false;
  }
  return true;
}

static bool read_expression(const BankInput *input, const char *text, int64_t addr[BANK_LANES],
                            Diags *diags) {
  int64_t values[BANK_LANES];
  if (!bank_input_values(input, text, values, diags)) return false;
  for (int lane = 0; lane < input->op->n_addresses; lane++) {
    if (values[lane] == BANK_INACTIVE) continue;
    if (!__builtin_mul_overflow(values[lane], (int64_t)input->unit_bytes, &values[lane])) continue;
    diag_add(diags, "addr_range", "lane %d: the address does not fit in 64 bits", lane);
    return false;
  }
  return bank_input_check(input->op, values, input->op->n_addresses, addr, diags);
}

// The values of a list so far; those beyond 32 are only counted.
typedef struct List {
  const BankOp *op;
  Diags *diags;
  int64_t n;
  int64_t values[BANK_LANES];
} List;

static void list_add(List *list, int64_t value) {
  if (list->n < BANK_LANES) list->values[list->n] = value;
  list->n++;
}

static bool syntax_fault(List *list, const char *token, const char *why, const char *nearest) {
  Diag *diag = diag_add(list->diags, "addr_syntax", "\"%s\" (value %" PRId64 " of the list) %s",
                        str_sanitise(list->diags->arena, token), list->n, why);
  diag->nearest = nearest;
  return false;
}

// Reads a number at *at and moves past it; NULL when it is one, else the fault.
static const char *read_number(const char **at, int64_t *out) {
  const char *digits = *at + (**at == '-' || **at == '+');
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (!isdigit((unsigned char)digits[0]) || (hex && !isxdigit((unsigned char)digits[2])))
    return "is not an address";
  char *end = NULL;
  *out = strtoll(*at, &end, hex ? 16 : 10);
  while (*end && strchr("uUlL", *end)) end++;
  *at = end;
  return *out > NUMBER_MAX || *out < -NUMBER_MAX ? "is too large for an address" : NULL;
}

static bool add_progression(List *list, const char *token, const int64_t part[3], int n_parts) {
  int64_t start = part[0], stop = part[1], step = n_parts == 3 ? part[2] : list->op->bytes;
  if (step == 0) return syntax_fault(list, token, "has a step of 0", NULL);
  if (start < 0 || stop < -1) return syntax_fault(list, token, "runs below 0", NULL);
  int64_t span = step > 0 ? stop - start : start - stop;
  int64_t size = step > 0 ? step : -step;
  if (span <= 0) {
    const char *nearest =
        arena_printf(list->diags->arena, "%" PRId64 ":%" PRId64 ":%" PRId64, start, stop, -step);
    return syntax_fault(list, token, "has no values: its step leads away from its stop", nearest);
  }
  int64_t count = ceil_div(span, size);
  int64_t kept = list->n < BANK_LANES ? BANK_LANES - list->n : 0;
  for (int64_t i = 0; i < count && i < kept; i++) list_add(list, start + i * step);
  if (count > kept) list->n += count - kept;
  return true;
}

static bool is_inactive(const char *token) {
  static const char *const spellings[] = {"_", "x", "X", ".", "-", "inactive"};
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
    if (str_equal(token, spellings[i])) return true;
  return false;
}

static bool add_token(List *list, const char *token) {
  if (is_inactive(token)) {
    list_add(list, BANK_INACTIVE);
    return true;
  }
  int64_t part[3];
  int n_parts = 0;
  const char *at = token;
  do {
    if (n_parts == 3)
      return syntax_fault(list, token,
                          "has more than three parts: expected "
                          "start:stop:step",
                          NULL);
    const char *wrong = read_number(&at, &part[n_parts++]);
    if (wrong) return syntax_fault(list, token, wrong, NULL);
  } while (*at == ':' && *at++);
  if (*at) return syntax_fault(list, token, "is not an address", NULL);
  if (n_parts > 1) return add_progression(list, token, part, n_parts);
  list_add(list, part[0]);
  return true;
}

// A debugger's "<repeats 29 times>" behind a value.
static size_t repeats(List *list, const char *at) {
  int times = 0, n = 0;
  if (sscanf(at, "<repeats %d times>%n", &times, &n) != 1 || n == 0) return 0;
  if (list->n < 1 || times < 1) return 0;
  int64_t value = list->values[list->n > BANK_LANES ? BANK_LANES - 1 : list->n - 1];
  for (; times > 1 && list->n < BANK_LANES; times--) list_add(list, value);
  list->n += times - 1;
  return (size_t)n;
}

static bool is_separator(char c) {
  return isspace((unsigned char)c) || (c != '\0' && strchr(",;[]{}()", c));
}

static bool read_list(const BankOp *op, const char *text, int64_t addr[BANK_LANES], Diags *diags) {
  List list = {.op = op, .diags = diags};
  for (const char *at = text; *at;) {
    size_t n = 0;
    at += repeats(&list, at);
    while (at[n] && !is_separator(at[n])) n++;
    if (n > 0 && !add_token(&list, arena_strndup(diags->arena, at, n))) return false;
    at += n > 0 ? n : *at != '\0';
  }
  if (!check_count(op, list.n, diags)) return false;
  return bank_input_check(op, list.values, (int)list.n, addr, diags);
}

bool bank_input_read(const BankInput *input, const char *text, int64_t addr[BANK_LANES],
                     Diags *diags) {
  const char *plain = bank_paste_plain(text, diags);
  if (!plain) return false;
  return names_lane(plain) ? read_expression(input, plain, addr, diags)
                           : read_list(input->op, plain, addr, diags);
}

bool bank_input_addresses(const BankOp *op, const char *text, int64_t addr[BANK_LANES],
                          Diags *diags) {
  return bank_input_read(&(BankInput){.op = op, .unit_bytes = 1}, text, addr, diags);
}
