// The kernels, each as short as its instruction allows. For m16n8k8.f16, cut:
//
//   extern "C" __global__ void __launch_bounds__(32)
//   tagged_m16n8k8_f16_f32(const unsigned *in, unsigned *out, int rounds) {
//     for (int round = 0; round < rounds; round++) {
//       const unsigned *from = in + (round * 32 + threadIdx.x) * 7;
//       unsigned *to = out + (round * 32 + threadIdx.x) * 4;
//       unsigned a0 = from[0], a1 = from[1], b0 = from[2];
//       float c0 = __uint_as_float(from[3]), …;
//       asm volatile("mma.sync… {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
//                    : "+f"(c0), … : "r"(a0), "r"(a1), "r"(b0));
//       to[0] = __float_as_uint(c0); …
//
// Registers are 32 bits wide, or doubles of two words; an asm constraint says which: r f d.
#include <ctype.h>

#include "kernels/device/fragment_check.h"

typedef struct RegisterKind {
  const char *type, *constraint;
  int words;
} RegisterKind;

static const RegisterKind kind_bits = {"unsigned", "r", 1};
static const RegisterKind kind_float = {"float", "f", 1};
static const RegisterKind kind_double = {"double", "d", 2};

static const RegisterKind *kind_of(const Atom *atom, AtomOperand operand) {
  const FragmentPacking packing = fragment_packing(atom, operand);
  if (packing.register_bits == 64) return &kind_double;
  return operand == ATOM_C && str_equal(atom->acc, "f32") ? &kind_float : &kind_bits;
}

const char *tagged_kernel_name(Arena *arena, const TaggedCase *tagged) {
  char *name = arena_printf(arena, "tagged_%s", tagged->name);
  for (char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at)) *at = '_';
  return name;
}

static void add_load(Str *text, const RegisterKind *kind, char letter, int i, int word) {
  str_printf(text, "    %s %c%d = ", kind->type, letter, i);
  if (kind == &kind_double)
    str_printf(text, "__hiloint2double((int)from[%d], (int)from[%d]);\n", word + 1, word);
  else if (kind == &kind_float)
    str_printf(text, "__uint_as_float(from[%d]);\n", word);
  else
    str_printf(text, "from[%d];\n", word);
}

static void add_store(Str *text, const RegisterKind *kind, char letter, int i) {
  const int word = i * kind->words;
  if (kind == &kind_double)
    str_printf(text,
               "    to[%d] = (unsigned)__double2loint(%c%d);\n"
               "    to[%d] = (unsigned)__double2hiint(%c%d);\n",
               word, letter, i, word + 1, letter, i);
  else if (kind == &kind_float)
    str_printf(text, "    to[%d] = __float_as_uint(%c%d);\n", word, letter, i);
  else
    str_printf(text, "    to[%d] = %c%d;\n", word, letter, i);
}

// "{%4, %5}"
static void add_registers(Str *text, int first, int n) {
  str_add(text, "{");
  for (int i = 0; i < n; i++) str_printf(text, "%s%%%d", i ? ", " : "", first + i);
  str_add(text, "}");
}

static void add_constraints(Str *text, const char *mark, const RegisterKind *kind, char letter,
                            int n, bool more) {
  for (int i = 0; i < n; i++)
    str_printf(text, "%s\"%s%s\"(%c%d)", i || more ? ", " : "", mark, kind->constraint, letter, i);
}

static void add_mma(Str *text, const Atom *atom, const int n[ATOM_OPERANDS]) {
  str_printf(text, "    asm volatile(\"%s ", atom_ptx(text->arena, atom));
  add_registers(text, 0, n[ATOM_C]);
  str_add(text, ", ");
  add_registers(text, n[ATOM_C], n[ATOM_A]);
  str_add(text, ", ");
  add_registers(text, n[ATOM_C] + n[ATOM_A], n[ATOM_B]);
  str_add(text, ", ");
  add_registers(text, 0, n[ATOM_C]);
  str_add(text, ";\"\n                 : ");
  add_constraints(text, "+", kind_of(atom, ATOM_C), 'c', n[ATOM_C], false);
  str_add(text, "\n                 : ");
  add_constraints(text, "", kind_of(atom, ATOM_A), 'a', n[ATOM_A], false);
  add_constraints(text, "", kind_of(atom, ATOM_B), 'b', n[ATOM_B], true);
  str_add(text, ");\n");
}

static void add_mma_round(Str *text, const Atom *atom) {
  int n[ATOM_OPERANDS], word = 0;
  for (int operand = ATOM_A; operand <= ATOM_C; operand++) {
    const RegisterKind *kind = kind_of(atom, (AtomOperand)operand);
    n[operand] = fragment_packing(atom, (AtomOperand)operand).n_registers;
    for (int i = 0; i < n[operand]; i++, word += kind->words)
      add_load(text, kind, "abc"[operand], i, word);
  }
  add_mma(text, atom, n);
  for (int i = 0; i < n[ATOM_C]; i++) add_store(text, kind_of(atom, ATOM_C), 'c', i);
}

static void add_ldmatrix_round(Str *text, const LdMatrix *load) {
  str_add(text, "    unsigned address = base + from[0]");
  for (int i = 0; i < load->n_matrices; i++) str_printf(text, ", r%d", i);
  str_printf(text, ";\n    asm volatile(\"%s ", ldmatrix_ptx(text->arena, load));
  add_registers(text, 0, load->n_matrices);
  str_printf(text, ", [%%%d];\"\n                 : ", load->n_matrices);
  add_constraints(text, "=", &kind_bits, 'r', load->n_matrices, false);
  str_add(text, "\n                 : \"r\"(address)\n                 : \"memory\");\n");
  for (int i = 0; i < load->n_matrices; i++) add_store(text, &kind_bits, 'r', i);
}

static void add_tags(Str *text) {
  str_printf(text,
             "  __shared__ __align__(128) unsigned short tags[%d];\n"
             "  for (int i = lane; i < %d; i += 32) tags[i] = (unsigned short)i;\n"
             "  __syncwarp();\n"
             "  const unsigned base = (unsigned)__cvta_generic_to_shared(tags);\n",
             TAGGED_TAGS, TAGGED_TAGS);
}

void tagged_write_text(Str *text, const TaggedCase *tagged) {
  str_printf(text,
             "extern \"C\" __global__ void __launch_bounds__(32)\n"
             "%s(const unsigned *in, unsigned *out, int rounds) {\n"
             "  const int lane = threadIdx.x;\n",
             tagged_kernel_name(text->arena, tagged));
  if (tagged->load.n_matrices) add_tags(text);
  str_printf(text,
             "  for (int round = 0; round < rounds; round++) {\n"
             "    const unsigned *from = in + (round * 32 + lane) * %d;\n"
             "    unsigned *to = out + (round * 32 + lane) * %d;\n",
             tagged->n_in, tagged->n_out);
  if (tagged->load.n_matrices)
    add_ldmatrix_round(text, &tagged->load);
  else
    add_mma_round(text, &tagged->atom);
  str_add(text, "  }\n}\n");
}
