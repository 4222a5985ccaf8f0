#include "impls/nn/files/gguf_tensor_type.hpp"

#include <array>
#include <string_view>

namespace assay::nn {
namespace {

// Empty: withdrawn numbers.
constexpr std::array<std::string_view, 40> names{
    "F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
    "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
    "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
    "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  "",
    "",        "",       "TQ1_0",   "TQ2_0", "",       "",      "",      "MXFP4"};

}  // namespace

std::optional<TensorType> gguf_tensor_type(std::uint32_t number) {
    switch (number) {
        case 0:
            return TensorType::f32;
        case 1:
            return TensorType::f16;
        case 2:
            return TensorType::q4_0;
        case 3:
            return TensorType::q4_1;
        case 8:
            return TensorType::q8_0;
        case 30:
            return TensorType::bf16;
        default:
            return std::nullopt;
    }
}

std::string gguf_tensor_type_name(std::uint32_t number) {
    if (number < names.size() && !names[number].empty()) return std::string(names[number]);
    return "number " + std::to_string(number);
}

}  // namespace assay::nn
