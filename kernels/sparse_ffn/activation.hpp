// The activations of a feed-forward network's neurons.
#pragma once

#include <cmath>

#include "kernels/assay_kernels.h"

#ifdef __CUDACC__
#define ASSAY_ALSO_ON_DEVICE __host__ __device__
#else
#define ASSAY_ALSO_ON_DEVICE
#endif

namespace assay::kernels {

/// gate: gate·x, ASSAY_SWIGLU only. up: up·x + bias. Works in float or double. NaN stays NaN.
template <class Real>
ASSAY_ALSO_ON_DEVICE Real activate(AssayActivation activation, Real gate, Real up) {
    switch (activation) {
        case ASSAY_SWIGLU:
            return gate / (Real(1) + std::exp(-gate)) * up;
        case ASSAY_GELU: {
            constexpr auto root_2_over_pi = Real(0.79788456080286535588);
            const Real inner = root_2_over_pi * (up + Real(0.044715) * up * up * up);
            return Real(0.5) * up * (Real(1) + std::tanh(inner));
        }
        case ASSAY_RELU:
            return up < Real(0) ? Real(0) : up;
    }
    return up;
}

}  // namespace assay::kernels
