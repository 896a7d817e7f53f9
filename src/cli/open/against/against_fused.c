// PTX, its machine code → the PTX with the sums fused that the machine code has fused.
//
// A product and a sum without a rounding modifier may become one instruction that rounds once.
// (PTX ISA, 9.7.3: add and sub without .rn may be contracted.) Compilers leave a * b - c so:
//
//   mul.f32 %f4, %f1, %f2;      mul.f32 %f4, %f1, %f2;
//   sub.f32 %f5, %f4, %f3;      { .reg .b32 m; neg.f32 m, %f3; fma.rn.f32 %f5, %f1, %f2, m; }
//                                          where the machine code has an FFMA for this line
//
// Both are right, so machine code has to be held against the PTX as it was carried out.
#include <string.h>

#include "base/str.h"
#include "cli/open/against/against_parts.h"
#include "cli/open/against/reduce_parts.h"
#include "machine/mc_code.h"
#include "ptx/run/run.h"

typedef struct Fuser {
  Arena *arena;
  const PtxModule *ptx, *code;
  const PtxFunction *kernel;
  const int *line;  // of each instruction of the machine code
  PieceText t;
  const Piece **piece;  // by instruction of the kernel
  int n;
} Fuser;

static const PtxInst *inst_at(const Fuser *f, int i) { return &f->ptx->code[f->kernel->first + i]; }

// A float instruction of this name that may be contracted: .sat is for sums alone.
static bool is_loose(const PtxInst *i, const char *name) {
  const char class = ptx_types[i->form.types[0]].class;
  return i->row && str_equal(i->row->name, name) && strchr("FHX", class) && i->n_groups == 3 &&
         !ptx_has(i, PTX_MOD_rn) && !ptx_has(i, PTX_MOD_rz) && !ptx_has(i, PTX_MOD_rm) &&
         !ptx_has(i, PTX_MOD_rp);
}

static bool is_sum(const PtxInst *i) { return is_loose(i, "add") || is_loose(i, "sub"); }

static bool is_product(const PtxInst *i) { return is_loose(i, "mul") && !ptx_has(i, PTX_MOD_sat); }

// Whether the machine code has one of these instructions for a line, besides x * 1 + y.
static bool has_code(const Fuser *f, int line, const char *const names[2]) {
  for (int pc = 0; pc < f->code->n_code; pc++) {
    const McStep *step = f->code->code[pc].machine;
    if (f->line[pc] != line || !step) continue;
    if (!str_equal(step->op->name, names[0]) && !str_equal(step->op->name, names[1])) continue;
    if (!strstr(ptx_inst_text(f->arena, f->code, &f->code->code[pc]), ", 1, ")) return true;
  }
  return false;
}

static bool is_fused(const Fuser *f, const PtxInst *i) {
  static const char *const single[] = {"FFMA", "FFMA2"}, *const twice[] = {"DFMA", "DFMA"},
                           *const half[] = {"HFMA2", "HFMA2"};
  const int bits = ptx_types[i->form.types[0]].bits;
  const bool is_f32 = i->form.types[0] == PTX_F32;
  return has_code(f, i->line, is_f32 ? single : bits == 64 ? twice : half);
}

static bool has_product_code(const Fuser *f, int line) {
  static const char *const floats[] = {"FMUL", "FMUL2"}, *const others[] = {"DMUL", "HMUL2"};
  return has_code(f, line, floats) || has_code(f, line, others);
}

static bool writes(const Fuser *f, const PtxInst *i, PtxArg reg) {
  for (int g = 0; g < i->n_groups; g++)
    for (int n = 0; n < i->groups[g].n; n++)
      if (i->groups[g].written && i->groups[g].kind == PTX_GROUP_VALUE &&
          f->ptx->args[i->groups[g].at + n] == reg)
        return true;
  return false;
}

static PtxArg source(const Fuser *f, const PtxInst *i, int nth) {
  return i->groups[nth].kind == PTX_GROUP_VALUE ? f->ptx->args[i->groups[nth].at] : -1;
}

// The product that source `nth` of a sum is, by an instruction of the same block whose factors
// still stand in their registers; -1: it is none.
static int product_of(const Fuser *f, int sum, int nth) {
  const PtxInst *s = inst_at(f, sum);
  const PtxArg reg = source(f, s, nth);
  int at = sum;
  if (reg < 0) return -1;
  do {
    if (inst_at(f, at)->first || at == 0) return -1;
    at--;
  } while (!writes(f, inst_at(f, at), reg));
  const PtxInst *p = inst_at(f, at);
  if (!is_product(p) || p->form.types[0] != s->form.types[0] || p->guard != PTX_PRED_TRUE ||
      ptx_has(p, PTX_MOD_ftz) != ptx_has(s, PTX_MOD_ftz))
    return -1;
  for (int i = at; i < sum; i++)
    for (int k = 1; k <= 2; k++)
      if (source(f, p, k) >= 0 && writes(f, inst_at(f, i), source(f, p, k))) return -1;
  return at;
}

static const char *fused(const Fuser *f, int sum, int product, int nth) {
  Arena *a = f->arena;
  const Piece *s = f->piece[sum], *p = f->piece[product];
  const int guard = *s->text == '@' ? (int)strcspn(s->text, " ") + 1 : 0;
  const char *name = s->text + guard, *kind = name + strlen("add");
  const int n = (int)strcspn(kind, " ");
  const char *result = piece_operand(a, s, 0), *other = piece_operand(a, s, 3 - nth),
             *x = piece_operand(a, p, 1), *y = piece_operand(a, p, 2);
  if (!result || !other || !x || !y) return NULL;
  static const char minus[] = "%gemmview_minus";
  const bool is_sub = str_starts(name, "sub");
  const char *to = is_sub && nth == 1 ? minus : other, *from = is_sub && nth == 2 ? minus : x;
  const char *fma = arena_printf(a, "%.*sfma.rn%.*s %s, %s, %s, %s;", guard, s->text, n, kind,
                                 result, from, y, to);
  if (!is_sub) return fma;
  const char *type = arena_strndup(a, kind, (size_t)n);
  return arena_printf(a, "{ .reg .b%d %s; neg%s %s, %s; %s }",
                      ptx_types[inst_at(f, sum)->form.types[0]].bits, minus, strrchr(type, '.'),
                      minus, nth == 1 ? other : x, fma);
}

// The statement in place of a sum; NULL: the sum itself. A product that has an instruction of its
// own is fused if the other one has one, too.
static const char *instead_of(const Fuser *f, int sum) {
  const PtxInst *s = inst_at(f, sum);
  if (!is_sum(s) || !is_fused(f, s)) return NULL;
  const int product[] = {product_of(f, sum, 1), product_of(f, sum, 2)};
  int nth = product[0] >= 0 ? 1 : 2;
  if (product[nth - 1] < 0) return NULL;
  if (nth == 1 && product[1] >= 0 && has_product_code(f, inst_at(f, product[0])->line)) nth = 2;
  return fused(f, sum, product[nth - 1], nth);
}

const char *fused_text(Arena *arena, const FusedGiven *given, int *n_fused) {
  Fuser f = {.arena = arena, .ptx = given->ptx, .code = given->code, .line = given->line};
  Diags ignored = diags_new(arena);
  *n_fused = 0;
  f.kernel = ptx_module_kernel(given->ptx, given->kernel, &ignored);
  if (!f.kernel) return NULL;
  f.t = pieces_read(arena, given->text, given->bytes, given->kernel);
  f.n = f.kernel->end - f.kernel->first - 1;
  if (f.t.n_insts != f.n) return NULL;
  f.piece = ARENA_ARRAY(arena, const Piece *, f.n + 1);
  for (int i = 0, n = 0; i < f.t.n; i++)
    if (f.t.pieces[i].kind == PIECE_INST) f.piece[n++] = &f.t.pieces[i];
  Str out = str_new(arena);
  const char *at = given->text;
  for (int i = 0; i < f.n; i++) {
    const char *text = instead_of(&f, i);
    if (!text) continue;
    str_add_bytes(&out, at, (size_t)(f.piece[i]->from - at));
    str_add(&out, text);
    at = f.piece[i]->behind;
    ++*n_fused;
  }
  str_add(&out, at);
  return *n_fused ? out.text : NULL;
}
