#include "compile_once.h"

#include <sys/stat.h>

#include "kernels/worker/compile_cached.h"

enum { KEPT_MIB = 256 };

static const char *kept(void) {
  static const char folder[] = "build/compiled";
  static bool is_trimmed;
  if (!is_trimmed) {
    mkdir(folder, 0777);  // where it cannot be made everything is compiled
    cache_trim(folder, (int64_t)KEPT_MIB << 20);
    is_trimmed = true;
  }
  return folder;
}

const CompileResult *compile_once(Arena *arena, const Plan *plan, CompileStage stage) {
  bool cached = false;
  const Compiler compiler = compiler_find(arena, kept());
  return compile_cached(arena, &compiler, plan, stage, &cached);
}

bool compile_was_clean(Arena *arena, const CacheKey *key) {
  CacheEntry entry;
  return cache_load(arena, kept(), key, &entry);
}

void compile_is_clean(const CacheKey *key) {
  cache_store(kept(), key, &(CacheEntry){.json = "{}"});
}
