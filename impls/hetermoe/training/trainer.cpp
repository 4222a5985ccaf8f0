#include "impls/hetermoe/training/trainer.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "impls/hetermoe/training/loads.hpp"
#include "impls/nn/all_to_all.hpp"
#include "impls/nn/moe/stages.hpp"
#include "suite/cluster/collectives/grouped_all_reduce.hpp"

namespace assay::hetermoe {
namespace {

std::int64_t elements(const std::vector<nn::ParameterSpec>& specs) {
    std::int64_t count = 0;
    for (const auto& spec : specs) count += c10::multiply_integers(spec.shape);
    return count;
}

}  // namespace

StepResult Trainer::compute(std::int64_t step, const Layout& layout, RankLinks links,
                            StepOptions options) {
    not_finite_.clear();
    zero_gradients();
    const int rank = links.all.rank();
    std::vector<at::Tensor> tokens;
    if (layout.is_attention(rank))
        for (const auto& batch : micro_batches_of(layout, settings_.sequences, rank))
            tokens.push_back(corpus_.batch(settings_.seed, step, batch.first, batch.sequences,
                                           settings_.model.context));
    // Divided by the global token count, so that the sum over micro-batches and ranks is the mean.
    const double scale = 1.0 / static_cast<double>(settings_.sequences * settings_.model.context);
    const GroupPlan plan{layout.group, layout.micro_batches, layout.offload,
                         sequences_of(layout, layout.group_of(rank))};
    options.choice = choice_of_loads(settings_.loads, settings_.model.top_k);
    double mine = scale * run_group_step(plan, tokens, scale, *this, links.group, options);
    if (std::exchange(poisoned_, false)) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        if (keys().empty())
            mine = nan;
        else
            find(keys().front())->grad()[0] = nan;
    }
    add_up(layout, links.all);

    // Added in rank order: every rank reports the same bits.
    std::vector<double> losses(static_cast<std::size_t>(links.all.size()));
    links.all.all_gather(&mine, 1, losses.data(), cluster::Dtype::f64);
    StepResult result;
    for (const double loss : losses) result.loss += loss;
    if (!std::isfinite(result.loss))
        not_finite_ = "loss";
    else if (const auto block = not_finite())
        not_finite_ = "gradient of " + nn::block_name(*block);
    result.not_finite = not_finite_;
    return result;
}

// Of a group's attention ranks: [rank][micro-batch].
std::vector<std::vector<std::int64_t>> Trainer::sequences_of(const Layout& layout,
                                                             int group) const {
    std::vector<std::vector<std::int64_t>> sequences;
    for (const int rank : layout.ranks_of(group)) {
        if (!layout.is_attention(rank)) break;
        sequences.emplace_back();
        for (const auto& batch : micro_batches_of(layout, settings_.sequences, rank))
            sequences.back().push_back(batch.sequences);
    }
    return sequences;
}

// Dense gradients over all attention ranks, an expert's over its owners in all groups.
void Trainer::add_up(const Layout& layout, cluster::Communicator& all) {
    const auto dense = elements(nn::dense_parameters(settings_.model));
    const auto expert = elements(nn::expert_parameters(settings_.model));
    std::vector<cluster::SharedBuffer> buffers;
    for (const auto& key : nn::all_blocks(settings_.model.layers, settings_.model.experts)) {
        const auto holders = holders_of(layout, settings_.model.experts, key);
        auto* const block = find(key);
        buffers.push_back({key == nn::dense_key ? dense : expert, holders,
                           block ? block->grad().data_ptr() : nullptr});
    }
    const auto dtype =
        settings_.model.dtype == at::kDouble ? cluster::Dtype::f64 : cluster::Dtype::f32;
    cluster::grouped_all_reduce(all, buffers, dtype);
}

void Trainer::apply(std::int64_t step) {
    if (!not_finite_.empty())
        throw std::logic_error("asked to apply a step whose " + not_finite_ + " is not finite");
    update(step, settings_.adam);
}

}  // namespace assay::hetermoe
