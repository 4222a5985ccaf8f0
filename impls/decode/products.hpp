// Matrix products of decoding, each one region of the kernels' threads. The results do not depend
// on the number of threads.
#pragma once

#include <span>

#include "impls/decode/activations.hpp"
#include "impls/decode/weight_matrix.hpp"
#include "impls/nn/files/decoder_config.hpp"

namespace assay::decode {

/// y[t·rows + r] = row r · x[t] + bias[r].
struct Product {
    const WeightMatrix* matrix;
    float* y;
};

/// All products of the same activations in one region.
void multiply(AssayContext& context, std::span<const Product> products, const Activations& x);

/// h[t·rows + r] = act(gate·x, up·x + bias): gate and up row by row in one region. `gate` is used
/// by swiglu only.
void activate(AssayContext& context, const WeightMatrix& gate, const WeightMatrix& up,
              nn::Activation activation, const Activations& x, float* h);

AssayActivation kernel_activation(nn::Activation activation);

}  // namespace assay::decode
