// The two pictures: shared memory, and the tile.
//
//   0x0400   0   1   ·   ·   ·   ·   ·   ·      a line of 128 bytes by 16: the core matrix that is
//   0x0480   1   0   ·   ·   ·   ·   ·   ·      read from here; the swizzle exchanges 0 and 1
//
//   m   0     +0.0    +16.1                     a row of the tile by 16 bytes: from which byte
//   behind m   1    +144.1   +128.0                    the start it is read, and by which group of
//   banks
//
// Where a word that was typed reads something else, memory has a '!' at what is read and an 'x' at
// what should have been; the tile says which element comes instead.
#include <stdio.h>

#include "base/whole.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/memory/descriptor.h"

enum { CHUNK_BYTES = 16, CORE_ROWS = 8, BANK_GROUPS = 8, CELL_COLS = 4, LABEL_COLS = 7 };
enum { TILE_LABEL_COLS = 6, TILE_CELL_COLS = 10 };

static Rect cell_rect(Rect in, int row, int col, int cols) {
  return rect_intersect(in, (Rect){in.row + row, in.col + col, 1, cols});
}

static bool is_here(const Descriptor *frame, const DescriptorChunk *chunk) {
  return chunk->row == frame->here.row && chunk->k == frame->here.k;
}

static int index_of(const Descriptor *frame, const DescriptorChunk *chunk) {
  return (int)(chunk - frame->chunk);
}

// ---- memory -------------------------------------------------------------------------------------

static void draw_memory_cell(Canvas *canvas, Rect cell, const Descriptor *frame,
                             const DescriptorLine *line, int at) {
  int said = line->said[at];
  if (said < 0) {
    bool missed = line->meant[at];
    canvas_text(canvas, cell, 0, 2, missed ? STYLE_WARN : STYLE_DIM, missed ? "x" : "·");
    return;
  }
  const DescriptorChunk *chunk = &frame->chunk[said];
  int col = canvas_printf(canvas, cell, 0, 0, style_address(chunk->core), "%3d", chunk->core);
  if (chunk->wrong) canvas_text(canvas, cell, 0, col, STYLE_BAD, "!");
  canvas_spot(canvas, cell, DESCRIPTOR_SPOT_CHUNK, said);
  if (is_here(frame, chunk)) canvas_over(canvas, cell_rect(cell, 0, 0, 3), STYLE_CURSOR);
}

// The line that the cursor's chunk is read from.
static int cursor_line(const Descriptor *frame) {
  int64_t number = frame->here.said / MEMORY_LINE_BYTES;
  int i = 0;
  while (i + 1 < frame->n_lines && frame->line[i].number < number) i++;
  return i;
}

void descriptor_draw_memory(Canvas *canvas, Rect in, const Descriptor *frame) {
  canvas_text(canvas, in, 0, 1, STYLE_HEADER, "byte");
  for (int at = 0; at < MEMORY_CHUNKS; at++)
    canvas_printf(canvas, in, 0, LABEL_COLS + at * CELL_COLS, STYLE_HEADER, "%3d",
                  at * CHUNK_BYTES);
  rect_take_top(&in, 1);
  ViewList list = view_list(in, cursor_line(frame), frame->n_lines);
  while (view_list_next(canvas, &list)) {
    const DescriptorLine *line = &frame->line[list.at];
    bool gap = list.at > 0 && line->number != line[-1].number + 1;
    canvas_printf(canvas, list.row, 0, 1, gap ? STYLE_ACCENT : STYLE_DIM, "%06llx",
                  (unsigned long long)line->number * MEMORY_LINE_BYTES);
    for (int at = 0; at < MEMORY_CHUNKS; at++)
      draw_memory_cell(canvas, cell_rect(list.row, 0, LABEL_COLS + at * CELL_COLS, CELL_COLS),
                       frame, line, at);
  }
}

// ---- the tile -----------------------------------------------------------------------------------

static void draw_tile_cell(Canvas *canvas, Rect cell, const Descriptor *frame,
                           const DescriptorChunk *chunk) {
  char text[48];
  int group = (int)(chunk->said / CHUNK_BYTES % BANK_GROUPS);
  if (chunk->wrong) {
    TileHolder holder = tile_read_holder(&frame->reads, chunk->said);
    if (!holder.inside || holder.slot)
      snprintf(text, sizeof text, holder.inside ? "slot %lld" : "outside", (long long)holder.slot);
    else
      snprintf(text, sizeof text, "%s%lld k%lld", descriptor_across(frame), (long long)holder.row,
               (long long)holder.k);
    canvas_fit(canvas, cell, 0, 0, cell.cols - 1, ALIGN_LEFT, STYLE_BAD, text);
  } else {
    snprintf(text, sizeof text, "+%lld", (long long)(chunk->said - frame->said.start));
    int col = canvas_printf(canvas, cell, 0, 0, STYLE_TEXT, "%6s", text);
    canvas_printf(canvas, cell, 0, col, style_address(group), ".%d", group);
  }
  canvas_spot(canvas, cell, DESCRIPTOR_SPOT_CHUNK, index_of(frame, chunk));
  if (is_here(frame, chunk))
    canvas_over(canvas, cell_rect(cell, 0, 0, TILE_CELL_COLS - 1), STYLE_CURSOR);
}

void descriptor_draw_tile(Canvas *canvas, Rect in, const Descriptor *frame) {
  const char *across = frame->trans ? descriptor_across(frame) : "k";
  const char *down = frame->trans ? "k" : descriptor_across(frame);
  int n = CHUNK_BYTES / frame->reads.shape.element_bytes;
  int lines = frame->n_chunks / frame->chunks_across;
  int line = frame->trans ? frame->k : frame->row;
  int here = (int)(index_of(frame, frame->chunk) + (frame->trans ? frame->row : frame->k) / n);
  int fitting = max_int(1, (in.cols - TILE_LABEL_COLS) / TILE_CELL_COLS);
  int first_col = view_scroll(here, frame->chunks_across, fitting);
  for (int i = 0; i < fitting && first_col + i < frame->chunks_across; i++)
    canvas_printf(canvas, in, 0, TILE_LABEL_COLS + i * TILE_CELL_COLS, STYLE_HEADER, "%s %d",
                  across, (first_col + i) * n);
  rect_take_top(&in, 1);
  ViewList list = view_list(in, line, lines);
  while (view_list_next(canvas, &list)) {
    canvas_printf(canvas, list.row, 0, 1, list.at % CORE_ROWS == 0 ? STYLE_HEADER : STYLE_DIM,
                  "%s%3d", down, list.at);
    for (int i = 0; i < fitting && first_col + i < frame->chunks_across; i++)
      draw_tile_cell(canvas,
                     cell_rect(list.row, 0, TILE_LABEL_COLS + i * TILE_CELL_COLS, TILE_CELL_COLS),
                     frame, &frame->chunk[list.at * frame->chunks_across + first_col + i]);
  }
}

// ---- the instruction ----------------------------------------------------------------------------

// The word, and a row for each field that means something; reserved bits are left out.
void descriptor_draw_instruction(Canvas *canvas, Rect in, const Descriptor *frame) {
  enum { VALUE = 8, BITS = 15, WHAT = 26 };
  const InstructionDescriptor *said = &frame->instruction;
  Rect title = rect_take_top(&in, 1);
  int col = canvas_printf(canvas, title, 0, 0, STYLE_ACCENT, "0x%08x", said->word);
  canvas_printf(canvas, title, 0, col + 1, STYLE_TEXT, ".cta_group::%d.kind::%s",
                frame->reads.op->cta_group == 2 ? 2 : 1, said->kind->name);
  for (int i = 0; i < instruction_field_count(said->kind) && in.rows > 0; i++) {
    const InstructionField *field = instruction_field_at(said->kind, i);
    if (field->codes == CODES_ZERO) continue;
    Rect row = rect_take_top(&in, 1);
    const bool set = said->word >> field->first & ((1U << field->bits) - 1);
    canvas_text(canvas, row, 0, 0, set ? STYLE_TEXT : STYLE_DIM, field->name);
    canvas_text(canvas, row, 0, VALUE, set ? STYLE_NUMBER : STYLE_DIM, frame->instruction_text[i]);
    col = canvas_printf(canvas, row, 0, BITS, STYLE_DIM, field->bits > 1 ? "bits %d" : "bit %d",
                        field->first);
    if (field->bits > 1)
      canvas_printf(canvas, row, 0, col, STYLE_DIM, "-%d", field->first + field->bits - 1);
    canvas_text(canvas, row, 0, WHAT, STYLE_DIM, field->what);
  }
}
