// A compile result in the cache: its JSON, and its cubin as the entry's bytes. It is found under
// (compiler, flags, text):
//
//   "NVRTC 13.0 (/usr/lib/libnvrtc.so.13) 104857600 1735689600", "1 cubin sm_90a matmul", "extern
//   …"
#include "kernels/worker/compile_cached.h"

#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "kernels/toolchain/cache.h"
#include "kernels/worker/result_json.h"

// Part of every key: raise it when nvrtc.c changes its options, or reads the compiler's log
// otherwise.
static const char FLAGS_VERSION[] = "3";

// An update in place changes size and date of the library, where its version may stay.
static const char *identify(Arena *arena, const char *described) {
  const char *open = strrchr(described, '('), *close = strrchr(described, ')');
  struct stat info;
  if (!open || !close || close < open) return described;
  const char *path = arena_strndup(arena, open + 1, (size_t)(close - open - 1));
  if (stat(path, &info) != 0) return described;
  return arena_printf(arena, "%s %lld %lld", described, (long long)info.st_size,
                      (long long)info.st_mtim.tv_sec);
}

Compiler compiler_find(Arena *arena, const char *cache) {
  Compiler compiler = {0};
  compiler.described = nvrtc_describe(arena, &compiler.found);
  compiler.identity = identify(arena, compiler.described);
  compiler.cache = compiler.found ? cache : NULL;
  return compiler;
}

static CacheKey key_of(Arena *arena, const Compiler *compiler, const Plan *plan,
                       CompileStage stage) {
  static const char *const names[] = {
      [COMPILE_PTX] = "ptx", [COMPILE_CUBIN] = "cubin", [COMPILE_BOTH] = "both"};
  Str flags = str_new(arena);
  str_printf(&flags, "%s %s %s", FLAGS_VERSION, names[stage], plan->arch);
  if (plan->ptxas_opt && *plan->ptxas_opt) str_printf(&flags, " -O%s", plan->ptxas_opt);
  for (int i = 0; i < plan->n_kernels; i++) str_printf(&flags, " %s", plan->kernels[i].name);
  return (CacheKey){.compiler = compiler->identity, .flags = flags.text, .text = plan->cuda};
}

static CompileResult *load(Arena *arena, const char *cache, const CacheKey *key) {
  CacheEntry entry;
  Diags diags = diags_new(arena);
  if (!cache || !cache_load(arena, cache, key, &entry)) return NULL;
  CompileResult *result = compile_result_read_json(arena, entry.json, &diags);
  if (!result) return NULL;
  result->cubin = entry.blob;
  result->cubin_bytes = entry.n_blob;
  compile_read_cubin(result);
  return result;
}

CompileResult *compile_cached(Arena *arena, const Compiler *compiler, const Plan *plan,
                              CompileStage stage, bool *cached) {
  const CacheKey key = key_of(arena, compiler, plan, stage);
  CompileResult *result = load(arena, compiler->cache, &key);
  *cached = result != NULL;
  if (result) return result;
  result = nvrtc_compile(arena, plan, stage);
  if (!result->ok || !compiler->cache) return result;
  Str json = str_new(arena);
  compile_result_write_json(&json, result);
  const CacheEntry entry = {json.text, result->cubin, result->cubin ? result->cubin_bytes : 0};
  cache_store(compiler->cache, &key, &entry);
  return result;
}

// ---- the clock ----------------------------------------------------------------------------------

static CacheKey clock_key_of(Arena *arena, const Compiler *compiler, const Plan *plan,
                             const ClockSubject *subject) {
  CacheKey key = key_of(arena, compiler, plan, COMPILE_CUBIN);
  const char *own = clock_number_key(arena, subject);
  key.flags = own ? arena_printf(arena, "%s %s", key.flags, own) : NULL;
  return key;
}

static ClockNumber *load_number(Arena *arena, const char *cache, const CacheKey *key) {
  CacheEntry entry;
  Diags diags = diags_new(arena);
  if (!cache || !key->flags || !cache_load(arena, cache, key, &entry)) return NULL;
  return clock_number_read_json(arena, entry.json, &diags);
}

ClockNumber *clock_cached(Arena *arena, const Compiler *compiler, const Plan *plan,
                          const ClockSubject *subject, const CompileResult *binary, bool *cached) {
  const CacheKey key = clock_key_of(arena, compiler, plan, subject);
  ClockNumber *number = load_number(arena, compiler->cache, &key);
  *cached = number != NULL;
  if (number) return number;
  number = clock_number(arena, subject, plan, binary);
  if (!compiler->cache || !key.flags) return number;
  Str json = str_new(arena);
  clock_number_write_json(&json, number);
  cache_store(compiler->cache, &key, &(CacheEntry){.json = json.text});
  return number;
}
