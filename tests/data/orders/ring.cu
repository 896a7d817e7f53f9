// A ring of two slots filled by bulk copies, read by four warps; -D puts a fault in. ring_NAME.ptx is
// nvcc -ptx -O3 -arch=sm_90a of it: sound; more with -DEMPTYN=5; early with -DEARLY; silent with
// -DSILENT; bytes with -DEXTRA=16; unfenced with -DUNFENCED;
// grid and grid_late with -DGRID=1 and =2: griddepcontrol.wait in front of the first copy, and behind.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#ifndef EXTRA
#define EXTRA 0
#endif
#ifndef EMPTYN
#define EMPTYN 4
#endif
__device__ void init(uint64_t *b, unsigned n){asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"::"r"(SMEM(b)),"r"(n):"memory");}
__device__ void wait(uint64_t *b, unsigned p){unsigned ok=0;while(!ok)asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p,[%1],%2; selp.u32 %0,1,0,p;}":"=r"(ok):"r"(SMEM(b)),"r"(p):"memory");}
__device__ void arrive(uint64_t*b){asm volatile("mbarrier.arrive.shared::cta.b64 _,[%0];"::"r"(SMEM(b)):"memory");}
__device__ void expect(uint64_t*b,unsigned n){asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;"::"r"(SMEM(b)),"r"(n):"memory");}
__device__ void bulk(void*d,const void*s,unsigned n,uint64_t*b){asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];"::"r"(SMEM(d)),"l"(s),"r"(n),"r"(SMEM(b)):"memory");}
constexpr int S=2,N=128;
extern "C" __global__ void ring(const float*in,float*out,int turns){
  __shared__ alignas(128) float slot[S][N]; __shared__ uint64_t full[S],empty[S];
  const int warp=threadIdx.x/32;
  if(threadIdx.x==0){for(int i=0;i<S;i++){init(&full[i],1);init(&empty[i],EMPTYN);} asm volatile("fence.mbarrier_init.release.cluster;");}
  __syncthreads();
#if GRID==1
  asm volatile("griddepcontrol.wait;"::: "memory");
#endif
  if(warp==4){ if(threadIdx.x%32==0) for(int t=0;t<turns;t++){
#ifndef NOEMPTY
      wait(&empty[t%S],(t/S+1)&1);
#endif
#ifndef UNFENCED
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
      expect(&full[t%S],N*4+EXTRA); bulk(slot[t%S],in+t*N,N*4,&full[t%S]); } }
  else { float sum=0; for(int t=0;t<turns;t++){ wait(&full[t%S],
#ifdef PHASE0
   0
#else
   (t/S)&1
#endif
   );
#ifdef EARLY
      __syncwarp(); if(threadIdx.x%32==0) arrive(&empty[t%S]);
#endif
      sum+=slot[t%S][threadIdx.x];
#ifndef EARLY
      __syncwarp();
#ifdef SILENT
      if(warp!=3)
#endif
      if(threadIdx.x%32==0) arrive(&empty[t%S]);
#endif
    }
#if GRID==2
    asm volatile("griddepcontrol.wait;"::: "memory");
#endif
    out[threadIdx.x]=sum; }
}
