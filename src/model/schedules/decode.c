// A kernel's name → its pieces → numbers.
//
// The name is found in the text (a profiler shows "void cutlass::Kernel2<cutlass_80_…>(…)", a
// symbol table _ZN7cutlass7Kernel2I52cutlass_80_…), cut at its underscores, and each piece is shown
// to the readers of the table below until one of them knows it. Readers depend on what came before:
// two numbers are a tile the first time and a depth with stages the second.
//
// Worked example, ampere_h16816gemm_128x128_ldg8_stages_64x3_nn:
//   ampere      sm_80
//   h16816gemm  f16 sums, m16n8k16 on the tensor core, f16 operands
//   128x128     a block's tile of C
//   ldg8        8 elements in one load from global memory
//   64x3        slabs 64 deep, 3 of them
//   nn          A and B column-major
//
// A name of CUTLASS 3.x has five types behind its instruction: A, B, sums, C, result. A type that
// is not known takes its place all the same, so that the types behind it keep their places.
//
// Sources: the letters of layouts and types come from CUTLASS's functionality table and cublasLt's
// heuristics; cta_k x stages is confirmed in NVIDIA's forum (topic 297449). Letters that cuBLAS has
// not documented (the ones behind nvjet's cluster) are listed as unknown, not guessed.
#include "model/schedules/decode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/schedules/decode_name.h"

const char *decoded_family_name(DecodedFamily family) {
  static const char *const names[] = {
      [DECODED_CUTLASS] = "CUTLASS 2.x", [DECODED_CUTLASS3] = "CUTLASS 3.x",
      [DECODED_CUBLAS] = "cuBLAS",       [DECODED_XMMA] = "cuBLAS xmma",
      [DECODED_NVJET] = "cuBLAS nvjet",  [DECODED_BARE] = "a part of a name",
  };
  return names[family];
}

typedef struct Reader {
  Arena *arena;
  DecodedKernel *out;
  int n_types;    // type pieces so far
  bool gemm;      // the piece that ends in "gemm" is behind
  bool converts;  // that piece names a type: A and B have another one in memory
} Reader;

// ---- pieces -------------------------------------------------------------------------------------

static void add_part(Reader *r, const char *text, const char *meaning) {
  if (r->out->n_parts == DECODED_PARTS_MAX) return;
  r->out->part[r->out->n_parts++] = (DecodedPart){text, meaning};
}

#define SAY(...) arena_printf(r->arena, __VA_ARGS__)

// "128x64x8" → 3 numbers; 0 when the text is anything else.
static int read_shape(const char *text, int out[4]) {
  int n = 0;
  for (;;) {
    char *end;
    if (!isdigit((unsigned char)*text) || n == 4) return 0;
    long value = strtol(text, &end, 10);
    if (value > 65536) return 0;
    out[n++] = (int)value;
    if (*end == '\0') return n;
    if (*end != 'x') return 0;
    text = end + 1;
  }
}

// The number behind a prefix: number_after("stage3", "stage") is 3; -1: it is something else.
static int number_after(const char *text, const char *prefix) {
  size_t n = strlen(prefix);
  if (!str_starts(text, prefix) || !isdigit((unsigned char)text[n])) return -1;
  char *end;
  long value = strtol(text + n, &end, 10);
  return *end || value > 65536 ? -1 : (int)value;
}

static bool shape_after(const char *text, const char *prefix, int shape[4], int n) {
  return str_starts(text, prefix) && read_shape(text + strlen(prefix), shape) == n;
}

static const char *tile_meaning(Reader *r) {
  return SAY("a block's tile of C, M x N = %d x %d", r->out->tile_m, r->out->tile_n);
}

static const char *read_arch(Reader *r, const char *piece) {
  static const struct {
    const char *name;
    int arch;
  } names[] = {{"maxwell", 50}, {"volta", 70}, {"turing", 75}, {"ampere", 80}, {"hopper", 90}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_equal(piece, names[i].name)) r->out->arch = names[i].arch;
  int number = number_after(piece, "sm");
  if (number < 0 && r->out->family == DECODED_CUTLASS && r->out->n_parts == 1)
    number = number_after(piece, "");
  if (number >= 50) r->out->arch = number;
  bool named = number >= 50 || (isalpha((unsigned char)*piece) && r->out->arch && !r->out->n_parts);
  return named ? SAY("built for sm_%d", r->out->arch) : NULL;
}

// ---- types --------------------------------------------------------------------------------------

static const struct {
  const char *name;
  DType type;
} type_names[] = {{"bf16", DTYPE_BF16}, {"tf32", DTYPE_TF32}, {"fp16", DTYPE_F16},
                  {"f16", DTYPE_F16},   {"fp32", DTYPE_F32},  {"f32", DTYPE_F32},
                  {"f64", DTYPE_F64},   {"e4m3", DTYPE_E4M3}, {"e5m2", DTYPE_E5M2},
                  {"s32", DTYPE_S32},   {"i8", DTYPE_S8},     {"s8", DTYPE_S8}};

// Takes one type name off the front; false where there is none.
static bool take_type(const char **text, DType *type) {
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    if (!str_starts(*text, type_names[i].name)) continue;
    *text += strlen(type_names[i].name);
    *type = type_names[i].type;
    return true;
  }
  return false;
}

static const char *const operand_names[] = {"A", "B", "sums", "C", "result"};
enum { OPERANDS_NAMED = sizeof operand_names / sizeof *operand_names };

// Elements with a factor for each block: "ue8m0xe4m3". f4 and f8 are chosen when the kernel runs.
static const struct {
  const char *name;
  DType type;
} scaled_names[] = {{"ue8m0xe4m3", DTYPE_MXF8}, {"ue8m0xe5m2", DTYPE_MXF8E5M2},
                    {"ue8m0xe2m1", DTYPE_MXF4}, {"ue8m0xf4", DTYPE_MXF4},
                    {"ue8m0xf8", DTYPE_MXF8},   {"ue4m3xe2m1", DTYPE_NVFP4},
                    {"ue4m3xf4", DTYPE_NVFP4}};

// "e3m2", "f6": letters and digits.
static bool looks_like_type(const char *piece) {
  return isalpha((unsigned char)*piece) && piece[strcspn(piece, "0123456789")] != '\0';
}

static void set_type(Reader *r, DType type) {
  r->out->has_type = true;
  r->out->type = type;
}

// xmma: storage of A and B, then the type they are multiplied in with the type of the sums, then C.
static const char *read_xmma_types(Reader *r, DType first, DType second, bool pair) {
  r->n_types++;
  if (r->n_types == 1) {
    set_type(r, first);
    return SAY("A %s, B %s in memory", dtype_name(first), dtype_name(second));
  }
  if (r->n_types == 2 && pair) {
    set_type(r, first);
    r->out->acc = second;
    return SAY("multiplied as %s, summed in %s", dtype_name(first), dtype_name(second));
  }
  r->out->out = first;
  return SAY("C %s", dtype_name(first));
}

// One of the five types of CUTLASS 3.x.
static const char *read_operand(Reader *r, const char *piece) {
  DecodedKernel *out = r->out;
  const bool here =
      out->family == DECODED_CUTLASS3 && r->gemm && !out->tile_m && r->n_types < OPERANDS_NAMED;
  const bool absent = str_equal(piece, "void");
  if (!here || (!absent && !looks_like_type(piece))) return NULL;
  const char *operand = operand_names[r->n_types++];
  const bool is_a = r->n_types == 1;
  DType type;
  const char *rest = piece;
  if (absent) return SAY("%s is not read", operand);
  for (size_t i = 0; i < sizeof scaled_names / sizeof *scaled_names; i++) {
    if (!str_equal(piece, scaled_names[i].name)) continue;
    type = scaled_names[i].type;
    if (is_a) set_type(r, type);
    out->blocks = true;
    return SAY("%s %s, %d elements along K share a %s", operand, dtype_element(type),
               dtype_scale(type).elements, dtype_name(dtype_scale(type).type));
  }
  if (str_starts(piece, "ue8m0x")) {  // elements of six bits
    if (is_a) set_type(r, DTYPE_MXF8);
    out->blocks = true;
    return SAY("%s %s, blocks share a ue8m0; no schedule has %s: e4m3 replaces it", operand,
               piece + strlen("ue8m0x"), piece + strlen("ue8m0x"));
  }
  if (!take_type(&rest, &type) || *rest) return SAY("%s of an unknown type", operand);
  if (is_a && !r->converts) set_type(r, type);
  if (r->n_types == 3) out->acc = type;
  return SAY("%s %s", operand, dtype_name(type));
}

// Before the instruction a type is C's, behind it A's and B's, then C's again.
static const char *read_types(Reader *r, const char *piece) {
  DType first, second;
  const char *rest = piece;
  if (!take_type(&rest, &first)) return NULL;
  second = first;
  bool pair = take_type(&rest, &second);
  if (*rest) return NULL;
  if (r->out->family == DECODED_XMMA) return read_xmma_types(r, first, second, pair);
  if (pair) return NULL;
  bool sums_said = r->out->mma_m > 0;
  if (!sums_said) {
    r->out->out = first;
    return SAY("C %s", dtype_name(first));
  }
  int at = r->n_types++;
  if (at > 0) return SAY("C %s", dtype_name(first));
  set_type(r, first);
  return SAY("A and B %s%s", dtype_name(first),
             first == DTYPE_TF32 ? ": the words in memory are rounded to it already" : "");
}

// ---- the instruction ----------------------------------------------------------------------------

static const struct {
  const char *digits;
  int m, n, k;
} shapes[] = {{"884", 8, 8, 4},     {"1684", 16, 8, 4},   {"1688", 16, 8, 8},
              {"16816", 16, 8, 16}, {"16832", 16, 8, 32}, {"16864", 16, 8, 64},
              {"8816", 8, 8, 16},   {"8832", 8, 8, 32},   {"161616", 16, 16, 16}};

// The type of A and B when the name does not say: h and s by the instruction, i is s8.
static DType type_by_letter(char sums, int k) {
  if (sums == 'd') return DTYPE_F64;
  if (sums == 'i') return DTYPE_S8;
  return sums == 's' && k == 8 ? DTYPE_TF32 : DTYPE_F16;
}

static void set_sums(Reader *r, char letter) {
  DecodedKernel *out = r->out;
  out->acc = letter == 'h'   ? DTYPE_F16
             : letter == 'd' ? DTYPE_F64
             : letter == 'i' ? DTYPE_S32
                             : DTYPE_F32;
  if (out->has_type) return;
  out->type = type_by_letter(letter, out->mma_k);
  out->has_type = letter != 's';  // f32 sums are made of f16, bf16 and tf32
}

static const char *say_instruction(Reader *r) {
  const DecodedKernel *out = r->out;
  const char *unit = out->tensor_memory ? "tcgen05.mma" : out->warpgroup ? "wgmma" : "tensor core";
  return SAY("%s m%dn%dk%d, sums in %s", unit, out->mma_m, out->mma_n, out->mma_k,
             dtype_name(out->acc));
}

// The issuer of the products of an architecture, where no warp issues them: only sm_90 has wgmma,
// only sm_100 to sm_110 have tcgen05.mma, and sm_120 has neither.
static void set_unit(DecodedKernel *out) {
  out->tensor = true;
  out->tensor_memory = out->arch >= 100 && out->arch < 120;
  out->warpgroup = out->arch < 100;
}

// "1688", "1688tf32", "64x128x16" between the letter of the sums and "gemm".
static bool take_instruction(Reader *r, const char *text) {
  int shape[4];
  size_t digits = strspn(text, "0123456789");
  DType type;
  const char *rest = text + digits;
  bool typed = take_type(&rest, &type);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !*rest; i++) {
    if (strlen(shapes[i].digits) != digits || strncmp(shapes[i].digits, text, digits) != 0)
      continue;
    r->out->mma_m = shapes[i].m, r->out->mma_n = shapes[i].n, r->out->mma_k = shapes[i].k;
    r->out->tensor = true;
    if (typed) set_type(r, type);
    r->converts = typed;
    return true;
  }
  const char *sides = arena_strndup(r->arena, text, strspn(text, "0123456789x"));
  if (read_shape(sides, shape) != 3) return false;
  rest = text + strlen(sides);
  typed = take_type(&rest, &type);
  if (*rest) return false;
  r->out->mma_m = shape[0], r->out->mma_n = shape[1], r->out->mma_k = shape[2];
  r->out->tensor = true;
  if (r->out->mma_m > 16) set_unit(r->out);  // 16 rows are a warp's
  if (typed) set_type(r, type);
  r->converts = typed;
  return true;
}

// A letter for the sums, the instruction, "gemm": h16816gemm; without one, fma: sgemm.
static const char *read_gemm(Reader *r, const char *piece) {
  size_t n = strlen(piece);
  if (n < 5 || strcmp(piece + n - 4, "gemm") != 0 || !strchr("shdi", *piece)) return NULL;
  const char *inner = arena_strndup(r->arena, piece + 1, n - 5);
  r->gemm = true;
  if (*inner && !take_instruction(r, inner)) return NULL;
  if (!*inner) {
    r->out->mma_m = r->out->mma_n = r->out->mma_k = 1;
    set_type(r, *piece == 'd' ? DTYPE_F64 : *piece == 'h' ? DTYPE_F16 : DTYPE_F32);
  }
  set_sums(r, *piece);
  if (!*inner) return SAY("plain FMA in %s", dtype_name(r->out->acc));
  if (!r->converts) return say_instruction(r);
  return SAY("%s; A and B are %s in memory, and the kernel rounds them to %s", say_instruction(r),
             r->out->type == DTYPE_TF32 ? "f32" : "of another type", dtype_name(r->out->type));
}

// "gemm", "tf32gemm": CUTLASS 3.x leaves the instruction out of names that it filters by.
static const char *read_plain_gemm(Reader *r, const char *piece) {
  const char *rest = piece;
  DType type;
  if (r->out->family != DECODED_CUTLASS3 || r->gemm) return NULL;
  const bool typed = take_type(&rest, &type);
  if (!str_equal(rest, "gemm")) return NULL;
  r->gemm = true;
  r->converts = typed;
  if (typed) set_type(r, type);
  set_unit(r->out);
  return "a matrix product; the name does not give its instruction";
}

static const char *read_tensor(Reader *r, const char *piece) {
  int shape[4];
  if (str_equal(piece, "ffma")) {
    r->out->tensor = false;
    r->out->mma_m = r->out->mma_n = r->out->mma_k = 1;
    return "plain FMA, no tensor core";
  }
  if (!shape_after(piece, "tensor", shape, 3)) return NULL;
  r->out->tensor = true;
  r->out->mma_m = shape[0], r->out->mma_n = shape[1], r->out->mma_k = shape[2];
  return say_instruction(r);
}

// ---- tiles and the rest -------------------------------------------------------------------------

static const char *read_tile(Reader *r, const char *piece) {
  DecodedKernel *out = r->out;
  int s[4], n = read_shape(piece, s);
  if (n == 1 && s[0] == 0 && out->tile_k) return "all slabs that fit";
  if (n < 2 || n > 3) return NULL;
  bool cluster = out->tile_k && out->family >= DECODED_CUTLASS3;
  if (out->tile_m && (n == 2 || cluster)) {
    if (out->tile_k) {
      out->cluster_m = s[0], out->cluster_n = s[1];
      return SAY("clusters of %d x %d blocks", s[0], s[1]);
    }
    out->tile_k = s[0], out->stages = s[1];
    return SAY("slabs %d deep, %d of them", s[0], s[1]);
  }
  if (out->tile_m) return NULL;
  out->tile_m = s[0], out->tile_n = s[1];
  if (n == 3) out->tile_k = s[2];
  return n == 3 ? SAY("%s, slabs %d deep", tile_meaning(r), s[2]) : tile_meaning(r);
}

static const char *read_xmma_sizes(Reader *r, const char *piece) {
  DecodedKernel *out = r->out;
  int s[4], stages = number_after(piece, "stage");
  if (shape_after(piece, "tilesize", s, 3)) {
    out->tile_m = s[0], out->tile_n = s[1], out->tile_k = s[2];
    return SAY("%s, slabs %d deep", tile_meaning(r), s[2]);
  }
  if (shape_after(piece, "warpsize", s, 3)) {
    out->warps_m = s[0], out->warps_n = s[1], out->warps_k = s[2];
    return SAY("%d x %d warps, %d along K", s[0], s[1], s[2]);
  }
  if (shape_after(piece, "warpgroupsize", s, 3)) {
    out->tensor = out->warpgroup = true;
    out->groups = s[0] * s[1];
    out->cut = s[0] > 1 ? 'm' : s[1] > 1 ? 'n' : 0;
    return SAY("%d x %d warpgroups", s[0], s[1]);
  }
  if (stages < 0) return NULL;
  out->stages = stages;
  return SAY("%d slabs", stages);
}

static const char *read_layout(Reader *r, const char *piece) {
  static const char *const operands[] = {"A", "B", "C"};
  size_t n = strlen(piece), have = strlen(r->out->layout);
  if (n > 3 || have + n > 3 || (n == 1 && have != 2) || piece[strspn(piece, "ntNT")]) return NULL;
  bool third = r->out->family == DECODED_NVJET && n == 3;  // what it says is not documented
  if (third) n = 2;
  Str out = str_new(r->arena);
  for (size_t i = have; i < have + n; i++) {
    char letter = r->out->layout[i] = (char)tolower((unsigned char)piece[i - have]);
    str_printf(&out, "%s%s %s", i > have ? ", " : "", operands[i],
               letter == 'n' ? "column-major" : "row-major");
  }
  if (third) str_add(&out, "; the third letter is unknown");
  return out.text;
}

static const char *read_align(Reader *r, const char *piece) {
  static const char *const prefixes[] = {"align", "aligna", "ldg"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    int number = number_after(piece, prefixes[i]);
    if (number < 0) continue;
    r->out->align = number;
    return SAY("%d element%s in one load from global memory", number, plural_s(number));
  }
  return NULL;
}

// nvjet: the types of A and B, of the sums and of C as letters.
static const char *read_nvjet_types(Reader *r, const char *piece) {
  static const char letters[] = "htsdqo";
  static const DType types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_TF32,
                                DTYPE_F64, DTYPE_E4M3, DTYPE_E5M2};
  size_t n = strlen(piece);
  if (r->out->family != DECODED_NVJET || r->n_types || n < 3 || n > 5) return NULL;
  const char *at = strchr(letters, *piece);
  if (!at || piece[strspn(piece, letters)]) return NULL;
  set_type(r, types[at - letters]);
  r->out->acc = piece[n - 2] == 'h' ? DTYPE_F16 : piece[n - 2] == 'd' ? DTYPE_F64 : DTYPE_F32;
  if (!r->out->arch) r->out->arch = 90;
  set_unit(r->out);
  r->n_types++;
  return SAY("A and B %s, sums in %s", dtype_name(r->out->type), dtype_name(r->out->acc));
}

static const char *read_sliced(Reader *r, const char *piece) {
  int s[4];
  if (!shape_after(piece, "sliced", s, 2)) return NULL;
  r->out->warps_k = s[0] * s[1];
  return SAY("slice-K: %d warps share a tile along K and add up in shared memory", r->out->warps_k);
}

static const char *read_vector(Reader *r, const char *piece) {
  const int n = number_after(piece, "vs");
  return n > 0 ? SAY("%d elements along K share a factor", n) : NULL;
}

static const char *read_ctas(Reader *r, const char *piece) {
  if (str_equal(piece, "1sm")) return "each CTA multiplies by itself (cta_group::1)";
  if (!str_equal(piece, "2sm")) return NULL;
  r->out->pair = true;
  return "a pair of CTAs multiplies as one (cta_group::2)";
}

static const char *read_word(Reader *r, const char *piece) {
  static const struct {
    const char *word, *meaning;
    bool roles;  // all three of CUTLASS's schedules for warpgroups have a producer
    int groups;
    char cut;
  } words[] = {
      {"cutlass", "CUTLASS 2.x", false, 0, 0},
      {"cutlass3x", "CUTLASS 3.x", false, 0, 0},
      {"nvjet", "cuBLAS, sm_90 and later", false, 0, 0},
      {"xmma", "cuBLAS's xmma family", false, 0, 0},
      {"gemm", "a matrix product", false, 0, 0},
      {"kernel", "the kernel itself", false, 0, 0},
      {"tensorop", "on the tensor core", false, 0, 0},
      {"simt", "on plain FMA", false, 0, 0},
      {"bstensorop", "on the tensor core, block-scaled", false, 0, 0},
      {"sptensorop", "on the tensor core, A sparse", false, 0, 0},
      {"block", "factors for blocks of elements:", false, 0, 0},
      {"scaled", "see block", false, 0, 0},
      {"stream", "tiles are cut along K", false, 0, 0},
      {"k", "so that all SMs have the same work (stream-K)", false, 0, 0},
      {"nosmem", "C is stored from registers", false, 0, 0},
      {"wmma", "through wmma", false, 0, 0},
      {"stages", "depth and slabs follow", false, 0, 0},
      {"warpspecialized", "roles for warps", true, 0, 0},
      {"cooperative", "two warpgroups share a tile", true, 2, 'm'},
      {"pingpong", "two warpgroups take turns", true, 1, 0},
      {"relu", "ReLU in the epilogue", false, 0, 0},
      {"bias", "a bias is added", false, 0, 0},
      {"gelu", "GELU in the epilogue", false, 0, 0},
      {"tma", "by the tensor memory accelerator", false, 0, 0},
      {"coopA", "two warpgroups share a tile, cut along M", false, 2, 'm'},
      {"coopB", "two warpgroups share a tile, cut along N", false, 2, 'n'},
      {"splitK", "split-K", false, 0, 0},
      {"void", "no C is read", false, 0, 0},
      {"execute", "the kernel itself", false, 0, 0},
      {"cublas", "made for cuBLAS", false, 0, 0},
      {"epi", "in the epilogue", false, 0, 0},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!str_equal(piece, words[i].word)) continue;
    r->out->roles = r->out->roles || words[i].roles;
    r->out->turns = r->out->turns || words[i].groups == 1;
    if (words[i].groups) r->out->groups = words[i].groups;
    if (words[i].cut) r->out->cut = words[i].cut;
    return words[i].meaning;
  }
  return NULL;
}

// Names the part that CUTLASS writes where a name has a hole.
static void read_gap(Reader *r, const char *piece) {
  const DecodedKernel *out = r->out;
  const char *there = !out->mma_m    ? "the instruction and the type of C"
                      : !out->tile_m ? "the type of A and B, and an epilogue such as relu"
                      : !out->tile_k ? "depth and slabs, layout and alignment"
                                     : "layout and alignment";
  r->out->gap = true;
  add_part(r, piece, SAY("left out; such names have here %s", there));
}

typedef const char *PieceReader(Reader *r, const char *piece);
static PieceReader *const readers[] = {read_arch,        read_operand, read_plain_gemm, read_word,
                                       read_nvjet_types, read_gemm,    read_tensor,     read_sliced,
                                       read_xmma_sizes,  read_tile,    read_types,      read_layout,
                                       read_align,       read_vector,  read_ctas};

static void read_piece(Reader *r, const char *piece) {
  const char *meaning = NULL;
  for (size_t i = 0; i < sizeof readers / sizeof *readers && !meaning; i++)
    meaning = readers[i](r, piece);
  add_part(r, piece, meaning ? meaning : "");
}

static bool fail(Diags *diags, const char *text, const char *why) {
  Diag *diag = diag_add(diags, "decode", "\"%.120s\": %s", str_sanitise(diags->arena, text), why);
  diag->nearest = "ampere_h16816gemm_128x128_ldg8_stages_64x3_nn";
  return false;
}

bool decode_kernel(Arena *arena, const char *text, DecodedKernel *out, Diags *diags) {
  *out = (DecodedKernel){.acc = DTYPE_F32, .out = DTYPE_COUNT};
  const char *at = decode_find_name(text, &out->family);
  if (!at) return fail(diags, text, "it does not contain the name of a cuBLAS or CUTLASS kernel");
  size_t n = decode_name_length(text, at);
  if (n > DECODED_NAME_MAX) return fail(diags, text, "longer than any kernel's name");
  out->name = arena_strndup(arena, at, n);
  Reader r = {.arena = arena, .out = out};
  for (const char *piece = out->name; *piece;) {
    size_t gap = decode_gap_length(piece), length = gap;
    while (!gap && decode_in_name(piece[length]) && piece[length] != '_') length++;
    const char *own = arena_strndup(arena, piece, length);
    if (gap) read_gap(&r, own);
    if (!gap && length) read_piece(&r, own);
    piece += length + (piece[length] == '_');
  }
  if (out->tile_m <= 0 || out->tile_n <= 0)
    return fail(diags, text,
                out->gap ? "the tile is missing in the name, such as 128x128"
                         : "the tile is missing in the name, such as 128x128");
  return true;
}
