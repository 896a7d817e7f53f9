// Memory by lifetime: an arena is filled by many small allocations and released as a whole.
//
// The program keeps a handful of them (app, gen, frame, job: see ARCHITECTURE.md). Everything a
// builder returns lives in the arena it was given and is const from then on.
#pragma once
#include <stddef.h>

typedef struct Arena Arena;

// `name` appears in messages only. Dies when the system has no memory left.
Arena *arena_new(const char *name);
void arena_free(Arena *arena);

// Forgets everything allocated so far; keeps the largest block for the next round.
void arena_reset(Arena *arena);

// Zeroed bytes, aligned for any type; never NULL. A request of 0 bytes gives a distinct pointer.
void *arena_alloc(Arena *arena, size_t bytes);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t bytes);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Bytes handed out since the last reset.
size_t arena_used(const Arena *arena);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))
