// tcgen05.ld and .st of the shape .32x32b: a column for each register, a lane for each thread.
//
// Worked example, x2 of floats:
//   asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [%2];"
//       : "=f"(to[0]), "=f"(to[1]) : "r"(from) : "memory");
//
// The instruction goes on in the background: the registers are there behind tcgen05_wait_ld, and
// the statements are volatile and name memory, so the compiler leaves them in their order.
#include "model/text/prelude_parts.h"

enum { IN_LINE = 12, RESULTS_IN_LINE = 6 };

static const char *register_type(const Prelude *prelude) {
  return prelude->type == DTYPE_S32 ? "int" : "float";
}

static const char *constraint(const Prelude *prelude) {
  return prelude->type == DTYPE_S32 ? "r" : "f";
}

static void add_registers(Str *out, const Prelude *prelude, const char *mode, const char *name) {
  for (int i = 0; i < prelude->width; i++) {
    if (i) str_add(out, i % RESULTS_IN_LINE ? ", " : ",\n        ");
    str_printf(out, "\"%s%s\"(%s[%d])", mode, constraint(prelude), name, i);
  }
}

void prelude_write_tensor_ld(Str *out, const Prelude *prelude) {
  const int n = prelude->width;
  str_printf(out, "// %d columns of this thread's lane, asynchronously.\n", n);
  str_printf(out, "__device__ __forceinline__ void tcgen05_ld_x%d(%s *to, unsigned from) {\n", n,
             register_type(prelude));
  str_printf(out, "  asm volatile(\"tcgen05.ld.sync.aligned.32x32b.x%d.b32 \"\n      \"", n);
  prelude_write_places(out, 0, n, IN_LINE);
  str_printf(out, ", [%%%d];\"\n      : ", n);
  add_registers(out, prelude, "=", "to");
  str_add(out, "\n      : \"r\"(from) : \"memory\");\n}\n");
}

void prelude_write_tensor_st(Str *out, const Prelude *prelude) {
  const int n = prelude->width;
  str_printf(out, "// %d columns of this thread's lane, asynchronously.\n", n);
  str_printf(out, "__device__ __forceinline__ void tcgen05_st_x%d(unsigned to, const %s *from) {\n",
             n, register_type(prelude));
  str_printf(out, "  asm volatile(\"tcgen05.st.sync.aligned.32x32b.x%d.b32 [%%0], \"\n      \"", n);
  prelude_write_places(out, 1, n, IN_LINE);
  str_add(out, ";\"\n      :: \"r\"(to), ");
  add_registers(out, prelude, "", "from");
  str_add(out, " : \"memory\");\n}\n");
}
