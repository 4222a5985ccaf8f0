#include "impls/lte/timing/timed_block.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>

#include "kernels/cpu/random_weights.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {
namespace {

std::span<const std::int32_t> one(const std::int32_t& value) { return {&value, 1}; }

}  // namespace

TimedBlock::TimedBlock(const TimedDevice& device, const BlockSetting& setting,
                       const BlockShape& shape, AssayType type, double sparsity, std::uint64_t seed)
    : device_(device),
      shape_(shape),
      type_(type),
      experts_(shape.hidden / kernels::neurons_per_expert) {
    const AssayFfn sizes = network();
    const std::size_t matrix_bytes =
        static_cast<std::size_t>(experts_) * kernels::expert_matrix_bytes(sizes);
    const std::size_t router_bytes = kernels::router_bytes(sizes);
    const bool gated = shape.activation == ASSAY_SWIGLU;
    const double of_layer = layer_bytes() + static_cast<double>(router_bytes);
    const double read = std::max((1 - sparsity) * of_layer, 1.0);
    const auto layers =
        static_cast<std::size_t>(std::max(4.0, std::min(std::ceil(setting.least_read_bytes / read),
                                                        setting.most_memory_bytes / of_layer)));
    const auto pattern = kernels::random_weight_pattern(type, seed);
    const auto matrix = [&] { return device_.repeating(pattern, matrix_bytes); };
    const auto router = [&](std::uint64_t of) {
        return device_.repeating(kernels::random_weight_pattern(type_, of * 977 + 5), router_bytes);
    };
    for (std::size_t i = 0; i < layers; ++i)
        layers_.push_back(
            {gated ? matrix() : Memory(), matrix(), matrix(), router(seed + i), 0, Memory()});
    if (gated) packed_gate_ = matrix();
    packed_up_ = matrix();
    packed_down_ = matrix();

    const auto width = static_cast<std::size_t>(shape.width);
    const auto experts = static_cast<std::size_t>(experts_);
    std::mt19937_64 random(seed + 1000);
    std::normal_distribution<float> normal;
    std::vector<float> x(width);
    for (float& value : x) value = normal(random);
    x_ = device.holding<float>(x);
    y_ = device.allocate(width * sizeof(float));
    mask_ = device.allocate(experts);
    std::vector<std::int32_t> all(experts);
    std::iota(all.begin(), all.end(), 0);
    active_ = device.holding<std::int32_t>(all);
    all_ = device.holding<std::int32_t>(all);
    active_count_ = device.holding<std::int32_t>(one(experts_));
    all_count_ = device.holding<std::int32_t>(one(experts_));
    const AssayFfn ffn = network(layers_[0].gate, layers_[0].up, layers_[0].down, experts_);
    workspace_bytes_ = device.kernels().sparse_ffn_workspace(&ffn, 1);
    workspace_ = device.allocate(std::max<std::size_t>(workspace_bytes_, 64));
    set_threshold(sparsity);
    for (Layer& layer : layers_) count_active(layer);
}

void TimedBlock::run(std::size_t layer, BlockVariant variant) const {
    const Layer& weights = layers_[layer % layers_.size()];
    const auto whole = [&] { return network(weights.gate, weights.up, weights.down, experts_); };
    if (variant == BlockVariant::dense) return compute(whole(), all_, all_count_);
    route(weights);
    if (variant == BlockVariant::lte)
        compute(whole(), active_, active_count_);
    else
        gather_and_compute(weights);
}

std::vector<float> TimedBlock::output() const {
    std::vector<float> values(static_cast<std::size_t>(shape_.width));
    device_.fetch<float>(values, y_);
    return values;
}

double TimedBlock::layer_bytes() const {
    return static_cast<double>(experts_) * static_cast<double>(kernels::expert_bytes(network()));
}

double TimedBlock::bytes(BlockVariant variant) const {
    if (variant == BlockVariant::dense) return layer_bytes();
    return (1 - sparsity()) * layer_bytes() + static_cast<double>(kernels::router_bytes(network()));
}

double TimedBlock::sparsity() const {
    double inactive = 0;
    for (const Layer& layer : layers_) inactive += 1 - static_cast<double>(layer.active) / experts_;
    return inactive / static_cast<double>(layers_.size());
}

AssayFfn TimedBlock::network() const {
    AssayFfn ffn{};
    ffn.width = shape_.width;
    ffn.experts = experts_;
    ffn.expert_size = kernels::neurons_per_expert;
    ffn.type = type_;
    ffn.activation = shape_.activation;
    return ffn;
}

AssayFfn TimedBlock::network(const Memory& gate, const Memory& up, const Memory& down,
                             int experts) const {
    AssayFfn ffn = network();
    ffn.experts = experts;
    ffn.gate = gate.get();
    ffn.up = up.get();
    ffn.down = down.get();
    return ffn;
}

void TimedBlock::route(const Layer& layer) const {
    AssayRouter call{};
    call.width = shape_.width;
    call.experts = experts_;
    call.type = type_;
    call.weights = layer.router.get();
    call.logit_threshold = threshold_;
    call.batch = 1;
    call.x = static_cast<const float*>(x_.get());
    call.mask = static_cast<std::uint8_t*>(mask_.get());
    call.active = static_cast<std::int32_t*>(active_.get());
    call.active_count = static_cast<std::int32_t*>(active_count_.get());
    device_.must(device_.kernels().router(device_.context(), &call));
}

void TimedBlock::compute(const AssayFfn& ffn, const Memory& active, const Memory& count) const {
    AssaySparseFfn call{};
    call.ffn = ffn;
    call.batch = 1;
    call.x = static_cast<const float*>(x_.get());
    call.active = static_cast<const std::int32_t*>(active.get());
    call.active_count = static_cast<const std::int32_t*>(count.get());
    call.y = static_cast<float*>(y_.get());
    call.workspace = workspace_.get();
    call.workspace_bytes = workspace_bytes_;
    device_.must(device_.kernels().sparse_ffn(device_.context(), &call));
}

void TimedBlock::gather_and_compute(const Layer& layer) const {
    if (layer.active == 0) return;
    const auto gather = [&](const Memory& from, const Memory& to) {
        if (!from) return;
        device_.must(device_.kernels().gather(device_.context(), to.get(), from.get(),
                                              static_cast<const std::int32_t*>(active_.get()),
                                              layer.active,
                                              kernels::expert_matrix_bytes(network())));
    };
    gather(layer.gate, packed_gate_);
    gather(layer.up, packed_up_);
    gather(layer.down, packed_down_);
    compute(network(packed_gate_, packed_up_, packed_down_, layer.active), all_,
            layer.active_count);
}

/// The quantile of all layers' logits for this token.
void TimedBlock::set_threshold(double sparsity) {
    const auto experts = static_cast<std::size_t>(experts_);
    std::vector<float> logits, of_layer(experts);
    const Memory y = device_.allocate(experts * sizeof(float));
    for (const Layer& layer : layers_) {
        AssayGemv call{};
        call.rows = experts_;
        call.columns = shape_.width;
        call.type = type_;
        call.weights = layer.router.get();
        call.batch = 1;
        call.x = static_cast<const float*>(x_.get());
        call.y = static_cast<float*>(y.get());
        device_.must(device_.kernels().gemv(device_.context(), &call));
        device_.fetch<float>(of_layer, y);
        logits.insert(logits.end(), of_layer.begin(), of_layer.end());
    }
    std::sort(logits.begin(), logits.end());
    const auto below = static_cast<std::size_t>(sparsity * static_cast<double>(logits.size()));
    threshold_ = below == 0 ? -INFINITY : logits[std::min(below, logits.size()) - 1];
}

void TimedBlock::count_active(Layer& layer) const {
    route(layer);
    std::int32_t count = 0;
    device_.fetch<std::int32_t>({&count, 1}, active_count_);
    layer.active = count;
    layer.active_count = device_.holding<std::int32_t>(one(count));
}

}  // namespace assay::lte
