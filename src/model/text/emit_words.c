// Remarks: what a buffer or an operation is for, by a role, with the matrices called by their
// names.
//
// Worked example, ROLE_SLAB_A: "the slab of A" in a matmul, "the slab of Q" in attention.
#include "model/text/emit_parts.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/program.h"

// %s is the matrix with that role in its product.
static const char *const role_words[ROLE_COUNT] = {
    [ROLE_SLAB_A] = "the slab of %s",
    [ROLE_SLAB_B] = "the slab of %s",
    [ROLE_ACC] = "this thread's cells of %c",
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
    [ROLE_ACC_FULL] = "the sums of a tile are whole",
    [ROLE_ACC_EMPTY] = "the sums of a tile have been read",
    [ROLE_SUMS] = "the block's sums in tensor memory",
    [ROLE_TENSOR_BASE] = "where the block's tensor memory begins",
    [ROLE_LIST] = "the list of tiles that the cluster has claimed",
};

// The name of a product's matrix. Where no kernel keeps it in memory, the name of its registers
// gives it, "S" of "S_f"; NULL: neither is there.
static const char *matrix_name(const Emitter *emitter, const ProductOperand *operand) {
  const Buffer *matrix = program_buffer(emitter->program, operand->global);
  if (matrix) return matrix->name;
  const Buffer *kept = program_buffer(emitter->program, operand->registers);
  return kept ? arena_printf(emitter->arena, "%.*s", (int)strcspn(kept->name, "_"), kept->name)
              : NULL;
}

const char *emit_words_of(const Emitter *emitter, const char *words, BufferRole role) {
  static const char letters[] = {'a', 'b', 'c', 's'};
  if (!words) return NULL;
  const Product *product = program_product_of(emitter->program, role);
  Str out = str_new(emitter->arena);
  for (const char *at = words; *at; at++) {
    const char *letter = *at == '%' ? memchr(letters, at[1], sizeof letters) : NULL;
    int operand = letter ? (int)(letter - letters) : ATOM_OPERANDS;
    if (operand == ATOM_OPERANDS) operand = product_operand(product, role);
    const bool named = letter && operand < ATOM_OPERANDS;
    const char *name = named ? matrix_name(emitter, &product->operand[operand]) : NULL;
    if (name) str_add(&out, name);
    if (name)
      at++;
    else
      str_add_char(&out, *at);
  }
  return out.text;
}

const char *emit_role_words(const Emitter *emitter, BufferRole role) {
  return emit_words_of(emitter, role_words[role], role);
}
