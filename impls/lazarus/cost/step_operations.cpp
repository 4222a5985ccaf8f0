#include "impls/lazarus/cost/step_operations.hpp"

namespace assay::lazarus {

// A parameter of the projections is one multiply-add per token (GPT-2: 4d²), attention as many per
// pair of tokens as heads are wide (GPT-2: 2d, of which causality masks half); two operations each.
// Norms and residuals stream the activations.
Operation attention_operation(const ModelledModel& model, int tensor_parallel) {
    const double d = model.width, tokens = model.tokens(), weights = model.attention_parameters();
    return {"attention",
            {.flops = tokens * (2 * weights + model.context * model.attention_pair_flops()),
             .bytes = model.value_bytes * (weights / tensor_parallel + 12 * tokens * d),
             .kernels = 12}};
}

// A parameter is one multiply-add per row. Every held expert's weights are read; rows are gathered,
// go through the hidden layer (GPT-2: four times as wide), and are put back.
Operation experts_operation(const ModelledModel& model, double held, double rows) {
    const double parameters = model.expert_parameters();
    return {"experts",
            {.flops = 2 * rows * parameters,
             .bytes = model.value_bytes * (held * parameters + 10 * rows * model.width),
             .kernels = 3.0 * held}};
}

// d · vocabulary multiply-adds per token; the logits are written, read and turned into a loss.
Operation head_operation(const ModelledModel& model, int tensor_parallel) {
    const double tokens = model.tokens(), weights = double(model.width) * model.vocabulary;
    return {
        "head",
        {.flops = 2 * tokens * weights,
         .bytes = model.value_bytes * (weights / tensor_parallel + 3 * tokens * model.vocabulary),
         .kernels = 4}};
}

// Adam streams gradient, master weight and both moments, and writes them and the fp16 weight.
Operation optimizer_operation(double parameters) {
    return {"optimizer", {.flops = 0, .bytes = 28 * parameters, .kernels = 1}};
}

std::span<const StepOperation> step_operations() {
    static constexpr StepOperation operations[] = {
        {"attention", "norms, projections, attention, gate", "per layer", true},
        {"experts", "the experts held, on the rows that were sent to them", "per layer", true},
        {"head", "logits and loss", "once", true},
        {"optimizer", "Adam on everything held", "once", false},
    };
    return operations;
}

}  // namespace assay::lazarus
