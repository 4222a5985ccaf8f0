#include "impls/decode/modelled/device_cost.hpp"

#include "impls/model/decode_cost.hpp"

namespace assay::decode {

StepCost device_step_cost(const nn::DecoderConfig& model, const DeviceProfile& device) {
    const double flops_per_s = device.matmul_flops.value * device.matmul_efficiency.value;
    const double bytes_per_s = device.memory_bandwidth.value * device.memory_efficiency.value;
    const assay::model::StoredModel stored =
        assay::model::stored_shape(model, nn::TensorType::bf16);
    StepCost cost;
    for (const assay::model::PartWork& part : assay::model::decode_step(stored, 1, 0)) {
        if (part.part == "cache") {
            cost.position_s = part.bytes / bytes_per_s;  // of the one that a first token has
            continue;
        }
        cost.weights_s += part.bytes / bytes_per_s;
        cost.token_s += part.flops / flops_per_s;
    }
    return cost;
}

}  // namespace assay::decode
