// One safetensors file (github.com/huggingface/safetensors): the length of a JSON header, the
// header, the tensors one behind the other.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

struct SafetensorsContent {
    nlohmann::json metadata = nlohmann::json::object();  ///< __metadata__
    std::vector<TensorEntry> tensors;  ///< in the order of their data; they point into `bytes`
    /// Tensors of integers and truth values, by name with their type. They are no weights (masks
    /// and positions that older checkpoints carry along) and are left out of `tensors`.
    std::map<std::string, std::string> left_out;
};

bool begins_as_safetensors(std::span<const std::byte> bytes);
/// `file`: what messages call it. Throws UserError on anything malformed, gaps between tensors and
/// bytes behind the last one included, as the format demands.
SafetensorsContent parse_safetensors(std::string_view file, std::span<const std::byte> bytes);

}  // namespace assay::nn
