// One row per pass that the other compiler has too: its name there, and the text it prints.
//
// A bundle is a slab's copies with the steps that make them safe. The word in front says the kind
// of the copies, the bracket the slot and the number of slots. Worked example,
// ASYNC_COPY=1,BUFFER_COUNT=3,PIPELINE_STAGES=1:
//   async copies        bundle async[3@(k_o % 3)]
//   pipelining          bundle async[3@(k_o + 2) depth=3], AsyncWait(keep=2) in the loop, keep=0 in
//                       the drain
// It waits in front of the multiply, behind the request for the slab furthest ahead, and so leaves
// one group in flight for each slab ahead. Here the wait stands behind the multiply and leaves one
// less. PAD_SMEM has no row: its pad is another one.
#include "model/passes/dialect.h"

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static const Stmt *first(const Program *program, OpKind kind) {
  return stmt_find_op(program_main(program)->body, kind, ROLE_COUNT);
}

static const Buffer *slab_of(const Program *program) {
  const Buffer *a = program_buffer(program, ROLE_SLAB_A);
  return a ? a : program_buffer(program, ROLE_SLAB_B);
}

static int64_t slots_of(const Program *program) {
  const Buffer *slab = slab_of(program);
  return slab && buffer_is_ring(slab) ? slab->dim[0] : 1;
}

static const char *transport(const Program *program) {
  if (first(program, OP_TMA_LOAD)) return "tma";
  if (first(program, OP_CP_ASYNC)) return "async";
  return slots_of(program) > 1 ? "buffered" : "sync";
}

static const char *bundle(Arena *arena, const Program *program) {
  int64_t slots = slots_of(program);
  if (slots == 1) return arena_printf(arena, "bundle %s", transport(program));
  return arena_printf(arena, "bundle %s[%lld@(k_o %% %lld)]", transport(program), (long long)slots,
                      (long long)slots);
}

static const char *say_tile(Arena *arena, const Program *program) {
  (void)program;
  return arena_printf(arena, "LoopOp becomes TileOp: loops marked grid, %s, register",
                      program_atom(program) ? "warp" : "thread");
}

static const char *say_stage(Arena *arena, const Program *program) {
  return arena_printf(arena, "%s; CuTe: copy(partition_S(gA), partition_D(sA))",
                      bundle(arena, program));
}

// Its slabs have a dimension for threads and one for each thread's cells; the pad is the last
// one's.
static const char *say_pad(Arena *arena, const Program *program) {
  Str out = str_new(arena);
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *slab = program->buffer[i];
    if (!slab->run_pad) continue;
    str_printf(&out, "%sshared %s[…] = … pad=(0, 0, %lld)", out.length ? ", " : "", slab->name,
               (long long)slab->run_pad);
  }
  return out.text;
}

// Asynchronous copies run as far ahead as the ring is long, those through registers one slab.
static const char *say_pipeline(Arena *arena, const Program *program) {
  bool waits = first(program, OP_CP_WAIT) != NULL;
  long long slots = slots_of(program), ahead = slots > 1 ? slots - 1 : 1;
  const char *by = transport(program);
  if (str_equal(by, "sync") || str_equal(by, "buffered")) ahead = 1;
  const char *keep =
      waits ? arena_printf(arena, ", AsyncWait(keep=%lld) in the loop, keep=0 in the drain", ahead)
            : "";
  return arena_printf(arena, "bundle %s[%lld@(k_o + %lld) depth=%lld]%s", by, slots, ahead, slots,
                      keep);
}

static const char *say_roles(Arena *arena, const Program *program) {
  return arena_printf(arena, "warp_specialize(ring=%lld, n_prod=%d)", (long long)slots_of(program),
                      (int)kernel_role(program_main(program), WORK_FETCHES)->n_threads);
}

static const char *say_vectorize(Arena *arena, const Program *program) {
  (void)arena, (void)program;
  return "in0, in1 = load …: neighbours in one line";
}

static const char *say_interleave(Arena *arena, const Program *program) {
  (void)arena, (void)program;
  return "each load sinks to its first consumer";
}

static const char *say_order(Arena *arena, const Program *program) {
  (void)arena;
  Launch launch = kernel_launch(program_main(program));
  for (int i = 0; i < launch.n_lets; i++)
    if (launch.let[i]->knob == KNOB_GROUP_N)
      return "grid swizzle_M goes down M; it cannot group along N";
  return "grid swizzle_M=GROUP_M";
}

static const struct {
  const char *pass, *stage;
  const char *(*say)(Arena *arena, const Program *program);
} rows[] = {
    {"tile", "t:010", say_tile},           {"atomize", "t:010", say_tile},
    {"register_tile", "t:010", say_tile},  {"split_k", "t:010", say_tile},
    {"stage", "t:020", say_stage},         {"cta_swizzle", "t:025", say_order},
    {"double_buffer", "t:040", bundle},    {"tma", "t:050", bundle},
    {"async_copy", "t:060", bundle},       {"pad_cells", "t:070", say_pad},
    {"pipeline", "t:080", say_pipeline},   {"warp_specialize", "t:085", say_roles},
    {"vectorize", "k:050", say_vectorize}, {"interleave", "k", say_interleave},
};

const char *dialect_text(Arena *arena, const Pipeline *pipeline, int stage) {
  const Pass *pass = pipeline->stage[stage].pass;
  if (!pass) return "LoopOp: torch.matmul is lowered to it";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (str_equal(rows[i].pass, pass->name))
      return arena_printf(arena, "%s %s", rows[i].stage,
                          rows[i].say(arena, pipeline->stage[stage].program));
  return NULL;
}
