#include <limits>
#include <stdexcept>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/files/tensor_type.hpp"

namespace assay::nn {

std::string_view to_string(TensorType type) {
    switch (type) {
        case TensorType::f32:
            return "f32";
        case TensorType::f16:
            return "f16";
        case TensorType::bf16:
            return "bf16";
        case TensorType::q8_0:
            return "q8_0";
        case TensorType::q4_0:
            return "q4_0";
        case TensorType::q4_1:
            return "q4_1";
    }
    throw std::logic_error("no such tensor type");
}

BlockSize block_size(TensorType type) {
    constexpr std::size_t scale = 2;  // an f16
    switch (type) {
        case TensorType::f32:
            return {1, 4};
        case TensorType::f16:
        case TensorType::bf16:
            return {1, 2};
        case TensorType::q8_0:
            return {32, scale + 32};
        case TensorType::q4_0:
            return {32, scale + 16};
        case TensorType::q4_1:
            return {32, scale + scale + 16};
    }
    throw std::logic_error("no such tensor type");
}

std::size_t stored_bytes(TensorType type, std::int64_t elements) {
    const BlockSize block = block_size(type);
    if (elements < 0 || elements % block.elements != 0)
        throw std::invalid_argument("not a whole number of blocks");
    const auto blocks = static_cast<std::size_t>(elements / block.elements);
    if (blocks > std::numeric_limits<std::size_t>::max() / block.bytes)
        throw std::overflow_error("more bytes than can be counted");
    return blocks * block.bytes;
}

std::int64_t TensorEntry::elements() const {
    // The readers refuse shapes whose product does not fit.
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

}  // namespace assay::nn
