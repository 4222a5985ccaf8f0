#include "impls/model/perplexity.hpp"
#include "suite/experiment/error.hpp"

namespace assay::model {

bool have_libtorch() { return false; }

std::unique_ptr<WindowScorer> libtorch_scorer(const nn::TensorFile&, const ScorerOptions&) {
    throw NotSupportedHere("this build has no libtorch; leave --through out, or give engine");
}

}  // namespace assay::model
