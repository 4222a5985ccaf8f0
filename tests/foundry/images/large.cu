// More than 4 KiB of parameters, and shared and global memory, which take no room in the file.
struct Large {  // 4800 bytes
    unsigned long long word[600];
};
__device__ float table[4096];

extern "C" __global__ void large(float* out, const __grid_constant__ Large l, short tail) {
    __shared__ float row[1024];
    row[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = row[tail] + static_cast<float>(l.word[threadIdx.x]);
}
