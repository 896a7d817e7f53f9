// Sums along the rows and down the columns of tiles of 32 by 32: one of these lines makes as many
// wavefronts as all others together, and more.
__global__ void sums(float *rows, float *columns, const float *in, int width)
{
    __shared__ float tile[32][32];
    __shared__ float part[8][32];
    const int x = threadIdx.x, y = threadIdx.y;

    for (int r = y; r < 32; r += 8)
        tile[r][x] = in[(blockIdx.y * 32 + r) * width + blockIdx.x * 32 + x];
    __syncthreads();

    float down = 0;
    for (int r = y; r < 32; r += 8)
        down += tile[r][x];
    part[y][x] = down;
    __syncthreads();
    if (y == 0) {
        for (int i = 1; i < 8; i++)
            down += part[i][x];
        columns[blockIdx.y * width + blockIdx.x * 32 + x] = down;
    }
    __syncthreads();

    float along = 0;
    for (int c = y; c < 32; c += 8)
        along += tile[x][c];
    part[y][x] = along;
    __syncthreads();
    if (y == 0) {
        for (int i = 1; i < 8; i++)
            along += part[i][x];
        rows[blockIdx.x * gridDim.y * 32 + blockIdx.y * 32 + x] = along;
    }
}
