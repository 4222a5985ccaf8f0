// A file of named tensors: GGUF v2/v3 or safetensors. Of their data nothing is in memory but what
// is asked for (stored_tensor.hpp). Knows nothing of models and of libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::nn {

enum class FileFormat { gguf, safetensors };

class TensorFile {
  public:
    /// `path`: a .gguf or .safetensors file, an index of parts (.json), or a folder as Hugging Face
    /// publishes them (model.safetensors or model.safetensors.index.json with its parts,
    /// config.json, tokenizer.json). GGUF or safetensors is told by the content, not by the name.
    /// Throws UserError: unreadable, neither format, truncated, sizes or offsets that do not fit,
    /// overlapping tensors, duplicate names, a tensor type we do not read (it is named). Tensors of
    /// integers in safetensors are no weights and are passed over (require() says so).
    explicit TensorFile(const std::filesystem::path& path);

    /// A file that is in memory already. `companions`: what would lie beside a safetensors file,
    /// {"config": …}. Throws UserError like the constructor, with `name` for the file.
    static TensorFile in_memory(std::vector<std::byte> bytes, std::string name,
                                const nlohmann::json& companions);
    static TensorFile in_memory(std::vector<std::byte> bytes, std::string name = "in memory");
    static TensorFile in_memory(std::shared_ptr<const std::vector<std::byte>> bytes,
                                std::string name, const nlohmann::json& companions);

    const std::vector<TensorEntry>& tensors() const;
    const TensorEntry* find(std::string_view name) const;
    /// Throws UserError that names file, tensor, expected and found shape. Extents of 1 count: a
    /// tensor [1, n] is not [n].
    const TensorEntry& require(std::string_view name, std::span<const std::int64_t> shape) const;

    FileFormat format() const;
    /// GGUF: its key-value pairs. safetensors: {"config": config.json, "generation_config": …,
    /// "tokenizer": tokenizer.json, "tokenizer_config": …, "metadata": __metadata__}, as far as
    /// these lie beside it.
    const nlohmann::json& metadata() const;
    const std::filesystem::path& path() const;
    std::uint64_t file_bytes() const;  ///< of all parts

  private:
    struct Content;
    explicit TensorFile(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

    std::shared_ptr<const Content> content_;  ///< the open files, to which entries point
};

}  // namespace assay::nn
