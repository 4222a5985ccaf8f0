// The two forms of a file of gradients (gradient_file.hpp).
#pragma once

#include <string_view>

#include "impls/dr_post_training/policy/statistics.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::dr_post_training {

PlanInput read_json_gradients(std::string_view name, std::string_view text);
PlanInput read_safetensors_gradients(const nn::UntrustedFile& file);

}  // namespace assay::dr_post_training
