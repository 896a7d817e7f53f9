#include "cli/common/tables/cli_illegal.h"

#include <stdio.h>

void cli_print_illegal(const Diags *findings) {
  for (const Diag *diag = findings->first; diag; diag = diag->next)
    printf("illegal: %s%s%s\n", diag->text, diag->nearest ? "; nearest: " : "",
           diag->nearest ? diag->nearest : "");
}

void cli_put_illegal(JsonWriter *w, const Diags *findings) {
  json_key(w, "illegal");
  json_begin_array(w);
  for (const Diag *diag = findings->first; diag; diag = diag->next) {
    json_begin_object(w);
    json_member_string(w, "text", diag->text);
    json_member_string(w, "nearest", diag->nearest);
    json_end_object(w);
  }
  json_end_array(w);
}
