// The wrapper of one wgmma, written from the atom's row, and the code of its descriptors.
//
// Worked example, m64n128k16 of bf16, both operands by descriptor:
//   setp.ne.b32 keep, %66, 0;
//   wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
//       {%0, … %63}, %64, %65, keep, 1, 1, 0, 1;    d += a * b; +a, +b; A along K, B along N
// Only types of 16 bits say which way their tiles run, and s8 alone cannot be negated: so its list
// ends with the predicate, scale-d; without it d = a * b.
//
// The sums are read and written ("+f") while the instruction goes on in the background: code that
// touches them before wgmma_wait gets the present contents. The statements are volatile and name
// memory, so the compiler leaves them in their order.
#include "model/text/prelude_parts.h"

#include <assert.h>
#include <string.h>

enum { IN_LINE = 14, RESULTS_IN_LINE = 6 };

const char *prelude_wgmma_name(Arena *arena, const Prelude *prelude) {
  const Atom *atom = prelude->atom;
  return arena_printf(arena, "wgmma_m%dn%dk%d_%s_%s%s", atom->m, atom->n, atom->k, atom->acc,
                      atom->type, prelude->by_registers ? "_rs" : "");
}

static void add_registers(Str *out, const char *constraint, const char *name, int n) {
  for (int i = 0; i < n; i++) {
    if (i) str_add(out, i % RESULTS_IN_LINE ? ", " : ",\n        ");
    str_printf(out, "\"%s\"(%s[%d])", constraint, name, i);
  }
}

static bool turns(const Atom *atom) { return atom->bits == 16; }
static bool negates(const Atom *atom) { return !str_equal(atom->acc, "s32"); }

static bool packs(const Atom *atom, AtomOperand operand) {
  return fragment_packing(atom, operand).per_register > 1;
}

static const char *sum_type(const Atom *atom) {
  if (packs(atom, ATOM_C)) return "unsigned";
  return str_equal(atom->acc, "s32") ? "int" : "float";
}

static const char *sum_constraint(const Atom *atom) {
  return str_equal(sum_type(atom), "float") ? "+f" : "+r";
}

static void add_head(Str *out, const Prelude *prelude) {
  const Atom *atom = prelude->atom;
  bool rs = prelude->by_registers;
  str_printf(
      out,
      "// c += a * b, asynchronously, %d x %d x %d, by a warpgroup; c = a * b where keep is 0.\n"
      "// %s: PTX ISA, section %.*s says which lane holds what.\n",
      atom->m, atom->n, atom->k,
      rs ? "b is the descriptor of a tile, a a fragment" : "a and b are descriptors of tiles",
      (int)strcspn(atom->section, " "), atom->section);
  if (turns(atom))
    str_add(out,
            rs ? "// b_turned: N runs fastest, not K.\ntemplate <int b_turned>\n"
               : "// turned: M or N runs fastest, not K.\ntemplate <int a_turned, int b_turned>\n");
  str_printf(
      out, "__device__ __forceinline__ void %s(%s *c, %s,\n    unsigned long long b, int keep) {\n",
      prelude_wgmma_name(out->arena, prelude), sum_type(atom),
      rs ? packs(atom, ATOM_A) ? "const unsigned *a" : "const float *a" : "unsigned long long a");
}

// The numbers behind the operands: add to c, the signs of a and b, which way they run.
static void add_modes(Str *out, const Prelude *prelude, int next) {
  const Atom *atom = prelude->atom;
  str_add(out, negates(atom) ? ", keep, 1, 1" : ", keep");
  if (turns(atom) && !prelude->by_registers) str_printf(out, ", %%%d", next++);
  if (turns(atom)) str_printf(out, ", %%%d", next);
  str_add(out, ";\\n}\"\n");
}

static void add_operand_a(Str *out, const Prelude *prelude, int n_a) {
  if (!prelude->by_registers) {
    str_add(out, "\"l\"(a)");
    return;
  }
  if (packs(prelude->atom, ATOM_A)) {
    add_registers(out, "r", "a", n_a);
    return;
  }
  for (int i = 0; i < n_a; i++)
    str_printf(out, "%s\"r\"(__float_as_uint(a[%d]))", i ? ", " : "", i);
}

void prelude_write_wgmma(Str *out, const Prelude *prelude) {
  const Atom *atom = prelude->atom;
  bool rs = prelude->by_registers;
  int n_c = fragment_packing(atom, ATOM_C).n_registers;
  int n_a = rs ? fragment_packing(atom, ATOM_A).n_registers : 1;
  add_head(out, prelude);
  str_printf(out,
             "  asm volatile(\n      \"{\\n.reg .pred keep;\\nsetp.ne.b32 keep, %%%d, 0;\\n\"\n",
             n_c + n_a + 1);
  str_printf(out, "      \"%s \"\n      \"", atom_ptx(out->arena, atom));
  prelude_write_places(out, 0, n_c, IN_LINE);
  str_add(out, ", \"\n      \"");
  if (rs)
    prelude_write_places(out, n_c, n_a, IN_LINE);
  else
    str_printf(out, "%%%d", n_c);
  str_printf(out, ", %%%d", n_c + n_a);
  add_modes(out, prelude, n_c + n_a + 2);
  str_add(out, "      : ");
  add_registers(out, sum_constraint(atom), "c", n_c);
  str_add(out, "\n      : ");
  add_operand_a(out, prelude, n_a);
  str_add(out, ", \"l\"(b), \"r\"(keep)");
  if (turns(atom) && !rs) str_add(out, ", \"n\"(a_turned)");
  if (turns(atom)) str_add(out, ", \"n\"(b_turned)");
  str_add(out, "\n      : \"memory\");\n}\n");
}

void prelude_write_tile(Str *out, const Prelude *prelude) {
  int bytes = dtype_bytes(prelude->type);
  str_printf(
      out,
      "// The descriptor of the tile that begins at slab[at]: its address beside what does not\n"
      "// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.\n"
      "__device__ __forceinline__ unsigned long long tile_of(const %s *slab, int at,\n"
      "    unsigned long long shape) {\n",
      prelude_type_name(prelude->type));
  str_printf(
      out,
      "  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + %d * at;\n",
      bytes);
  str_add(out, "  return shape | (from & 0x3ffffu) >> 4;\n}\n");
}
