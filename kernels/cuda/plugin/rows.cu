// Launches of GEMV and router; the kernels are device/rows_kernel.hpp with device/jobs.hpp.
#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void gemv(CudaMachine& machine, const AssayGemv& call) { launch_gemv(machine, call); }

void router(CudaMachine& machine, const AssayRouter& call) { launch_router(machine, call); }

}  // namespace assay::kernels::cuda
