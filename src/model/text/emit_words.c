// Remarks behind declarations: what a buffer is for, by its role.
//
// Worked example, ROLE_SLAB_A: "the slab of A" in a matmul, "the slab of Q" in attention.
#include "model/text/emit_words.h"

#include <string.h>

// %s is the matrix whose role it is in its product.
static const char *const role_words[ROLE_COUNT] = {
    [ROLE_SLAB_A] = "the slab of %s",
    [ROLE_SLAB_B] = "the slab of %s",
    [ROLE_ACC] = "this thread's cells of %s",
    [ROLE_FRAG_A] = "its values of %s for one k",
    [ROLE_FRAG_B] = "its values of %s for one k",
    [ROLE_SLAB_C] = "a row of atoms on its way to %s",
    [ROLE_STAGE_C] = "on their way to %s",
    [ROLE_STAGE_A] = "on their way from %s to shared memory",
    [ROLE_STAGE_B] = "on their way from %s to shared memory",
    [ROLE_FULL] = "a slot's bytes have come",
    [ROLE_EMPTY] = "every consumer warp has left a slot",
    [ROLE_ORDER] = "a consumer has asked for its tile's products",
    [ROLE_SLAB_V] = "the slab of %s",
    [ROLE_STAGE_V] = "on their way from %s to shared memory",
    [ROLE_FRAG_V] = "its values of %s for one k",
    [ROLE_FRAG_P] = "its weights for one k",
    [ROLE_SCORE] = "this thread's scores, then weights",
    [ROLE_ROW_MAX] = "of its rows: the largest score so far",
    [ROLE_ROW_SUM] = "the sum of its weights",
    [ROLE_ROW_BASE] = "alpha times the largest score",
    [ROLE_RESCALE] = "what older sums are worth",
    [ROLE_LIST] = "the list of tiles that the cluster has claimed",
};

const char *emit_role_words(Emitter *emitter, BufferRole role) {
  const Program *program = emitter->program;
  const char *words = role_words[role];
  for (int i = 0; words && i < program->n_products; i++) {
    const int operand = product_operand(&program->product[i], role);
    if (operand == ATOM_OPERANDS || !strstr(words, "%s")) continue;
    const Buffer *matrix = program_buffer(program, program->product[i].operand[operand].global);
    if (!matrix) continue;
    const size_t before = (size_t)(strstr(words, "%s") - words);
    return arena_printf(emitter->arena, "%.*s%s%s", (int)before, words, matrix->name,
                        words + before + 2);
  }
  return words;
}
