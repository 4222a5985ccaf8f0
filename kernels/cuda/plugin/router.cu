#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void router(CudaMachine& machine, const AssayRouter& call) { launch_router(machine, call); }

}  // namespace assay::kernels::cuda
