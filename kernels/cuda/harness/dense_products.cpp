#include "kernels/cuda/harness/dense_products.hpp"

#include "kernels/cuda/plugin/memory_passes.hpp"

namespace assay::kernels::cuda::harness {
namespace {

void must_blas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}
std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}
// What NVIDIA recommends for Hopper; given by hand so that captures allocate nothing.
constexpr std::size_t blas_workspace = std::size_t{32} << 20;

}  // namespace

DenseProducts::DenseProducts(const LayerShape& shape, int batch)
    : shape_(shape), batch_(batch), workspace_(blas_workspace) {
    const int neurons = shape.experts * shape.expert_size;
    BenchDevice& device = BenchDevice::get();
    must_blas(cublasCreate(&handle_));
    must_blas(cublasSetStream(handle_, device.stream));
    must_blas(cublasSetWorkspace(handle_, workspace_.data(), workspace_.bytes()));
    for (DeviceArray<std::byte>& matrix : gathered_)
        matrix = DeviceArray<std::byte>(shape.matrix_bytes());
    x_ = DeviceArray<std::uint16_t>(
        std::vector<std::uint16_t>(product(batch, shape.width), std::uint16_t{0x3e99}));  // 0.299
    hidden_ = DeviceArray<std::uint16_t>(product(batch, neurons));
    gate_ = DeviceArray<float>(product(batch, neurons));
    up_ = DeviceArray<float>(product(batch, neurons));
    y_ = DeviceArray<float>(product(batch, shape.width));
}

void DenseProducts::multiply(const void* weights, int rows, int columns, const std::uint16_t* x,
                             float* y) {
    // cuBLAS counts by columns: our rows are its columns, so the weights are transposed back.
    const float one = 1, zero = 0;
    must_blas(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, rows, batch_, columns, &one, weights,
                           CUDA_R_16BF, columns, x, CUDA_R_16BF, columns, &zero, y, CUDA_R_32F,
                           rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

void DenseProducts::products(const void* gate, const void* up, const void* down, int neurons) {
    if (neurons == 0) return;
    multiply(gate, neurons, shape_.width, x_.data(), gate_.data());
    multiply(up, neurons, shape_.width, x_.data(), up_.data());
    swiglu_to_bf16(gate_.data(), up_.data(), neurons * batch_, hidden_.data(),
                   BenchDevice::get().stream);
    const float one = 1, zero = 0;  // down's rows are neurons: its transpose is what cuBLAS sees
    must_blas(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, shape_.width, batch_, neurons, &one,
                           down, CUDA_R_16BF, shape_.width, hidden_.data(), CUDA_R_16BF, neurons,
                           &zero, y_.data(), CUDA_R_32F, shape_.width, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT));
}

void DenseProducts::ffn(const Layer& layer) {
    products(layer.gate.data(), layer.up.data(), layer.down.data(),
             shape_.experts * shape_.expert_size);
}

void DenseProducts::gathered_ffn(const Layer& layer) {
    const Routing& routing = layer.routing;
    const DeviceArray<std::byte>* const from[] = {&layer.gate, &layer.up, &layer.down};
    for (int i = 0; i < 3; ++i)
        gather_pieces(from[i]->data(), routing.active.data(), routing.active_experts,
                      shape_.expert_bytes(), gathered_[i].data(), BenchDevice::get().stream);
    products(gathered_[0].data(), gathered_[1].data(), gathered_[2].data(),
             routing.active_experts * shape_.expert_size);
}

}  // namespace assay::kernels::cuda::harness
