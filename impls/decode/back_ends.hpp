// The back end for a model file on this machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/products.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::decode {

struct BackEndOptions {
    int threads = 0;  ///< 0: all cores this process may use
    int blocks = 0;   ///< of the cache
    ActivationType activations = ActivationType::exact;
    /// How keys and values are kept. Not given: f32 beside `exact`, bf16 beside `int8`, whose
    /// rounding is the coarser one.
    std::optional<KvType> kv;
    ModelOptions model;
};

/// Makes one with the file's weights each time; keeps the reference. Throws UserError on use.
std::function<std::unique_ptr<BackEnd>()> back_ends_of(const nn::TensorFile& file,
                                                       const BackEndOptions& options);

}  // namespace assay::decode
