// Loads of a thread, register by register → what the PTX loads from the same address.
//
//   ld.shared.f32 %f217, [%r249+1280];     LDS.128 R8, [R50+0x500]     one for four of the PTX, of
//   ld.shared.f32 %f220, [%r249+1284];                                 which its line tells one
//
// Where thread and PTX load from an address as often, the nth load is the nth load; else a right
// value is one of those that the PTX loads there.
#include <stdlib.h>
#include <string.h>

#include "machine/back/mc_follow.h"
#include "machine/mc_cubin.h"

enum { WORD = 4 };

bool mc_loads_words(const McStep *step) {
  static const char *const names[] = {"LD", "LDG", "LDS"};
  static const McWordId parts[] = {MC_W_U8, MC_W_S8, MC_W_U16, MC_W_S16};
  bool is = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    is |= strcmp(step->op->name, names[i]) == 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) is &= !mc_has(step, parts[i]);
  return is;
}

static int by_address(const void *a, const void *b) {
  const McLoaded *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  return (x->result > y->result) - (x->result < y->result);
}

// Whether each of its values is a word of its own.
static bool loads_words(const McResult *r, const McTouch *touch) {
  bool is = r->n > 0 && !touch->is_store && touch->bytes == r->n * WORD;
  for (int p = 0; is && p < r->n; p++) is = !r->pieces[p].is_pred;
  return is && r->name && strcmp(r->name, "ld") == 0;
}

void mc_learn_loads(McKnown *k) {
  k->loaded = ARENA_ARRAY(k->arena, McLoaded, k->n_touches * MC_PIECES + 1);
  for (int i = 0; i < k->n; i++) {
    const McResult *r = &k->results[i];
    const McTouch *touch = r->touch >= 0 ? &k->touches[r->touch] : NULL;
    for (int p = 0; touch && loads_words(r, touch) && p < r->n; p++)
      k->loaded[k->n_loaded++] = (McLoaded){touch->address + (uint64_t)(p * WORD), i, p};
  }
  if (k->n_loaded) qsort(k->loaded, (size_t)k->n_loaded, sizeof *k->loaded, by_address);
}

// The first load of an address; how many there are behind it.
static int loads_of(const McKnown *k, uint64_t address, int *n) {
  int low = 0, high = k->n_loaded;
  while (low < high) {
    const int at = (low + high) / 2;
    if (k->loaded[at].address < address)
      low = at + 1;
    else
      high = at;
  }
  for (*n = 0; low + *n < k->n_loaded && k->loaded[low + *n].address == address;) ++*n;
  return low;
}

static uint64_t address_of(const McEvent *e, int piece) {
  const uint64_t reserved = e->space == PTX_SPACE_SHARED ? MC_RESERVED_SHARED : 0;
  return e->address - reserved + (uint64_t)(piece * WORD);
}

void mc_match_loads(McFollowed *t, const McKnown *k) {
  int *times = ARENA_ARRAY(t->arena, int, k->n_loaded + 1),
      *nth = ARENA_ARRAY(t->arena, int, k->n_loaded + 1);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < t->n; i++) {
      McEvent *e = &t->events[i];
      for (int p = 0; e->loads_words && p < e->n_wrote && p < MC_REGISTERS_OF_ONE; p++) {
        int n;
        const int first = loads_of(k, address_of(e, p), &n);
        e->load[p] = (McLoad){.n = 0};
        if (!n) continue;
        if (pass == 0) {
          times[first]++;
          continue;
        }
        const bool one_by_one = times[first] == n || (t->is_cut && times[first] < n);
        e->load[p] = one_by_one ? (McLoad){first + nth[first]++, 1} : (McLoad){first, n};
      }
    }
}

bool mc_is_load_known(const McEvent *e, int piece) {
  return e->loads_words && piece < MC_REGISTERS_OF_ONE && e->load[piece].n > 0;
}

bool mc_is_load_right(const McKnown *k, const McEvent *e, int piece) {
  const McLoad *load = &e->load[piece];
  for (int i = load->first; i < load->first + load->n; i++) {
    const McResult *r = &k->results[k->loaded[i].result];
    const McPiece *ptx = &r->pieces[k->loaded[i].piece];
    if (r->mask == e->mask ? ptx->lanes == e->pieces[piece].lanes
                           : ptx->value == e->pieces[piece].value)
      return true;
  }
  return false;
}

int mc_wrong_word(const McKnown *known, const McEvent *e) {
  const McResult *ptx = NULL;
  if (!e->line || mc_times_at(known, e->line, e->nth, &ptx) != e->times) return MC_NOBODY;
  for (int p = 0; ptx && ptx->n == e->n_wrote && p < e->n_wrote; p++)
    if (ptx->pieces[p].value != e->pieces[p].value) return p;
  return MC_NOBODY;
}

// Matrices have 8 rows of 16 bytes. Lane 8 k + i has the address of row i of matrix k; lane 4 i + j
// gets word j of row i, or, turned round, half i of rows 2 j and 2 j + 1. (PTX ISA, 9.7.14.5.15.)
int mc_loaded_places(const McFollowed *t, const McEvent *e, int piece, uint64_t out[MC_PLACES]) {
  enum { ROWS = 8, WORDS_OF_ROW = 4, HALF = 2 };
  const int of = t->thread.lane / WORDS_OF_ROW, in = t->thread.lane % WORDS_OF_ROW;
  const bool is_turned = mc_has(t->code[e->pc].machine, MC_W_MT88);
  if (!e->rows || piece >= MC_REGISTERS_OF_ONE) {
    out[0] = e->address + (uint64_t)(e->loads_words ? piece * WORD : 0);
    return 1;
  }
  const uint64_t *rows = &e->rows[piece * ROWS];
  if (!is_turned) {
    out[0] = rows[of] + (uint64_t)(in * WORD);
    return 1;
  }
  for (int i = 0; i < 2; i++) out[i] = rows[in * 2 + i] + (uint64_t)(of * HALF);
  return 2;
}
