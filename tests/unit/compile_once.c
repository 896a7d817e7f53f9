#include "compile_once.h"

#include <sys/stat.h>

#include "kernels/toolchain/cache.h"
#include "kernels/worker/compile_cached.h"

enum { KEPT_MIB = 256 };

const CompileResult *compile_once(Arena *arena, const Plan *plan, CompileStage stage) {
  static const char folder[] = "build/compiled";
  static bool is_trimmed;
  if (!is_trimmed) {
    mkdir(folder, 0777);  // where it cannot be made everything is compiled
    cache_trim(folder, (int64_t)KEPT_MIB << 20);
    is_trimmed = true;
  }
  bool cached = false;
  const Compiler compiler = compiler_find(arena, folder);
  return compile_cached(arena, &compiler, plan, stage, &cached);
}
