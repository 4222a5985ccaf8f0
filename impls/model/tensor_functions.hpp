// What the module of tensors computes for `assay model` (impls/tensors/module.hpp).
#pragma once

#include <memory>

#include "impls/model/gradients.hpp"
#include "impls/model/perplexity.hpp"

namespace assay::model {

struct TensorFunctions {
    static constexpr const char* symbol = "assay_model_tensors";
    std::unique_ptr<WindowScorer> (*decoder_scorer)(const nn::TensorFile&, const ScorerOptions&);
    void (*write_gradients)(const GradientRequest&);
};

/// Within the module: the decoder that also trains.
std::unique_ptr<WindowScorer> decoder_scorer(const nn::TensorFile& file,
                                             const ScorerOptions& options);
void write_gradients(const GradientRequest& request);

}  // namespace assay::model
