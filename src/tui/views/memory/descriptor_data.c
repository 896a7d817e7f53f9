// The descriptor view as data: fields, tiles, and what each 16 bytes of the tile come from.
//
// Worked example, A of m64nNk16 by 128B: 128 rows of "chunks_row_k_core_byte_meant_byte", each 8
// elements along K: [9, 8, 3, 1168, 1168].
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "tui/views/memory/descriptor.h"

static const char *word_text(Arena *arena, const SmemDescriptor *d) {
  return arena_printf(arena, "0x%016" PRIx64, smem_descriptor_encode(d));
}

typedef struct WordSaid {
  const SmemDescriptor *word;
  bool trans;  // M or N runs fastest
} WordSaid;

static const WordSaid *word_said(Arena *arena, const SmemDescriptor *word, bool trans) {
  WordSaid *said = ARENA_NEW(arena, WordSaid);
  *said = (WordSaid){word, trans};
  return said;
}

static const char *part_text(Arena *arena, const Descriptor *frame, DescriptorPart part) {
  DescriptorTile tile = tile_read_shape(&frame->reads);
  tile.mn_major = frame->trans;
  const char *across = frame->reads.shape.operand == ATOM_A ? "M" : "N";
  return descriptor_part_text(arena, &frame->said, &tile, part, across);
}

// Belongs to tcgen05.mma, whose types and shape stand in a descriptor too.
static bool has_instruction(const Descriptor *frame) {
  InstructionDescriptor said;
  return matrix_tile_instruction_said(frame->reads.op, &said);
}

static const char *instruction_word(Arena *arena, const Descriptor *frame) {
  InstructionDescriptor said;
  matrix_tile_instruction_said(frame->reads.op, &said);
  return arena_printf(arena, "0x%08x", said.word);
}

// The field's text; NULL: the instruction's kind has none of that name.
static const char *instruction_says(Arena *arena, const Descriptor *frame, const char *name) {
  InstructionDescriptor said;
  matrix_tile_instruction_said(frame->reads.op, &said);
  for (int i = 0; i < instruction_field_count(said.kind); i++) {
    const InstructionField *field = instruction_field_at(said.kind, i);
    if (field->codes != CODES_ZERO && str_equal(field->name, name))
      return matrix_tile_instruction_field(arena, frame->reads.op, &said, field);
  }
  return NULL;
}

enum { CHUNK_NUMBERS = 5 };

static const int64_t *chunk_numbers(Arena *arena, const Descriptor *frame) {
  int64_t *number = ARENA_ARRAY(arena, int64_t, frame->n_chunks * CHUNK_NUMBERS + 1);
  for (int i = 0; i < frame->n_chunks; i++) {
    const DescriptorChunk *chunk = &frame->chunk[i];
    const int64_t five[CHUNK_NUMBERS] = {chunk->row, chunk->k, chunk->core, chunk->said,
                                         chunk->meant};
    memcpy(number + i * CHUNK_NUMBERS, five, sizeof five);
  }
  return number;
}

#define INSTRUCTION_FIELD(key, says) \
  WHEN_TEXT(key, says, instruction_says(arena, it, #key), instruction_says(arena, it, #key))

#define FORM_FILE "tui/views/memory/descriptor_data.form"
#include "base/form_make.h"
