// Comparison with a file that a person reviewed.
#pragma once

// Fails the running Check test unless the file tests/golden/`path` holds exactly `text`. With
// GEMMVIEW_ACCEPT set (make accept) the file is rewritten instead, and the test passes.
void golden_check(const char *path, const char *text);
// A text and what it is called.
typedef struct GoldenText {
  const char *name, *text;
} GoldenText;

// The same where the file holds what makes `text` of one of the `n` texts `before`, which other
// files hold: of the one with the fewest lines that go or come, and those lines, with one around
// them. A person reads what is new, and what texts have in common moves one file when it changes.
void golden_check_change(const char *path, const GoldenText *before, int n, const char *text);
