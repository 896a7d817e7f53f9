// The descriptor view's data, made once per frame, and its pictures.
//
//   Descriptor frame;
//   descriptor_look(&frame, arena, work, model);      the tile at hand, as it is asked for
//   descriptor_draw_memory(canvas, in, &frame);       lines of shared memory, by core matrix
//   descriptor_draw_tile(canvas, in, &frame);         the tile row by row, by bank
#pragma once
#include "banks/layouts/instruction_descriptor.h"
#include "model/readings/place/tile_read.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"

// The rows of the list: the fields, and the major, which is an operand of the instruction.
enum { DESCRIPTOR_MAJOR = DESCRIPTOR_PARTS, DESCRIPTOR_ROWS };

// The state that the view keeps between frames. A word that was typed belongs to one operand of one
// schedule; at the next tile it begins as much further on as the tile does.
typedef struct DescriptorWork {
  AtomOperand operand;
  int at, field;
  bool typed;
  SmemDescriptor word;
  int64_t shift;  // of its start from the tile's
  bool trans;
  Schedule schedule;
  char error[160];  // what is wrong with what was typed; "": nothing
} DescriptorWork;

// 16 bytes that the hardware reads as one piece of a line: up to eight elements from (row, k) on.
typedef struct DescriptorChunk {
  int row, k;
  int core, line;
  int64_t said, meant;  // bytes of shared memory: of its first element, by the word and in truth
  bool wrong;           // an element of it is another one than the program means
} DescriptorChunk;

enum { MEMORY_LINE_BYTES = 128, MEMORY_CHUNKS = 8 };

// 128 bytes of shared memory, by 16: who reads them.
typedef struct DescriptorLine {
  int64_t number;
  int16_t said[MEMORY_CHUNKS];  // index of the chunk that is read from here; -1: none
  bool meant[MEMORY_CHUNKS];    // the program means one of its elements
} DescriptorLine;

typedef struct Descriptor {
  TileReads reads;
  int at;
  bool typed;
  const char *error;
  SmemDescriptor meant, said;
  bool trans;  // M or N runs fastest, as said
  int field;
  int row, k;  // the cursor
  DescriptorChunk here;
  int64_t address;  // from which the element under the cursor is read
  TileHolder holder;
  int n_wrong;             // elements
  const char *difference;  // the sentence; NULL: none
  const char *illegal;     // NULL: nothing
  const char *notes;
  const char *row_text[DESCRIPTOR_ROWS];  // what each field says
  const char *word_of_a;                  // of A of A|B; NULL: it is off
  bool has_instruction;                   // it is tcgen05.mma: types and shape are a descriptor too
  InstructionDescriptor instruction;
  const char *instruction_text[INSTRUCTION_FIELDS_MAX];  // what each field says
  int n_lines, n_chunks, chunks_across;
  DescriptorLine *line;
  DescriptorChunk *chunk;  // [lines of the tile][chunks_across]
} Descriptor;

enum { DESCRIPTOR_SPOT_FIELD = SPOT_VIEW, DESCRIPTOR_SPOT_CHUNK };
// The cursor is at that row and k of the tile, or the nearest there.
void descriptor_look(Descriptor *out, Arena *arena, const DescriptorWork *work, const Model *model,
                     int row, int k);

const char *descriptor_across(const Descriptor *frame);  // "m" or "n"
// The operand's place as the slab has it: "m 72, k 16", "slot 1: m 0, k 0", "nothing of A_s".
const char *descriptor_holder_text(const Descriptor *frame, const TileHolder *holder, char out[48]);

// The 32 bits of the instruction descriptor, field by field.
void descriptor_draw_instruction(Canvas *canvas, Rect in, const Descriptor *frame);

enum { DESCRIPTOR_MEMORY_COLS = 7 + 4 * MEMORY_CHUNKS };
void descriptor_draw_memory(Canvas *canvas, Rect in, const Descriptor *frame);
void descriptor_draw_tile(Canvas *canvas, Rect in, const Descriptor *frame);
