#include "impls/decode/networks/sparse_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "impls/decode/cpu/products.hpp"
#include "impls/nn/hashes.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

void choose_random_experts(const RandomExperts& random, int layer, int position,
                           std::span<std::uint8_t> mask) {
    std::fill(mask.begin(), mask.end(), std::uint8_t{0});
    std::vector<std::int32_t> permutation(mask.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::uint64_t draw =
        nn::counter_hash(nn::counter_hash(random.seed + static_cast<std::uint64_t>(layer)) +
                         static_cast<std::uint64_t>(position));
    for (std::size_t i = 0; i < static_cast<std::size_t>(random.count); ++i) {
        draw = nn::counter_hash(draw);
        std::swap(permutation[i], permutation[i + draw % (mask.size() - i)]);
        mask[static_cast<std::size_t>(permutation[i])] = 1;
    }
}

namespace {

constexpr std::size_t line = 64;
std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

void check(const nn::DecoderConfig& config, const SparseLayer& layer, std::size_t index) {
    const auto refuse = [&](const std::string& what) {
        throw UserError(fmt::format("sparse layer {}: {}", index, what));
    };
    if (layer.type != ASSAY_F32 && layer.type != ASSAY_F16 && layer.type != ASSAY_BF16)
        refuse("weights must be f32, f16 or bf16");
    if (layer.experts < 1 || layer.expert_size < 1) refuse("there are no experts");
    const auto neurons =
        static_cast<std::size_t>(layer.experts) * static_cast<std::size_t>(layer.expert_size);
    const std::size_t row = kernels::row_bytes(layer.type, config.width);
    const bool gated = config.activation == nn::Activation::swiglu;
    if (layer.up.size() != neurons * row || layer.down.size() != neurons * row ||
        layer.gate.size() != (gated ? neurons * row : 0))
        refuse(fmt::format("{} experts of {} neurons and width {} need {} bytes of each matrix",
                           layer.experts, layer.expert_size, config.width, neurons * row));
    const std::size_t router = static_cast<std::size_t>(layer.experts) *
                               kernels::row_bytes(layer.router_type, config.width);
    if (layer.router.size() != router)
        refuse(fmt::format("the router of {} experts needs {} bytes", layer.experts, router));
    if (!layer.router_bias.empty() &&
        layer.router_bias.size() != static_cast<std::size_t>(layer.experts))
        refuse("router_bias needs one number per expert");
    if (!layer.up_bias.empty() && layer.up_bias.size() != neurons)
        refuse("up_bias needs one number per neuron");
    if (!layer.down_bias.empty() &&
        layer.down_bias.size() != static_cast<std::size_t>(config.width))
        refuse("down_bias needs one number per column");
}

}  // namespace

SparseNetworks::SparseNetworks(const nn::DecoderConfig& config, std::vector<SparseLayer> layers,
                               std::optional<RandomExperts> random)
    : width_(config.width), random_(random) {
    if (layers.size() != static_cast<std::size_t>(config.layers))
        throw UserError(
            fmt::format("{} sparse layers for a model of {}", layers.size(), config.layers));
    std::size_t bytes = 0;
    int most_experts = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const SparseLayer& layer = layers[i];
        check(config, layer, i);
        if (random_ && (random_->count < 0 || random_->count > layer.experts))
            throw UserError(fmt::format("{} active experts of {}", random_->count, layer.experts));
        for (const auto* const part : {&layer.router, &layer.gate, &layer.up, &layer.down})
            bytes += whole_lines(part->size());
        most_experts = std::max(most_experts, layer.experts);
    }
    weights_ = kernels::allocate_streamed(bytes);
    std::byte* next = weights_.get();
    const auto move_in = [&](std::vector<std::byte>& part) -> const std::byte* {
        if (part.empty()) return nullptr;
        std::byte* const place = next;
        std::memcpy(place, part.data(), part.size());
        next += whole_lines(part.size());
        part = {};
        return place;
    };
    const AssayKernels& kernels = *assay_cpu_kernels(nullptr);
    for (SparseLayer& from : layers) {
        Layer& layer = layers_.emplace_back();
        layer.router = move_in(from.router);
        layer.router_type = from.router_type;
        layer.router_bias = std::move(from.router_bias);
        layer.logit_threshold = from.logit_threshold;
        layer.up_bias = std::move(from.up_bias);
        layer.down_bias = std::move(from.down_bias);
        layer.ffn = {width_, from.experts, from.expert_size, from.type,
                     kernel_activation(config.activation)};
        layer.ffn.gate = move_in(from.gate);
        layer.ffn.up = move_in(from.up);
        layer.ffn.down = move_in(from.down);
        layer.ffn.up_bias = layer.up_bias.empty() ? nullptr : layer.up_bias.data();
        layer.ffn.down_bias = layer.down_bias.empty() ? nullptr : layer.down_bias.data();
        workspace_bytes_ =
            std::max(workspace_bytes_, kernels.sparse_ffn_workspace(&layer.ffn, largest_batch));
    }
    mask_.resize(static_cast<std::size_t>(most_experts * largest_batch));
    active_.resize(static_cast<std::size_t>(most_experts));
    workspace_ = kernels::allocate_streamed(workspace_bytes_);
}

namespace {

const AssayKernels& kernels_of_processor() { return *assay_cpu_kernels(nullptr); }

void check_status(AssayContext& context, AssayStatus status) {
    if (status != ASSAY_OK) throw std::runtime_error(kernels_of_processor().last_error(&context));
}

}  // namespace

void SparseNetworks::run(AssayContext& context, int index, std::span<const int> positions,
                         const Activations& x, float* y) {
    const Layer& layer = layers_[static_cast<std::size_t>(index)];
    const int experts = layer.ffn.experts;
    route(context, layer, x);
    // For latency the router's time counts, whatever it says.
    if (random_) choose_at_random(index, positions, experts);
    const AssaySparseFfn ffn{layer.ffn,       x.tokens(),   x.data(), active_.data(),
                             &active_count_,  mask_.data(), y,        workspace_.get(),
                             workspace_bytes_};
    check_status(context, kernels_of_processor().sparse_ffn(&context, &ffn));

    if (index == 0) bytes_of_last_run_ = 0;
    bytes_of_last_run_ += bytes_of(layer);
}

void SparseNetworks::route(AssayContext& context, const Layer& layer, const Activations& x) {
    if (!layer.router_bias.empty()) return route_with_bias(context, layer, x);
    const AssayRouter router{
        width_,     layer.ffn.experts, layer.router_type, layer.router,   layer.logit_threshold,
        x.tokens(), x.data(),          mask_.data(),      active_.data(), &active_count_};
    check_status(context, kernels_of_processor().router(&context, &router));
}

void SparseNetworks::route_with_bias(AssayContext& context, const Layer& layer,
                                     const Activations& x) {
    const int experts = layer.ffn.experts;
    logits_.resize(mask_.size());
    const AssayGemv gemv{
        experts,    width_,   layer.router_type, layer.router, layer.router_bias.data(),
        x.tokens(), x.data(), logits_.data()};
    check_status(context, kernels_of_processor().gemv(&context, &gemv));
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.tokens() * experts); ++i)
        mask_[i] = !(logits_[i] <= layer.logit_threshold);  // NaN reaches the output
    list_active(x.tokens(), experts);
}

void SparseNetworks::choose_at_random(int layer, std::span<const int> positions, int experts) {
    std::uint8_t* mask = mask_.data();
    for (const int position : positions) {
        choose_random_experts(*random_, layer, position, {mask, static_cast<std::size_t>(experts)});
        mask += experts;
    }
    list_active(static_cast<int>(positions.size()), experts);
}

void SparseNetworks::list_active(int tokens, int experts) {
    active_count_ = 0;
    for (int e = 0; e < experts; ++e) {
        bool any = false;
        for (int t = 0; t < tokens; ++t) any |= mask_[static_cast<std::size_t>(t * experts + e)];
        if (any) active_[static_cast<std::size_t>(active_count_++)] = e;
    }
}

std::uint64_t SparseNetworks::bytes_of(const Layer& layer) const {
    const auto active = static_cast<std::uint64_t>(active_count_);
    const std::uint64_t neurons = active * static_cast<std::uint64_t>(layer.ffn.expert_size);
    const std::size_t router =
        static_cast<std::size_t>(layer.ffn.experts) * kernels::row_bytes(layer.router_type, width_);
    return router + active * kernels::expert_bytes(layer.ffn) +
           (neurons * (layer.ffn.up_bias ? 1 : 0) + layer.down_bias.size() +
            layer.router_bias.size()) *
               sizeof(float);
}

}  // namespace assay::decode
