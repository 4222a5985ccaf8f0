// The computing of a training step, operation by operation: names, and what each has to do on one
// device. This is the one list of them: StepTimeline prices it, lazarus/x_operations measures it, a
// device profile can say what it reaches of each, `assay calibrate lazarus` prints it.
#pragma once

#include <span>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

// `tensor_parallel`: ranks that share the weights of what is no expert, and each other's tokens.

/// Of one modelled layer on one rank, forward: norms, projections, attention, gate.
Operation attention_operation(const ModelledModel& model, int tensor_parallel = 1);

/// Of one modelled layer on one rank, forward: `held` different experts compute `rows` rows,
/// padding included.
Operation experts_operation(const ModelledModel& model, double held, double rows);

/// Of one rank and step, forward: logits and loss.
Operation head_operation(const ModelledModel& model, int tensor_parallel = 1);

/// Of one rank and step: Adam on `parameters` parameters.
Operation optimizer_operation(double parameters);

/// The backward pass computes each forward operation's gradients towards its inputs and towards its
/// weights: twice the work, at the same efficiency.
inline constexpr double backward_over_forward = 2;

/// What there is, for tables.
struct StepOperation {
    const char* name;
    const char* says;
    const char* times;  ///< how often per step and rank
    bool has_backward;
};
std::span<const StepOperation> step_operations();

}  // namespace assay::lazarus
