#include "impls/lte/experiments/block_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <span>

#include "impls/lte/experiments/median_of.hpp"
#include "impls/lte/expert_size.hpp"
#include "kernels/cpu/read_bandwidth.h"
#include "kernels/cpu/streamed_memory.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

using kernels::StreamedMemory;

// What one turn through all layers reads is to be far beyond any cache; memory sets a limit to
// that.
constexpr double least_read_bytes = 256e6, most_memory_bytes = 4e9;

std::size_t element_bytes(AssayType type) { return type == ASSAY_F32 ? 4 : 2; }

/// Small random weights: one block of them, repeated, so that gigabytes are filled in a moment. No
/// denormals, which would slow arithmetic down.
class WeightPattern {
  public:
    WeightPattern(AssayType type, std::uint64_t seed) : bytes_(1 << 20) {
        std::mt19937_64 random(seed);
        const std::size_t step = element_bytes(type);
        for (std::size_t at = 0; at < bytes_.size(); at += step) {
            // Sign, and magnitudes from 2^-8 to 2^-6.
            const auto bits = static_cast<std::uint32_t>(random());
            const std::uint32_t exponent = 127 - 8 + (bits & 1);
            const std::uint32_t value =
                (bits & 0x80000000U) | exponent << 23 | (bits >> 8 & 0x7fffff);
            if (type == ASSAY_F32) {
                std::memcpy(&bytes_[at], &value, 4);
            } else {
                const auto half = type == ASSAY_BF16
                                      ? static_cast<std::uint16_t>(value >> 16)
                                      : static_cast<std::uint16_t>((bits & 0x8000) | 0x1c00 |
                                                                   (bits >> 16 & 0x7ff));
                std::memcpy(&bytes_[at], &half, 2);
            }
        }
    }
    StreamedMemory copies(std::size_t bytes) const {
        StreamedMemory memory = kernels::allocate_streamed(bytes);
        for (std::size_t at = 0; at < bytes; at += bytes_.size())
            std::memcpy(&memory[at], bytes_.data(), std::min(bytes_.size(), bytes - at));
        return memory;
    }

  private:
    std::vector<std::byte> bytes_;
};

struct Layer {
    StreamedMemory gate, up, down, router;
};

struct DestroyContext {
    const AssayKernels* kernels;
    void operator()(AssayContext* context) const { kernels->destroy(context); }
};

class Block {
  public:
    Block(const BlockShape& shape, AssayType type, double sparsity, std::uint64_t seed)
        : shape_(shape),
          type_(type),
          experts_(shape.hidden / expert_size),
          kernels_(assay_cpu_kernels(nullptr)),
          context_(kernels_->create(0, 0, nullptr), DestroyContext{kernels_}),
          x_(static_cast<std::size_t>(shape.width)),
          y_(x_.size()),
          mask_(static_cast<std::size_t>(experts_)),
          active_(mask_.size()),
          all_(mask_.size()) {
        for (std::size_t i = 0; i < all_.size(); ++i) all_[i] = static_cast<std::int32_t>(i);
        const WeightPattern pattern(type, seed);
        const auto of_layer = static_cast<double>(layer_bytes());
        const double read = std::max((1 - sparsity) * of_layer, 1.0);
        const auto layers = static_cast<std::size_t>(std::max(
            4.0, std::min(std::ceil(least_read_bytes / read), most_memory_bytes / of_layer)));
        for (std::size_t i = 0; i < layers; ++i)
            layers_.push_back({gated() ? pattern.copies(slab_bytes()) : nullptr,
                               pattern.copies(slab_bytes()), pattern.copies(slab_bytes()),
                               router_weights(seed + i)});
        packed_ = {gated() ? kernels::allocate_streamed(slab_bytes()) : nullptr,
                   kernels::allocate_streamed(slab_bytes()),
                   kernels::allocate_streamed(slab_bytes()), nullptr};
        const AssayFfn ffn = network(layers_[0], experts_);
        workspace_bytes_ = kernels_->sparse_ffn_workspace(&ffn, 1);
        workspace_ = kernels::allocate_streamed(std::max<std::size_t>(workspace_bytes_, 64));
        std::mt19937_64 random(seed + 1000);
        std::normal_distribution<float> normal;
        for (float& value : x_) value = normal(random);
        set_threshold(sparsity);
    }

    std::size_t layers() const { return layers_.size(); }
    std::size_t layer_bytes() const { return slab_bytes() * (gated() ? 3 : 2) + router_bytes(); }

    /// Seconds that one layer takes.
    double time(std::size_t layer, BlockVariant variant) {
        const Layer& weights = layers_[layer % layers_.size()];
        const auto begin = std::chrono::steady_clock::now();
        if (variant == BlockVariant::dense) {
            run(network(weights, experts_), all_);
        } else {
            route(weights);
            if (variant == BlockVariant::lte)
                run(network(weights, experts_), active());
            else
                run_gathered(weights);
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    double bytes(BlockVariant variant) {
        if (variant == BlockVariant::dense)
            return static_cast<double>(layer_bytes() - router_bytes());
        return (1 - sparsity()) * static_cast<double>(layer_bytes() - router_bytes()) +
               static_cast<double>(router_bytes());
    }
    /// Counted over all layers.
    double sparsity() {
        double inactive = 0;
        for (const Layer& layer : layers_) {
            route(layer);
            inactive += 1 - static_cast<double>(active_count_) / experts_;
        }
        return inactive / static_cast<double>(layers_.size());
    }

  private:
    bool gated() const { return shape_.activation == ASSAY_SWIGLU; }
    std::size_t expert_bytes() const {
        return static_cast<std::size_t>(expert_size) * static_cast<std::size_t>(shape_.width) *
               element_bytes(type_);
    }
    std::size_t slab_bytes() const { return expert_bytes() * static_cast<std::size_t>(experts_); }
    std::size_t router_bytes() const {
        return static_cast<std::size_t>(experts_) * static_cast<std::size_t>(shape_.width) *
               element_bytes(type_);
    }

    StreamedMemory router_weights(std::uint64_t seed) const {
        return WeightPattern(type_, seed * 977 + 5).copies(router_bytes());
    }

    AssayFfn network(const Layer& weights, int experts) const {
        AssayFfn ffn{};
        ffn.width = shape_.width;
        ffn.experts = experts;
        ffn.expert_size = expert_size;
        ffn.type = type_;
        ffn.activation = shape_.activation;
        ffn.gate = weights.gate.get();
        ffn.up = weights.up.get();
        ffn.down = weights.down.get();
        return ffn;
    }

    std::span<const std::int32_t> active() const {
        return {active_.data(), static_cast<std::size_t>(active_count_)};
    }

    void demand(AssayStatus status) {
        if (status != ASSAY_OK) throw NotSupportedHere(kernels_->last_error(context_.get()));
    }

    void route(const Layer& weights) {
        AssayRouter call{};
        call.width = shape_.width;
        call.experts = experts_;
        call.type = type_;
        call.weights = weights.router.get();
        call.logit_threshold = threshold_;
        call.batch = 1;
        call.x = x_.data();
        call.mask = mask_.data();
        call.active = active_.data();
        call.active_count = &active_count_;
        demand(kernels_->router(context_.get(), &call));
    }

    void run(const AssayFfn& ffn, std::span<const std::int32_t> active) {
        const auto count = static_cast<std::int32_t>(active.size());
        AssaySparseFfn call{};
        call.ffn = ffn;
        call.batch = 1;
        call.x = x_.data();
        call.active = active.data();
        call.active_count = &count;
        call.y = y_.data();
        call.workspace = workspace_.get();
        call.workspace_bytes = workspace_bytes_;
        demand(kernels_->sparse_ffn(context_.get(), &call));
    }

    void run_gathered(const Layer& weights) {
        const std::size_t bytes = expert_bytes();
        const auto gather = [&](const StreamedMemory& from, const StreamedMemory& to) {
            if (!from) return;
            for (std::size_t i = 0; i < active().size(); ++i)
                std::memcpy(&to[i * bytes], &from[static_cast<std::size_t>(active_[i]) * bytes],
                            bytes);
        };
        gather(weights.gate, packed_.gate);
        gather(weights.up, packed_.up);
        gather(weights.down, packed_.down);
        if (active_count_ > 0)
            run(network(packed_, active_count_), std::span(all_).first(active().size()));
    }

    /// The quantile of all layers' logits for this token.
    void set_threshold(double sparsity) {
        std::vector<float> logits;
        std::vector<float> of_layer(static_cast<std::size_t>(experts_));
        for (const Layer& layer : layers_) {
            AssayGemv call{};
            call.rows = experts_;
            call.columns = shape_.width;
            call.type = type_;
            call.weights = layer.router.get();
            call.batch = 1;
            call.x = x_.data();
            call.y = of_layer.data();
            demand(kernels_->gemv(context_.get(), &call));
            logits.insert(logits.end(), of_layer.begin(), of_layer.end());
        }
        std::sort(logits.begin(), logits.end());
        const auto below = static_cast<std::size_t>(sparsity * static_cast<double>(logits.size()));
        threshold_ = below == 0 ? -INFINITY : logits[std::min(below, logits.size()) - 1];
    }

    BlockShape shape_;
    AssayType type_;
    int experts_;
    const AssayKernels* kernels_;
    std::unique_ptr<AssayContext, DestroyContext> context_;
    std::vector<Layer> layers_;
    Layer packed_;
    std::vector<float> x_, y_;
    std::vector<std::uint8_t> mask_;
    std::vector<std::int32_t> active_, all_;
    std::int32_t active_count_ = 0;
    float threshold_ = 0;
    StreamedMemory workspace_;
    std::size_t workspace_bytes_ = 0;
};

}  // namespace

BlockShape block_shape(const std::string& name) {
    if (name == "llama2-7b") return {name, 4096, 11008, ASSAY_SWIGLU};
    if (name == "smollm2-135m") return {name, 576, 1536, ASSAY_SWIGLU};
    if (name == "gpt2-medium") return {name, 1024, 4096, ASSAY_GELU};
    throw UserError(
        fmt::format("shape {}: there are llama2-7b, smollm2-135m and gpt2-medium", name));
}

BlockTimes time_block(const BlockShape& shape, AssayType type, BlockVariant variant,
                      double sparsity, int rounds, std::uint64_t seed,
                      const std::function<void(double fraction)>& progress) {
    Block block(shape, type, variant == BlockVariant::dense ? 0 : sparsity, seed);
    const int in_bandwidth_mb = 512;
    BlockTimes times;
    for (const BlockVariant warm : {BlockVariant::dense, variant}) block.time(0, warm);
    std::vector<double> own, dense, ratio, bandwidth;
    for (int round = 0; round < rounds; ++round) {
        // Half a turn apart, so that neither finds in the cache what the other has just read.
        const auto layer = static_cast<std::size_t>(round);
        // Dense first in every second round.
        if (round % 2 == 0) dense.push_back(block.time(layer, BlockVariant::dense));
        own.push_back(block.time(layer + block.layers() / 2, variant));
        if (round % 2 == 1) dense.push_back(block.time(layer, BlockVariant::dense));
        ratio.push_back(dense.back() / own.back());
        if (round % 8 == 0)
            bandwidth.push_back(kernels::measured_read_bandwidth(0, in_bandwidth_mb));
        progress(static_cast<double>(round + 1) / rounds);
    }
    times.seconds = median_of(own);
    times.dense_seconds = median_of(dense);
    times.speedup = median_of(ratio);
    times.sparsity = variant == BlockVariant::dense ? 0 : block.sparsity();
    times.bytes = block.bytes(variant);
    times.read_bandwidth = median_of(bandwidth);
    times.working_set_bytes = static_cast<double>(block.layers()) * times.bytes;
    return times;
}

}  // namespace assay::lte
