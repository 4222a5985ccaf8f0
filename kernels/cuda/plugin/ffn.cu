// Launches of the sparse feed-forward network; the kernels are in device/rows_kernel.hpp with
// device/jobs.hpp (gate and up), and device/down_kernel.hpp; or both in one,
// device/persistent_kernel.hpp.
#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void gate_up(CudaMachine& machine, const AssaySparseFfn& call) {
    if (is_persistent(machine.device(), call))
        launch_persistent(machine, call);
    else
        launch_gate_up(machine, call);
}

void down(CudaMachine& machine, const AssaySparseFfn& call) {
    if (!is_persistent(machine.device(), call)) launch_down(machine, call);
}

}  // namespace assay::kernels::cuda
