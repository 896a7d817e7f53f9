// Tensor maps that a kernel makes for itself: tensormap.replace and .cp_fenceproxy. (PTX ISA,
// 9.7.15.7 and 9.7.13.; what the fields mean: "tensor-map" in 5.5.)
//
// A map begins as 128 bytes of zeros, or as one of the launch's. Its fields are kept beside the
// machine, and its 128 bytes become a number that finds them; where the map has been copied or
// used, a change makes another one. What the fields come to is looked at when a copy uses it.
//
//   tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [s], 0, 256     shape[0] = 256
#include "base/str.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

#define MADE_MAGIC UINT64_C(0x6564616d2070616d)
enum { LAST_IN_UNITS = 85, UNIT = 16 };  // of PTX up to 8.5 strides may come in units of 16 bytes

struct PtxMadeMap {
  PtxTensor tensor;  // its layout NULL: not looked at since it changed
  int type, swizzle, atomicity, interleave;
  bool given;  // copied or used: its number stands elsewhere
  int64_t number;
  struct PtxMadeMap *next;
};

// The codes of .elemtype, .swizzle_mode and .swizzle_atomicity. (PTX ISA, table of
// tensormap.replace.)
static const struct {
  const char *name;
  int bytes;
} types[] = {{"u8", 1},   {"u16", 2},   {"u32", 4},       {"s32", 4},      {"u64", 8},  {"s64", 8},
             {"f16", 2},  {"f32", 4},   {"f32", 4},       {"f64", 8},      {"bf16", 2}, {"tf32", 4},
             {"tf32", 4}, {"b4x16", 1}, {"b4x16_p64", 1}, {"b6x16_p32", 1}};
static const char *const swizzles[] = {"none", "32B", "64B", "128B", "96B"};
static const char *const atoms[] = {"", "_ATOM_32B", "_ATOM_32B_FLIP_8B", "_ATOM_64B"};
enum {
  TYPES = sizeof types / sizeof *types,
  SWIZZLES = sizeof swizzles / sizeof *swizzles,
  ATOMS = sizeof atoms / sizeof *atoms
};

static bool is_zero(const unsigned char *bytes) {
  for (int i = 0; i < PTX_MAP_BYTES; i++)
    if (bytes[i]) return false;
  return true;
}

static struct PtxMadeMap *made_at(const PtxMachine *m, const unsigned char *bytes) {
  uint64_t words[2];
  memcpy(words, bytes, sizeof words);
  if (words[0] != MADE_MAGIC) return NULL;
  struct PtxMadeMap *made = m->keeper->made_maps;
  while (made && (uint64_t)made->number != words[1]) made = made->next;
  return made;
}

static int code_of(const char *name, const char *const *names, int n) {
  int code = 0;
  while (code < n && !str_equal(names[code], name)) code++;
  return code < n ? code : 0;
}

static void take_fields(struct PtxMadeMap *made, const PtxTensor *from) {
  made->tensor = *from;
  while (made->type < TYPES && !str_equal(types[made->type].name, from->box.type)) made->type++;
  // A type that no code is, e4m3, moves as whole numbers do.
  for (int t = 0; made->type == TYPES && t < TYPES; t++)
    if (types[t].bytes == from->box.elem_bytes) made->type = t;
  if (from->box.swizzle) made->swizzle = code_of(from->box.swizzle->name, swizzles, SWIZZLES);
}

// The map with the fields to change; NULL: the bytes are no map.
static struct PtxMadeMap *to_change(PtxMachine *m, unsigned char *bytes) {
  PtxMachine *keeper = m->keeper;
  struct PtxMadeMap *was = made_at(m, bytes);
  if (was && !was->given) return was;
  const PtxTensor *given = was ? NULL : ptx_tensor_of(m, bytes);
  if (!was && !given && !is_zero(bytes)) return NULL;
  struct PtxMadeMap *made = ARENA_NEW(keeper->arena, struct PtxMadeMap);
  if (was)
    *made = *was;
  else if (given)
    take_fields(made, given);
  else
    for (int d = 0; d < TMA_RANK_MAX; d++) made->tensor.box.step[d] = 1;
  made->given = false;
  made->number = ++keeper->n_tensors;
  made->next = keeper->made_maps;
  keeper->made_maps = made;
  const uint64_t words[2] = {MADE_MAGIC, (uint64_t)made->number};
  memset(bytes, 0, PTX_MAP_BYTES);
  memcpy(bytes, words, sizeof words);
  return made;
}

// ---- fields -------------------------------------------------------------------------------------

typedef void SetField(struct PtxMadeMap *map, int ordinal, uint64_t value);

static void set_address(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->tensor.address = value;
}
static void set_rank(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->tensor.box.rank = (int)(value < TMA_RANK_MAX ? value + 1 : TMA_RANK_MAX + 1);
}
static void set_box(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  map->tensor.box.box[ordinal] = (long long)value;
}
static void set_shape(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  map->tensor.box.shape[ordinal] = (long long)value;
}
static void set_stride(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  if (ordinal + 1 < TMA_RANK_MAX) map->tensor.box.stride[ordinal + 1] = (long long)value;
}
static void set_step(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  map->tensor.box.step[ordinal] = (long long)value;
}
static void set_type(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->type = (int)(value < TYPES ? value : TYPES);
}
static void set_interleave(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->interleave = value != 0;
}
static void set_swizzle(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->swizzle = (int)(value < SWIZZLES ? value : SWIZZLES);
}
static void set_atomicity(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)ordinal;
  map->atomicity = (int)(value < ATOMS ? value : ATOMS);
}
// NaN or zero outside of the tensor: copies here bring zeros.
static void set_fill(struct PtxMadeMap *map, int ordinal, uint64_t value) {
  (void)map, (void)ordinal, (void)value;
}

static const struct {
  PtxModifier name;
  bool by_dimension;
  SetField *set;
} fields[] = {{PTX_MOD_global_address, false, set_address},
              {PTX_MOD_rank, false, set_rank},
              {PTX_MOD_box_dim, true, set_box},
              {PTX_MOD_global_dim, true, set_shape},
              {PTX_MOD_global_stride, true, set_stride},
              {PTX_MOD_element_stride, true, set_step},
              {PTX_MOD_elemtype, false, set_type},
              {PTX_MOD_interleave_layout, false, set_interleave},
              {PTX_MOD_swizzle_mode, false, set_swizzle},
              {PTX_MOD_swizzle_atomicity, false, set_atomicity},
              {PTX_MOD_fill_mode, false, set_fill}};
enum { FIELDS = sizeof fields / sizeof *fields };

static int field_of(const PtxInst *i) {
  int f = 0;
  while (f < FIELDS && !ptx_has(i, fields[f].name)) f++;
  return f;
}

const char *ptx_map_refuses(const PtxInst *i) {
  const int f = field_of(i);
  if (i->run == run_map_copy) return NULL;
  if (f == FIELDS) return "tensormap.replace names no field that is known";
  return i->n_groups == (fields[f].by_dimension ? 3 : 2)
             ? NULL
             : "tensormap.replace takes an address, perhaps a dimension, and a value";
}

// The 128 bytes at an address, touched; NULL bytes after a finding.
static PtxPlace map_place(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane,
                          const PtxGroup *g, PtxSpace space, bool is_store) {
  const uint64_t address = ptx_access_address(m, w, g, lane);
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, 16, is_store, g, &access);
  if (!ptx_access_lane(m, w, &access, lane, space, address).bytes) return (PtxPlace){0};
  const PtxPlace place = ptx_place(m, ptx_thread(w, (int)lane), &space, address, PTX_MAP_BYTES);
  if (place.bytes && space == PTX_SPACE_SHARED)
    ptx_touch(m, w, (int)lane, place.offset, PTX_MAP_BYTES, is_store ? PTX_WRITES : PTX_READS,
              NULL);
  if (!place.bytes || address % 64)
    ptx_stop(m, w, place.bytes ? PTX_FINDING_MISALIGNED : PTX_FINDING_OUT_OF_BOUNDS, 1u << lane,
             "a tensor map takes 128 bytes at a multiple of 64");
  return m->stopped ? (PtxPlace){0} : place;
}

static void replace(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  const int f = field_of(i), last = i->n_groups - 1;
  const PtxPlace place = map_place(m, w, i, lane, &i->groups[0], i->space, true);
  if (!place.bytes) return;
  const uint64_t ordinal = last > 1 ? ptx_lanes(m, w, &i->groups[1], 0)[lane] : 0;
  struct PtxMadeMap *map = to_change(m, place.bytes);
  if (!map || ordinal >= TMA_RANK_MAX) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane,
             map ? "a tensor map has five dimensions" : "no tensor map lies at this address");
    return;
  }
  fields[f].set(map, (int)ordinal, ptx_lanes(m, w, &i->groups[last], 0)[lane]);
  map->tensor.layout = NULL;
  ptx_mark_written(&place, PTX_MAP_BYTES, false);
}

void run_map_replace(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) if (!m->stopped) replace(m, w, i, l);
}

// tensormap.cp_fenceproxy: a warp copies a map out of shared memory.
void run_map_copy(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  const PtxPlace from = map_place(m, w, i, lane, &i->groups[1], PTX_SPACE_SHARED, false);
  if (!from.bytes) return;
  const PtxPlace to = map_place(m, w, i, lane, &i->groups[0], PTX_SPACE_GLOBAL, true);
  if (!to.bytes) return;
  struct PtxMadeMap *made = made_at(m, from.bytes);
  if (made) made->given = true;
  memcpy(to.bytes, from.bytes, PTX_MAP_BYTES);
  ptx_mark_written(&to, PTX_MAP_BYTES, false);
}

// ---- what it comes to ---------------------------------------------------------------------------

static void settle_strides(const PtxMachine *m, TmaBox *box) {
  long long least = tma_box_global_bytes(box, box->shape[0]);
  for (int d = 1; d < box->rank; d++) {
    const bool in_units = m->module->version <= LAST_IN_UNITS && box->stride[d] < least &&
                          box->stride[d] * UNIT >= least;
    if (in_units) box->stride[d] *= UNIT;
    least = box->stride[d];
  }
}

static const TmaSwizzle *swizzle_of(PtxMachine *m, const struct PtxMadeMap *made) {
  if (made->swizzle >= SWIZZLES || made->atomicity >= ATOMS) return NULL;
  const char *name =
      arena_printf(m->arena, "%s%s", swizzles[made->swizzle], atoms[made->atomicity]);
  for (int i = 0; i < tma_swizzle_count; i++)
    if (str_equal(tma_swizzle_table[i].name, name)) return &tma_swizzle_table[i];
  return NULL;
}

const PtxTensor *ptx_made_tensor(PtxMachine *m, const unsigned char *bytes, const char **why) {
  struct PtxMadeMap *made = made_at(m, bytes);
  *why = NULL;
  if (!made) return NULL;
  made->given = true;
  if (made->tensor.layout) return &made->tensor;
  TmaBox *box = &made->tensor.box;
  box->swizzle = swizzle_of(m, made);
  if (made->type >= TYPES || !box->swizzle || made->interleave) {
    *why = "a tensor map with an element type, swizzle or interleave that is not run here";
    return NULL;
  }
  box->type = types[made->type].name;
  box->elem_bytes = types[made->type].bytes;
  box->packed = tma_packed_find(box->type);
  settle_strides(m, box);
  Diags diags = diags_new(m->arena);
  if (tma_box_check(box, &diags))
    made->tensor.layout = tma_box_layout(m->arena, box, "tensormap.replace", &diags);
  if (!made->tensor.layout)
    *why = arena_printf(m->arena, "the tensor map that the kernel made: %s",
                        diags_text(m->arena, &diags));
  return made->tensor.layout ? &made->tensor : NULL;
}
