// Tells what a run of a kernel wants to know before it can begin: for the screen, which asks.
#pragma once
#include "cli/open/open_request.h"
#include "cli/open/open_result.h"

// One document: {"needs":"kernel","sentence":"…","kernels":[{"entry":…,"signature":…}, …]} where
// the file has several; {"needs":"launch","sentence":"…","signature":"…","options":"--launch …
// --arg …"} where launch or arguments are missing or wrong: as far as they are known, the rest by
// the types of the parameters. Nothing where the text has no kernels to begin with.
void open_print_needs(const OpenRequest *request, const OpenResult *result, const Diags *diags);
extern const Form open_entry_form;  // of PtxFunction: a kernel's name and signature
