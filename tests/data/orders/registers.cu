// Four warps give registers back, four others take them. registers_NAME.ptx is nvcc -ptx -O3
// -arch=sm_90a of it: sound; more with -DTAKEN=224: of 128 registers the others leave 40, so that 216
// are there; late with -DLATE: they give them back only behind a barrier that the others come to later.
#ifndef TAKEN
#define TAKEN 216
#endif
#define TEXT(x) #x
#define STR(x) TEXT(x)
extern "C" __global__ void __maxnreg__(128) registers(float *out) {
  __shared__ float cell[128];
  const int t = threadIdx.x;
  if (t < 128) {
#ifndef LATE
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
    cell[t] = t;
    asm volatile("bar.sync 1, 256;" ::: "memory");
#ifdef LATE
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 " STR(TAKEN) ";");
    asm volatile("bar.sync 1, 256;" ::: "memory");
    out[t - 128] = cell[t - 128];
  }
}
