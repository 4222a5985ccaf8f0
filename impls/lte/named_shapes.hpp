// Shapes of published models, for arithmetic without their weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::lte {

/// Throws UserError, with the nearest name, for one that is not listed.
nn::DecoderConfig named_shape(std::string_view name);

/// "gpt2-medium", "llama-7b", …
std::vector<std::string> shape_names();

}  // namespace assay::lte
