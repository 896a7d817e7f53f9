// c = a + b by the driver's functions, looked up by name as PyTorch and Triton do: no header, no
// toolkit. Words: the file of PTX; "extra" hands the parameters over as one block; "graph" captures
// the launch in a graph, with a copy of b in front, and launches that twice; "graph3" has
// three launches in the graph, of which two add b to c; "managed" asks for what no stand-in has;
// "large" has each array in the middle of 17 MiB that are full, with its first 512 numbers in
// front of the end of a page, counted from the begin of the allocation.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BLOCK = 128, LARGE = 17 << 20, PAGE = 4096 };

static void *library;
static void *find(const char *name) {
  void *function = dlsym(library, name);
  if (!function) {
    printf("no %s\n", name);
    exit(2);
  }
  return function;
}

#define CALL(name, types, ...)                                    \
  do {                                                            \
    const int result_ = ((int(*) types)find(#name))(__VA_ARGS__); \
    if (result_) return printf("%s: %d\n", #name, result_), 2;    \
  } while (0)

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);
typedef int Proc(const char *, void **, int, uint64_t, int *);

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const char *how = argc > 2 ? argv[2] : "";
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return printf("no libcuda.so.1\n"), 2;
  int device = -1;
  void *context = NULL, *module = NULL, *function = NULL, *launch = NULL;
  CALL(cuInit, (unsigned), 0);
  CALL(cuDeviceGet, (int *, int), &device, 0);
  CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, device);
  CALL(cuCtxSetCurrent, (void *), context);
  CALL(cuModuleLoad, (void **, const char *), &module, argv[1]);
  CALL(cuModuleGetFunction, (void **, void *, const char *), &function, module,
       "_Z3addIfEvPKT_S2_PS0_i");
  static float host[N], result[N];
  for (int i = 0; i < N; i++) host[i] = (float)i;
  uint64_t a, b, c, *const arrays[] = {&a, &b, &c};
  int n = N, status = 0, wrong = 0;
  const int large = !strcmp(how, "large");
  static unsigned full[LARGE / sizeof(unsigned)];
  for (unsigned i = 0; large && i < LARGE / sizeof *full; i++) full[i] = i * 2654435761U | 1;
  for (int i = 0; i < 3; i++) {
    CALL(cuMemAlloc_v2, (uint64_t *, size_t), arrays[i], large ? sizeof full : sizeof host);
    if (!large) continue;
    CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), *arrays[i], full, sizeof full);
    *arrays[i] += LARGE / 2 + PAGE / 2;
  }
  CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), a, host, sizeof host);
  CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), b, host, sizeof host);
  if (!strcmp(how, "managed")) {
    typedef int Managed(uint64_t *, size_t, unsigned);
    printf("%d\n", ((Managed *)find("cuMemAllocManaged"))(&b, 100, 1));
    return 0;
  }
  CALL(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *), "cuLaunchKernel",
       &launch, 12000, 0, &status);
  void *params[] = {&a, &b, &c, &n};
  struct {
    uint64_t a, b, c;
    int n;
  } block = {a, b, c, n};
  size_t bytes = 28;
  void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL};
  const int by_extra = !strcmp(how, "extra"), by_graph = !strncmp(how, "graph", 5),
            n_launches = strcmp(how, "graph3") ? 1 : 3;
  void *stream = NULL, *graph = NULL, *exec = NULL;
  if (by_graph) {
    CALL(cuStreamCreate, (void **, unsigned), &stream, 0);
    CALL(cuStreamBeginCapture_v2, (void *, int), stream, 0);
    CALL(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), b, host, sizeof host,
         stream);
  }
  for (int i = 0; i < n_launches; i++) {
    if (i > 0) params[0] = &c;
    const int launched =
        ((Launch *)launch)(function, (N + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream,
                           by_extra ? NULL : params, by_extra ? extra : NULL);
    if (launched) return printf("launch: %d\n", launched), 2;
  }
  if (by_graph) {
    CALL(cuStreamEndCapture, (void *, void **), stream, &graph);
    CALL(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long), &exec, graph, 0);
    CALL(cuGraphDestroy, (void *), graph);
    n = 0;  // parameters are those of the capture
    CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), b, result, sizeof result);
    for (int i = 0; i < 2; i++) CALL(cuGraphLaunch, (void *, void *), exec, stream);
    CALL(cuGraphExecDestroy, (void *), exec);
  }
  CALL(cuCtxSynchronize, (void), );
  CALL(cuMemcpyDtoH_v2, (void *, uint64_t, size_t), result, c, sizeof result);
  for (int i = 0; i < N; i++) wrong += result[i] != (float)(n_launches + 1) * host[i];
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong ? 7 : 0;
}
