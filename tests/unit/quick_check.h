// Assertions that hold cost nothing; every test is compiled with this in front.
//
// Check notes the place of every assertion, so that it can say where a test crashed, and takes the
// notes of a suite off a list one by one from its front: 300,000 assertions in a loop cost ten
// seconds. Where a test crashed the sanitizers say better, with a stack.
//
// With TEST_STOP=1 a suite ends with its first assertion that does not hold.
//
// What is dear stands in dear.def, and `make test` adds less of it.
#pragma once
#include <check.h>

#define _mark_point(file, line) ((void)0)

void stop_when_asked(const char *file, int line);
#define _ck_assert_failed(file, line, ...) \
  (stop_when_asked(file, line), _ck_assert_failed(file, line, __VA_ARGS__))

void stress_add(TCase *tcase, const TTest *test, int signal, int status, int begin, int end);
#define _tcase_add_test(...) stress_add(__VA_ARGS__)
