#include "impls/decode/weight_matrix.hpp"

#include <stdexcept>
#include <vector>

#include "impls/decode/interleaved/layout.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::decode {

AssayType kernel_type(nn::TensorType type) {
    switch (type) {
        case nn::TensorType::f32:
            return ASSAY_F32;
        case nn::TensorType::f16:
            return ASSAY_F16;
        case nn::TensorType::bf16:
            return ASSAY_BF16;
        case nn::TensorType::q8_0:
            return ASSAY_Q8_0;
        case nn::TensorType::q4_0:
            return ASSAY_Q4_0;
        case nn::TensorType::q4_1:
            return ASSAY_Q4_1;
    }
    throw std::logic_error("no such tensor type");
}

nn::TensorType tensor_type(AssayType type) {
    switch (type) {
        case ASSAY_F32:
            return nn::TensorType::f32;
        case ASSAY_F16:
            return nn::TensorType::f16;
        case ASSAY_BF16:
            return nn::TensorType::bf16;
        case ASSAY_Q8_0:
            return nn::TensorType::q8_0;
        case ASSAY_Q4_0:
            return nn::TensorType::q4_0;
        case ASSAY_Q4_1:
            return nn::TensorType::q4_1;
    }
    throw std::logic_error("no such type of weights");
}

std::size_t row_bytes(const WeightMatrix& matrix) {
    return kernels::row_bytes(matrix.type, matrix.columns);
}

std::size_t stored_bytes(const WeightMatrix& matrix) {
    if (!matrix) return 0;
    const auto rows = static_cast<std::size_t>(matrix.rows);
    return rows * (row_bytes(matrix) + (matrix.bias ? sizeof(float) : 0));
}

void read_row(const WeightMatrix& matrix, int row, std::span<float> out) {
    const std::size_t bytes = row_bytes(matrix);
    nn::TensorEntry one{"row", tensor_type(matrix.type), {matrix.columns}, {}};
    if (!matrix.interleaved) {
        one.bytes = {matrix.weights + static_cast<std::size_t>(row) * bytes, bytes};
        return nn::to_floats(one, 0, out);
    }
    std::vector<std::byte> together(bytes);
    take_row(matrix.type, matrix.weights, matrix.columns, row, together.data());
    one.bytes = together;
    nn::to_floats(one, 0, out);
}

}  // namespace assay::decode
