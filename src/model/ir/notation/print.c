// The program as text, one line per statement, and line differences.
//
// Declarations first (what lives in shared memory and in registers), then each kernel. Perfectly
// nested hardware loops of one tier share a line, as one would write them by hand:
//   for m_t in 0..16 THREAD, n_t in 0..16 THREAD
//
// The complete text begins with lines of its own (print_head.c) and says behind each line what the
// statement alone leaves open:
//   shared A_s [128 x 16] f32  pad 4  10 KiB   as slab_a @PAD_SMEM
//   let k_n = k_o + 1   in 0..256 @PIPELINE_STAGES
//   barrier   @STAGE "the slab is filled"
#include "model/ir/notation/print.h"

#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/notation/print_line.h"
#include "model/ir/notation/print_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

void printer_line(Printer *printer, const Spans *spans, ProgramLine line) {
  if (printer->n_lines == printer->capacity) {
    int capacity = printer->capacity ? printer->capacity * 2 : 64;
    ProgramLine *grown = ARENA_ARRAY(printer->arena, ProgramLine, capacity);
    if (printer->n_lines)
      memcpy(grown, printer->line, sizeof(ProgramLine) * (size_t)printer->n_lines);
    printer->line = grown;
    printer->capacity = capacity;
  }
  line.text = spans->text.text;
  line.n_spans = spans->n;
  line.span = spans->span;
  line.kernel = printer->kernel;
  printer->line[printer->n_lines++] = line;
}

// ---- statements ---------------------------------------------------------------------------------

static void print_loop_head(Spans *out, const Stmt *stmt) {
  print_var(out, stmt->var);
  if (stmt->unroll) spans_add(out, SPAN_KEYWORD, " unroll");
  if (stmt->unroll && stmt->unroll != UNROLL_FULL)
    spans_printf(out, SPAN_NUMBER, " %d", stmt->unroll);
  if (stmt->expr) spans_add(out, SPAN_KEYWORD, " from ");
  if (stmt->expr) spans_add_expr(out, stmt->expr);
  if (stmt->end) spans_add(out, SPAN_KEYWORD, " to ");
  if (stmt->end) spans_add_expr(out, stmt->end);
}

// Perfectly nested loops of one hardware or register tier share a line.
static bool shares_line(const Stmt *outer) {
  const Stmt *inner = outer->body;
  bool foldable = tier_is_hardware(outer->var->tier) || outer->var->tier == TIER_REGISTER;
  return foldable && inner && !inner->next && inner->kind == STMT_LOOP &&
         inner->var->tier == outer->var->tier;
}

static void print_mark(Spans *out, const Stmt *stmt) {
  print_knob(out, stmt->knob);
  if (stmt->note) spans_printf(out, SPAN_NOTE, " \"%s\"", stmt->note);
}

// A statement without a mark is of the knob that the statement around it is of.
static bool is_marked(const Printer *printer, const Stmt *stmt) {
  return stmt->knob != printer->around || stmt->note;
}

// The knobs and notes of the statements of a line: one mark for all where they are the same.
static void print_marks(const Printer *printer, Spans *out, const Stmt *first, const Stmt *last) {
  bool any = is_marked(printer, first), same = !first->note;
  for (const Stmt *stmt = first; stmt != last; stmt = stmt->body) {
    any |= is_marked(printer, stmt->body);
    same &= stmt->body->knob == first->knob && !stmt->body->note;
  }
  if (!printer->full || !any) return;
  spans_add(out, SPAN_PLAIN, "  ");
  print_mark(out, first);
  for (const Stmt *stmt = first; !same && stmt != last; stmt = stmt->body)
    print_mark(out, stmt->body);
}

static void print_list(Printer *printer, const Stmt *list, int depth);

static void print_body(Printer *printer, const Stmt *stmt, int depth) {
  KnobId around = printer->around;
  printer->around = stmt->knob;
  print_list(printer, stmt->body, depth + 1);
  printer->around = around;
}

static void print_loop(Printer *printer, const Stmt *stmt, int depth) {
  Spans out = spans_new(printer->arena);
  const Stmt *first = stmt;
  spans_add(&out, SPAN_KEYWORD, "for");
  spans_add(&out, SPAN_PLAIN, " ");
  for (print_loop_head(&out, stmt); shares_line(stmt); print_loop_head(&out, stmt)) {
    stmt = stmt->body;
    spans_add(&out, SPAN_PLAIN, ", ");
  }
  print_marks(printer, &out, first, stmt);
  printer_line(
      printer, &out,
      (ProgramLine){.depth = depth, .stmt = first, .knob = first->knob, .tier = first->var->tier});
  print_body(printer, stmt, depth);
}

static void print_let(Spans *out, const Stmt *stmt, bool full) {
  spans_add(out, SPAN_KEYWORD, "let");
  spans_printf(out, SPAN_VARIABLE, " %s", stmt->var->name);
  spans_add(out, SPAN_PLAIN, " = ");
  spans_add_expr(out, stmt->expr);
  if (!full) return;
  spans_add(out, SPAN_PLAIN, "   ");
  print_range(out, stmt->var);
}

static void print_condition(Spans *out, const Stmt *stmt) {
  if (stmt->role)
    spans_printf(out, SPAN_KEYWORD, "role %s:", stmt->role->name);
  else
    spans_add(out, SPAN_KEYWORD, stmt->predicated ? "predicate" : "if");
  spans_add(out, SPAN_PLAIN, " ");
  spans_add_expr(out, stmt->expr);
  if (!stmt->elects) return;
  spans_add(out, SPAN_PLAIN, ", ");
  spans_add(out, SPAN_KEYWORD, "elected");
}

static void print_stmt(Printer *printer, const Stmt *stmt, int depth) {
  if (stmt->kind == STMT_LOOP) {
    print_loop(printer, stmt, depth);
    return;
  }
  Spans out = spans_new(printer->arena);
  if (stmt->kind == STMT_OP) op_print(&out, printer->program, &stmt->op, printer->full);
  if (stmt->kind == STMT_LET) print_let(&out, stmt, printer->full);
  if (stmt->kind == STMT_IF) print_condition(&out, stmt);
  print_marks(printer, &out, stmt, stmt);
  printer_line(printer, &out, (ProgramLine){.depth = depth, .stmt = stmt, .knob = stmt->knob});
  if (stmt->kind == STMT_IF) print_body(printer, stmt, depth);
}

static void print_list(Printer *printer, const Stmt *list, int depth) {
  for (; list; list = list->next) print_stmt(printer, list, depth);
}

// ---- programs -----------------------------------------------------------------------------------

static void print_kernel_head(Printer *printer, const Kernel *kernel) {
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "kernel");
  spans_printf(&out, SPAN_VARIABLE, " %s", kernel->name);
  if (printer->full && kernel == program_main(printer->program))
    spans_add(&out, SPAN_KEYWORD, "   main");
  if (kernel->dependent) spans_add(&out, SPAN_KEYWORD, "   dependent");
  if (printer->full && kernel->knob != KNOB_NONE) {
    spans_add(&out, SPAN_PLAIN, "  ");
    print_knob(&out, kernel->knob);
  }
  printer_line(printer, &out, (ProgramLine){.knob = kernel->knob});
}

static const Program *laid_out(Arena *arena, const Program *program) {
  Program *placed = program_clone(arena, program);
  program_place_shared(placed);
  return placed;
}

static ProgramText print_program(Arena *arena, const Program *program, bool full) {
  Printer printer = {
      .arena = arena, .program = program, .full = full, .around = KNOB_NONE, .kernel = -1};
  if (full) printer.placed = laid_out(arena, program);
  print_head(&printer);
  for (int i = 0; i < program->n_kernels; i++) {
    printer.kernel = i;
    if (program->n_kernels > 1) print_kernel_head(&printer, &program->kernel[i]);
    print_list(&printer, program->kernel[i].body, program->n_kernels > 1);
  }
  return (ProgramText){printer.n_lines, printer.line};
}

ProgramText program_print(Arena *arena, const Program *program) {
  return print_program(arena, program, false);
}

static ProgramText program_print_full(Arena *arena, const Program *program) {
  return print_program(arena, program, true);
}

static char *join_lines(Arena *arena, ProgramText text) {
  Str out = str_new(arena);
  for (int i = 0; i < text.n_lines; i++) {
    str_add_repeat(&out, ' ', 2 * text.line[i].depth);
    str_printf(&out, "%s\n", text.line[i].text);
  }
  return out.text;
}

char *program_text(Arena *arena, const Program *program) {
  return join_lines(arena, program_print(arena, program));
}

char *program_text_full(Arena *arena, const Program *program) {
  return join_lines(arena, program_print_full(arena, program));
}

// ---- differences --------------------------------------------------------------------------------

// lengths[i][j] = longest common subsequence of before[i…] and after[j…]; the texts are short.
static int *common_lengths(Arena *arena, const char *const *before, int nb,
                           const char *const *after, int na) {
  int width = na + 1;
  int *length = ARENA_ARRAY(arena, int, (nb + 1) * width);
  for (int i = nb - 1; i >= 0; i--)
    for (int j = na - 1; j >= 0; j--) {
      int skip_b = length[(i + 1) * width + j], skip_a = length[i * width + j + 1];
      int best = skip_b > skip_a ? skip_b : skip_a;
      if (str_equal(before[i], after[j])) best = length[(i + 1) * width + j + 1] + 1;
      length[i * width + j] = best;
    }
  return length;
}

const char *diff_kind_name(DiffKind kind) {
  static const char *const kinds[] = {
      [DIFF_SAME] = "same", [DIFF_REMOVED] = "removed", [DIFF_ADDED] = "added"};
  return kinds[kind];
}

TextDiff text_diff(Arena *arena, const char *const *before, int nb, const char *const *after,
                   int na) {
  const int *length = common_lengths(arena, before, nb, after, na);
  DiffLine *line = ARENA_ARRAY(arena, DiffLine, nb + na + 1);
  TextDiff diff = {.line = line};
  for (int i = 0, j = 0; i < nb || j < na;) {
    bool same = i < nb && j < na && str_equal(before[i], after[j]);
    bool remove = !same && i < nb &&
                  (j == na || length[(i + 1) * (na + 1) + j] >= length[i * (na + 1) + j + 1]);
    DiffLine *at = &line[diff.n_lines++];
    if (same)
      *at = (DiffLine){DIFF_SAME, after[j], 0, i, j};
    else if (remove)
      *at = (DiffLine){DIFF_REMOVED, before[i], 0, i, -1};
    else
      *at = (DiffLine){DIFF_ADDED, after[j], 0, -1, j};
    diff.n_removed += remove;
    diff.n_added += !same && !remove;
    i += same || remove;
    j += same || !remove;
  }
  return diff;
}

bool diff_is_near_change(const TextDiff *diff, int i, int around) {
  for (int at = max_int(0, i - around); at <= i + around && at < diff->n_lines; at++)
    if (diff->line[at].kind != DIFF_SAME) return true;
  return false;
}

// The lines with their depth in front, so that a line that only moved inwards counts as changed.
static const char **keyed_lines(Arena *arena, ProgramText text) {
  const char **keys = ARENA_ARRAY(arena, const char *, text.n_lines + 1);
  for (int i = 0; i < text.n_lines; i++)
    keys[i] = arena_printf(arena, "%d %s", text.line[i].depth, text.line[i].text);
  return keys;
}

TextDiff program_diff(Arena *arena, const Program *before, const Program *after) {
  ProgramText from = program_print(arena, before), to = program_print(arena, after);
  TextDiff diff =
      text_diff(arena, keyed_lines(arena, from), from.n_lines, keyed_lines(arena, to), to.n_lines);
  DiffLine *line = ARENA_ARRAY(arena, DiffLine, diff.n_lines + 1);
  for (int i = 0; i < diff.n_lines; i++) {
    line[i] = diff.line[i];
    const ProgramLine *at = line[i].to >= 0 ? &to.line[line[i].to] : &from.line[line[i].from];
    line[i].text = at->text;
    line[i].depth = at->depth;
  }
  diff.line = line;
  return diff;
}
