// The launches, one .cu file each: nvcc is slow. Calls are checked already; errors stay in the
// machine.
#pragma once

#include "kernels/assay_kernels.h"
#include "kernels/cuda/plugin/cuda_machine.hpp"

namespace assay::kernels::cuda {

void gemv(CudaMachine& machine, const AssayGemv& call);
void router(CudaMachine& machine, const AssayRouter& call);
/// The activations of the active neurons, into the workspace.
void gate_up(CudaMachine& machine, const AssaySparseFfn& call);
/// What they add to the output.
void down(CudaMachine& machine, const AssaySparseFfn& call);

}  // namespace assay::kernels::cuda
