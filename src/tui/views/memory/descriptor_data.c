// The descriptor view as data: fields, tiles, and what each 16 bytes of the tile come from.
//
// Worked example, A of m64nNk16 by 128B: 128 rows of "chunks_row_k_core_byte_meant_byte", each 8
// elements along K: [9, 8, 3, 1168, 1168].
#include <inttypes.h>

#include "tui/views/memory/descriptor.h"

static void put_word(JsonWriter *w, Arena *arena, const char *key, const SmemDescriptor *d,
                     bool trans) {
  json_key(w, key);
  json_begin_object(w);
  json_member_string(w, "word", arena_printf(arena, "0x%016" PRIx64, smem_descriptor_encode(d)));
  json_member_int(w, "start_bytes", d->start);
  json_member_int(w, "lbo_bytes", d->lbo);
  json_member_int(w, "sbo_bytes", d->sbo);
  json_member_int(w, "base_offset", d->base_offset);
  json_member_string(w, "swizzle", d->swizzle ? d->swizzle->name : NULL);
  json_member_string(w, "major", trans ? "mn" : "k");
  json_end_object(w);
}

static void put_steps(JsonWriter *w, Arena *arena, const Descriptor *frame) {
  DescriptorTile tile = tile_read_shape(&frame->reads);
  tile.mn_major = frame->trans;
  json_key(w, "steps");
  json_begin_object(w);
  for (int i = 0; i < DESCRIPTOR_PARTS; i++)
    json_member_string(w, descriptor_part_name((DescriptorPart)i),
                       descriptor_part_text(arena, &frame->said, &tile, (DescriptorPart)i,
                                            frame->reads.shape.operand == ATOM_A ? "M" : "N"));
  json_end_object(w);
}

static void put_tiles(JsonWriter *w, const TileReads *reads) {
  json_key(w, "tiles");
  json_begin_array(w);
  for (int i = 0; i < reads->n; i++) {
    json_begin_object(w);
    json_member_int(w, reads->by_thread ? "warp" : "warpgroup", reads->read[i].asker);
    json_member_int(w, "start_bytes", reads->read[i].start);
    json_member_int(w, "row", reads->read[i].row);
    json_member_int(w, "k", reads->read[i].k);
    json_end_object(w);
  }
  json_end_array(w);
}

// Of tcgen05.mma, whose types and shape stand in a descriptor too.
static void put_instruction(JsonWriter *w, Arena *arena, const TileReads *reads) {
  InstructionDescriptor said;
  if (!matrix_tile_instruction_said(reads->op, &said)) return;
  json_key(w, "instruction");
  json_begin_object(w);
  json_member_string(w, "word", arena_printf(arena, "0x%08x", said.word));
  json_member_int(w, "cta_group", reads->op->cta_group == 2 ? 2 : 1);
  for (int i = 0; i < instruction_field_count(said.kind); i++) {
    const InstructionField *field = instruction_field_at(said.kind, i);
    if (field->codes != CODES_ZERO)
      json_member_string(w, field->name,
                         matrix_tile_instruction_field(arena, reads->op, &said, field));
  }
  json_end_object(w);
}

static void put_chunks(JsonWriter *w, const Descriptor *frame) {
  json_key(w, "chunks_row_k_core_byte_meant_byte");
  json_begin_array(w);
  for (int i = 0; i < frame->n_chunks; i++) {
    const DescriptorChunk *chunk = &frame->chunk[i];
    int64_t five[] = {chunk->row, chunk->k, chunk->core, chunk->said, chunk->meant};
    json_begin_array(w);
    for (int j = 0; j < 5; j++) json_put_int(w, five[j]);
    json_end_array(w);
  }
  json_end_array(w);
}

void descriptor_json(JsonWriter *w, Session *session) {
  const Descriptor *frame = session->prepared;
  const TileReads *reads = &frame->reads;
  json_member_string(w, "missing", reads->why);
  json_member_string(w, "operand", atom_operand_name(reads->shape.operand));
  if (reads->why) return;
  json_member_string(w, "slab", reads->slab->name);
  json_member_int(w, "tile", frame->at + 1);
  json_member_int(w, "tile_rows", reads->shape.rows);
  json_member_int(w, "tile_depth", reads->shape.depth);
  put_word(w, session->frame, "meant", &frame->meant, reads->meant.trans);
  put_word(w, session->frame, "said", &frame->said, frame->trans);
  put_steps(w, session->frame, frame);
  json_member_string(w, "difference", frame->difference);
  json_member_int(w, "wrong_elements", frame->n_wrong);
  json_member_string(w, "illegal", frame->illegal);
  json_member_string(w, "notes", frame->notes);
  put_tiles(w, reads);
  put_instruction(w, session->frame, reads);
  put_chunks(w, frame);
}
