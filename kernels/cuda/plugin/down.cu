#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void down(CudaMachine& machine, const AssaySparseFfn& call) { launch_down(machine, call); }

}  // namespace assay::kernels::cuda
