// Where the engine's weights come from: a file, or random numbers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "impls/decode/engine.hpp"

namespace assay::decode {

class WeightSource {
  public:
    virtual ~WeightSource() = default;
    /// In which type a matrix is kept.
    virtual AssayType type_of(std::string_view name) const = 0;
    /// Its rows in that type, one after another. Name: of nn::decoder_config.hpp.
    virtual void rows(std::string_view name, AssayType type, std::span<std::byte> out) const = 0;
    /// A norm, bias or position embedding.
    virtual void floats(std::string_view name, std::span<float> out) const = 0;
};

/// Keeps references to both. Throws UserError on use.
std::unique_ptr<WeightSource> file_source(const nn::TensorFile& file,
                                          const nn::DecoderConfig& config, WeightType weights);
std::unique_ptr<WeightSource> random_source(AssayType type, std::uint64_t seed);

}  // namespace assay::decode
