#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void gemv(CudaMachine& machine, const AssayGemv& call) { launch_gemv(machine, call); }

}  // namespace assay::kernels::cuda
