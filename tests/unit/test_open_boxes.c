// Boxes of tensors drawn at random, of one to five dimensions: each element is looked for here
// where the CUDA Driver API and the CUDA C++ Programming Guide ("TMA Swizzle") say that it lies, in
// memory and in shared memory. Boxes come, go and are reduced; parts of them lie outside.
#include <check.h>
#include <string.h>

#include "banks/layouts/tma_box.h"
#include "base/random.h"
#include "base/str.h"
#include "ptx/run/machine.h"

Suite *suite_open_boxes(void);

enum { SMEM = 8192, RANKS = TMA_RANK_MAX, DRAWN = 60, TENSOR_MAX = 1 << 16, THREADS = 32 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- a box --------------------------------------------------------------------------------------

// The unit that is moved as a whole: an element, or some of 4 or 6 bits; its bytes in memory and
// from one to the next in shared memory. (cuda.h, cuTensorMapEncodeTiled.)
static const struct {
  const char *name;
  int bytes, apart, elements;
} types[] = {{"u8", 1, 1, 1},          {"u16", 2, 2, 1},   {"u32", 4, 4, 1},
             {"s32", 4, 4, 1},         {"u64", 8, 8, 1},   {"s64", 8, 8, 1},
             {"f16", 2, 2, 1},         {"bf16", 2, 2, 1},  {"f32", 4, 4, 1},
             {"f64", 8, 8, 1},         {"b4x16", 1, 1, 2}, {"b4x16_p64", 8, 16, 16},
             {"b6x16_p32", 12, 16, 16}};
// Bits 4 and up of an address are XORed with those from bit 7 on: so many of them.
static const struct {
  const char *name;
  int span, bits;
} swizzles[] = {
    {"", SMEM, 0}, {",swizzle=32B", 32, 1}, {",swizzle=64B", 64, 2}, {",swizzle=128B", 128, 3}};

typedef struct Drawn {
  int rank, type, swizzle, corner;
  int shape[RANKS], box[RANKS], step[RANKS], start[RANKS], n[RANKS];  // n: elements that are moved
  int64_t stride[RANKS], bytes;                                       // of the tensor
} Drawn;

static bool has_gaps(const Drawn *d) { return types[d->type].apart > types[d->type].bytes; }
static bool is_for_loads(const Drawn *d) { return strcmp(types[d->type].name, "b4x16_p64") == 0; }

static int draw(uint64_t *seed, int lo, int hi) { return (int)random_between(seed, lo, hi); }

static int box_bytes(const Drawn *d) {
  int n = types[d->type].bytes;
  for (int i = 0; i < d->rank; i++) n *= d->n[i];
  return n;
}

// Bytes from one row of the box to the next.
static int pitch(const Drawn *d) {
  return d->swizzle ? swizzles[d->swizzle].span : d->n[0] * types[d->type].apart;
}

static int smem_bytes(const Drawn *d) {
  int rows = 1;
  for (int i = 1; i < d->rank; i++) rows *= d->n[i];
  return rows * pitch(d);
}

static void draw_extents(uint64_t *seed, Drawn *d) {
  const int elem = types[d->type].apart, unit = 16 / elem ? 16 / elem : 1;
  const int spans =
      (swizzles[d->swizzle].span < 128 ? swizzles[d->swizzle].span : 128) / elem / unit;
  for (int i = 0; i < d->rank; i++) {
    d->step[i] = i && draw(seed, 0, 2) == 0 ? draw(seed, 2, 3) : 1;
    d->box[i] = i ? draw(seed, 1, 6) : unit * draw(seed, 1, spans);
    d->n[i] = (d->box[i] + d->step[i] - 1) / d->step[i];
    d->shape[i] = i ? draw(seed, 1, 9) : draw(seed, 1, 3 * d->box[0]);
    if (i == 0 && has_gaps(d)) {
      d->n[0] = d->box[0] = 128 / types[d->type].elements;
      d->shape[0] = d->box[0] * draw(seed, 1, 3);
    }
    d->start[i] = draw(seed, -d->box[i], d->shape[i]);
  }
}

static Drawn draw_box(uint64_t *seed) {
  Drawn d = {0};
  do {
    d.rank = draw(seed, 1, RANKS);
    d.type = draw(seed, 0, (int)(sizeof types / sizeof *types) - 1);
    d.swizzle = draw(seed, 0, 3);
    if (has_gaps(&d)) d.swizzle = d.swizzle % 2 * 3;
    d.corner = 128 * draw(seed, 0, 8);
    draw_extents(seed, &d);
    d.bytes = d.shape[0] * types[d.type].bytes;
    for (int i = 1; i < d.rank; i++) {
      const int of = has_gaps(&d) ? 32 : 16;
      d.stride[i] = (d.bytes + of - 1) / of * of + of * draw(seed, 0, 2);
      d.bytes = d.stride[i] * d.shape[i];
    }
  } while (d.corner + smem_bytes(&d) > SMEM || d.bytes > TENSOR_MAX);
  return d;
}

static const char *list_text(const char *name, const int *values, int n, int elements) {
  const char *text = arena_printf(arena, "%s=%d", name, values[0] * elements);
  for (int i = 1; i < n; i++) text = arena_printf(arena, "%sx%d", text, values[i]);
  return text;
}

static const char *box_text(const Drawn *d) {
  const char *strides = "";
  for (int i = 1; i < d->rank; i++)
    strides = arena_printf(arena, "%s%s%lld", strides,
                           i > 1 ? "x" : ",strides=", (long long)d->stride[i]);
  const int elements = types[d->type].elements;
  return arena_printf(
      arena, "%s,%s,%s%s%s,type=%s", list_text("shape", d->shape, d->rank, elements),
      list_text("box", d->box, d->rank, elements), list_text("step", d->step, d->rank, 1), strides,
      swizzles[d->swizzle].name, types[d->type].name);
}

// ---- where an element lies ----------------------------------------------------------------------

// Element `index` of the box: byte of the tensor, or -1 outside of it.
static int64_t place_in_tensor(const Drawn *d, int index) {
  int64_t at = 0;
  for (int i = 0; i < d->rank; i++) {
    const int x = d->start[i] + index % d->n[i] * d->step[i];
    if (x < 0 || x >= d->shape[i]) return -1;
    at += i ? x * d->stride[i] : x * types[d->type].bytes;
    index /= d->n[i];
  }
  return at;
}

// Rows of a box with a swizzle take its whole width ("ensure that the shared memory is allocated to
// accommodate for the full swizzle width").
static int place_in_smem(const Drawn *d, int index) {
  const int row = index / d->n[0], byte = index % d->n[0] * types[d->type].apart;
  const int at = d->corner + row * pitch(d) + byte;
  const int mask = (1 << swizzles[d->swizzle].bits) - 1;
  return at ^ (at >> 7 & mask) << 4;
}

// ---- programs -----------------------------------------------------------------------------------

typedef struct Run {
  PtxMachine *machine;
  PtxOutcome outcome;
  const unsigned char *tensor, *image;  // image: what shared memory had at first, or at the end
  uint64_t tensor_at;
  const char *text;
} Run;

static const char *instruction(const Drawn *d, const char *form) {
  const char *at = "";
  for (int i = 0; i < d->rank; i++)
    at = arena_printf(arena, "%s%s%d", at, i ? ", " : "",
                      i ? d->start[i] : d->start[i] * types[d->type].elements);
  const char *map = arena_printf(arena, "[%%rd1, {%s}]", at);
  const char *name = arena_printf(arena, form, d->rank);
  return strstr(form, "bulk_group")
             ? arena_printf(arena,
                            "@%%p0 %s %s, [s+%d];\n@%%p0 cp.async.bulk.commit_group;\n"
                            "@%%p0 cp.async.bulk.wait_group 0;\n",
                            name, map, d->corner)
             : arena_printf(arena,
                            "@%%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], %d;\n@%%p0 %s "
                            "[s+%d], %s, [m];\n"
                            "W: mbarrier.try_wait.parity.shared.b64 %%p1, [m], 0;\n@!%%p1 bra W;\n",
                            box_bytes(d), name, d->corner, map);
}

// The image comes into shared memory, the instruction runs, and shared memory goes back to it.
static const char *program(const Drawn *d, const char *form) {
  Str text = str_new(arena);
  str_add(
      &text,
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 image)\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"
      ".shared .align 1024 .b8 s[8192];\n.shared .align 8 .b8 m[8];\n"
      "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p0, %r1, 0;\nmov.b64 %rd1, map;\n"
      "cvta.param.u64 %rd1, %rd1;\nld.param.u64 %rd2, [image];\nmul.wide.u32 %rd3, %r1, 16;\n"
      "add.u64 %rd2, %rd2, %rd3;\nshl.b32 %r3, %r1, 4;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r3;\n"
      "@%p0 mbarrier.init.shared.b64 [m], 1;\n");
  for (int at = 0; at < SMEM; at += 16 * THREADS)
    str_printf(&text,
               "ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%rd2+%d];\n"
               "st.shared.v4.b32 [%%r2+%d], {%%r4, %%r5, %%r6, %%r7};\n",
               at, at);
  str_printf(&text, "fence.proxy.async;\nbar.sync 0;\n%sbar.sync 0;\n", instruction(d, form));
  for (int at = 0; at < SMEM; at += 16 * THREADS)
    str_printf(&text,
               "ld.shared.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%r2+%d];\n"
               "st.global.v4.b32 [%%rd2+%d], {%%r4, %%r5, %%r6, %%r7};\n",
               at, at);
  str_add(&text, "ret;\n}\n");
  return text.text;
}

// There is no memory for `missing` bytes at the tensor's end.
static Run run_box(const Drawn *d, const char *form, const unsigned char *tensor,
                   const unsigned char image[SMEM], int64_t missing) {
  Diags diags = diags_new(arena);
  TmaBox box;
  Run run = {.text = arena_printf(arena, "%s: %s", box_text(d), instruction(d, form))};
  ck_assert_msg(tma_box_parse(arena, box_text(d), &box, &diags) && tma_box_check(&box, &diags),
                "%s: %s", box_text(d), diags_text(arena, &diags));
  const char *text = program(d, form);
  PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .budget = 1 << 22};
  run.machine =
      ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags), &launch, &diags);
  const uint64_t image_at =
      ptx_machine_buffer(run.machine, "image", SMEM, image, PTX_CONTENT_GIVEN);
  run.tensor_at =
      ptx_machine_buffer(run.machine, "tensor", d->bytes - missing, tensor, PTX_CONTENT_GIVEN);
  unsigned char map[128];
  ck_assert(ptx_machine_tensor(run.machine, &box, run.tensor_at, map, &diags));
  ptx_machine_param(run.machine, 0, map, sizeof map);
  ptx_machine_param(run.machine, 1, &image_at, 8);
  run.outcome = ptx_machine_run(run.machine, 0, 0, 0);
  run.tensor = ptx_machine_bytes(run.machine, run.tensor_at, d->bytes - missing);
  run.image = ptx_machine_bytes(run.machine, image_at, SMEM);
  return run;
}

static void check_sound(const Run *run) {
  const bool sound = run->outcome == PTX_DONE && ptx_machine_findings(run->machine) == 0;
  const PtxFinding *f = sound ? NULL : ptx_machine_finding(run->machine, 0);
  ck_assert_msg(sound, "%s: %s %s", run->text, f ? ptx_finding_names[f->kind] : "",
                f && f->text ? f->text : "");
}

static void check_bytes(const Run *run, const char *what, const unsigned char *got,
                        const unsigned char *wanted, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    ck_assert_msg(got[i] == wanted[i], "%s: byte %lld of %s is %02x, not %02x", run->text,
                  (long long)i, what, got[i], wanted[i]);
}

static unsigned char *random_bytes(uint64_t *seed, int64_t n) {
  unsigned char *bytes = ARENA_ARRAY(arena, unsigned char, n + 1);
  for (int64_t i = 0; i < n; i++) bytes[i] = (unsigned char)draw(seed, 0, 255);
  return bytes;
}

// ---- tests --------------------------------------------------------------------------------------

static const char load[] =
    "cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
static const char store[] = "cp.async.bulk.tensor.%dd.global.shared::cta.tile.bulk_group";

START_TEST(boxes_come) {
  uint64_t seed = (uint64_t)_i;
  for (int n = 0; n < DRAWN; n++, arena_reset(arena)) {
    const Drawn d = draw_box(&seed);
    const int elem = types[d.type].bytes;
    unsigned char *tensor = random_bytes(&seed, d.bytes), *image = random_bytes(&seed, SMEM);
    const Run run = run_box(&d, load, tensor, image, 0);
    for (int i = 0; i < box_bytes(&d) / elem; i++) {
      const int64_t from = place_in_tensor(&d, i);
      unsigned char *to = image + place_in_smem(&d, i);
      memset(to, 0, (size_t)types[d.type].apart);
      if (from >= 0) memcpy(to, tensor + from, (size_t)elem);
    }
    check_sound(&run);
    check_bytes(&run, "shared memory", run.image, image, SMEM);
    check_bytes(&run, "the tensor", run.tensor, tensor, d.bytes);
  }
}
END_TEST

START_TEST(boxes_go) {
  uint64_t seed = (uint64_t)_i + 100;
  for (int n = 0; n < DRAWN; n++, arena_reset(arena)) {
    const Drawn d = draw_box(&seed);
    const int elem = types[d.type].bytes;
    if (is_for_loads(&d)) continue;
    unsigned char *tensor = random_bytes(&seed, d.bytes), *image = random_bytes(&seed, SMEM);
    const Run run = run_box(&d, store, tensor, image, 0);
    for (int i = 0; i < box_bytes(&d) / elem; i++) {
      const int64_t to = place_in_tensor(&d, i);
      if (to >= 0) memcpy(tensor + to, image + place_in_smem(&d, i), (size_t)elem);
    }
    check_sound(&run);
    check_bytes(&run, "the tensor", run.tensor, tensor, d.bytes);
  }
}
END_TEST

static uint32_t reduced(const char *how, bool is_signed, uint32_t old, uint32_t b) {
  const bool less = is_signed ? (int32_t)b < (int32_t)old : b < old;
  if (strcmp(how, "add") == 0) return old + b;
  if (strcmp(how, "min") == 0) return less ? b : old;
  if (strcmp(how, "max") == 0) return less ? old : b;
  if (strcmp(how, "inc") == 0) return old >= b ? 0 : old + 1;
  if (strcmp(how, "dec") == 0) return old == 0 || old > b ? b : old - 1;
  return strcmp(how, "and") == 0 ? old & b : strcmp(how, "or") == 0 ? old | b : old ^ b;
}

START_TEST(boxes_are_reduced) {
  static const char *const ways[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  const char *form = arena_printf(
      arena, "cp.reduce.async.bulk.tensor.%%dd.global.shared::cta.%s.tile.bulk_group", ways[_i]);
  uint64_t seed = (uint64_t)_i + 200;
  for (int n = 0; n < 12;) {
    const Drawn d = draw_box(&seed);
    const bool is_signed = strcmp(types[d.type].name, "s32") == 0;
    if (!is_signed && strcmp(types[d.type].name, "u32") != 0) continue;
    if (is_signed && (_i == 3 || _i == 4)) continue;  // inc and dec are of u32
    n++;
    unsigned char *tensor = random_bytes(&seed, d.bytes), *image = random_bytes(&seed, SMEM);
    const Run run = run_box(&d, form, tensor, image, 0);
    for (int i = 0; i < box_bytes(&d) / 4; i++) {
      const int64_t to = place_in_tensor(&d, i);
      uint32_t old, b;
      if (to < 0) continue;
      memcpy(&old, tensor + to, 4);
      memcpy(&b, image + place_in_smem(&d, i), 4);
      old = reduced(ways[_i], is_signed, old, b);
      memcpy(tensor + to, &old, 4);
    }
    check_sound(&run);
    check_bytes(&run, "the tensor", run.tensor, tensor, d.bytes);
  }
}
END_TEST

// The memory ends in the middle of the tensor. The first element of the box behind it is found; a
// box in front of it comes whole.
START_TEST(memory_ends_before_the_tensor) {
  uint64_t seed = (uint64_t)_i + 300;
  int found = 0, came = 0;
  for (int n = 0; n < DRAWN; n++, arena_reset(arena)) {
    const Drawn d = draw_box(&seed);
    const int elem = types[d.type].bytes;
    if (_i && is_for_loads(&d)) continue;
    const int64_t missing = d.bytes / 2 / elem * elem, end = d.bytes - missing;
    unsigned char *tensor = random_bytes(&seed, d.bytes), *image = random_bytes(&seed, SMEM);
    const Run run = run_box(&d, _i ? store : load, tensor, image, missing);
    int64_t first = -1;
    for (int i = 0; i < box_bytes(&d) / elem && first < 0; i++)
      if (place_in_tensor(&d, i) >= end) first = place_in_tensor(&d, i);
    if (first < 0) {
      check_sound(&run);
      came++;
      continue;
    }
    ck_assert_int_eq(run.outcome, PTX_STOPPED);
    const PtxFinding *f = ptx_machine_finding(run.machine, ptx_machine_findings(run.machine) - 1);
    ck_assert_int_eq(f->kind, PTX_FINDING_OUT_OF_BOUNDS);
    ck_assert_msg(f->address == run.tensor_at + (uint64_t)first && f->bytes == elem,
                  "%s: byte %lld, not %lld", run.text, (long long)(f->address - run.tensor_at),
                  (long long)first);
    found++;
  }
  ck_assert(found > 5 && came > 5);
}
END_TEST

Suite *suite_open_boxes(void) {
  Suite *suite = suite_create("open_boxes");
  TCase *tcase = tcase_create("boxes");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, boxes_come, 0, 3);
  tcase_add_loop_test(tcase, boxes_go, 0, 3);
  tcase_add_loop_test(tcase, boxes_are_reduced, 0, 8);
  tcase_add_loop_test(tcase, memory_ends_before_the_tensor, 0, 2);
  suite_add_tcase(suite, tcase);
  return suite;
}
