#include "impls/model/decode_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "suite/base/error.hpp"

namespace assay::model {
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

TokenFlops layer_flops(const nn::DecoderConfig& config, double sparsity, int routed_experts) {
    const double d = config.width, head = config.head_width;
    const double matrices = config.activation == nn::Activation::swiglu ? 3 : 2;
    TokenFlops flops;
    flops.attention = 2 * (2 * d * config.heads * head + 2 * d * config.kv_heads * head);
    flops.ffn = 2 * matrices * d * config.hidden * (1 - sparsity);
    flops.router = 2 * d * routed_experts;
    return flops;
}

TokenFlops token_flops(const nn::DecoderConfig& config, double sparsity, int routed_experts) {
    TokenFlops flops = layer_flops(config, sparsity, routed_experts);
    flops.attention *= config.layers;
    flops.ffn *= config.layers;
    flops.router *= config.layers;
    return flops;
}

double implied_sparsity(const nn::DecoderConfig& config, double flops, int routed_experts) {
    const TokenFlops dense = token_flops(config, 0, routed_experts);
    return (dense.total() - flops) / dense.ffn;
}

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

std::vector<PartWork> decode_step(const StoredModel& model, int batch, int context) {
    const nn::DecoderConfig& config = model.config;
    const double head = config.head_width, positions = context + 1.0;
    const double per_step = static_cast<double>(config.layers) * batch;
    const TokenFlops layer = layer_flops(config);
    return {{"attention", per_step * layer.attention, model.attention.bytes},
            // Scores and weighted sums: two products of a multiply-add per query head and position.
            {"cache", per_step * 4 * config.heads * head * positions,
             per_step * 2 * config.kv_heads * head * positions * assumed_bytes},
            {"ffn", per_step * layer.ffn, model.feed_forward.bytes},
            {"output", static_cast<double>(batch) * 2 * config.width * config.vocabulary,
             model.output.bytes},
            {"other", 0, model.vectors.bytes + batch * model.embedding_row.bytes}};
}

double expected_seconds(std::span<const PartWork> step, const DeviceProfile& device) {
    const double flops_per_s = device.matmul_flops.value * device.matmul_efficiency.value;
    const double bytes_per_s = device.memory_bandwidth.value * device.memory_efficiency.value;
    double expected = 0;
    for (const PartWork& part : step)
        expected += std::max(part.flops / flops_per_s, part.bytes / bytes_per_s);
    return expected;
}

}  // namespace assay::model
