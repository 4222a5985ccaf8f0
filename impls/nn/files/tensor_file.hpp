// A file of named tensors, mapped read-only: GGUF v2/v3 or safetensors. Nothing is copied until a
// tensor is asked for as floats. Knows nothing of models and of libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::nn {

/// How a tensor's elements are stored. The q types are GGUF's blocks of 32 weights: q8_0 is
/// w = d·q (f16 d, 32 int8), q4_0 is w = d·(q − 8), q4_1 is w = d·q + m (f16 d, f16 m).
enum class TensorType { f32, f16, bf16, q8_0, q4_0, q4_1 };

std::string_view to_string(TensorType);
/// Bytes of `elements` elements; elements must be a multiple of 32 for the q types.
std::size_t stored_bytes(TensorType, std::int64_t elements);

struct TensorEntry {
    std::string name;
    TensorType type = TensorType::f32;
    std::vector<std::int64_t> shape;  ///< outermost first (GGUF's own order is reversed on reading)
    std::span<const std::byte> bytes;  ///< into the mapping; little-endian; may be unaligned

    std::int64_t elements() const;
};

/// Converts the elements [first, first + out.size()) of a tensor to floats, exactly (every stored
/// value is a float). For q types both ends must be multiples of 32.
void to_floats(const TensorEntry&, std::int64_t first, std::span<float> out);

/// Round to nearest even.
std::uint16_t to_bfloat16(float);
float from_bfloat16(std::uint16_t);
float from_float16(std::uint16_t);

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
    static TensorFile in_memory(std::vector<std::byte> bytes, std::string name = "in memory",
                                nlohmann::json companions = nlohmann::json::object());

    const std::vector<TensorEntry>& tensors() const;
    const TensorEntry* find(std::string_view name) const;
    /// Throws UserError that names file, tensor, expected and found shape. Extents of 1 count: a
    /// tensor [1, n] is not [n].
    const TensorEntry& require(std::string_view name, std::span<const std::int64_t> shape) const;

    FileFormat format() const;
    /// GGUF: its key-value pairs. safetensors: {"config": config.json, "tokenizer": tokenizer.json,
    /// "tokenizer_config": …, "metadata": __metadata__}, as far as these lie beside it.
    const nlohmann::json& metadata() const;
    const std::filesystem::path& path() const;
    std::uint64_t file_bytes() const;  ///< of all parts

  private:
    struct Content;
    explicit TensorFile(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

    std::shared_ptr<const Content> content_;  ///< the mappings; entries point into them
};

}  // namespace assay::nn
