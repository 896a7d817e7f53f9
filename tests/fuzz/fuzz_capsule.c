// Capsules from anywhere, their check sums made right: no crash, nothing read outside of the bytes.
#include "../unit/capsule_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  unsigned char *bytes = arena_alloc(arena, size);
  memcpy(bytes, data + 1, size - 1);
  if (data[0] % 8) capsule_seal(bytes, size - 1);
  const Capsule *capsule = capsule_read(arena, bytes, size - 1, "fuzz.capsule", &diags);
  assert((capsule == NULL) == (diags.count == 1));
  if (capsule) capsule_touch(capsule);
  arena_free(arena);
  return 0;
}
