#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void gate_up(CudaMachine& machine, const AssaySparseFfn& call) { launch_gate_up(machine, call); }

}  // namespace assay::kernels::cuda
