// Whether a word of memory, or a part of one that is stored alone, gets values of several threads.
// No machine code is wrong that leaves another of them there than the PTX's run does, so such a
// text tells nothing.
//
//   st.global.u32 [%rd1], %r1;    %rd1 the same in all lanes: disputed
#include <string.h>

#include "base/str.h"
#include "cli/open/against/reduce_parts.h"

enum { WORD = 4 };

static StoredWord *find(StoredWords *words, uint64_t address) {
  const uint64_t mask = (uint64_t)words->cap - 1;
  uint64_t at = (address * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & mask;
  while (words->words[at].thread && words->words[at].address != address) at = (at + 1) & mask;
  return &words->words[at];
}

static void grow(StoredWords *words) {
  const StoredWords before = *words;
  words->cap = before.cap ? 2 * before.cap : 1024;
  words->words = ARENA_ARRAY(words->arena, StoredWord, words->cap);
  for (int i = 0; i < before.cap; i++)
    if (before.words[i].thread) *find(words, before.words[i].address) = before.words[i];
}

static void note_word(StoredWords *words, uint64_t address, int thread) {
  if (2 * words->n >= words->cap) grow(words);
  StoredWord *word = find(words, address);
  words->is_disputed |= word->thread && word->thread != thread;
  words->n += !word->thread;
  *word = (StoredWord){address, thread};
}

static bool meets_itself(const PtxAccess *access) {
  for (int a = 0; a < PTX_LANES; a++)
    for (int b = 0; b < a; b++)
      if (access->mask >> a & access->mask >> b & 1 && access->addr[a] == access->addr[b])
        return true;
  return false;
}

void stored_words_note(StoredWords *words, const PtxAccess *access) {
  const bool is_plain = access->is_store && access->inst && access->inst->row &&
                        str_starts(access->inst->row->name, "st");
  if (!is_plain || words->is_disputed) return;
  if (access->space == PTX_SPACE_SHARED) {
    words->is_disputed = meets_itself(access);
    return;
  }
  for (int l = 0; l < PTX_LANES; l++)
    for (int at = 0; at < access->bytes && access->mask >> l & 1; at += WORD)
      note_word(words, (uint64_t)(access->addr[l] + at), 1 + access->warp * PTX_LANES + l);
}
