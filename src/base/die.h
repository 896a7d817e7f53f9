// The end of the program when it is our own fault or the machine is out of memory.
#pragma once

// Runs the registered restore function (the terminal puts itself back), prints the sentence on
// stderr and aborts.
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// `restore` is called once at the start of die(); NULL unregisters it.
void die_set_restore(void (*restore)(void));
