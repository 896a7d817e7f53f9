// A tile and a word → what the hardware reads by it.
//
// Hardware reads pieces of 16 bytes; so do the pictures. Worked example, A of bf16, 128B, the word
// with LBO and SBO exchanged (lbo=1024, sbo=16): row 8 is looked for 16 bytes behind row 0 instead
// of 1,024, which is k = 8 of row 0. Of 1,024 elements those of the first eight rows are right.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/views/memory/descriptor.h"

enum { CHUNK_BYTES = 16 };

const char *descriptor_across(const Descriptor *frame) {
  return frame->reads.shape.operand == ATOM_A ? "m" : "n";
}

const char *descriptor_holder_text(const Descriptor *frame, const TileHolder *holder,
                                   char out[48]) {
  if (!holder->inside)
    snprintf(out, 48, "nothing of %.20s", frame->reads.slab->name);
  else if (holder->slot)
    snprintf(out, 48, "slot %lld: %s %lld, k %lld", (long long)holder->slot,
             descriptor_across(frame), (long long)holder->row, (long long)holder->k);
  else
    snprintf(out, 48, "%s %lld, k %lld", descriptor_across(frame), (long long)holder->row,
             (long long)holder->k);
  return out;
}

// ---- the word -----------------------------------------------------------------------------------

static void take_word(Descriptor *out, const DescriptorWork *work, const Model *model) {
  out->meant = tile_read_descriptor(&out->reads, out->at);
  out->said = out->meant;
  out->trans = out->reads.said.trans;
  out->typed = work->typed && schedule_same(&work->schedule, &model->schedule);
  if (!out->typed) return;
  out->said = work->word;
  out->said.start = out->meant.start + work->shift;
  out->trans = work->trans;
}

static int64_t said_at(const Descriptor *frame, int64_t row, int64_t k) {
  return matrix_tile_address(&frame->said, frame->trans, frame->reads.shape.element_bytes, row, k);
}

static int64_t meant_at(const Descriptor *frame, int64_t row, int64_t k) {
  return matrix_tile_address(&frame->meant, frame->reads.meant.trans,
                             frame->reads.shape.element_bytes, row, k);
}

static const char *find_difference(Arena *arena, const Descriptor *frame) {
  const TileShape *shape = &frame->reads.shape;
  MatrixTile said = matrix_tile_decode(&frame->said, frame->trans);
  const char *name = atom_operand_name(shape->operand);
  const char *text = matrix_tile_difference(arena, shape, &said, &frame->reads.meant);
  if (text) return text;
  if (frame->said.start != frame->meant.start)
    return arena_printf(arena, "begins at byte %lld, and this tile of %s at %lld",
                        (long long)frame->said.start, name, (long long)frame->meant.start);
  if (frame->n_wrong)
    return arena_printf(arena, "takes the pattern of %s for one that begins %d lines further on",
                        name, frame->said.base_offset);
  return NULL;
}

static void check_word(Arena *arena, Descriptor *frame) {
  Diags diags = diags_new(arena);
  Str notes = str_new(arena);
  DescriptorTile tile = {frame->trans, frame->reads.shape.rows, frame->reads.shape.element_bytes,
                         0};
  smem_descriptor_check(&frame->said, &tile, &notes, &diags);
  frame->notes = notes.text;
  frame->illegal = diags.first ? diags.first->text : NULL;
}

// ---- who reads what -----------------------------------------------------------------------------

static DescriptorChunk chunk_at(Descriptor *frame, int line, int at) {
  const TileShape *shape = &frame->reads.shape;
  int n = CHUNK_BYTES / shape->element_bytes;
  DescriptorChunk out = {.row = frame->trans ? at * n : line, .k = frame->trans ? line : at * n};
  out.said = said_at(frame, out.row, out.k);
  out.meant = meant_at(frame, out.row, out.k);
  out.core = tile_read_core(&frame->reads, frame->trans, out.row, out.k, &out.line);
  for (int i = 0; i < n; i++) {
    int row = out.row + (frame->trans ? i : 0), k = out.k + (frame->trans ? 0 : i);
    bool wrong = row < shape->rows &&
                 tile_read_differs(&frame->reads, frame->at, &frame->said, frame->trans, row, k);
    out.wrong |= wrong;
    frame->n_wrong += wrong;
  }
  return out;
}

static void find_chunks(Arena *arena, Descriptor *frame) {
  const TileShape *shape = &frame->reads.shape;
  int fast = frame->trans ? shape->rows : shape->depth;
  int slow = frame->trans ? shape->depth : shape->rows;
  frame->chunks_across = (int)ceil_div(fast * shape->element_bytes, CHUNK_BYTES);
  frame->n_chunks = slow * frame->chunks_across;
  frame->chunk = ARENA_ARRAY(arena, DescriptorChunk, frame->n_chunks);
  for (int i = 0; i < frame->n_chunks; i++)
    frame->chunk[i] = chunk_at(frame, i / frame->chunks_across, i % frame->chunks_across);
}

static int by_number(const void *a, const void *b) {
  int64_t x = ((const DescriptorLine *)a)->number, y = ((const DescriptorLine *)b)->number;
  return (x > y) - (x < y);
}

static DescriptorLine *line_of(const Descriptor *frame, int64_t byte) {
  DescriptorLine key = {.number = byte / MEMORY_LINE_BYTES};
  return bsearch(&key, frame->line, (size_t)frame->n_lines, sizeof key, by_number);
}

static int chunk_of(int64_t byte) { return (int)(byte % MEMORY_LINE_BYTES / CHUNK_BYTES); }

// Lines that are read, by the word or in truth.
static void find_lines(Arena *arena, Descriptor *frame) {
  int n = 2 * frame->n_chunks, kept = 0;
  DescriptorLine *line = ARENA_ARRAY(arena, DescriptorLine, n);
  for (int i = 0; i < n; i++) {
    const DescriptorChunk *chunk = &frame->chunk[i / 2];
    line[i].number = (i % 2 ? chunk->said : chunk->meant) / MEMORY_LINE_BYTES;
    memset(line[i].said, -1, sizeof line[i].said);
  }
  qsort(line, (size_t)n, sizeof *line, by_number);
  for (int i = 0; i < n; i++)
    if (kept == 0 || line[i].number != line[kept - 1].number) line[kept++] = line[i];
  frame->line = line;
  frame->n_lines = kept;
  for (int i = frame->n_chunks - 1; i >= 0; i--) {
    const DescriptorChunk *chunk = &frame->chunk[i];
    line_of(frame, chunk->said)->said[chunk_of(chunk->said)] = (int16_t)i;
    line_of(frame, chunk->meant)->meant[chunk_of(chunk->meant)] = true;
  }
}

static void place_cursor(Descriptor *frame, int row, int k) {
  const TileShape *shape = &frame->reads.shape;
  frame->row = (int)clamp_index(row, shape->rows);
  frame->k = (int)clamp_index(k, shape->depth);
  int line = frame->trans ? frame->k : frame->row, fast = frame->trans ? frame->row : frame->k;
  int at = fast * shape->element_bytes / CHUNK_BYTES;
  frame->here = frame->chunk[line * frame->chunks_across + at];
  frame->address = said_at(frame, frame->row, frame->k);
  frame->holder = tile_read_holder(&frame->reads, frame->address);
}

static void say_instruction(Arena *arena, Descriptor *frame) {
  InstructionDescriptor *said = &frame->instruction;
  frame->has_instruction = matrix_tile_instruction_said(frame->reads.op, said);
  if (!frame->has_instruction) return;
  for (int i = 0; i < instruction_field_count(said->kind); i++)
    frame->instruction_text[i] = matrix_tile_instruction_field(arena, frame->reads.op, said,
                                                               instruction_field_at(said->kind, i));
}

void descriptor_look(Descriptor *out, Arena *arena, const DescriptorWork *work, const Model *model,
                     int row, int k) {
  *out = (Descriptor){.reads = tile_reads(arena, model, work->operand), .field = work->field};
  out->error = work->error;
  if (out->reads.why) return;
  out->at = (int)clamp_index(work->at, out->reads.n);
  say_instruction(arena, out);
  take_word(out, work, model);
  find_chunks(arena, out);
  find_lines(arena, out);
  place_cursor(out, row, k);
  out->difference = find_difference(arena, out);
  check_word(arena, out);
}
