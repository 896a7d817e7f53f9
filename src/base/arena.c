// Bump allocation in a chain of blocks.
//
// A block is at least 64 KiB; a larger request gets a block of its own size. Where it took several
// blocks until a reset, the next one is as large as all of them, so a model generation that is
// rebuilt at every key press settles on one block and then never calls malloc again.
//
// Where AddressSanitizer watches, only what has been given out may be touched: allocations lie 16
// bytes apart, and these bytes are poisoned as the rest of a block is.
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"

#if defined __has_feature && !defined __SANITIZE_ADDRESS__
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { APART = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at))
enum { APART = 0 };
#endif

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

typedef struct Block {
  struct Block *next;
  size_t size, used;
  size_t dirty;  // bytes that were given out before; those behind them are still zero
  _Alignas(ALIGN) unsigned char bytes[];
} Block;

struct Arena {
  const char *name;
  Block *first;
  size_t used;
  size_t wanted;  // bytes of the next block, at least
};

static Block *block_new(const char *name, size_t size) {
  Block *block = calloc(1, sizeof(Block) + size);
  if (!block) die("out of memory: arena %s asked for %zu bytes", name, size);
  block->size = size;
  ASAN_POISON_MEMORY_REGION(block->bytes, size);
  return block;
}

Arena *arena_new(const char *name) {
  Arena *arena = calloc(1, sizeof(Arena));
  if (!arena) die("out of memory: arena %s", name);
  arena->name = name;
  return arena;
}

static void blocks_free(Block *block) {
  while (block) {
    Block *next = block->next;
    ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
    free(block);
    block = next;
  }
}

void arena_free(Arena *arena) {
  if (!arena) return;
  blocks_free(arena->first);
  free(arena);
}

void arena_reset(Arena *arena) {
  Block *first = arena->first;
  if (first && first->next) {
    for (const Block *at = first; at; at = at->next) arena->wanted += at->size;
    blocks_free(first);
    first = NULL;
  }
  if (first) {
    if (first->used > first->dirty) first->dirty = first->used;
    ASAN_POISON_MEMORY_REGION(first->bytes, first->used);
    first->used = 0;
  }
  arena->first = first;
  arena->used = 0;
}

void *arena_alloc(Arena *arena, size_t bytes) {
  const size_t need = ((bytes + (bytes == 0) + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + APART;
  if (need < bytes) die("arena %s asked for %zu bytes", arena->name, bytes);
  Block *block = arena->first;
  if (!block || block->size - block->used < need) {
    size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
    block = block_new(arena->name, size > arena->wanted ? size : arena->wanted);
    block->next = arena->first;
    arena->first = block;
    arena->wanted = 0;
  }
  unsigned char *at = block->bytes + block->used;
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
  if (block->used < block->dirty) {
    const size_t dirty = block->dirty - block->used;
    memset(at, 0, dirty < bytes ? dirty : bytes);
  }
  block->used += need;
  arena->used += need - APART;
  return at;
}

char *arena_strndup(Arena *arena, const char *text, size_t bytes) {
  char *copy = arena_alloc(arena, bytes + 1);
  memcpy(copy, text, bytes);
  return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(Arena *arena, const char *format, ...) {
  // Nearly every text is a short one, and made once.
  enum { SHORT = 256 };
  char made[SHORT];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(made, SHORT, format, args);
  assert(length >= 0);
  char *text = arena_alloc(arena, (size_t)length + 1);
  if (length < SHORT)
    memcpy(text, made, (size_t)length + 1);
  else
    vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

size_t arena_used(const Arena *arena) { return arena->used; }
