#include <cuda_runtime.h>

#include "kernels/cuda/harness/multiprocessors_used.hpp"

namespace assay::kernels::cuda::harness {
namespace {

constexpr int most_multiprocessors = 1024, blocks = 4096;

// Busy for a while, so that no multiprocessor gets all blocks.
__global__ void note(int* used) {
    unsigned number = 0;
    asm("mov.u32 %0, %%smid;" : "=r"(number));
    const long long from = clock64();
    while (clock64() - from < 20000) {
    }
    if (threadIdx.x == 0 && number < most_multiprocessors) used[number] = 1;
}

}  // namespace

std::set<int> multiprocessors_used(void* stream) {
    const auto on = static_cast<cudaStream_t>(stream);
    int used[most_multiprocessors] = {};
    int* device = nullptr;
    if (cudaMalloc(&device, sizeof used) != cudaSuccess) return {};
    std::set<int> numbers;
    if (cudaMemsetAsync(device, 0, sizeof used, on) == cudaSuccess) {
        note<<<blocks, 32, 0, on>>>(device);
        if (cudaGetLastError() == cudaSuccess && cudaStreamSynchronize(on) == cudaSuccess &&
            cudaMemcpy(used, device, sizeof used, cudaMemcpyDeviceToHost) == cudaSuccess)
            for (int i = 0; i < most_multiprocessors; ++i)
                if (used[i] != 0) numbers.insert(i);
    }
    cudaFree(device);
    return numbers;
}

}  // namespace assay::kernels::cuda::harness
