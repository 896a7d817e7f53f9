// The tables of mc_op.def and mc_word.def.
#include "machine/mc_isa.h"

#include <string.h>

const McWord mc_words[MC_WORDS] = {
#define WORD(id, name, class, ptx) {name, class, ptx},
#include "machine/mc_word.def"
#undef WORD
};

const McOp mc_ops[] = {
#define OP(name, needs, operands, as, run, flow, takes, help) \
  {name, needs, operands, as, mc_run_##run, PTX_FLOW_##flow, takes, help},
#define mc_run_AS NULL
#include "machine/mc_op.def"
#undef mc_run_AS
};
const int mc_op_count = sizeof mc_ops / sizeof *mc_ops;

const McWord *mc_word_find(const char *text, int length) {
  for (int i = 0; i < MC_WORDS; i++)
    if (strncmp(mc_words[i].name, text, (size_t)length) == 0 && !mc_words[i].name[length])
      return &mc_words[i];
  return NULL;
}

bool mc_listed(const char *list, const char *word, int length) {
  for (const char *at = list; *at;) {
    const int n = (int)strcspn(at, " ");
    if (n == length && strncmp(at, word, (size_t)n) == 0) return true;
    at += n;
    at += strspn(at, " ");
  }
  return false;
}
