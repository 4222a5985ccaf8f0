#include "impls/rl/recipes/update.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {

std::vector<std::vector<std::int64_t>> batches(std::int64_t count, std::int64_t size,
                                               std::uint64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    statistics::CounterDraws draws(seed);
    for (std::size_t left = order.size(); left > 1; --left)  // Fisher and Yates
        std::swap(order[left - 1], order[draws.index(static_cast<std::uint32_t>(left))]);
    if (size <= 0) size = count;
    std::vector<std::vector<std::int64_t>> cut;
    for (std::int64_t first = 0; first < count; first += size)
        cut.emplace_back(order.begin() + first, order.begin() + std::min(first + size, count));
    return cut;
}

nn::Decoder copy_of(const nn::Decoder& decoder) {
    nn::Decoder copy(decoder.config(), 0, decoder.blocks().front()->values().device());
    at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < copy.blocks().size(); ++i)
        copy.blocks()[i]->values().copy_(decoder.blocks()[i]->values());
    return copy;
}

Updater::Updater(std::vector<nn::TrainedBlock> blocks, double clip, const nn::AdamOptions& adam,
                 std::int64_t warmup)
    : blocks_(std::move(blocks)), clip_(clip), adam_(adam), warmup_(warmup) {
    for (auto& [block, factor] : blocks_) block->zero_moments();
}

void Updater::update(const std::function<void()>& gradients) {
    for (auto& [block, factor] : blocks_) block->zero_grad();
    gradients();
    const double norm = nn::gradient_norm(blocks_);
    if (!std::isfinite(norm))
        throw std::runtime_error("the gradient of update " + std::to_string(updates_) +
                                 " is not finite");
    at::NoGradGuard no_grad;
    ++updates_;
    for (auto& [block, factor] : blocks_) {
        if (clip_ > 0 && norm > clip_) block->grad().mul_(clip_ / norm);
        auto adam = adam_;
        adam.learning_rate *= factor;
        if (updates_ <= warmup_)
            adam.learning_rate *= static_cast<double>(updates_) / static_cast<double>(warmup_ + 1);
        nn::adam_update(*block, updates_, adam);
    }
}

std::vector<nn::TrainedBlock> blocks_of(nn::Decoder& decoder) {
    std::vector<nn::TrainedBlock> blocks;
    for (auto& block : decoder.blocks()) blocks.emplace_back(block.get());
    return blocks;
}

}  // namespace assay::rl
