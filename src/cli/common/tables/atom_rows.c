// Facts of an atom come from its row of atom.def, registers from the fragment maps.
//
// Worked example, a line of the list: m16n8k16.f16 has 4 registers of A, 2 of B, 4 of C, and its
// sums may be f16 as well, which the asterisk behind their type says.
#include "cli/common/tables/atom_rows.h"

#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/tables/text_table.h"
#include "model/readings/place/fragment_text.h"

// ---- JSON ---------------------------------------------------------------------------------------

#define FORM_FILE "cli/common/tables/atom_rows.form"
#include "base/form_make.h"

void atom_list_json(Arena *arena) { cli_print_document(arena, &atoms_form, atom_table, NULL); }

// ---- text and CSV -------------------------------------------------------------------------------

static const char *accumulator_text(Arena *arena, const void *it) {
  const Atom *atom = it;
  return atom->f16_acc ? arena_printf(arena, "%s*", atom->acc) : atom->acc;
}

static const char *cc_text(Arena *arena, const void *it) {
  const Atom *atom = it;
  return arena_printf(arena, "%d.%d%s", atom->cc_first / 10, atom->cc_first % 10,
                      atom->cc_last ? "a" : " ");
}

void atom_list_text(Arena *arena) {
  static const TextColumn columns[] = {
      {"atom", "ATOM", .least = 24},
      {"type", "A,B", .least = 8, .right = true},
      {"accumulator", "C", .least = 4, .right = true, .text = accumulator_text},
      {"flop", "FLOP", .least = 7, .right = true},
      {"registers_a", " A", .least = 3, .right = true},
      {"registers_b", "B", .least = 2, .right = true},
      {"registers_c", "C", .least = 3, .right = true},
      {"warps", "warps", .least = 5, .right = true},
      {"cc_first", "cc", .least = 5, .right = true, .text = cc_text},
      {"knob", "ATOM_KIND", .least = 0}};
  text_table_print(arena, &(TextTable){&listed_atom_form, TEXT_COLUMNS(columns), " "}, atom_table,
                   sizeof *atom_table, atom_count, NULL);
  fputs(
      "\n"
      "A B C: registers of one lane. * or f16, as in m16n8k16.f16.f16. N of wgmma and of tcgen05 "
      "may\n"
      "be any multiple of 8 up to 256: wgmma.m64n128k16.bf16. wgmma reads B from shared memory, "
      "and A\n"
      "too unless it is in registers. C of tcgen05 lies in tensor memory. For mxf8, mxf4 and "
      "nvfp4 a\n"
      "lane also gives two registers of scale factors, SFA and SFB (sm_120a). Atoms of tcgen05 "
      "have\n"
      "their factors in tensor memory. cta2 is a pair of CTAs, and M that of both; ws is "
      "tcgen05.mma.ws,\n"
      "with N of 64, 128 or 256. m8n8k4.f16 makes four products, each in a quarter of the warp's "
      "lanes.\n"
      "An A of sp is sparse: two of each four columns are stored, "
      "and\n"
      "lanes give a register of metadata, E. FLOP count the columns that are left out, too.\n",
      stdout);
}

#define COLUMNS \
  "atom,m,n,k,type,accumulator,registers_a,registers_b,registers_c,warps,flop,knob,ptx"

void atom_list_csv(Arena *arena) {
  form_csv_heading(stdout, COLUMNS);
  for (int i = 0; i < atom_count; i++)
    form_csv_row(stdout, arena, &listed_atom_form, COLUMNS, &atom_table[i], NULL);
}
