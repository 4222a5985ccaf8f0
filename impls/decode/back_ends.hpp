// Weights and back ends for a model on this machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/paged_cache.hpp"
#include "impls/decode/cpu/products.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"
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

/// Makes weights, equal ones each time, and back ends that use them.
struct BackEnds {
    std::function<std::shared_ptr<ModelWeights>()> load;
    std::function<std::unique_ptr<BackEnd>(std::shared_ptr<ModelWeights>)> with;

    std::unique_ptr<BackEnd> operator()() const { return with(load()); }
};

/// Throws UserError on use. A reference must outlive it.
BackEnds back_ends_of(std::shared_ptr<const nn::TensorFile> file, const BackEndOptions& options);
BackEnds back_ends_of(const nn::TensorFile& file, const BackEndOptions& options);
/// Of no model.
BackEnds modelled_back_ends(const ModelledSettings& settings);
/// With weights of load_model(). Throws UserError: no memory, no threads.
std::unique_ptr<BackEnd> cpu_back_end(std::shared_ptr<ModelWeights> weights,
                                      const BackEndOptions& options);

}  // namespace assay::decode
