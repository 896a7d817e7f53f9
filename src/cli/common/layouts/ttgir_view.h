// `layout FILE.ttgir` shows every alias with the tensors that use it, and what the operations
// that change a layout cost.
#pragma once
#include "banks/registers/ttgir.h"
#include "base/form.h"

int ttgir_view_print(Arena *arena, const Ttgir *ttgir);  // an exit status
int ttgir_view_json(Arena *arena, const Ttgir *ttgir);
extern const Form ttgir_form;
