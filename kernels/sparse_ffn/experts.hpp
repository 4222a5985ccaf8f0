// How many neurons an expert has, and how many bytes of weights a step reads of a network that is
// cut into experts: counted once, for whoever measures on a CPU or on a GPU.
#pragma once

#include <cstddef>

#include "kernels/cpu/element_types.hpp"

namespace assay::kernels {

/// LTE's, and everybody's here who says nothing else (arXiv 2402.06126v4).
inline constexpr int neurons_per_expert = 32;

/// One expert's part of one of the matrices gate, up and down.
constexpr std::size_t expert_matrix_bytes(const AssayFfn& ffn) {
    return static_cast<std::size_t>(ffn.expert_size) * row_bytes(ffn.type, ffn.width);
}
/// One expert in all matrices that its activation has, without biases.
constexpr std::size_t expert_bytes(const AssayFfn& ffn) {
    return (ffn.activation == ASSAY_SWIGLU ? 3 : 2) * expert_matrix_bytes(ffn);
}
/// The router in front of that network: one row for each expert.
constexpr std::size_t router_bytes(const AssayFfn& ffn) {
    return static_cast<std::size_t>(ffn.experts) * row_bytes(ffn.type, ffn.width);
}

}  // namespace assay::kernels
