// Opens the library of opened.cu and asks it; it has no runtime of its own. PASS or FAIL.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int a[64], b[64], c[64] = {0}, wrong = argc < 2;
  void *library = wrong ? NULL : dlopen(argv[1], RTLD_NOW);
  int (*add)(const int *, const int *, int *) = NULL;
  if (library) *(void **)&add = dlsym(library, "add_64");
  for (int i = 0; i < 64; i++) b[i] = (a[i] = i) * 3;
  wrong |= !add || add(a, b, c) != 0;
  for (int i = 0; i < 64; i++) wrong |= c[i] != 4 * i;
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong;
}
