// A model as Hugging Face publishes it: safetensors parts and JSON files in one folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::nn {

/// The files the tensors are in, and, for a model in parts, which tensor the index expects where.
struct SafetensorsParts {
    std::vector<std::filesystem::path> files;
    std::map<std::string, std::filesystem::path> expected;  ///< tensor → its part
};

/// Of a folder: model.safetensors, else model.safetensors.index.json. Throws UserError.
SafetensorsParts safetensors_parts(const std::filesystem::path& folder);
/// Of an index file, whose parts lie beside it. Throws UserError.
SafetensorsParts parts_of_index(const std::filesystem::path& index);

/// {"config": …, "tokenizer": …, "tokenizer_config": …} of the JSON files in `folder`, those that
/// are there. Throws UserError when one is not JSON.
nlohmann::json companion_files(const std::filesystem::path& folder);

/// Every file that a TensorFile of `path` reads: a GGUF file itself, else parts, index and those
/// JSON files. Throws UserError for an index or a folder that TensorFile refuses.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& path);

}  // namespace assay::nn
