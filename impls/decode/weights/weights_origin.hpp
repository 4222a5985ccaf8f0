// Where weights that an engine is to have come from.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/weights/weights.hpp"

namespace assay::decode {

/// Rows by name, of whoever has them in this process, and the shape of their model.
struct HeldWeights {
    nn::DecoderConfig config;
    std::shared_ptr<const WeightSource> source;
};

/// The bytes of a model file.
struct HeldFile {
    std::shared_ptr<const std::vector<std::byte>> bytes;
    std::string config;  ///< of safetensors: the text of its config.json
};

/// A model file's path, its bytes, or rows by name.
using WeightsOrigin = std::variant<std::string, HeldFile, HeldWeights>;

/// For cpu_back_end(). Throws UserError.
std::shared_ptr<ModelWeights> load_weights(const WeightsOrigin& origin,
                                           const ModelOptions& options);

}  // namespace assay::decode
