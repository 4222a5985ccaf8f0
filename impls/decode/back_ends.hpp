// The back end for a model file on this machine.
#pragma once

#include <functional>
#include <memory>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/products.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::decode {

struct BackEndOptions {
    int threads = 0;  ///< 0: all cores this process may use
    int blocks = 0;   ///< of the cache
    ActivationType activations = ActivationType::exact;
    ModelOptions model;
};

/// Makes one with the file's weights each time; keeps the reference. Throws UserError on use.
std::function<std::unique_ptr<BackEnd>()> back_ends_of(const nn::TensorFile& file,
                                                       const BackEndOptions& options);

}  // namespace assay::decode
