// Launches of the dispatch; the kernels are device/dispatch_kernels.hpp.
#include "kernels/cuda/device/dispatch_kernels.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void schedule(CudaMachine& machine, const AssayDispatch& call) { launch_schedule(machine, call); }

void places(CudaMachine& machine, const AssayDispatch& call) { launch_places(machine, call); }

void shuffle(CudaMachine& machine, const AssayRowMove& call) { launch_move<false>(machine, call); }

void unshuffle(CudaMachine& machine, const AssayRowMove& call) { launch_move<true>(machine, call); }

}  // namespace assay::kernels::cuda
