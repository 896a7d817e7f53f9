// Bits of instructions → their texts. nvdisasm takes half a second to begin: what many cubins ask
// for is asked for at once.
#include <string.h>

#include "base/str.h"
#include "cli/open/open_cubin.h"
#include "kernels/toolchain/machine/sass.h"

enum { INST_BYTES = 16, LISTING_BITS = 10 };

typedef struct KnownInst {
  uint64_t low, high;
  const char *text;  // NULL: the place is free
} KnownInst;

// Its text where it is none.
static const char NO_INSTRUCTION[] = "";

// When an instruction is issued, which is not in its text.
#define NOT_CONTROL (~((UINT64_C(1) << 62) - (UINT64_C(1) << 41)))

static KnownInst inst_of(const unsigned char *bytes) {
  KnownInst out = {0};
  memcpy(&out.low, bytes, sizeof out.low);
  memcpy(&out.high, bytes + sizeof out.low, sizeof out.high);
  out.high &= NOT_CONTROL;
  return out;
}

static KnownInst *place_of(const OpenListings *l, const KnownInst *inst) {
  const uint64_t mask = (UINT64_C(1) << l->bits) - 1;
  uint64_t at =
      (inst->low ^ inst->high * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) >>
      (64 - l->bits);
  while (l->known[at].text && (l->known[at].low != inst->low || l->known[at].high != inst->high))
    at = (at + 1) & mask;
  return &l->known[at];
}

static void know(OpenListings *l, KnownInst inst, const char *text) {
  if (2 * l->n >= 1 << l->bits) {
    const OpenListings old = *l;
    l->known = ARENA_ARRAY(l->arena, KnownInst, (size_t)1 << ++l->bits);
    for (int i = 0; i < 1 << old.bits; i++)
      if (old.known[i].text) *place_of(l, &old.known[i]) = old.known[i];
  }
  KnownInst *place = place_of(l, &inst);
  if (place->text) return;
  *place = inst;
  place->text = arena_strdup(l->arena, text);
  l->n++;
}

// A listing leaves out the NOPs behind a kernel's last instruction.
OpenListings open_listings(Arena *arena) {
  const KnownInst nop = {.low = 0x7918};
  OpenListings out = {.arena = arena,
                      .bits = LISTING_BITS,
                      .known = ARENA_ARRAY(arena, KnownInst, (size_t)1 << LISTING_BITS)};
  know(&out, nop, "NOP");
  return out;
}

// A place that is relocated is told by the symbol, which is not in the bits.
static bool is_relocated(Arena *arena, const McCubin *cubin, const McKernel *kernel, int n) {
  const char *section = arena_printf(arena, ".text.%s", kernel->name);
  for (int at = 0; at < INST_BYTES; at += 4)
    if (*elf_relocation(cubin->bytes, cubin->n, section, (uint64_t)(n * INST_BYTES + at)).symbol)
      return true;
  return false;
}

const McListing *open_known_listing(Arena *arena, OpenListings *l, const McCubin *cubin,
                                    const McKernel *kernel, int *n) {
  *n = (int)((kernel->text.end - kernel->text.at) / INST_BYTES);
  McListing *out = ARENA_ARRAY(arena, McListing, *n + 1);
  for (int i = 0; i < *n; i++) {
    const KnownInst inst = inst_of(kernel->text.at + i * INST_BYTES);
    out[i] = (McListing){i * INST_BYTES, place_of(l, &inst)->text};
    if (!out[i].text || !*out[i].text || is_relocated(arena, cubin, kernel, i)) return NULL;
  }
  return out;
}

void open_know_listing(Arena *arena, OpenListings *l, const McCubin *cubin, const McKernel *kernel,
                       const McListing *listing, int n) {
  for (int i = 0; i < n; i++)
    if (!is_relocated(arena, cubin, kernel, listing[i].address / INST_BYTES))
      know(l, inst_of(kernel->text.at + listing[i].address), listing[i].text);
}

// "BSSY B0, 0x340" of bytes alone has a label in a listing; the place itself is read off the bits.
static const char *with_label(Arena *arena, const char *text) {
  static const char *const names[] = {"BRA", "BSSY", "CALL", "JMP", "WARPSYNC.COLLECTIVE"};
  const char *name = text + (*text == '@' ? strcspn(text, " ") + 1 : 0), *last = strrchr(name, ' ');
  bool branches = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) branches |= str_starts(name, names[i]);
  if (!branches || !last || !str_starts(last + 1, "0x")) return text;
  return arena_printf(arena, "%.*s `(.L_x)", (int)(last - text), text);
}

// Words that nvdisasm refused: to ask for them again would take it a second.
static void know_refused(OpenListings *l, const KnownInst *asked, int n) {
  for (int i = 0; i < n; i++)
    if (!place_of(l, &asked[i])->text) know(l, asked[i], NO_INSTRUCTION);
}

static void ask(Arena *arena, OpenListings *l, const char *target, const KnownInst *asked, int n,
                const Str *code) {
  enum { SECONDS = 60 };
  if (!n) return;
  const SassResult *sass = sass_disassemble_bytes(arena, target, code->text, code->length, SECONDS);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    if (line->opcode && line->address >= 0 && line->address / INST_BYTES < n)
      know(l, asked[line->address / INST_BYTES], with_label(arena, line->text));
  }
  if (sass->ok) know_refused(l, asked, n);
}

void open_learn(Arena *arena, OpenListings *l, const char *target, const McCubin *const *cubins,
                int n, const char *kernel) {
  Str code = str_new(arena);
  KnownInst *asked = NULL;
  int n_asked = 0, capacity = 0;
  for (int c = 0; c < n; c++) {
    const McKernel *k = mc_cubin_kernel(cubins[c], kernel);
    const int n_code = k ? (int)((k->text.end - k->text.at) / INST_BYTES) : 0;
    for (int i = 0; i < n_code; i++) {
      const KnownInst inst = inst_of(k->text.at + i * INST_BYTES);
      if (place_of(l, &inst)->text || is_relocated(arena, cubins[c], k, i)) continue;
      if (n_asked == capacity) {
        capacity = 2 * capacity + 64;
        KnownInst *more = ARENA_ARRAY(arena, KnownInst, capacity);
        if (n_asked) memcpy(more, asked, sizeof *more * (size_t)n_asked);
        asked = more;
      }
      asked[n_asked++] = inst;
      str_add_bytes(&code, (const char *)k->text.at + i * INST_BYTES, INST_BYTES);
    }
  }
  ask(arena, l, target, asked, n_asked, &code);
}

void open_learn_code(Arena *arena, OpenListings *l, const char *target, const unsigned char *code,
                     int n) {
  Str bytes = str_new(arena);
  KnownInst *asked = ARENA_ARRAY(arena, KnownInst, n + 1);
  int n_asked = 0;
  for (int i = 0; i < n; i++) {
    const KnownInst inst = inst_of(code + i * INST_BYTES);
    if (place_of(l, &inst)->text) continue;
    asked[n_asked++] = inst;
    str_add_bytes(&bytes, (const char *)code + i * INST_BYTES, INST_BYTES);
  }
  ask(arena, l, target, asked, n_asked, &bytes);
}

const char *open_known_text(const OpenListings *l, const unsigned char *inst) {
  const KnownInst of = inst_of(inst);
  const char *text = place_of(l, &of)->text;
  return text && *text ? text : NULL;
}
