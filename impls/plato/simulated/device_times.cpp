#include "impls/plato/simulated/device_times.hpp"

#include "impls/model/decode_cost.hpp"

namespace assay::plato {

StepCosts step_costs(const nn::DecoderConfig& model, const DeviceProfile& device, int context) {
    const auto stored = model::stored_shape(model, nn::TensorType::bf16);
    const auto step_ms = [&](int batch, int cached) {
        return 1e3 * model::expected_seconds(model::decode_step(stored, batch, cached), device);
    };
    constexpr int sequences = 16, prompt = 512;
    const double one = step_ms(1, context);
    const double each = (step_ms(sequences, context) - one) / (sequences - 1);
    return {.step_ms = one - each, .sequence_ms = each, .prefill_ms = step_ms(prompt, 0) / prompt};
}

}  // namespace assay::plato
