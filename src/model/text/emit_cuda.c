// The text as a whole: heading, constants, prelude, and for each kernel its signature, shared pool,
// hardware digits and register arrays; emit_stmt.c prints the statements below them, emit_line.c
// breaks lines that are too long.
//
// Lines are gathered as rows and joined at the end, because the prelude stands first but only the
// statements tell which helpers it needs. The shared pool is one array whose pointers stand at
// buffer->offset_bytes, so an address in the text is the address the bank engine looked at:
//   __shared__ __align__(128) float smem[4160];
//   float *const A_s = smem;         // [16][128 + 4]: STAGE=11, the slab of A
//   float *const B_s = smem + 2112;  // [16][128]: STAGE=11, the slab of B
// A hardware loop becomes a digit, (index / stride) % extent; the most significant one needs no %:
//   const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
//   const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16
#include "model/ir/find_op.h"
#include "model/text/emit.h"

#include <assert.h>
#include <string.h>

#include "base/foreign.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ir/tensor_use.h"
#include "model/text/emit_parts.h"
#include "model/text/emit_value.h"

const char *emitter_knob(const Emitter *emitter, KnobId knob) {
  const char *name = knob_table[knob].name;
  const Schedule *schedule = emitter->options->schedule;
  if (!schedule) return name;
  return arena_printf(emitter->arena, "%s=%s", name,
                      knob_value_text(emitter->arena, schedule, knob));
}

// Lines that belong to no statement.
static void belongs_to_knob(Emitter *emitter, KnobId knob) {
  emitter->stmt = NULL;
  emitter->knob = knob;
}

// ---- declarations -------------------------------------------------------------------------------

static int count_used(const EmitUses *uses, Space space) {
  int n = 0;
  for (int i = 0; i < uses->program->n_buffers; i++) {
    const Buffer *buffer = uses->program->buffer[i];
    n += buffer->space == space && emit_uses_buffer(uses, buffer);
  }
  return n;
}

// "[2][16][128 + 4]": the lengths, and what pads a row.
static const char *print_dims(Emitter *emitter, const Buffer *buffer) {
  Str out = str_new(emitter->arena);
  for (int d = 0; d < buffer->rank; d++) {
    if (buffer->dim[d] == 1) continue;
    int64_t pitch = d == 0 ? buffer->dim[0] : buffer->stride[d - 1] / buffer->stride[d];
    str_printf(&out, "[%lld", (long long)buffer->dim[d]);
    if (pitch > buffer->dim[d]) str_printf(&out, " + %lld", (long long)(pitch - buffer->dim[d]));
    str_add_char(&out, ']');
  }
  return out.text;
}

// Tells the use of a register buffer, beside its number of values in a register.
static const char *print_words(Emitter *emitter, const Buffer *buffer) {
  static const char *const sharing[] = {
      [1] = "", [2] = ", two to a register", [4] = ", four to a register"};
  const char *words = emit_role_words(emitter, buffer->role);
  bool fragment = buffer_is_fragment(buffer);
  if (!words || buffer->space != SPACE_REGISTER) return words;
  return arena_printf(emitter->arena, "%s%s%s", words,
                      fragment && program_atom(emitter->program) ? "-step" : "",
                      sharing[emit_values_per_register(emitter, buffer)]);
}

// "FM=8: this thread's cells of C", as far as knob and role are known.
static const char *print_purpose(Emitter *emitter, const Buffer *buffer) {
  const char *words = print_words(emitter, buffer);
  if (buffer->knob == KNOB_NONE) return words ? words : "";
  const char *knob = emitter_knob(emitter, buffer->knob);
  return words ? arena_printf(emitter->arena, "%s: %s", knob, words) : knob;
}

static void declare_with_remark(Emitter *emitter, const char *declaration, const char *remark) {
  if (*remark)
    emitter_line(emitter, "%s  // %s", declaration, remark);
  else
    emitter_line(emitter, "%s", declaration);
}

static void declare_register(Emitter *emitter, const Buffer *buffer) {
  Str text = str_new(emitter->arena);
  str_printf(&text, "%s %s", emit_register_type(emitter, buffer), buffer->name);
  for (int d = 0; d < buffer->rank; d++)
    if (emit_dim(emitter, buffer, d) > 1)
      str_printf(&text, "[%lld]", (long long)emit_dim(emitter, buffer, d));
  str_add_char(&text, ';');
  belongs_to_knob(emitter, buffer->knob);
  declare_with_remark(emitter, text.text, print_purpose(emitter, buffer));
}

static void declare_registers(Emitter *emitter, const EmitUses *uses) {
  if (count_used(uses, SPACE_REGISTER) == 0) return;
  emitter_blank(emitter);
  int first = emitter->rows.n;
  for (int i = 0; i < emitter->program->n_buffers; i++) {
    const Buffer *buffer = emitter->program->buffer[i];
    if (buffer->space == SPACE_REGISTER && emit_uses_buffer(uses, buffer))
      declare_register(emitter, buffer);
  }
  emitter_align_remarks(emitter, first);
  belongs_to_knob(emitter, KNOB_NONE);
}

// Tells what the pool is an array of: the slabs' type, or bytes where they differ.
static const char *pool_type(Emitter *emitter, const EmitUses *uses, int *bytes) {
  const char *type = NULL;
  for (int i = 0; i < emitter->program->n_buffers; i++) {
    const Buffer *buffer = emitter->program->buffer[i];
    if (buffer->space != SPACE_SHARED || !emit_uses_buffer(uses, buffer)) continue;
    const char *own = emit_type_name(emitter, buffer->type);
    *bytes = dtype_bytes(buffer->type);
    if (type && strcmp(type, own) != 0) {
      *bytes = 1;
      return "unsigned char";
    }
    type = own;
  }
  return type;
}

static void declare_slab(Emitter *emitter, const Buffer *buffer, const char *pool, int pool_bytes) {
  const char *type = emit_type_name(emitter, buffer->type);
  long long at = (long long)(buffer->offset_bytes / pool_bytes);
  const char *where = at ? arena_printf(emitter->arena, "smem + %lld", at) : "smem";
  if (strcmp(type, pool) != 0)
    where = arena_printf(emitter->arena, "reinterpret_cast<%s *>(%s)", type, where);
  const char *purpose = print_purpose(emitter, buffer);
  belongs_to_knob(emitter, buffer->knob);
  declare_with_remark(emitter,
                      arena_printf(emitter->arena, "%s *const %s = %s;", type, buffer->name, where),
                      arena_printf(emitter->arena, "%s%s%s", print_dims(emitter, buffer),
                                   *purpose ? " " : "", purpose));
}

static void declare_mbarriers(Emitter *emitter, const Buffer *buffer, int pool_bytes) {
  belongs_to_knob(emitter, buffer->knob);
  const char *declaration = arena_printf(
      emitter->arena,
      "unsigned long long *const %s = reinterpret_cast<unsigned long long *>(smem + %lld);",
      buffer->name, (long long)(buffer->offset_bytes / pool_bytes));
  emitter_line(emitter, "// [%lld] %s", (long long)buffer->dim[0], print_purpose(emitter, buffer));
  emitter_line(emitter, "%s", declaration);
}

static void declare_shared(Emitter *emitter, const EmitUses *uses, EmitKernel *facts) {
  if (count_used(uses, SPACE_SHARED) + count_used(uses, SPACE_BARRIER) == 0) return;
  int64_t bytes = program_smem_asked(emitter->program);
  // A template would have a static pool for each of its kinds.
  bool is_static = bytes <= EMIT_STATIC_SMEM_BYTES && !facts->takes[LAUNCH_STAMPS];
  facts->smem_bytes = bytes;
  facts->dynamic_smem_bytes = is_static ? 0 : bytes;
  int element = 1, align = program_shared_align(emitter->program);
  const char *type = pool_type(emitter, uses, &element);
  if (!type) type = "unsigned char";  // there are mbarriers alone
  long long n = (long long)(bytes / element);
  if (is_static)
    emitter_line(emitter, "__shared__ __align__(%d) %s smem[%lld];", align, type, n);
  else
    emitter_line(emitter, "extern __shared__ __align__(%d) %s smem[];  // %lld: %lld bytes", align,
                 type, n, (long long)bytes);
  int first = emitter->rows.n;
  for (int i = 0; i < emitter->program->n_buffers; i++) {
    const Buffer *buffer = emitter->program->buffer[i];
    if (buffer->space == SPACE_SHARED && emit_uses_buffer(uses, buffer))
      declare_slab(emitter, buffer, type, element);
  }
  emitter_align_remarks(emitter, first);
  for (int i = 0; i < emitter->program->n_buffers; i++) {
    const Buffer *buffer = emitter->program->buffer[i];
    if (buffer->space == SPACE_BARRIER && emit_uses_buffer(uses, buffer))
      declare_mbarriers(emitter, buffer, element);
  }
  belongs_to_knob(emitter, KNOB_NONE);
}

// ---- the hardware's digits ----------------------------------------------------------------------

static const Stmt *hardware_loop(const Kernel *kernel, const Var *var) {
  const Stmt *at = kernel->body;
  while (at && at->var != var) at = at->kind == STMT_LOOP ? at->body : at->next;
  return at;
}

static const char *print_digit(Emitter *emitter, const char *index, const HardwareDigit *digit,
                               int64_t limit) {
  Str out = str_new(emitter->arena);
  str_add(&out, index);
  if (digit->stride > 1) str_printf(&out, " / %lld", (long long)digit->stride);
  if (digit->stride * digit->var->extent < limit)
    str_printf(&out, " %% %lld", (long long)digit->var->extent);
  return out.text;
}

static void declare_digits(Emitter *emitter, const Kernel *kernel, const EmitUses *uses,
                           const char *index, const HardwareDigit *digits, int n, int64_t limit) {
  for (int i = 0; i < n; i++) {
    const Var *var = digits[i].var;
    if (!uses->var[var->id]) continue;
    emitter->stmt = hardware_loop(kernel, var);
    emitter->knob = emitter->stmt->knob;
    bool has_knob = emitter->knob != KNOB_NONE;
    emitter_line(emitter, "const int %s = %s;  // %s 0..%lld%s%s", emitter->names[var->id],
                 print_digit(emitter, index, &digits[i], limit), tier_name(var->tier),
                 (long long)var->extent, has_knob ? ", " : "",
                 has_knob ? emitter_knob(emitter, emitter->knob) : "");
  }
  belongs_to_knob(emitter, KNOB_NONE);
}

static void declare_index(Emitter *emitter, const EmitUses *uses, const Var *var,
                          const char *index) {
  if (uses->var[var->id])
    emitter_line(emitter, "const int %s = %s;", emitter->names[var->id], index);
}

static void declare_lets(Emitter *emitter, const Launch *launch, const EmitUses *uses) {
  for (int i = 0; i < launch->n_lets; i++) {
    if (!uses->var[launch->let[i]->var->id]) continue;  // one column of tiles needs no n_b
    Stmt alone = *launch->let[i];
    alone.next = NULL;
    const char *before = i > 0 ? launch->let[i - 1]->note : NULL;
    emit_stmts(emitter, &alone, before);
    // The copy is gone when the map is read.
    for (int r = emitter->rows.n - 1; r >= 0 && emitter->rows.row[r].stmt == &alone; r--)
      emitter->rows.row[r].stmt = launch->let[i];
  }
  belongs_to_knob(emitter, KNOB_NONE);
}

// ---- kernels ------------------------------------------------------------------------------------

int emit_blocks_in_tensor_memory(const EmitKernel *kernel) {
  return kernel->tensor_columns ? (int)(TENSOR_COLUMNS / kernel->tensor_columns) : 0;
}

const char *emit_arg_name(Arena *arena, const EmitArg *arg) {
  return arg->copy ? arena_printf(arena, "%s_map", arg->buffer->name) : arg->buffer->name;
}

// A copy counts its rows first, the map its columns.
EmitMap emit_arg_map(const EmitArg *arg) {
  const Buffer *matrix = arg->buffer;
  return (EmitMap){.columns = matrix->dim[buffer_fast_dimension(matrix)],
                   .rows = matrix->dim[buffer_slow_dimension(matrix)],
                   .matrices = buffer_matrices(matrix),
                   .box_columns = (int)arg->copy->box[1],
                   .box_rows = (int)arg->copy->box[0],
                   .swizzle_bits = op_box_shared(arg->copy)->buffer->swizzle_bits};
}

static void print_attributes(Emitter *emitter, const Kernel *kernel, const EmitKernel *facts) {
  const char *min_blocks =
      kernel->min_blocks ? arena_printf(emitter->arena, ", %d", kernel->min_blocks) : "";
  const char *cluster = "";
  if (facts->cluster > 1)
    cluster =
        arena_printf(emitter->arena, "__cluster_dims__(%lld, 1, 1) ", (long long)facts->cluster);
  emitter_line(emitter, "extern \"C\" __global__ void %s__launch_bounds__(%lld%s)", cluster,
               (long long)facts->n_threads, min_blocks);
}

static bool has_action_of(const Kernel *kernel, unsigned actions) {
  for (unsigned action = 0; actions >> action; action++)
    if (actions >> action & 1 && stmt_find_action(kernel->body, (OpAction)action, ROLE_COUNT))
      return true;
  return false;
}

// Notes what the kernel takes, in the order of its parameters.
static void find_arguments(const Emitter *emitter, const Kernel *kernel, const EmitUses *uses,
                           EmitKernel *facts) {
  for (int i = 0; i < emitter->program->n_buffers; i++) {
    const Buffer *buffer = emitter->program->buffer[i];
    if (buffer->space != SPACE_GLOBAL || !emit_uses_buffer(uses, buffer)) continue;
    assert(facts->n_args < EMIT_ARGS_MAX);
    facts->arg[facts->n_args++] = (EmitArg){buffer, kernel_box_copy(kernel, buffer)};
  }
  for (int arg = 0; arg < LAUNCH_ARGS; arg++)
    if (has_action_of(kernel, launch_arg_facts(arg)->taken)) facts->takes[arg] = true;
  facts->takes[LAUNCH_GRID] =
      kernel != program_main(emitter->program) && uses->var[emitter->program->persistent.grid->id];
}

// The map of a kernel's parameter is const to it; a function called by it has it by reference.
static void add_parameter(Emitter *emitter, Str *text, const EmitUses *uses, const EmitArg *arg,
                          bool of_kernel) {
  const char *name = emit_arg_name(emitter->arena, arg);
  if (arg->copy)
    str_printf(text, "const %s%s %s%s", of_kernel ? "__grid_constant__ " : "",
               emit_helper(emitter, (Prelude){.kind = PRELUDE_TENSOR_MAP}), of_kernel ? "" : "&",
               name);
  else
    str_printf(text, "%s%s *__restrict__ %s", uses->written[arg->buffer->id] ? "" : "const ",
               emit_type_name(emitter, arg->buffer->type), name);
}

// The name and the parameters of the kernel, or of the function that is its body.
static void print_parameters(Emitter *emitter, const EmitUses *uses, const EmitKernel *facts,
                             bool of_kernel) {
  Str text = str_new(emitter->arena);
  str_printf(&text, "%s%s(", facts->name, of_kernel ? "" : "_traced");
  for (int i = 0; i < facts->n_args; i++) {
    str_add(&text, i ? ", " : "");
    add_parameter(emitter, &text, uses, &facts->arg[i], of_kernel);
  }
  for (int arg = 0; arg < (of_kernel ? LAUNCH_ARGS : LAUNCH_TRACED); arg++)
    if (facts->takes[arg])
      str_printf(&text, ", %s%s", launch_arg_facts(arg)->type, launch_arg_facts(arg)->name);
  str_add(&text, ") {");
  emitter_line(emitter, "%s", text.text);
}

// "A, B, C, alpha": what the kernel takes but for what says where stamps go.
static const char *print_arguments(Arena *arena, const EmitKernel *facts) {
  Str text = str_new(arena);
  for (int i = 0; i < facts->n_args; i++)
    str_printf(&text, "%s%s", i ? ", " : "", emit_arg_name(arena, &facts->arg[i]));
  for (int arg = 0; arg < LAUNCH_STAMPS; arg++)
    if (facts->takes[arg]) str_printf(&text, ", %s", launch_arg_facts(arg)->name);
  return text.text;
}

static void print_signature(Emitter *emitter, const Kernel *kernel, const EmitUses *uses,
                            const EmitKernel *facts) {
  if (kernel->knob != KNOB_NONE)
    emitter_line(emitter, "// %s", emitter_knob(emitter, kernel->knob));
  print_attributes(emitter, kernel, facts);
  print_parameters(emitter, uses, facts, true);
}

// For a traced kernel the body is a function of its own.
static void print_body_signature(Emitter *emitter, const EmitUses *uses, const EmitKernel *facts) {
  emit_trace_template(emitter);
  emitter_line(emitter, "__device__ __forceinline__ void");
  print_parameters(emitter, uses, facts, false);
}

static void print_traced_kernel(Emitter *emitter, const Kernel *kernel, const EmitUses *uses,
                                const EmitKernel *facts) {
  emitter_blank(emitter);
  belongs_to_knob(emitter, kernel->knob);
  print_signature(emitter, kernel, uses, facts);
  belongs_to_knob(emitter, KNOB_NONE);
  emitter->depth = 1;
  const char *arguments = print_arguments(emitter->arena, facts);
  emit_trace_choice(emitter, facts, arena_printf(emitter->arena, "%s, ", arguments));
  emitter->depth = 0;
  emitter_line(emitter, "}");
}

static void print_indices(Emitter *emitter, const Kernel *kernel, const EmitUses *uses,
                          const Launch *launch) {
  const Program *program = emitter->program;
  if (emitter->rows.row[emitter->rows.n - 1].text[0] == ' ') emitter_blank(emitter);
  emit_elect_declare(emitter);
  int first = emitter->rows.n;
  declare_index(emitter, uses, program->thread, "threadIdx.x");
  declare_digits(emitter, kernel, uses, "blockIdx.x", launch->block, launch->n_block_digits,
                 launch->n_blocks);
  declare_digits(emitter, kernel, uses, "threadIdx.x", launch->thread, launch->n_thread_digits,
                 launch->n_threads);
  emitter_align_remarks(emitter, first);
  declare_lets(emitter, launch, uses);
}

// A grid is as large as it has tiles, and of a persistent kernel no larger than was asked for.
static int64_t most_blocks(const EmitOptions *options, const Launch *launch) {
  const int64_t asked = launch->tiles ? options->clusters * launch->cluster : 0;
  return asked ? min64(asked, launch->n_blocks) : launch->n_blocks;
}

static void print_kernel(Emitter *emitter, int index, EmitKernel *facts) {
  const Kernel *kernel = &emitter->program->kernel[index];
  Launch launch = kernel_launch(kernel);
  emit_elect_begin(emitter, kernel);
  EmitUses uses = emit_list_uses(emitter, kernel->body);
  const bool is_traced = emitter->options->stamps && index == emitter->program->main_kernel;
  *facts = (EmitKernel){.name = kernel->name,
                        .n_blocks = launch.n_blocks,
                        .most_blocks = most_blocks(emitter->options, &launch),
                        .dependent = kernel->dependent && index > 0,
                        .persistent = launch.tiles != NULL,
                        .n_threads = launch.block_threads,
                        .cluster = launch.cluster,
                        .tensor_columns = kernel_tensor_columns(kernel),
                        .takes = {[LAUNCH_STAMPS] = is_traced, [LAUNCH_TRACED] = is_traced},
                        .first_line = emitter->rows.n};
  emitter->kernel = index;
  emitter->tensor_allocated = emitter->tensor_known = false;
  emitter->n_threads = launch.n_threads;
  emitter->names = emit_names(emitter->arena, emitter->program, kernel);
  belongs_to_knob(emitter, kernel->knob);
  find_arguments(emitter, kernel, &uses, facts);
  if (facts->takes[LAUNCH_STAMPS])
    print_body_signature(emitter, &uses, facts);
  else
    print_signature(emitter, kernel, &uses, facts);
  belongs_to_knob(emitter, KNOB_NONE);
  emitter->depth = 1;
  declare_shared(emitter, &uses, facts);
  emit_bases_collect(emitter, kernel);
  print_indices(emitter, kernel, &uses, &launch);
  emit_bases_declare(emitter);
  declare_registers(emitter, &uses);
  emit_delays_declare(emitter);
  if (facts->takes[LAUNCH_STAMPS]) {
    emit_trace_begin(emitter);
    emit_stamps_collect(emitter, launch.body);
  }
  emitter_blank(emitter);
  emit_stmts(emitter, launch.body, NULL);
  belongs_to_knob(emitter, KNOB_NONE);
  if (facts->takes[LAUNCH_STAMPS]) emit_trace_end(emitter);
  emitter->stamps.before = emitter->stamps.behind = NULL;
  emitter->depth = 0;
  emitter_line(emitter, "}");
  if (facts->takes[LAUNCH_STAMPS]) print_traced_kernel(emitter, kernel, &uses, facts);
  facts->n_lines = emitter->rows.n - facts->first_line;
  emitter->kernel = -1;
}

// ---- heading ------------------------------------------------------------------------------------

static void print_launch(Emitter *emitter, const EmitKernel *kernel) {
  Str text = str_new(emitter->arena);
  str_printf(
      &text,
      kernel->persistent ? "//   %s<<<min(%lld, blocks that fit), %lld" : "//   %s<<<%lld, %lld",
      kernel->name, (long long)kernel->most_blocks, (long long)kernel->n_threads);
  if (kernel->dynamic_smem_bytes)
    str_printf(&text, ", %lld", (long long)kernel->dynamic_smem_bytes);
  str_add(&text, ">>>(");
  str_add(&text, print_arguments(emitter->arena, kernel));
  str_add(&text, kernel->takes[LAUNCH_STAMPS] ? ", stamps, traced)" : ")");
  if (kernel->smem_bytes)
    str_printf(&text, "   %lld bytes of shared memory", (long long)kernel->smem_bytes);
  if (kernel->dependent) str_add(&text, "   launched early");
  emitter_line(emitter, "%s", text.text);
}

// "f32", "f16 summed in f32", "tf32 summed in f32, C in f32"
static const char *print_types(Arena *arena, const Problem *problem) {
  const char *type = dtype_name(problem->dtype);
  if (problem->acc == problem->dtype && problem->out == problem->dtype) return type;
  const char *text = arena_printf(arena, "%s summed in %s", type, dtype_name(problem->acc));
  if (problem->out == problem->dtype) return text;
  return arena_printf(arena, "%s, C in %s", text, dtype_name(problem->out));
}

static void print_attention(Emitter *emitter, const Problem *problem) {
  long long h = (long long)problem->heads, m = (long long)problem->m, n = (long long)problem->n,
            k = (long long)problem->k;
  emitter_line(emitter, "// O[%lld, %lld, %lld] = softmax(alpha * Q * K) * V, %lld keys, %s%s", h,
               m, k, n, print_types(emitter->arena, problem), problem->causal ? ", causal" : "");
  emitter_line(emitter, "// of rows of %lld in Q, K, V and O; alpha holds the log2(e) of exp2", k);
}

static void print_matmul(Emitter *emitter, const Problem *problem) {
  long long m = (long long)problem->m, n = (long long)problem->n, k = (long long)problem->k;
  static const char *const layouts[] = {"row-major", "B column-major, A and C row-major",
                                        "A column-major, B and C row-major",
                                        "A and B column-major, C row-major"};
  emitter_line(emitter, "// C[%lld, %lld] = A[%lld, %lld] * B[%lld, %lld], %s, %s", m, n, m, k, k,
               n, print_types(emitter->arena, problem),
               layouts[2 * problem->a_col + problem->b_col]);
}

static void print_heading(Emitter *emitter, const Emission *emission) {
  const Problem *problem = &emitter->program->problem;
  if (problem->kind == PROBLEM_ATTENTION)
    print_attention(emitter, problem);
  else
    print_matmul(emitter, problem);
  const EmitOptions *options = emitter->options;
  if (options->schedule && options->schedule->n_given > 0)
    emitter_line(emitter, "// %s", schedule_record_text(emitter->arena, options->schedule));
  if (options->target)
    emitter_line(emitter, "// for %s", foreign_comment(emitter->arena, options->target));
  emitter_line(emitter, "//");
  for (int i = 0; i < emission->n_kernels; i++) print_launch(emitter, &emission->kernel[i]);
  if (emission->workspace_bytes)
    emitter_line(emitter, "//   workspace: %lld bytes", (long long)emission->workspace_bytes);
}

// Only those the text uses: an unused constant is a warning.
static void print_extents(Emitter *emitter, const EmitSymbols *symbols) {
  Str text = str_new(emitter->arena);
  for (int a = 0; a < AXIS_COUNT; a++) {
    if (!symbols->extent[a]) continue;
    str_printf(&text, "%s%s = %lld", text.length ? ", " : "constexpr int ",
               emit_extent_name(emitter->program, a), (long long)emitter->program->axis[a].extent);
  }
  if (text.length == 0) return;
  emitter_blank(emitter);
  emitter_line(emitter, "%s;", text.text);
}

enum { SHORT_TABLE = 16, TABLE_ROW = 12 };

// Numbers first … end - 1 of a table, as far as it reaches.
static const char *print_numbers(Emitter *emitter, const Expr *expr, int first, int end) {
  Str text = str_new(emitter->arena);
  for (int i = first; i < end && i < expr->table_length; i++) {
    if (i > first) str_add(&text, ", ");
    str_add_number(&text, expr->table[i]);
  }
  return text.text;
}

static void print_tables(Emitter *emitter, const EmitSymbols *symbols) {
  for (int t = 0; t < symbols->n_tables; t++) {
    const Expr *expr = symbols->table[t];
    const char *type = expr->hi > INT32_MAX || expr->lo < INT32_MIN ? "long long" : "int";
    const char *head =
        arena_printf(emitter->arena, "__constant__ const %s table_%d[] = {", type, t);
    if (expr->table_length <= SHORT_TABLE) {
      emitter_line(emitter, "%s%s};", head, print_numbers(emitter, expr, 0, expr->table_length));
      continue;
    }
    emitter_row(emitter, head);
    for (int i = 0; i < expr->table_length; i += TABLE_ROW)
      emitter_row(emitter, arena_printf(emitter->arena, "    %s,",
                                        print_numbers(emitter, expr, i, i + TABLE_ROW)));
    emitter_row(emitter, "};");
  }
}

static void print_prelude(Emitter *emitter, const Prelude *used, int n_used) {
  for (int h = 0; h < n_used; h++) {
    emitter_blank(emitter);
    const char *line = prelude_text(emitter->arena, &used[h]);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
      emitter_row(emitter, arena_strndup(emitter->arena, line, (size_t)(end - line)));
  }
}

// ---- joining ------------------------------------------------------------------------------------

static void join(Arena *arena, Emission *emission, const EmitRows *heading, const EmitRows *body) {
  Str text = str_new(arena);
  emission->n_lines = heading->n + body->n;
  EmitLine *lines = ARENA_ARRAY(arena, EmitLine, emission->n_lines);
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitRow *row = i < heading->n ? &heading->row[i] : &body->row[i - heading->n];
    lines[i] = (EmitLine){text.length, strlen(row->text), row->stmt, row->knob, row->kernel};
    str_add(&text, row->text);
    str_add_char(&text, '\n');
  }
  for (int i = 0; i < emission->n_kernels; i++) emission->kernel[i].first_line += heading->n;
  emission->lines = lines;
  emission->text = text.text;
  emission->length = text.length;
}

static int64_t workspace_bytes(const Program *program) {
  int64_t bytes = 0;
  for (int i = 0; i < program->n_buffers; i++)
    if (buffer_is_workspace(program->buffer[i])) bytes += buffer_bytes(program->buffer[i]);
  return bytes;
}

const Emission *emit_cuda(Arena *arena, const Program *program, const EmitOptions *options) {
  Emission *emission = ARENA_NEW(arena, Emission);
  Emitter emitter = {.arena = arena, .program = program, .options = options, .kernel = -1};
  belongs_to_knob(&emitter, KNOB_NONE);
  emit_values_collect(&emitter);
  emission->n_kernels = program->n_kernels;
  emission->workspace_bytes = workspace_bytes(program);
  for (int i = 0; i < program->n_kernels; i++) {
    emitter_blank(&emitter);
    print_kernel(&emitter, i, &emission->kernel[i]);
  }
  emission->n_stamps = emitter.stamps.n;
  emission->stamp = emitter.stamps.site;
  Emitter heading = {.arena = arena, .program = program, .options = options, .kernel = -1};
  belongs_to_knob(&heading, KNOB_NONE);
  print_heading(&heading, emission);
  print_extents(&heading, &emitter.symbols);
  print_tables(&heading, &emitter.symbols);
  if (!options->no_prelude) print_prelude(&heading, emitter.helper, emitter.n_helpers);
  join(arena, emission, &heading.rows, &emitter.rows);
  return emission;
}
