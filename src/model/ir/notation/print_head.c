// The declarations of a program: what lives where.
//
// A person is told of shared memory, mbarriers, registers and launch bounds. The complete text
// alone says what the reader needs besides:
//   problem C[512 x 512] f16 = A[512 x 512] f16 * B[512 x 512] f16 column-major, sums f32
//   problem O[2 x 64 x 32] f16 = softmax Q[2 x 64 x 32] f16 * K[2 x 90 x 32] f16 * V[2 x 90 x 32]
//           f16 causal, sums f32                      the same of attention: heads, rows, dimension
//   axis m in 0..512: m_b in 0..4 BLOCK by 128, m_w in 0..2 WARP by 64, m_r in 0..4 REGISTER by 16
//   thread tid in 0..128, thread in 0..256            the second: with those that only fetch
//   lane lane in 0..32 THREAD
//   values v_a in 0..4 REGISTER by 2, …               of A, B and C that a lane holds, for each
//   product global P [8 x 512 x 512] f32   as partial @ATOMIC_FREE_SPLITK
#include "model/ir/buffer.h"
#include "model/ir/notation/print_line.h"
#include "model/ir/program.h"
#include "model/words/fragment.h"

// ---- pieces -------------------------------------------------------------------------------------

void print_range(Spans *out, const Var *var) {
  spans_add(out, SPAN_KEYWORD, "in");
  spans_printf(out, SPAN_NUMBER, " 0..%lld", (long long)var->extent);
  if (*tier_name(var->tier)) spans_printf(out, SPAN_TIER, " %s", tier_name(var->tier));
}

void print_var(Spans *out, const Var *var) {
  spans_add(out, SPAN_VARIABLE, var->name);
  spans_add(out, SPAN_PLAIN, " ");
  print_range(out, var);
}

void print_knob(Spans *out, KnobId knob) {
  spans_printf(out, SPAN_KNOB, " @%s", knob == KNOB_NONE ? "-" : knob_table[knob].name);
}

static void print_shape(Spans *out, const Buffer *buffer) {
  spans_add(out, SPAN_PLAIN, "[");
  for (int d = 0; d < buffer->rank; d++) {
    if (d) spans_add(out, SPAN_PLAIN, " x ");
    spans_printf(out, SPAN_NUMBER, "%lld", (long long)buffer->dim[d]);
  }
  spans_add(out, SPAN_PLAIN, "]");
}

static void print_type(Spans *out, DType type) {
  spans_printf(out, SPAN_TYPE, " %s", dtype_name(type));
}

void print_bytes(Spans *out, int64_t bytes) {
  if (bytes < 1024)
    spans_printf(out, SPAN_NUMBER, "  %lld B", (long long)bytes);
  else
    spans_printf(out, SPAN_NUMBER, bytes < 9999 * 1024 ? "  %.4g KiB" : "  %.0f KiB",
                 (double)bytes / 1024);
}

// "  pad 4", "  pad 1 per 4": of a row, or of each run of it.
static void print_pad(Spans *out, const Buffer *buffer) {
  int row = buffer->rank - 2;
  int64_t pad = row < 0 ? 0 : buffer->stride[row] - buffer->dim[row + 1];
  if (buffer->run_pad && buffer->run < buffer->dim[row + 1])
    spans_printf(out, SPAN_KEYWORD, "  pad %lld per %lld", (long long)buffer->run_pad,
                 (long long)buffer->run);
  else if (pad)
    spans_printf(out, SPAN_KEYWORD, "  pad %lld", (long long)pad);
}

static void print_permutation(Spans *out, const Buffer *buffer) {
  if (buffer->swizzle_bits)
    spans_printf(out, SPAN_KEYWORD, "  Swizzle<%d,%d,%d>", buffer->swizzle_bits,
                 buffer->swizzle_base, buffer->swizzle_shift);
  for (int i = 0; i < buffer->n_xor; i++) {
    const XorTerm *term = &buffer->xor_term[i];
    spans_printf(out, SPAN_KEYWORD, "%sbyte bits %d..%d ^= %d..%d", i ? ", " : "  ", term->to,
                 term->to + term->bits - 1, term->from, term->from + term->bits - 1);
  }
}

// ---- what the complete text alone says of a buffer ----------------------------------------------

static bool has_plain_strides(const Buffer *buffer) {
  int64_t plain[RANK_MAX], pad = 0;
  int row = buffer->rank - 2;
  if (buffer->space == SPACE_SHARED && row >= 0) pad = buffer->stride[row] - buffer->dim[row + 1];
  buffer_plain_strides(buffer, pad, plain);
  for (int d = 0; d < buffer->rank; d++)
    if (plain[d] != buffer->stride[d]) return false;
  return true;
}

static void print_strides(Spans *out, const Buffer *buffer) {
  if (has_plain_strides(buffer)) return;
  spans_add(out, SPAN_KEYWORD, " strides");
  for (int d = 0; d < buffer->rank; d++)
    spans_printf(out, SPAN_NUMBER, " %lld", (long long)buffer->stride[d]);
}

// "at 8192": where shared memory is not laid out one after the other.
static void print_place(const Printer *printer, Spans *out, const Buffer *buffer) {
  if (buffer_is_in_shared(buffer) &&
      printer->placed->buffer[buffer->id]->offset_bytes != buffer->offset_bytes)
    spans_printf(out, SPAN_KEYWORD, " at %lld", (long long)buffer->offset_bytes);
}

// "slab_a strides 2112 16 1 panels 64 @PAD_SMEM"
static void print_role(const Printer *printer, Spans *out, const Buffer *buffer, bool typed) {
  spans_add(out, SPAN_KEYWORD, buffer_role_name(buffer->role));
  if (typed) print_type(out, buffer->type);
  print_strides(out, buffer);
  bool pads_runs = buffer->run_pad && buffer->run < buffer->dim[buffer->rank - 1];
  if (buffer->run_pad && !pads_runs)
    spans_printf(out, SPAN_KEYWORD, " runs %lld pad %lld", (long long)buffer->run,
                 (long long)buffer->run_pad);
  if (buffer->panel) spans_printf(out, SPAN_KEYWORD, " panels %lld", (long long)buffer->panel);
  print_place(printer, out, buffer);
  if (buffer->knob != KNOB_NONE) print_knob(out, buffer->knob);
}

static void print_as(const Printer *printer, Spans *out, const Buffer *buffer) {
  if (!printer->full) return;
  spans_add(out, SPAN_KEYWORD, "   as ");
  print_role(printer, out, buffer, false);
}

// ---- lines --------------------------------------------------------------------------------------

static void declare_shared(Printer *printer, const Buffer *buffer) {
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "shared ");
  spans_add(&out, SPAN_BUFFER, buffer->name);
  spans_add(&out, SPAN_PLAIN, " ");
  print_shape(&out, buffer);
  print_type(&out, buffer->type);
  print_pad(&out, buffer);
  if (buffer->transposed) spans_add(&out, SPAN_KEYWORD, "  transposed");
  print_permutation(&out, buffer);
  print_bytes(&out, buffer_bytes(buffer));
  print_as(printer, &out, buffer);
  printer_line(printer, &out, (ProgramLine){.buffer = buffer, .knob = buffer->knob});
}

// "tensor sums [128 x 256] f32  columns 0..256   as sums"
static void declare_tensor(Printer *printer, const Buffer *buffer) {
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "tensor ");
  spans_add(&out, SPAN_BUFFER, buffer->name);
  spans_add(&out, SPAN_PLAIN, " ");
  print_shape(&out, buffer);
  print_type(&out, buffer->type);
  spans_printf(&out, SPAN_NUMBER, "  columns %d..%lld", buffer->column,
               (long long)(buffer->column + buffer->dim[1]));
  print_as(printer, &out, buffer);
  printer_line(printer, &out, (ProgramLine){.buffer = buffer, .knob = buffer->knob});
}

static void declare_mbarriers(Printer *printer, const Buffer *buffer) {
  Spans out = spans_new(printer->arena);
  spans_printf(&out, SPAN_KEYWORD, "%s ", buffer_barrier_word(buffer->role));
  spans_add(&out, SPAN_BUFFER, buffer->name);
  spans_add(&out, SPAN_PLAIN, " ");
  print_shape(&out, buffer);
  print_as(printer, &out, buffer);
  printer_line(printer, &out, (ProgramLine){.buffer = buffer, .knob = buffer->knob});
}

// The others are the problem's.
static void declare_global(Printer *printer, const Buffer *buffer) {
  // The problem says that there are parts, and of which size.
  const bool parts = buffer->role == ROLE_PARTS_A || buffer->role == ROLE_PARTS_B;
  if (!printer->full || !buffer_is_workspace(buffer) || parts) return;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "global ");
  spans_add(&out, SPAN_BUFFER, buffer->name);
  spans_add(&out, SPAN_PLAIN, " ");
  print_shape(&out, buffer);
  print_type(&out, buffer->type);
  print_as(printer, &out, buffer);
  printer_line(printer, &out, (ProgramLine){.buffer = buffer, .knob = buffer->knob});
}

static void declare_space(Printer *printer, Space space,
                          void (*declare)(Printer *, const Buffer *)) {
  for (int i = 0; i < printer->program->n_buffers; i++)
    if (printer->program->buffer[i]->space == space) declare(printer, printer->program->buffer[i]);
}

static bool is_listed(const Buffer *buffer, bool temporary) {
  return buffer->space == SPACE_REGISTER && (buffer->role == ROLE_TEMP) == temporary;
}

// Declares all of them in one line, then says what each is, in the same order.
static void declare_registers(Printer *printer, const char *word, bool temporary) {
  const Program *program = printer->program;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, word);
  int n = 0;
  for (int i = 0; i < program->n_buffers; i++) {
    if (!is_listed(program->buffer[i], temporary)) continue;
    spans_add(&out, SPAN_PLAIN, n++ ? ", " : " ");
    spans_add(&out, SPAN_BUFFER, program->buffer[i]->name);
    print_shape(&out, program->buffer[i]);
  }
  for (int i = 0, listed = 0; printer->full && i < program->n_buffers; i++) {
    if (!is_listed(program->buffer[i], temporary)) continue;
    spans_add(&out, SPAN_PLAIN, listed++ ? ", " : "   as ");
    print_role(printer, &out, program->buffer[i], true);
  }
  if (n || !temporary) printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

static void declare_bounds(Printer *printer) {
  int blocks = program_main(printer->program)->min_blocks;
  if (blocks == 0) return;
  Spans out = spans_new(printer->arena);
  spans_printf(&out, SPAN_KEYWORD, "launch bounds: room for %d block%s on an SM", blocks,
               blocks > 1 ? "s" : "");
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_MIN_BLOCKS});
}

// ---- the head of the complete text --------------------------------------------------------------

static void print_matrix(Spans *out, const Buffer *matrix, bool column_major) {
  spans_add(out, SPAN_BUFFER, matrix->name);
  print_shape(out, matrix);
  print_type(out, matrix->type);
  if (column_major) spans_add(out, SPAN_KEYWORD, " column-major");
}

// "Q[2 x 64 x 32] f16"
static void print_heads(Spans *out, const Program *program, BufferRole role, int64_t rows) {
  const Buffer *matrix = program_buffer(program, role);
  const Problem *problem = &program->problem;
  spans_add(out, SPAN_BUFFER, matrix->name);
  spans_printf(out, SPAN_NUMBER, "[%lld x %lld x %lld]", (long long)problem->heads, (long long)rows,
               (long long)problem->k);
  print_type(out, matrix->type);
}

static void declare_attention(Printer *printer) {
  const Program *program = printer->program;
  const Problem *problem = &program->problem;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "problem ");
  print_heads(&out, program, ROLE_C, problem->m);
  spans_add(&out, SPAN_KEYWORD, " = softmax ");
  print_heads(&out, program, ROLE_A, problem->m);
  spans_add(&out, SPAN_PLAIN, " * ");
  print_heads(&out, program, ROLE_B, problem->n);
  spans_add(&out, SPAN_PLAIN, " * ");
  print_heads(&out, program, ROLE_V, problem->n);
  if (problem->causal) spans_add(&out, SPAN_KEYWORD, " causal");
  spans_add(&out, SPAN_KEYWORD, ", sums");
  print_type(&out, problem->acc);
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

static void declare_problem(Printer *printer) {
  const Program *program = printer->program;
  if (program->problem.kind == PROBLEM_ATTENTION) {
    declare_attention(printer);
    return;
  }
  const Problem *problem = &program->problem;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "problem ");
  print_matrix(&out, program_buffer(program, ROLE_C), false);
  spans_add(&out, SPAN_PLAIN, " = ");
  print_matrix(&out, program_buffer(program, ROLE_A), problem->a_col);
  spans_add(&out, SPAN_PLAIN, " * ");
  print_matrix(&out, program_buffer(program, ROLE_B), problem->b_col);
  spans_add(&out, SPAN_KEYWORD, ", sums");
  print_type(&out, problem->acc);
  if (problem->factor_tiles) spans_add(&out, SPAN_KEYWORD, ", factors in tiles");
  if (problem->split)
    spans_printf(&out, SPAN_KEYWORD, ", split %s", split_facts(problem->split)->name);
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

// "let m_b in 0..32 BLOCK by 128": a digit that a statement computes is told from a loop's.
static void declare_axis(Printer *printer, const Axis *axis) {
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "axis ");
  spans_add(&out, SPAN_VARIABLE, axis->name);
  spans_printf(&out, SPAN_NUMBER, " in 0..%lld:", (long long)axis->extent);
  for (int i = 0; i < axis->n_digits; i++) {
    spans_add(&out, SPAN_PLAIN, i ? ", " : " ");
    if (axis->digit[i].var->kind == VAR_LET) spans_add(&out, SPAN_KEYWORD, "let ");
    print_var(&out, axis->digit[i].var);
    spans_printf(&out, SPAN_NUMBER, " by %lld", (long long)axis->digit[i].weight);
  }
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

static void declare_threads(Printer *printer) {
  const Var *all[] = {printer->program->thread, printer->program->any_thread};
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "thread");
  for (int i = 0; i < 2 && all[i]; i++)
    spans_printf(&out, SPAN_VARIABLE, "%s %s in 0..%lld", i ? "," : "", all[i]->name,
                 (long long)all[i]->extent);
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

// "roles producer threads 256..384 fetches 40 registers, consumer threads 0..256 multiplies"
static void declare_roles(Printer *printer) {
  const Kernel *kernel = program_main(printer->program);
  if (kernel->n_roles == 0) return;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "roles");
  for (int i = 0; i < kernel->n_roles; i++) {
    const WarpRole *role = kernel->role[i];
    spans_printf(&out, SPAN_KEYWORD, "%s %s threads", i ? "," : "", role->name);
    spans_printf(&out, SPAN_NUMBER, " %lld..%lld", (long long)role->first_thread,
                 (long long)(role->first_thread + role->n_threads));
    spans_printf(&out, SPAN_KEYWORD, " %s", role_work_name(role->work));
    if (role->registers)
      spans_printf(&out, SPAN_NUMBER, " %lld registers", (long long)role->registers);
  }
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

static void declare_lane(Printer *printer) {
  const Var *lane = printer->program->product[0].lane;  // all products have the same
  if (!lane) return;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "lane ");
  print_var(&out, lane);
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

static void declare_values(Printer *printer, const Product *product) {
  const ProductOperand *operand = product->operand;
  if (!operand[ATOM_C].value) return;
  Spans out = spans_new(printer->arena);
  spans_add(&out, SPAN_KEYWORD, "values");
  for (int i = 0; i < ATOM_OPERANDS; i++) {
    spans_add(&out, SPAN_PLAIN, i ? ", " : " ");
    if (!operand[i].value) {  // no lane holds any of it
      spans_add(&out, SPAN_KEYWORD, "none");
      continue;
    }
    print_var(&out, operand[i].value);
    spans_printf(&out, SPAN_NUMBER, " by %d", operand[i].value_width);
  }
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

// Where it is not all that is laid out.
static void declare_asked(Printer *printer) {
  const int64_t asked = printer->program->smem_asked;
  if (!asked) return;
  Spans out = spans_new(printer->arena);
  spans_printf(&out, SPAN_KEYWORD, "the launch asks for %lld bytes of shared memory",
               (long long)asked);
  printer_line(printer, &out, (ProgramLine){.knob = KNOB_NONE});
}

void print_head(Printer *printer) {
  if (printer->full) {
    declare_problem(printer);
    const Program *program = printer->program;
    for (int i = 0; i < program->n_axes; i++) declare_axis(printer, &program->axis[i]);
    declare_threads(printer);
    declare_roles(printer);
    declare_lane(printer);
    for (int i = 0; i < program->n_products; i++) declare_values(printer, &program->product[i]);
    declare_space(printer, SPACE_GLOBAL, declare_global);
  }
  declare_space(printer, SPACE_SHARED, declare_shared);
  declare_space(printer, SPACE_BARRIER, declare_mbarriers);
  declare_space(printer, SPACE_TENSOR, declare_tensor);
  declare_registers(printer, "registers", false);
  if (printer->full) declare_registers(printer, "temporaries", true);
  declare_bounds(printer);
  declare_asked(printer);
}
