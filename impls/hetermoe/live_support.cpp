#include "impls/hetermoe/live_support.hpp"

#include "impls/tensors/live_training.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#endif

namespace assay::hetermoe {

InProcesses fig6_in_processes() {
    InProcesses processes;
    processes.lack = tensors::processes_lack;
#ifdef ASSAY_HETERMOE_LIVE
    processes.run = tensors::run_of(&TensorFunctions::run_fig6);
#endif
    return processes;
}

}  // namespace assay::hetermoe
