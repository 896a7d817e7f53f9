// Facts of an atom come from its row of atom.def, registers from the fragment maps.
//
// Worked example, a line of the list: m16n8k16.f16 has 4 registers of A, 2 of B, 4 of C, and its
// sums may be f16 as well, which the asterisk behind their type says.
#include "cli/common/tables/atom_rows.h"

#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "model/readings/place/fragment_text.h"

// ---- JSON ---------------------------------------------------------------------------------------

#define FORM_FILE "cli/common/tables/atom_rows.form"
#include "base/form_make.h"

void atom_list_json(Arena *arena) { cli_print_document(arena, &atoms_form, atom_table, NULL); }

// ---- text and CSV -------------------------------------------------------------------------------

static const char *registers_text(Arena *arena, const Atom *atom, AtomOperand operand) {
  if (!atom_in_registers(atom, operand)) return "-";
  return arena_printf(arena, "%d", fragment_packing(atom, operand).n_registers);
}

void atom_list_text(Arena *arena) {
  printf("%-24s %8s %4s %7s  %2s %2s %3s %5s %5s %s\n", "ATOM", "A,B", "C", "FLOP", "A", "B", "C",
         "warps", "cc", "ATOM_KIND");
  for (int i = 0; i < atom_count; i++) {
    const Atom *atom = &atom_table[i];
    printf("%-24s %8s %4s %7lld  %2s %2s %3s %5d %2d.%d%-1s %s\n", atom->name, atom->type,
           atom->f16_acc ? arena_printf(arena, "%s*", atom->acc) : atom->acc,
           (long long)atom_flop(atom), registers_text(arena, atom, ATOM_A),
           registers_text(arena, atom, ATOM_B), registers_text(arena, atom, ATOM_C),
           atom_issuing_warps(atom), atom->cc_first / 10, atom->cc_first % 10,
           atom->cc_last ? "a" : "", atom->knob ? atom->knob : "-");
  }
  fputs(
      "\nA B C: registers of one lane. * or f16, as in m16n8k16.f16.f16. N of wgmma may be any\n"
      "multiple of 8 up to 256: wgmma.m64n128k16.bf16; its B, and its A if one likes, are read "
      "from\n"
      "shared memory. So may that of tcgen05, whose C lies in tensor memory. Of mxf8, mxf4 and\n"
      "nvfp4 a lane gives two registers of scale factors besides, SFA and SFB; they need "
      "sm_120a.\nThose of tcgen05 have their factors in tensor memory.\n",
      stdout);
}

void atom_list_csv(Arena *arena) {
  puts("atom,m,n,k,type,accumulator,registers_a,registers_b,registers_c,warps,flop,knob,ptx");
  for (int i = 0; i < atom_count; i++) {
    const Atom *atom = &atom_table[i];
    printf("%s,%d,%d,%d,%s,%s,", atom->name, atom->m, atom->n, atom->k, atom->type, atom->acc);
    for (int operand = 0; operand < ATOM_OPERANDS; operand++) {
      bool there = atom_in_registers(atom, (AtomOperand)operand);
      if (there) printf("%d", fragment_packing(atom, (AtomOperand)operand).n_registers);
      putchar(',');
    }
    printf("%d,%lld,%s,", atom_issuing_warps(atom), (long long)atom_flop(atom),
           atom->knob ? atom->knob : "");
    cli_csv_text(atom_ptx(arena, atom), '\n');
  }
}
