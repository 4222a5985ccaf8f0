#include "impls/plato/simulated/device_times.hpp"

#include "impls/decode/modelled/device_cost.hpp"

namespace assay::plato {

double step_seconds(const nn::DecoderConfig& model, const DeviceProfile& device, int sequences,
                    int context) {
    // The new token attends to itself, too.
    return decode::device_step_cost(model, device)
        .seconds(sequences, std::int64_t{sequences} * (context + 1));
}

StepCosts step_costs(const nn::DecoderConfig& model, const DeviceProfile& device, int context) {
    constexpr int sequences = 16, prompt = 512;
    const double one = 1e3 * step_seconds(model, device, 1, context);
    const double each =
        (1e3 * step_seconds(model, device, sequences, context) - one) / (sequences - 1);
    return {.step_ms = one - each,
            .sequence_ms = each,
            .prefill_ms = 1e3 * step_seconds(model, device, prompt, 0) / prompt};
}

}  // namespace assay::plato
