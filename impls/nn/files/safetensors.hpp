// safetensors (github.com/huggingface/safetensors): the length of a JSON header, the header, the
// tensors one behind the other; and models as Hugging Face publishes them, in parts with JSON files
// in one folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::nn {

struct SafetensorsContent {
    nlohmann::json metadata = nlohmann::json::object();  ///< __metadata__
    std::vector<TensorEntry> tensors;  ///< in the order of their data; they point to the file
    /// Tensors of integers and truth values, by name with their type. They are no weights (masks
    /// and positions that older checkpoints carry along) and are left out of `tensors`.
    std::map<std::string, std::string> left_out;
};

bool begins_as_safetensors(const UntrustedFile& file);
/// Throws UserError on anything malformed, gaps between tensors, bytes behind the last one and
/// headers of more than 100 MB included, as the format demands.
SafetensorsContent parse_safetensors(const UntrustedFile& file);

/// The files the tensors are in, and, for a model in parts, which tensor the index expects where.
struct SafetensorsParts {
    std::vector<std::filesystem::path> files;
    std::map<std::string, std::filesystem::path> expected;  ///< tensor → its part
};

/// Of a folder: model.safetensors, else model.safetensors.index.json. Throws UserError.
SafetensorsParts safetensors_parts(const std::filesystem::path& folder);
/// Of an index file, whose parts lie beside it. Throws UserError.
SafetensorsParts parts_of_index(const std::filesystem::path& index);

/// {"config": …, "generation_config": …, "tokenizer": …, "tokenizer_config": …} of the JSON files
/// in `folder`, those that are there. Throws UserError when one is not JSON.
nlohmann::json companion_files(const std::filesystem::path& folder);

/// Every file by which a TensorFile of `path` is the model that it is: a GGUF file itself, else
/// parts, index and those JSON files but generation_config.json, which only says where texts end.
/// Throws UserError for an index or a folder that TensorFile refuses.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& path);

}  // namespace assay::nn
