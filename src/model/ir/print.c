// The program as text, one line per statement, and line differences.
//
// Declarations first (what lives in shared memory and in registers), then each kernel. Perfectly
// nested hardware loops of one tier share a line, as one would write them by hand:
//   for m_t in 0..16 THREAD, n_t in 0..16 THREAD
#include "model/ir/print.h"

#include <string.h>

#include "model/words/fragment.h"

typedef struct Printer {
  Arena *arena;
  const Program *program;
  int n_lines, capacity;
  ProgramLine *line;
  int kernel;
} Printer;

static void add_line(Printer *printer, ProgramLine line) {
  if (printer->n_lines == printer->capacity) {
    int capacity = printer->capacity ? printer->capacity * 2 : 64;
    ProgramLine *grown = ARENA_ARRAY(printer->arena, ProgramLine, capacity);
    if (printer->n_lines)
      memcpy(grown, printer->line, sizeof(ProgramLine) * (size_t)printer->n_lines);
    printer->line = grown;
    printer->capacity = capacity;
  }
  line.kernel = printer->kernel;
  printer->line[printer->n_lines++] = line;
}

// ---- declarations -------------------------------------------------------------------------------

static void print_shape(Str *out, const Buffer *buffer) {
  str_add_char(out, '[');
  for (int d = 0; d < buffer->rank; d++)
    str_printf(out, d ? " x %lld" : "%lld", (long long)buffer->dim[d]);
  str_add_char(out, ']');
}

static void print_bytes(Str *out, int64_t bytes) {
  if (bytes < 1024)
    str_printf(out, "%lld B", (long long)bytes);
  else
    str_printf(out, "%.4g KiB", (double)bytes / 1024);
}

// "  pad 4", "  pad 1 per 4": of a row, or of each run of it.
static void print_pad(Str *out, const Buffer *buffer) {
  int row = buffer->rank - 2;
  int64_t pad = row < 0 ? 0 : buffer->stride[row] - buffer->dim[row + 1];
  if (buffer->run_pad && buffer->run < buffer->dim[row + 1])
    str_printf(out, "  pad %lld per %lld", (long long)buffer->run_pad, (long long)buffer->run);
  else if (pad)
    str_printf(out, "  pad %lld", (long long)pad);
}

static void declare_buffer(Printer *printer, const Buffer *buffer) {
  Str text = str_new(printer->arena);
  str_printf(&text, "shared %s ", buffer->name);
  print_shape(&text, buffer);
  str_printf(&text, " %s", dtype_name(buffer->type));
  print_pad(&text, buffer);
  if (buffer->transposed) str_add(&text, "  transposed");
  if (buffer->swizzle_bits)
    str_printf(&text, "  Swizzle<%d,%d,%d>", buffer->swizzle_bits, buffer->swizzle_base,
               buffer->swizzle_shift);
  for (int i = 0; i < buffer->n_xor; i++)
    str_printf(&text, "%sbyte bits %d..%d ^= %d..%d", i ? ", " : "  ", buffer->xor_term[i].to,
               buffer->xor_term[i].to + buffer->xor_term[i].bits - 1, buffer->xor_term[i].from,
               buffer->xor_term[i].from + buffer->xor_term[i].bits - 1);
  str_add(&text, "  ");
  print_bytes(&text, buffer_bytes(buffer));
  add_line(printer, (ProgramLine){.text = text.text, .buffer = buffer, .knob = buffer->knob});
}

static void declare_mbarriers(Printer *printer, const Buffer *buffer) {
  Str text = str_new(printer->arena);
  str_printf(&text, "mbarrier %s ", buffer->name);
  print_shape(&text, buffer);
  add_line(printer, (ProgramLine){.text = text.text, .buffer = buffer, .knob = buffer->knob});
}

static void declare_registers(Printer *printer) {
  Str text = str_new(printer->arena);
  str_add(&text, "registers");
  const char *separator = " ";
  for (int i = 0; i < printer->program->n_buffers; i++) {
    const Buffer *buffer = printer->program->buffer[i];
    if (buffer->space != SPACE_REGISTER || buffer->role == ROLE_TEMP) continue;
    str_printf(&text, "%s%s", separator, buffer->name);
    print_shape(&text, buffer);
    separator = ", ";
  }
  add_line(printer, (ProgramLine){.text = text.text, .knob = KNOB_NONE});
}

static void declare_bounds(Printer *printer) {
  int blocks = program_main(printer->program)->min_blocks;
  if (blocks == 0) return;
  const char *text = arena_printf(printer->arena, "launch bounds: room for %d block%s on an SM",
                                  blocks, blocks > 1 ? "s" : "");
  add_line(printer, (ProgramLine){.text = text, .knob = KNOB_MIN_BLOCKS});
}

// ---- statements ---------------------------------------------------------------------------------

static void print_access(Str *out, const Access *access) {
  str_add(out, access->buffer->name);
  str_add_char(out, '[');
  for (int d = 0; d < access->buffer->rank; d++) {
    if (d) str_add(out, ", ");
    expr_print(out, access->idx[d]);
  }
  str_add_char(out, ']');
}

static void print_guard(Printer *printer, Str *out, const Access *access) {
  const Expr *guard = access_guard(printer->arena, access);
  if (!guard) return;
  str_add(out, " if ");
  expr_print(out, guard);
}

static void print_width(Str *out, const Op *op) {
  const Buffer *buffer = op->dst.buffer;
  if (op->width > 1) str_printf(out, "   %d B", op->width * dtype_bytes(buffer->type));
}

static void print_move(Printer *printer, Str *out, const Op *op) {
  print_access(out, &op->dst);
  str_printf(out, op->kind == OP_ATOMIC_ADD || op->kind == OP_ADD ? " += " : " = ");
  if (op->kind == OP_CP_ASYNC || op->kind == OP_ATOMIC_ADD || op->kind == OP_LOAD ||
      op->kind == OP_TMA_LOAD)
    str_printf(out, "%s ", op_name(op->kind));
  print_access(out, &op->src);
  print_width(out, op);
  if (op->kind == OP_CP_ASYNC && op->count) str_printf(out, "   L2::%lldB", (long long)op->count);
  if (op->kind == OP_TMA_LOAD) return;  // edges are zeros by themselves
  bool to_memory = op->kind == OP_STORE || op->kind == OP_ATOMIC_ADD;
  print_guard(printer, out, to_memory ? &op->dst : &op->src);
}

// "wait full[k_o % 3] phase k_o / 3 % 2", "expect full[k_o % 3] 49152 B"
static void print_mbarrier(Str *out, const Op *op) {
  str_printf(out, "%s ", op_word(op->kind));
  print_access(out, &op->dst);
  if (op->kind == OP_MBAR_INIT)
    str_printf(out, " %lld arrival%s", (long long)op->count, op->count == 1 ? "" : "s");
  if (op->kind == OP_MBAR_EXPECT) str_printf(out, " %lld B", (long long)op->count);
  if (op->kind != OP_MBAR_WAIT) return;
  str_add(out, " phase ");
  expr_print(out, op->phase);
}

static void print_op(Printer *printer, Str *out, const Op *op) {
  switch (op->kind) {
    case OP_INIT:
      print_access(out, &op->dst);
      str_printf(out, " = %g", op->value);
      return;
    case OP_SCALE:
      print_access(out, &op->dst);
      str_add(out, " *= alpha");
      return;
    case OP_FMA:
      print_access(out, &op->dst);
      str_add(out, " += ");
      print_access(out, &op->src);
      str_add(out, " * ");
      print_access(out, &op->src2);
      return;
    case OP_MMA:
      print_access(out, &op->dst);
      str_printf(out, " += %s ", program_atom(printer->program)->name);
      print_access(out, &op->src);
      str_add(out, " * ");
      print_access(out, &op->src2);
      return;
    case OP_LDMATRIX:
      print_access(out, &op->dst);
      str_printf(out, " = ldmatrix.x%lld%s ", (long long)op->count, op->trans ? ".trans" : "");
      print_access(out, &op->src);
      return;
    case OP_BARRIER:
    case OP_CP_COMMIT:
    case OP_FENCE_ASYNC:
      str_add(out, op_name(op->kind));
      if (op->count) str_printf(out, " of %lld threads", (long long)op->count);
      return;
    case OP_TMA_LOAD:
      print_move(printer, out, op);
      str_printf(out, "   %lld x %lld", (long long)op->box[0], (long long)op->box[1]);
      str_add(out, "  counted at ");
      print_access(out, &op->src2);
      return;
    case OP_MBAR_INIT:
    case OP_MBAR_EXPECT:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_WAIT:
      print_mbarrier(out, op);
      return;
    case OP_REGS_GIVE:
    case OP_REGS_TAKE:
      str_printf(out,
                 op->kind == OP_REGS_GIVE ? "give back all but %lld registers per thread"
                                          : "take %lld registers per thread",
                 (long long)op->count);
      return;
    case OP_CP_WAIT:
      if (op->count)
        str_printf(out, "wait until at most %lld %s in flight", (long long)op->count,
                   op->count == 1 ? "group is" : "groups are");
      else
        str_add(out, "wait until no group is in flight");
      return;
    default:
      print_move(printer, out, op);
      return;
  }
}

static void print_loop_head(Str *out, const Stmt *stmt) {
  str_printf(out, "%s in 0..%lld", stmt->var->name, (long long)stmt->var->extent);
  if (*tier_name(stmt->var->tier)) str_printf(out, " %s", tier_name(stmt->var->tier));
  if (stmt->unroll == UNROLL_FULL)
    str_add(out, " unroll");
  else if (stmt->unroll > 0)
    str_printf(out, " unroll %d", stmt->unroll);
}

// Perfectly nested loops of one hardware or register tier share a line.
static bool shares_line(const Stmt *outer) {
  const Stmt *inner = outer->body;
  bool foldable = tier_is_hardware(outer->var->tier) || outer->var->tier == TIER_REGISTER;
  return foldable && inner && !inner->next && inner->kind == STMT_LOOP &&
         inner->var->tier == outer->var->tier;
}

static void print_list(Printer *printer, const Stmt *list, int depth);

static void print_loop(Printer *printer, const Stmt *stmt, int depth) {
  Str text = str_new(printer->arena);
  const Stmt *first = stmt;
  str_add(&text, "for ");
  for (;; stmt = stmt->body) {
    print_loop_head(&text, stmt);
    if (!shares_line(stmt)) break;
    str_add(&text, ", ");
  }
  add_line(printer, (ProgramLine){.text = text.text,
                                  .depth = depth,
                                  .stmt = first,
                                  .knob = first->knob,
                                  .tier = first->var->tier});
  print_list(printer, stmt->body, depth + 1);
}

static void print_stmt(Printer *printer, const Stmt *stmt, int depth) {
  if (stmt->kind == STMT_LOOP) {
    print_loop(printer, stmt, depth);
    return;
  }
  Str text = str_new(printer->arena);
  if (stmt->kind == STMT_OP) print_op(printer, &text, &stmt->op);
  if (stmt->kind == STMT_LET) {
    str_printf(&text, "let %s = ", stmt->var->name);
    expr_print(&text, stmt->expr);
  }
  if (stmt->kind == STMT_IF) {
    static const char *const words[] = {[WARPS_ALL] = "if ",
                                        [WARPS_PRODUCE] = "role producer: ",
                                        [WARPS_CONSUME] = "role consumer: "};
    str_add(&text, stmt->predicated ? "predicate " : words[stmt->warps]);
    expr_print(&text, stmt->expr);
  }
  add_line(printer,
           (ProgramLine){.text = text.text, .depth = depth, .stmt = stmt, .knob = stmt->knob});
  if (stmt->kind == STMT_IF) print_list(printer, stmt->body, depth + 1);
}

static void print_list(Printer *printer, const Stmt *list, int depth) {
  for (; list; list = list->next) print_stmt(printer, list, depth);
}

// ---- programs -----------------------------------------------------------------------------------

ProgramText program_print(Arena *arena, const Program *program) {
  Printer printer = {.arena = arena, .program = program, .kernel = -1};
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->space == SPACE_SHARED) declare_buffer(&printer, program->buffer[i]);
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->space == SPACE_BARRIER) declare_mbarriers(&printer, program->buffer[i]);
  declare_registers(&printer);
  declare_bounds(&printer);
  for (int i = 0; i < program->n_kernels; i++) {
    const Kernel *kernel = &program->kernel[i];
    printer.kernel = i;
    int depth = program->n_kernels > 1;
    if (depth)
      add_line(&printer, (ProgramLine){.text = arena_printf(arena, "kernel %s", kernel->name),
                                       .knob = kernel->knob});
    print_list(&printer, kernel->body, depth);
  }
  return (ProgramText){printer.n_lines, printer.line};
}

char *program_text(Arena *arena, const Program *program) {
  ProgramText text = program_print(arena, program);
  Str out = str_new(arena);
  for (int i = 0; i < text.n_lines; i++) {
    str_add_repeat(&out, ' ', 2 * text.line[i].depth);
    str_printf(&out, "%s\n", text.line[i].text);
  }
  return out.text;
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
