// The step times of a published model's shape on a device: those of the engine in virtual time
// (impls/decode/modelled/device_cost.hpp), as a line.
#pragma once

#include "impls/nn/files/decoder_config.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::plato {

/// Of one that gives each of so many sequences a token, `context` tokens cached of each.
double step_seconds(const nn::DecoderConfig& model, const DeviceProfile& device, int sequences,
                    int context);

/// 16-bit weights, at `context` cached tokens a sequence. A step's time is taken as a line through
/// one and through 16 sequences; a prompt token's as that of a step of 512 without a cache, which
/// reads the weights once. A model that does not fit the device is priced all the same: what is
/// compared are decoding orders.
StepCosts step_costs(const nn::DecoderConfig& model, const DeviceProfile& device, int context);

}  // namespace assay::plato
