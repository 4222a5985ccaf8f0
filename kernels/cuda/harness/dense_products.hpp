// cuBLAS in the benchmarks: the dense network, and the gather that copies active experts before it
// multiplies (what indexing a weight tensor does).
#pragma once

#include <cublas_v2.h>

#include "kernels/cuda/harness/bench_layers.hpp"

namespace assay::kernels::cuda::harness {

class DenseProducts {
  public:
    DenseProducts(const LayerShape& shape, int batch);
    ~DenseProducts() { cublasDestroy(handle_); }
    DenseProducts(const DenseProducts&) = delete;
    DenseProducts& operator=(const DenseProducts&) = delete;

    /// y[batch][rows] = weights[rows][columns] · x[batch][columns], all but y in bf16.
    void multiply(const void* weights, int rows, int columns, const std::uint16_t* x, float* y);
    /// The whole network: three products and the activation.
    void ffn(const Layer& layer);
    /// The active experts' rows copied together, then the products. The count is known to the host,
    /// which spares this one the synchronisation that it would need.
    void gathered_ffn(const Layer& layer);

  private:
    void products(const void* gate, const void* up, const void* down, int neurons);

    LayerShape shape_;
    int batch_;
    cublasHandle_t handle_ = nullptr;
    DeviceArray<std::byte> workspace_, gathered_[3];
    DeviceArray<std::uint16_t> x_, hidden_;
    DeviceArray<float> gate_, up_, y_;
};

}  // namespace assay::kernels::cuda::harness
