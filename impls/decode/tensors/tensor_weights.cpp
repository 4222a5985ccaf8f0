#include "impls/decode/tensors/tensor_weights.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "impls/nn/files/parameter_source.hpp"
#include "kernels/cpu/random_weights.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

void check(const nn::DecoderConfig& config) {
    if (config.family != nn::Family::llama || config.activation != nn::Activation::swiglu ||
        config.query_key_norms || config.query_key_value_biases)
        throw UserError(
            "only models of LLaMA's family with SwiGLU, without biases and norms of queries and "
            "keys, decode on a device; others decode on the processor");
    if (config.hidden % kernels::neurons_per_expert != 0)
        throw UserError(fmt::format("{} neurons are no multiple of {}; they cannot be experts",
                                    config.hidden, kernels::neurons_per_expert));
}

class RandomMatrices {
  public:
    RandomMatrices(at::ScalarType type, at::Device device, std::uint64_t seed) {
        auto pattern = kernels::random_weight_pattern(kernel_type(type), seed);
        const auto drawn = static_cast<std::int64_t>(pattern.size() / at::elementSize(type));
        pattern_ = at::from_blob(pattern.data(), {drawn}, at::dtype(type)).clone().to(device);
    }
    at::Tensor operator()(std::int64_t rows, std::int64_t columns) {
        const auto matrix = at::empty({rows, columns}, pattern_.options());
        const auto flat = matrix.view({-1});
        std::int64_t filled = std::min(flat.numel(), pattern_.numel());
        flat.narrow(0, 0, filled).copy_(pattern_.narrow(0, 0, filled));
        while (filled < flat.numel()) {
            const auto more = std::min(filled, flat.numel() - filled);
            flat.narrow(0, filled, more).copy_(flat.narrow(0, 0, more));
            filled += more;
        }
        return matrix;
    }

  private:
    at::Tensor pattern_;
};

}  // namespace

AssayType kernel_type(at::ScalarType type) {
    if (type == at::kFloat) return ASSAY_F32;
    if (type == at::kHalf) return ASSAY_F16;
    if (type == at::kBFloat16) return ASSAY_BF16;
    throw UserError(fmt::format("weights of type {} do not decode; take f32, f16 or bf16",
                                c10::toString(type)));
}

int TensorWeights::experts() const { return config.hidden / kernels::neurons_per_expert; }

TensorWeights random_tensor_weights(const nn::DecoderConfig& config, at::ScalarType type,
                                    at::Device device, std::uint64_t seed) {
    check(config);
    RandomMatrices matrix(type, device, seed);
    const std::int64_t d = config.width, f = config.hidden;
    const std::int64_t heads = static_cast<std::int64_t>(config.heads) * config.head_width;
    const std::int64_t kv = static_cast<std::int64_t>(config.kv_heads) * config.head_width;
    const auto norm = [&] {
        return at::ones({d}, at::TensorOptions().dtype(at::kFloat).device(device));
    };
    TensorWeights weights;
    weights.config = config;
    weights.type = type;
    weights.embedding = matrix(config.vocabulary, d);
    weights.output = config.tied_embeddings ? weights.embedding : matrix(config.vocabulary, d);
    weights.final_norm = norm();
    for (int layer = 0; layer < config.layers; ++layer)
        weights.layers.push_back({norm(), norm(), matrix(heads + 2 * kv, d), matrix(d, heads),
                                  matrix(f, d), matrix(f, d), matrix(f, d),
                                  matrix(f / kernels::neurons_per_expert, d)});
    return weights;
}

TensorWeights tensor_weights_of(const nn::TensorFile& file, const nn::DecoderConfig& config,
                                at::ScalarType type, at::Device device) {
    check(config);
    TensorWeights weights;
    weights.config = config;
    weights.type = type;
    const auto read = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
        const auto values = at::empty(shape, at::TensorOptions().dtype(at::kFloat));
        nn::read_parameter(
            file, config, name,
            {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
        return values;
    };
    const auto find = [](const std::vector<nn::NamedShape>& all, const std::string& name) {
        return std::find_if(all.begin(), all.end(),
                            [&](const nn::NamedShape& each) { return each.name == name; })
            ->shape;
    };
    const auto shared = nn::shared_parameters(config), per_layer = nn::layer_parameters(config);
    const auto shared_one = [&](const std::string& name) { return read(name, find(shared, name)); };
    weights.embedding = shared_one("token_embedding").to(type).to(device);
    weights.output =
        config.tied_embeddings ? weights.embedding : shared_one("output").to(type).to(device);
    weights.final_norm = shared_one("final_norm").to(device);
    for (int i = 0; i < config.layers; ++i) {
        const auto one = [&](const std::string& name) {
            return read(fmt::format("layer{}/{}", i, name), find(per_layer, name));
        };
        TensorLayer layer;
        layer.attention_norm = one("attention_norm").to(device);
        layer.ffn_norm = one("ffn_norm").to(device);
        layer.query_key_value =
            at::cat({one("query"), one("key"), one("value")}).to(type).to(device);
        layer.attention_out = one("attention_out").to(type).to(device);
        layer.gate = one("gate").to(type).to(device);
        layer.up = one("up").to(type).to(device);
        layer.down = one("down").t().contiguous().to(type).to(device);
        weights.layers.push_back(std::move(layer));
    }
    return weights;
}

}  // namespace assay::decode
