// Small kernels that ask what the assembler makes of neighbouring accesses to shared memory:
//   nvcc -ptx -lineinfo -arch=sm_90a widths.cu
extern "C" __global__ void a1(float*o,int i){ // three loads aligned
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]+p[1]*2+p[2]*3; }
extern "C" __global__ void a2(float*o,int i){ // store between to other array
  __shared__ __align__(16) float s[1024]; __shared__ float t[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; float a=p[0]; t[threadIdx.x]=a; float b=p[1]; t[threadIdx.x+256]=b; float c=p[2]; t[threadIdx.x+512]=c; float d=p[3]; __syncthreads(); o[threadIdx.x]=a+b+c+d+t[threadIdx.x^5]; }
extern "C" __global__ void a3(float*o,int i){ // v2+v2
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float2*p=(float2*)(s+threadIdx.x*4); float2 a=p[0],b=p[1]; o[threadIdx.x]=a.x+a.y*2+b.x*3+b.y*4; }
extern "C" __global__ void a4(float*o,int i){ // stores contiguous
  __shared__ __align__(16) float s[1024]; float*p=s+threadIdx.x*4; p[0]=o[1];p[1]=o[2+i];p[2]=o[i];p[3]=i; __syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]; }
extern "C" __global__ void a5(double*o,int i){ // doubles
  __shared__ __align__(16) double s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  double*p=s+threadIdx.x*2; o[threadIdx.x]=p[0]+p[1]; }
extern "C" __global__ void a6(unsigned short*o,int i){ // u16
  __shared__ __align__(16) unsigned short s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  unsigned short*p=s+threadIdx.x*2; o[threadIdx.x]=p[0]*3+p[1]; }
extern "C" __global__ void a7(unsigned char*o,int i){ // u8 x4
  __shared__ __align__(16) unsigned char s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  unsigned char*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*3+p[1]+p[2]*5+p[3]*7; }
extern "C" __global__ void a8(float*o,int i){ // middle two
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; o[threadIdx.x]=p[1]+p[2]*2; }
extern "C" __global__ void a9(float*o,int i){ // p1 p2 p3
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; o[threadIdx.x]=p[1]+p[2]*2+p[3]*3; }
extern "C" __global__ void b1(float*o,int i){ // same-array store between loads
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; float a=p[0]; float b=p[1]; s[i]=a*b; float c=p[2]; float d=p[3]; o[threadIdx.x]=a+b+c+d; }
extern "C" __global__ void b2(float*o,int i){ // int and float mixed; base aligned only by static
  __shared__ float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  o[threadIdx.x]=s[0]+s[1]*2+s[2]*3+s[3]*5+s[4]*7+s[5]+s[6]; }
extern "C" __global__ void b3(float*o,int i){ // volatile
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  volatile float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]+p[1]*2+p[2]*3+p[3]; }
extern "C" __global__ void b4(float*o,int i){ // global store between
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; float a=p[0]; o[threadIdx.x]=a; float b=p[1]; o[threadIdx.x+99]=b;o[threadIdx.x+199]=p[2]; o[threadIdx.x+299]=p[3];}
extern "C" __global__ void b5(float*o,int i){ // dynamic smem
  extern __shared__ float s2[]; s2[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s2+threadIdx.x*4; o[threadIdx.x]=p[0]+p[1]*2+p[2]*3+p[3]; }
extern "C" __global__ void b6(float*o,int i){ // predicated adjacency
  __shared__ __align__(16) float s[1024]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*4; float a=0,b=0; if(i>3){a=p[0];b=p[1];} o[threadIdx.x]=a+b*3; }
extern "C" __global__ void b7(float*o,int i){ // many loads far apart w/ heavy compute
  __shared__ __align__(16) float s[4096]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*16; float acc=0; 
  #pragma unroll
  for(int k=0;k<16;k++){ acc=__sinf(acc*p[k])+p[k]; }
  o[threadIdx.x]=acc; }
extern "C" __global__ void b8(float*o,int i){ // 5 loads [0..4] and 6
  __shared__ __align__(16) float s[4096]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]+p[1]*2+p[2]*3+p[3]*5+p[4]*7+p[6]*9; }
extern "C" __global__ void b9(float*o,int i){ // v2 at 0, scalar at 2, 3
  __shared__ __align__(16) float s[4096]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads();
  float*p=s+threadIdx.x*8; float2 a=*(float2*)p; o[threadIdx.x]=a.x+a.y*2+p[2]*3+p[3]*5; }
extern "C" __global__ void u16x4(unsigned short*o,int i){ __shared__ __align__(16) unsigned short s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned short*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(unsigned short)3+p[1]*(unsigned short)5+p[2]*(unsigned short)7+p[3]*(unsigned short)9; }
extern "C" __global__ void u16x3(unsigned short*o,int i){ __shared__ __align__(16) unsigned short s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned short*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(unsigned short)3+p[1]*(unsigned short)5+p[2]*(unsigned short)7; }
extern "C" __global__ void u16x8(unsigned short*o,int i){ __shared__ __align__(16) unsigned short s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned short*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]*(unsigned short)3+p[1]*(unsigned short)5+p[2]*(unsigned short)7+p[3]*(unsigned short)9+p[4]*(unsigned short)11+p[5]*(unsigned short)13+p[6]*(unsigned short)15+p[7]*(unsigned short)17; }
extern "C" __global__ void u16_12(unsigned short*o,int i){ __shared__ __align__(16) unsigned short s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned short*p=s+threadIdx.x*4; o[threadIdx.x]=p[1]*(unsigned short)3+p[2]*(unsigned short)5; }
extern "C" __global__ void u8x2(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(unsigned char)3+p[1]*(unsigned char)5; }
extern "C" __global__ void u8x3(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(unsigned char)3+p[1]*(unsigned char)5+p[2]*(unsigned char)7; }
extern "C" __global__ void u8x8(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]*(unsigned char)3+p[1]*(unsigned char)5+p[2]*(unsigned char)7+p[3]*(unsigned char)9+p[4]*(unsigned char)11+p[5]*(unsigned char)13+p[6]*(unsigned char)15+p[7]*(unsigned char)17; }
extern "C" __global__ void u8x16(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*16; o[threadIdx.x]=p[0]*(unsigned char)3+p[1]*(unsigned char)5+p[2]*(unsigned char)7+p[3]*(unsigned char)9+p[4]*(unsigned char)11+p[5]*(unsigned char)13+p[6]*(unsigned char)15+p[7]*(unsigned char)17+p[8]*(unsigned char)19+p[9]*(unsigned char)21+p[10]*(unsigned char)23+p[11]*(unsigned char)25+p[12]*(unsigned char)27+p[13]*(unsigned char)29+p[14]*(unsigned char)31+p[15]*(unsigned char)33; }
extern "C" __global__ void u8_6(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]*(unsigned char)3+p[1]*(unsigned char)5+p[2]*(unsigned char)7+p[3]*(unsigned char)9+p[4]*(unsigned char)11+p[5]*(unsigned char)13; }
extern "C" __global__ void f3al8(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*2; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[2]*(float)7; }
extern "C" __global__ void f4al8(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*2; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[2]*(float)7+p[3]*(float)9; }
extern "C" __global__ void f2345(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; o[threadIdx.x]=p[2]*(float)3+p[3]*(float)5+p[4]*(float)7+p[5]*(float)9; }
extern "C" __global__ void f6(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[2]*(float)7+p[3]*(float)9+p[4]*(float)11+p[5]*(float)13; }
extern "C" __global__ void f7(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[2]*(float)7+p[3]*(float)9+p[4]*(float)11+p[5]*(float)13+p[6]*(float)15; }
extern "C" __global__ void f02(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(float)3+p[2]*(float)5; }
extern "C" __global__ void f013(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[3]*(float)7; }
extern "C" __global__ void f012_desc(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; o[threadIdx.x]=p[2]*(float)3+p[1]*(float)5+p[0]*(float)7; }
extern "C" __global__ void f3_stride3(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*3; o[threadIdx.x]=p[0]*(float)3+p[1]*(float)5+p[2]*(float)7; }
extern "C" __global__ void f_1234(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; o[threadIdx.x]=p[1]*(float)3+p[2]*(float)5+p[3]*(float)7+p[4]*(float)9; }
extern "C" __global__ void f03(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(float)3+p[3]*(float)5; }
extern "C" __global__ void f023(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(float)3+p[2]*(float)5+p[3]*(float)7; }
extern "C" __global__ void d3(double*o,int i){ __shared__ __align__(16) double s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); double*p=s+threadIdx.x*4; o[threadIdx.x]=p[0]*(double)3+p[1]*(double)5+p[2]*(double)7; }
extern "C" __global__ void stf2(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];p[0]=v0;p[1]=v1;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf3(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];p[0]=v0;p[1]=v1;p[2]=v2;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf4m(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[0]=v0;p[1]=v1;t[threadIdx.x]=v0;p[2]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf4l(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[0]=v0;p[1]=v1;v3+=t[threadIdx.x];p[2]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf4s(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[0]=v0;p[1]=v1;v3+=s[i];p[2]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void std2(double*o,int i){ __shared__ __align__(16) double s[8192]; __shared__ double t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); double*p=s+threadIdx.x*2; double v0=o[0+i*0];double v1=o[1+i*1];p[0]=v0;p[1]=v1;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stu16(unsigned short*o,int i){ __shared__ __align__(16) unsigned short s[8192]; __shared__ unsigned short t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned short*p=s+threadIdx.x*2; unsigned short v0=o[0+i*0];unsigned short v1=o[1+i*1];p[0]=v0;p[1]=v1;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stu8(unsigned char*o,int i){ __shared__ __align__(16) unsigned char s[8192]; __shared__ unsigned char t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); unsigned char*p=s+threadIdx.x*4; unsigned char v0=o[0+i*0];unsigned char v1=o[1+i*1];unsigned char v2=o[2+i*2];unsigned char v3=o[3+i*3];p[0]=v0;p[1]=v1;p[2]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf8(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];float v4=o[4+i*4];float v5=o[5+i*5];float v6=o[6+i*6];float v7=o[7+i*7];p[0]=v0;p[1]=v1;p[2]=v2;p[3]=v3;p[4]=v4;p[5]=v5;p[6]=v6;p[7]=v7;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf_al8(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*2; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[0]=v0;p[1]=v1;p[2]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stf5(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*8; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];float v4=o[4+i*4];p[0]=v0;p[1]=v1;p[2]=v2;p[3]=v3;p[4]=v4;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stdesc(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[3]=v0;p[2]=v1;p[1]=v2;p[0]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void stshuf(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ float t[2048]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float v0=o[0+i*0];float v1=o[1+i*1];float v2=o[2+i*2];float v3=o[3+i*3];p[0]=v0;p[2]=v1;p[1]=v2;p[3]=v3;__syncthreads(); o[threadIdx.x]=s[threadIdx.x*7]+t[threadIdx.x]; }
extern "C" __global__ void small(float*o,int i){ __shared__ float q[3]; __shared__ float s[1000]; q[threadIdx.x%3]=i; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); o[threadIdx.x]=s[0]+s[1]*2+s[2]*3+s[3]*4+q[threadIdx.x%3]; }
extern "C" __global__ void small2(float*o,int i){ __shared__ float s[1000]; __shared__ float q[6];  q[threadIdx.x%6]=i; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); o[threadIdx.x]=s[threadIdx.x]+q[0]+q[1]*2+q[2]*3+q[3]*4+q[4]+q[5]; }
extern "C" __global__ void sync(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float a=p[0],b=p[1]; __syncthreads(); float c=p[2],d=p[3]; o[threadIdx.x]=a+b*2+c*3+d*4; }
extern "C" __global__ void atom(float*o,int i){ __shared__ __align__(16) float s[8192]; __shared__ int cnt[4]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float a=p[0],b=p[1]; atomicAdd(&cnt[i],1); float c=p[2],d=p[3]; o[threadIdx.x]=a+b*2+c*3+d*4; }
extern "C" __global__ void glob_st_alias(float*o,int i){ __shared__ __align__(16) float s[8192]; s[threadIdx.x]=o[threadIdx.x]; __syncthreads(); float*p=s+threadIdx.x*4; float a=p[0],b=p[1]; *(float*)(size_t)(((size_t)o)+i*4)=a; float c=p[2],d=p[3]; o[threadIdx.x]=a+b*2+c*3+d*4; }
