// How often a promise is tried: a sample in CI, a third of that in `make test`, all of it in `make
// stress`.
//
//   for (int i = 0; i < stress_count(50, 1000); i++) …
//
// GEMMVIEW_STRESS=1 is all of it, GEMMVIEW_STRESS=0.1 a tenth, but never less than the sample. From
// 0.001 on, which the long CI asks for, everything has its turn that is asked in turns; CI asks for
// less than that, 0.0001, and where `make test` asks one in 9 it asks one in 6. 0.00001 are the
// turns of `make test`, and what dear.def says that it leaves out.
#pragma once
#include <check.h>
#include <stdbool.h>

// Everything has its turn: `make stress` and the long CI.
bool stress_is_on(void);
// More than the long CI asks for: what takes a minute or more each time.
bool stress_is_whole(void);
int stress_count(int sampled, int whole);
// n, in `make test` one in so many and in CI one in so many to the power of 3/4, rounded up.
int stress_part(int n, int one_in);
// Whether it is this one's turn: one in so many is asked in `make test`, one in so many to the
// power of 3/4 in CI, all are in `make stress`.
bool stress_has_turn(int which, int one_in);
// The same of what is dear: in CI, and in the long CI's `make test`, one in `in_ci` is asked, in
// `make stress` all.
bool stress_has_dear_turn(int which, int one_in, int in_ci);
// A test of n cases: of every so many one is asked in `make test`, of the next such test the next
// ones, and all are in `make stress`.
void stress_add_turns(TCase *tcase, const TTest *test, int n, int one_in);
// By how much limits of computing time are stretched: 1, or GEMMVIEW_PATIENCE where the machine is
// emulated. What waits for another process does not need it.
double stress_patience(void);
// Where the machine is emulated, and each second there is ten here, what runs most samples less;
// what it leaves out has run on the machine that emulates.
bool stress_is_emulated(void);
// Processes that want to run, now and in the last minute, for each processor; at least 1. Limits of
// time that passes grow with it: on a machine where four processes share each processor all may
// take four times as long.
double stress_crowd(void);
// A limit of time that passes, stretched by both.
double stress_wall(double limit);
// What every tcase_add_… comes to (quick_check.h): the cases from `begin` to `end` of a test, of
// one that dear.def names only those that `make test` asks of it.
void stress_add(TCase *tcase, const TTest *test, int signal, int status, int begin, int end);
// In front of the function that makes a suite: what it adds is looked for under that name.
void stress_begin_suite(const char *suite);
// A row of dear.def whose test the suite that has been made does not have; NULL: there is none.
const char *stress_lost_row(void);
