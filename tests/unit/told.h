// A suite of one test: what commands answer, whole. The script tests/told/NAME.sh asks, and
// tests/golden/told/NAME.txt has the answers. Most of them are JSON, numbers under their names;
// suites of their own say which of them are right and why.
#pragma once
#include <check.h>

Suite *told_suite(const char *name);

// Suite told_NAME, in a file of its own.
#define TOLD(name)                \
  Suite *suite_told_##name(void); \
  Suite *suite_told_##name(void) { return told_suite(#name); }
