#include "impls/hetermoe/live_support.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#endif

namespace assay::hetermoe {

InProcesses fig6_in_processes() {
#ifdef ASSAY_HETERMOE_LIVE
    return {.run = tensors::run_of(&TensorFunctions::run_fig6),
            .lack = [] { return tensors::module_lacks(); }};
#else
    return {.run = {}, .lack = []() -> std::optional<std::string> {
                return "this build has no libtorch or no Gloo headers; run scripts/dependencies "
                       "and build again";
            }};
#endif
}

}  // namespace assay::hetermoe
