// The objects that gemmview prints for other programs: each a form (base/form.h), by the command
// that prints it.
#pragma once
#include "base/form.h"

#define DOCUMENT(form, command) extern const Form form##_form;
#include "cli/common/documents.def"
#undef DOCUMENT

enum { DOCUMENTS_MAX = 128 };

typedef struct Document {
  const char *name;  // of the form, in the order of documents.def
  const char
      *command;  // whose --json it is, with the option that asks for it where there are several
  const Form *form;
} Document;

extern const Document cli_documents[];
extern const int cli_document_count;

// Prints the form's document to stdout: `it` is the object, `in` what else its members ask.
void cli_print_document(Arena *arena, const Form *form, const void *it, const void *in);
