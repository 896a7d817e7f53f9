// The name of the user as others see it: in the shared history, in a class.
#pragma once
#include "base/arena.h"

// The name of the account, else $USER, else the number of the account.
char *user_name(Arena *arena);
