// gemmview schema: what --json prints, as JSON Schema 2020-12, for programs that read it.
//
//   gemmview schema               {"schema":"gemmview/1","interpret":{"type":"object",…},…}
//   gemmview schema interpret     the schema of one object, ready for a validator
#include <stdio.h>

#include "base/nearest.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"

static void print_all(JsonWriter *w) {
  json_begin_document(w);
  for (int i = 0; i < cli_document_count; i++) {
    json_key(w, cli_documents[i].name);
    form_schema(w, cli_documents[i].form, true);
  }
  json_end_object(w);
}

static const Document *find(const char *name, Diags *diags) {
  const char *names[DOCUMENTS_MAX];
  for (int i = 0; i < cli_document_count; i++) {
    if (str_equal(cli_documents[i].name, name)) return &cli_documents[i];
    names[i] = cli_documents[i].name;
  }
  diag_add_unknown(diags, "usage", "object", name, names, cli_document_count);
  return NULL;
}

int cmd_schema(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  if (argc > 2) return cli_error(CLI_USAGE, "at most one name, not %d", argc - 1);
  const Document *only = argc == 2 ? find(argv[1], &diags) : NULL;
  if (diags.count) return cli_fail(&diags);
  if (only)
    form_schema(&w, only->form, true);
  else
    print_all(&w);
  puts(out.text);
  return CLI_OK;
}
