// documents.def as a table.
#include "cli/common/documents.h"

#include <stdio.h>

const Document cli_documents[] = {
#define DOCUMENT(form, command) {#form, command, &form##_form},
#include "cli/common/documents.def"
#undef DOCUMENT
};
_Static_assert(sizeof cli_documents / sizeof *cli_documents <= DOCUMENTS_MAX, "DOCUMENTS_MAX");
const int cli_document_count = sizeof cli_documents / sizeof *cli_documents;

void cli_print_document(Arena *arena, const Form *form, const void *it, const void *in) {
  fputs(form_document(arena, form, it, in), stdout);
}
