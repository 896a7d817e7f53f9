// Facts about the tiles that wgmma reads by descriptors (model/readings/place/tile_read.h).
//
// Worked example, A of bf16 by 128B, 64 rows of 128 bytes: sbo is 8 * 128 = 1,024; row 1 begins at
// byte 128 and its first 16 bytes lie, exchanged with the next, at 144.
#include <inttypes.h>

#include "base/nearest.h"
#include "base/str.h"
#include "model/lessons/fact_compute.h"
#include "model/readings/place/tile_read.h"

// The tiles of the operand that is the first argument; false after a finding.
static bool read_tiles(const FactScene *scene, const FactArgs *args, TileReads *out, Diags *diags) {
  bool b = str_equal_fold(args->word[0], "B");
  if (!b && !str_equal_fold(args->word[0], "A")) {
    diag_add(diags, "fact", "wgmma reads tiles of A and of B, not of \"%s\"",
             str_sanitise(diags->arena, args->word[0]))
        ->nearest = "A";
    return false;
  }
  *out = tile_reads(scene->arena, scene->model, b ? ATOM_B : ATOM_A);
  if (out->why) diag_add(diags, "fact", "%s", out->why);
  return !out->why;
}

static bool read_part(const char *text, DescriptorPart *out, Diags *diags) {
  const char *names[DESCRIPTOR_BASE];
  for (int i = 0; i < DESCRIPTOR_BASE; i++) {
    names[i] = descriptor_part_name((DescriptorPart)i);
    *out = (DescriptorPart)i;
    if (str_equal_fold(names[i], text)) return true;
  }
  diag_add_unknown(diags, "fact", "field", str_sanitise(diags->arena, text), names,
                   DESCRIPTOR_BASE);
  return false;
}

bool fact_descriptor(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  TileReads reads;
  DescriptorPart part;
  if (!read_tiles(scene, args, &reads, diags) || !read_part(args->word[1], &part, diags))
    return false;
  SmemDescriptor word = tile_read_descriptor(&reads, 0);
  const int64_t bytes[] = {word.start, word.lbo, word.sbo};
  value->number = (double)bytes[part];
  return true;
}

bool fact_descriptor_word(const FactScene *scene, const FactArgs *args, FactValue *value,
                          Diags *diags) {
  TileReads reads;
  if (!read_tiles(scene, args, &reads, diags)) return false;
  SmemDescriptor word = tile_read_descriptor(&reads, 0);
  value->word = arena_printf(scene->arena, "0x%016" PRIx64, smem_descriptor_encode(&word));
  return true;
}

bool fact_descriptor_step(const FactScene *scene, const FactArgs *args, FactValue *value,
                          Diags *diags) {
  TileReads reads;
  DescriptorPart part;
  if (!read_tiles(scene, args, &reads, diags) || !read_part(args->word[1], &part, diags))
    return false;
  SmemDescriptor word = tile_read_descriptor(&reads, 0);
  DescriptorTile tile = tile_read_shape(&reads);
  value->word = descriptor_part_text(scene->arena, &word, &tile, part,
                                     reads.shape.operand == ATOM_A ? "M" : "N");
  return true;
}

bool fact_tiles(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  TileReads reads;
  if (!read_tiles(scene, args, &reads, diags)) return false;
  value->number = reads.n;
  return true;
}

bool fact_tile_begins(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  TileReads reads;
  int64_t tile;
  if (!read_tiles(scene, args, &reads, diags) ||
      !fact_int(args->word[1], 1, reads.n, "TILE", &tile, diags))
    return false;
  value->number = (double)(reads.read[tile - 1].start - reads.read[0].start);
  return true;
}

bool fact_tile_byte(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  TileReads reads;
  int64_t row, k;
  if (!read_tiles(scene, args, &reads, diags)) return false;
  bool ok = fact_int(args->word[1], 0, reads.shape.rows - 1, "ROW", &row, diags);
  if (!fact_int(args->word[2], 0, reads.shape.depth - 1, "K", &k, diags) || !ok) return false;
  SmemDescriptor word = tile_read_descriptor(&reads, 0);
  int64_t at = matrix_tile_address(&word, reads.said.trans, reads.shape.element_bytes, row, k);
  value->number = (double)(at - word.start);
  return true;
}

bool fact_core_matrices(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  TileReads reads;
  int line;
  if (!read_tiles(scene, args, &reads, diags)) return false;
  value->number = 1 + tile_read_core(&reads, reads.said.trans, reads.shape.rows - 1,
                                     reads.shape.depth - 1, &line);
  return true;
}

bool fact_misread(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  TileReads reads;
  if (!read_tiles(scene, args, &reads, diags)) return false;
  SmemDescriptor word = tile_read_descriptor(&reads, 0);
  if (!smem_descriptor_edit(scene->arena, args->word[1], &word, diags)) return false;
  int n = 0;
  for (int64_t row = 0; row < reads.shape.rows; row++)
    for (int64_t k = 0; k < reads.shape.depth; k++)
      n += tile_read_differs(&reads, 0, &word, reads.said.trans, row, k);
  value->number = n;
  return true;
}
