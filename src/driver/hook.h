// The functions of NVIDIA's runtime in a program → those of runtime.c.
#pragma once

// Looks at every file that is loaded by now. Called once, before the program's own code.
void hook_program(void);
// Says, once, that there is a runtime that was not found.
void hook_missed(void);
