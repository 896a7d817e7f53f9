// A program that is linked with the driver and has a runtime of its own: with a real driver nothing
// of it is replaced, so it prints 42.
#include <stdio.h>

int cuInit(unsigned flags);
int cudaMalloc(void **at, size_t bytes) {
  (void)at, (void)bytes;
  return 42;
}

int main(void) {
  void *at = NULL;
  if (cuInit(0) != 0) return 1;
  printf("%d\n", cudaMalloc(&at, 16));
  return 0;
}
