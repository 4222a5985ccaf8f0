#include "impls/lte/stored_model.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string_view>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/tensor_type.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

using TypeOf = std::function<nn::TensorType(const std::string& parameter, bool vector)>;

std::int64_t elements(const nn::NamedShape& parameter) {
    std::int64_t product = 1;
    for (const std::int64_t extent : parameter.shape) product *= extent;
    return product;
}

class Part {
  public:
    void add(std::int64_t elements, nn::TensorType type) {
        const nn::BlockSize block = nn::block_size(type);
        // A fused tensor's share and a single row are fractions of whole tensors; every type has
        // the same number of bytes per element throughout.
        part_.bytes += static_cast<double>(elements) / static_cast<double>(block.elements) *
                       static_cast<double>(block.bytes);
        if (!types_.insert(std::string(nn::to_string(type))).second) return;
        part_.types += (part_.types.empty() ? "" : " and ") + std::string(nn::to_string(type));
    }
    const StoredPart& get() const { return part_; }

  private:
    StoredPart part_;
    std::set<std::string> types_;
};

bool of_feed_forward(std::string_view name) {
    return name == "gate" || name == "up" || name == "down";
}

StoredModel summed(const nn::DecoderConfig& config, const TypeOf& type_of) {
    Part attention, feed_forward, output, row, vectors;
    for (int layer = 0; layer < config.layers; ++layer)
        for (const nn::NamedShape& parameter : nn::layer_parameters(config)) {
            const bool vector = parameter.shape.size() == 1;
            Part& part = vector                            ? vectors
                         : of_feed_forward(parameter.name) ? feed_forward
                                                           : attention;
            part.add(elements(parameter),
                     type_of(fmt::format("layer{}/{}", layer, parameter.name), vector));
        }
    for (const nn::NamedShape& parameter : nn::shared_parameters(config)) {
        const bool vector = parameter.shape.size() == 1;
        const nn::TensorType type = type_of(parameter.name, vector);
        if (vector) {
            vectors.add(elements(parameter), type);
            continue;
        }
        if (parameter.name != "output") row.add(config.width, type);
        const bool makes_logits =
            parameter.name == (config.tied_embeddings ? "token_embedding" : "output");
        if (makes_logits) output.add(elements(parameter), type);
    }
    StoredModel model;
    model.config = config;
    model.attention = attention.get();
    model.feed_forward = feed_forward.get();
    model.output = output.get();
    model.embedding_row = row.get();
    model.vectors = vectors.get();
    return model;
}

}  // namespace

StoredModel stored_model(const nn::TensorFile& file) {
    const nn::DecoderConfig config = nn::read_decoder_config(file);
    StoredModel model = summed(config, [&](const std::string& name, bool) {
        const nn::ParameterSource source = nn::parameter_source(file, config, name);
        return file.require(source.tensor, source.stored_shape).type;
    });
    model.origin = file.path().filename().string();
    return model;
}

StoredModel stored_shape(const nn::DecoderConfig& config, nn::TensorType type) {
    for (const int row : {config.width, config.hidden})
        if (row % nn::block_size(type).elements != 0)
            throw UserError(fmt::format("rows of {} weights do not divide into {}'s blocks of {}",
                                        row, nn::to_string(type), nn::block_size(type).elements));
    StoredModel model = summed(config, [&](const std::string&, bool vector) {
        return vector ? nn::TensorType::f32 : type;
    });
    model.origin = fmt::format("shape only, weights assumed {}", nn::to_string(type));
    return model;
}

}  // namespace assay::lte
