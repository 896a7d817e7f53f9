// The processes of a session, by /proc: what a worker has started and must not leave behind.
#pragma once
#include <sys/types.h>

int family_count(pid_t pid);  // whose session is `pid`, zombies left out
// Fails the test if any of them lives on for so long.
void family_check_ends(pid_t pid, int within_ms);
