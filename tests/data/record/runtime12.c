// A program of CUDA 12's runtime, as far as cudaGetDeviceProperties_v2 goes: CUDA 13 has no
// function of that name, and another order of the numbers. Prints some, from where CUDA 12's header
// has them.
#include <stdio.h>
#include <string.h>

int cudaGetDeviceProperties_v2(unsigned char *out, int device) {
  (void)out, (void)device;
  return 999;
}

static int number(const unsigned char *at) {
  int value = 0;
  memcpy(&value, at, sizeof value);
  return value;
}

int main(void) {
  enum { MAJOR = 360, SM_COUNT = 388, MAPS = 400, L2 = 616, OPTIN = 696, BLOCKS = 712, ALL = 1032 };
  static unsigned char out[ALL + 1];
  out[ALL] = 7;
  if (cudaGetDeviceProperties_v2(out, 0) != 0 || out[ALL] != 7) return 1;
  printf("%d, %d SMs, maps %d, %d bytes of L2, %d bytes, %d blocks\n", number(out + MAJOR),
         number(out + SM_COUNT), number(out + MAPS), number(out + L2), number(out + OPTIN),
         number(out + BLOCKS));
  return 0;
}
