// Proves on the GPU at hand that the path from a text to a timing tells the truth: right kernels
// pass, wrong ones are caught in the way they are wrong, equal ones come out equal.
#pragma once

// Arguments: sizes ("4096" or "128x128x16384") for the timed part, default 1024 and 4096.
// 0 = all as expected, 1 = not, 2 = bad argument, 3 = no GPU.
int gpu_selftest_main(int argc, char **argv);
