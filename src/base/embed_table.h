// The generated table of embedded files; only embed.c and the generated file include this.
#pragma once
#include "base/embed.h"

extern const EmbeddedFile embed_table[];  // sorted by path
extern const int embed_table_count;
