// What a step costs on a device, by its profile's peaks.
#pragma once

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::decode {

/// 16-bit weights: reading all of them once, a token's products, a position's keys and values.
/// Launches, and blocks on their way to the host's memory, cost nothing.
StepCost device_step_cost(const nn::DecoderConfig& model, const DeviceProfile& device);

}  // namespace assay::decode
