// How the configuration of a decoder is read out of a model's description (GGUF metadata,
// config.json).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::nn {

/// Values checked one by one: an error names the file and the key.
class ConfigValues {
  public:
    /// `object` outlives this. `prefix` goes in front of every key ("llama.").
    ConfigValues(std::string file, const nlohmann::json& object, std::string prefix);

    const std::string& file() const { return file_; }
    bool contains(std::string_view key) const {
        return object_->contains(prefix_ + std::string(key));
    }
    bool has(std::string_view key) const;  ///< there, and not null

    // Each throws UserError when the value is of another kind, or missing without a fallback.
    int size(std::string_view key, std::optional<int> fallback = {}) const;  ///< 1 … 2^24
    double positive(std::string_view key, std::optional<double> fallback = {}) const;
    bool flag(std::string_view key, bool fallback) const;
    std::string text(std::string_view key, std::optional<std::string> fallback = {}) const;
    /// A table inside this one; nullopt when it is missing or null.
    std::optional<ConfigValues> table(std::string_view key) const;

    /// Throws UserError "FILE: KEY WHY".
    [[noreturn]] void refuse(std::string_view key, std::string_view why) const;
    /// Refuses any value but a missing one, null, false, 0 and "none".
    void refuse_set(std::string_view key, std::string_view why) const;

  private:
    [[noreturn]] void refuse_kind(std::string_view key, std::string_view wanted) const;
    const nlohmann::json* find(std::string_view key) const;
    const nlohmann::json& require(std::string_view key) const;

    std::string file_;
    const nlohmann::json* object_;
    std::string prefix_;
};

/// From GGUF metadata; not yet checked against the tensors. Throws UserError.
DecoderConfig config_of_gguf(const TensorFile&);
/// From config.json beside safetensors; not yet checked against the tensors. Throws UserError.
DecoderConfig config_of_hugging_face(const TensorFile&);
}  // namespace assay::nn
