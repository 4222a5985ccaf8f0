#include "impls/nn/files/ffn_sparsity.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/nn/files/config_reader.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "suite/base/sha256.hpp"

namespace assay::nn {
namespace {

constexpr const char* prefix = "assay.sparse.";

std::string router_name(int layer, const char* part) {
    return fmt::format("blk.{}.ffn_router.{}", layer, part);
}

std::string key(const char* name) { return std::string(prefix) + name; }

class SparsityReader {
  public:
    SparsityReader(const TensorFile& file, const DecoderConfig& config)
        : file_(file), config_(config), values_(file.path().string(), file.metadata(), prefix) {}

    FfnSparsity read() const {
        const std::string method = values_.text("method");
        if (method == "lte") return routed_experts();
        if (method == "cats") return GateThresholds{thresholds("gate_thresholds")};
        if (method == "teal")
            return InputThresholds{thresholds("input_thresholds"), thresholds("hidden_thresholds")};
        values_.refuse("method",
                       fmt::format("is {}; lte, cats and teal are supported", shown(method)));
    }

  private:
    /// One for each layer, finite.
    std::vector<float> thresholds(const char* name) const {
        const nlohmann::json& list = member(file_.metadata(), key(name).c_str());
        if (!list.is_array() || list.size() != static_cast<std::size_t>(config_.layers))
            values_.refuse(name, fmt::format("is no list of {} thresholds, one for each layer",
                                             config_.layers));
        std::vector<float> result;
        for (const auto& value : list) result.push_back(finite(name, value));
        return result;
    }

    float finite(const char* name, const nlohmann::json& value) const {
        if (!value.is_number() || !std::isfinite(value.get<float>()))
            values_.refuse(name, "holds something else than finite numbers");
        return value.get<float>();
    }

    std::vector<float> floats(const std::string& name, std::vector<std::int64_t> shape) const {
        const TensorEntry& tensor = file_.require(name, shape);
        std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
        to_floats(tensor, 0, values);
        return values;
    }

    RoutedExperts routed_experts() const {
        RoutedExperts result;
        result.expert_size = values_.size("expert_size");
        if (config_.hidden % result.expert_size != 0)
            values_.refuse("expert_size", fmt::format("is {}, which does not divide {} neurons",
                                                      result.expert_size, config_.hidden));
        result.logit_threshold =
            finite("logit_threshold", member(file_.metadata(), key("logit_threshold").c_str()));
        const std::int64_t experts = config_.hidden / result.expert_size;
        for (int layer = 0; layer < config_.layers; ++layer) {
            auto& router = result.routers.emplace_back();
            router.weights = floats(router_name(layer, "weight"), {experts, config_.width});
            const std::string bias = router_name(layer, "bias");
            if (file_.find(bias)) router.bias = floats(bias, {experts});
        }
        return result;
    }

    const TensorFile& file_;
    const DecoderConfig& config_;
    ConfigValues values_;
};

}  // namespace

std::string_view method_of(const FfnSparsity& sparsity) {
    constexpr std::array<std::string_view, 3> names{"lte", "cats", "teal"};
    return names[sparsity.index()];
}

std::string digest_of(const FfnSparsity& sparsity) {
    Sha256 digest;
    digest.update(method_of(sparsity));
    const auto add = [&](const std::vector<float>& values) {
        digest.update(fmt::format(" {}\n", values.size()));
        digest.update(
            {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    };
    if (const auto* const routed = std::get_if<RoutedExperts>(&sparsity)) {
        digest.update(fmt::format(" {} {}", routed->expert_size, routed->logit_threshold));
        for (const RoutedExperts::Router& router : routed->routers) {
            add(router.weights);
            add(router.bias);
        }
    } else if (const auto* const gate = std::get_if<GateThresholds>(&sparsity)) {
        add(gate->least);
    } else {
        add(std::get<InputThresholds>(sparsity).input);
        add(std::get<InputThresholds>(sparsity).hidden);
    }
    return digest.hex();
}

std::optional<FfnSparsity> read_ffn_sparsity(const TensorFile& file, const DecoderConfig& config) {
    const bool told = file.metadata().contains(key("method"));
    if (!told && file.find(router_name(0, "weight")))
        malformed(file.path().string(), "it holds routers, but no assay.sparse.method");
    if (!told) return std::nullopt;
    return SparsityReader(file, config).read();
}

void put_ffn_sparsity(const FfnSparsity& sparsity, const DecoderConfig& config,
                      nlohmann::json& metadata, std::vector<TensorToWrite>& tensors) {
    metadata[key("method")] = std::string(method_of(sparsity));
    if (const auto* gate = std::get_if<GateThresholds>(&sparsity))
        metadata[key("gate_thresholds")] = gate->least;
    if (const auto* inputs = std::get_if<InputThresholds>(&sparsity)) {
        metadata[key("input_thresholds")] = inputs->input;
        metadata[key("hidden_thresholds")] = inputs->hidden;
    }
    const auto* routed = std::get_if<RoutedExperts>(&sparsity);
    if (!routed) return;
    metadata[key("expert_size")] = routed->expert_size;
    metadata[key("logit_threshold")] = routed->logit_threshold;
    const std::int64_t experts = config.hidden / routed->expert_size;
    for (int layer = 0; layer < config.layers; ++layer) {
        // fp32 whatever the weights are in: on which side of the threshold a score is must not hang
        // on rounding.
        const auto add = [&](const char* part, std::vector<std::int64_t> shape,
                             const std::vector<float>& values) {
            tensors.push_back({router_name(layer, part), TensorType::f32, std::move(shape),
                               stored_as(TensorType::f32, values)});
        };
        const auto& router = routed->routers.at(static_cast<std::size_t>(layer));
        add("weight", {experts, config.width}, router.weights);
        if (!router.bias.empty()) add("bias", {experts}, router.bias);
    }
}

}  // namespace assay::nn
