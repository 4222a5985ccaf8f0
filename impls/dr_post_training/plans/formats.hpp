// The two forms of a file of gradients (gradient_file.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "impls/dr_post_training/policy/statistics.hpp"

namespace assay::dr_post_training {

PlanInput read_json_gradients(std::string_view name, std::string_view text);
PlanInput read_safetensors_gradients(std::string_view name, std::span<const std::byte> bytes);

}  // namespace assay::dr_post_training
