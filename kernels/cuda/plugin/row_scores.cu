// Launches of scores and gradients of rows (device/row_scores_launches.hpp).
#include "kernels/cuda/device/row_scores_launches.hpp"
#include "kernels/cuda/plugin/kernels.hpp"

namespace assay::kernels::cuda {

void row_scores(CudaMachine& machine, const AssayRowScores& call) {
    launch_row_scores(machine, call);
}

void weight_gradient(CudaMachine& machine, const AssayWeightGradient& call) {
    launch_weight_gradient(machine, call);
}

}  // namespace assay::kernels::cuda
