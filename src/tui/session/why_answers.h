// All that the clock says of compiled schedules, played on a thread: the screen goes on meanwhile.
//
//   why_answers_ask(answers, &targets, &schedule, compiled);    unless it is known, or under way
//   if (why_answers_poll(answers)) …                            there is more than there was
//   const ClockAnswer *answer = why_answers_find(answers, key);
//
// An answer is there as soon as its kernel was played; what would be if comes one by one. Another
// schedule's question ends those that are left.
#pragma once
#include "kernels/toolchain/machine/clock_answer.h"
#include "tui/session/result_store.h"

typedef struct WhyAnswers WhyAnswers;

WhyAnswers *why_answers_new(void);
void why_answers_free(WhyAnswers *answers);  // NULL: nothing happens
// `compiled` has machine code and numbers of the kernels; they are copied.
void why_answers_ask(WhyAnswers *answers, const TargetTable *targets, const Schedule *schedule,
                     const Compiled *compiled);
bool why_answers_are_under_way(const WhyAnswers *answers);
bool why_answers_poll(WhyAnswers *answers);  // without waiting
// NULL: it is not known yet. The answer may be that there is none (why_not). It stays where it is
// until another schedule is asked about.
const ClockAnswer *why_answers_find(const WhyAnswers *answers, uint64_t key);
