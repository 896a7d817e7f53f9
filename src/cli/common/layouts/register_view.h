// `layout` shows this of a layout of registers: its matrix, what a lane holds, who holds an
// element; of two, what the way from one to the other costs.
#pragma once
#include "banks/registers/register_text.h"
#include "banks/solver/register_cost.h"
#include "base/form.h"

// The questions about one layout; NULL: not asked.
typedef struct RegisterQuestion {
  const char *lane, *warp, *block, *element;
} RegisterQuestion;

typedef struct RegisterView {
  Arena *arena;
  const RegisterLayout *layout;
  RegisterPlace at;  // register 0 of the lane that is asked for
  bool of_lane;
  int element;  // whose holders are asked for; -1
} RegisterView;

// False after findings of rule "usage": places and elements that the layout does not have.
bool register_view_ask(Arena *arena, const RegisterLayout *layout, const RegisterQuestion *question,
                       RegisterView *out, Diags *diags);
void register_view_print(const RegisterView *view);
extern const Form register_layout_form;

// Between two layouts; of the second one of them is NULL.
typedef struct RegisterPair {
  const RegisterLayout *from, *to;
  const Layout *memory;
  int elem_bytes;
  RegisterMove move;             // to another layout of registers
  RegisterAccesses load, store;  // from and to memory
} RegisterPair;

bool register_pair_count(Arena *arena, RegisterPair *pair, Diags *diags);
void register_pair_print(Arena *arena, const RegisterPair *pair);
extern const Form register_pair_form;
