// Machine code for tests of screens: tests/data/machine/fp32_padded.hex.
#pragma once
#include <check.h>
#include <stdio.h>

// The digits of the section .text.matmul.
static inline const char *padded_code(void) {
  static char text[1 << 14];
  FILE *file = fopen("tests/data/machine/fp32_padded.hex", "r");
  size_t n = 0;
  ck_assert_ptr_nonnull(file);
  for (int c; (c = getc(file)) != EOF && n + 1 < sizeof text;)
    if (c != '\n') text[n++] = (char)c;
  fclose(file);
  text[n] = '\0';
  return text;
}
