// The columns of a character, and the places where a text may be cut or a cursor stand.
//
// Widths come from our own table, not from wcwidth(): they must be the same in every locale,
// because pictures are also made where there is no terminal.
#pragma once
#include "base/unicode.h"

// Columns: 0 for combining and format characters, 2 for wide ones, -1 for control characters.
int utf8_width(uint32_t code);
// The columns that canvas_text uses for the whole text; an ill-formed byte and a control character
// take one.
int utf8_columns(const char *text);
// Bytes of the longest beginning of `text` that takes at most `columns`; never splits a character,
// and keeps combining characters with the one they belong to.
size_t utf8_fit(const char *text, int columns);
// The start of the character before `offset`, and of the one after; combining characters move with
// their base. For editors.
size_t utf8_previous(const char *text, size_t offset);
size_t utf8_next(const char *text, size_t offset);
