#include "impls/model/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::model {

bool have_libtorch() { return true; }

std::unique_ptr<WindowScorer> libtorch_scorer(const nn::TensorFile& file,
                                              const ScorerOptions& options) {
    return tensors::functions<TensorFunctions>().decoder_scorer(file, options);
}

}  // namespace assay::model
