// Everything that the screen of one's own kernel draws, as members of the report's JSON object:
// arrays with their best layouts, sites with their addresses, texts by line, sources.
#pragma once
#include "cli/open/open_result.h"

extern const Form open_detail_form;  // of OpenResult
// The source that the kernel was compiled from; NULL: there is none to be read.
const char *open_source_text(const OpenResult *result);
