#include "impls/lte/baselines/trained_selection.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/promote_types.h>

#include <string>

#include "impls/nn/counter_hash.hpp"

namespace assay::lte {

TrainedSelection::TrainedSelection(const nn::DecoderConfig& config, const char* name,
                                   const std::vector<nn::ParameterSpec>& specs, std::uint64_t seed,
                                   at::Device device)
    : SelectingFeedForward(config.layers), seed_(seed) {
    for (int layer = 0; layer < config.layers; ++layer)
        routers_.push_back(std::make_unique<nn::ParameterBlock>(name + std::to_string(layer), specs,
                                                                at::kFloat, seed, device));
}

std::vector<nn::ParameterBlock*> TrainedSelection::routers() {
    std::vector<nn::ParameterBlock*> blocks;
    for (auto& block : routers_) blocks.push_back(block.get());
    return blocks;
}

nn::TrainedAlong TrainedSelection::along() {
    return {routers(), [this](std::int64_t step) { step_ = step; }, {}};
}

SelectingFeedForward::Choice TrainedSelection::choose(int layer, const at::Tensor& x,
                                                      const at::Tensor&, const nn::FfnWeights&) {
    // As with LTE's routers, which expert is chosen must not hang on bf16.
    const auto wide = x.to(at::promote_types(x.scalar_type(), at::kFloat));
    return route(layer, wide, *routers_[static_cast<std::size_t>(layer)]);
}

at::Generator TrainedSelection::draws(int layer) const {
    const auto of_step =
        nn::counter_hash(nn::counter_hash(seed_) + static_cast<std::uint64_t>(step_));
    return at::make_generator<at::CPUGeneratorImpl>(
        nn::counter_hash(of_step + static_cast<std::uint64_t>(layer)));
}

}  // namespace assay::lte
