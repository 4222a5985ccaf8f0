#include "impls/hetermoe/campaign/block_member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/elastic/training_run.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::hetermoe {

using elastic::BrokenRule;

BlockState next_state(const BlockState& state, Epoch epoch) {
    const auto step = statistics::scramble(static_cast<std::uint64_t>(state.before + 1));
    return {state.before + 1,
            statistics::scramble(state.history + step + static_cast<std::uint64_t>(epoch))};
}

void BlockStates::require(Worker worker, const BlockKey& block, Epoch epoch, Step step) const {
    const auto broken = [&](const std::string& what) {
        throw BrokenRule{fmt::format("worker {} {} {}", worker, what, nn::block_name(block))};
    };
    const auto of = held.find(worker);
    if (of == held.end() || !of->second.contains(block))
        broken(fmt::format("lacks, before step {},", step));
    const BlockState& has = of->second.at(block);
    if (has.before != step) broken(fmt::format("has as before step {}, not {},", has.before, step));
    if (has != at.at({epoch, step})) broken("has of another history");
}

elastic::Plan BlockMember::plan(const drive::AnyMessage& message) {
    plan_ = *message.get<Reconfigure>();
    const int rank = plan_.layout.rank_of(self_);
    mine_ = rank < 0 ? std::vector<BlockKey>{} : blocks_of(plan_.layout, states_.experts, rank);
    return elastic::plan_of(plan_);
}

drive::AnyMessage BlockMember::take(const elastic::Plan& plan) {
    for (const Move& move : plan_.moves) {
        if (move.to != self_) continue;
        states_.require(move.from, move.block, plan_.epoch, plan.resume);
        held()[move.block] = states_.held[move.from][move.block];
    }
    if (!plan.restore) return Ready{self_, plan_.epoch};
    for (const BlockKey& block : mine_) {
        std::optional<BlockState> stored = BlockState{};  // made from the seed
        if (*plan.restore > 0) stored = states_.disk[{*plan.restore, block}];
        if (!stored) return RestoreFailed{self_, plan_.epoch, *plan.restore, "it is torn"};
        held()[block] = *stored;
    }
    return Ready{self_, plan_.epoch};
}

void BlockMember::keep(const elastic::Plan&) {
    std::erase_if(held(), [&](const auto& one) {
        return std::find(mine_.begin(), mine_.end(), one.first) == mine_.end();
    });
}

elastic::Outcome BlockMember::compute(const elastic::Plan&, const drive::AnyMessage& go) {
    const Step step = go.get<Go>()->step;
    for (const BlockKey& block : mine_) states_.require(self_, block, plan_.epoch, step);
    computed_ = {plan_.epoch, step};
    return {.wrong = std::exchange(poisoned_, false) ? "the loss is not a finite number" : "",
            .done = StepDone{self_, plan_.epoch, step}};
}

drive::AnyMessage BlockMember::apply(Step step) {
    if (computed_ != std::pair(plan_.epoch, step))
        throw BrokenRule{
            fmt::format("worker {} is to apply step {} in epoch {}, and has not "
                        "computed it there",
                        self_, step, plan_.epoch)};
    computed_.reset();
    for (auto& [block, state] : held()) state = next_state(state, plan_.epoch);
    return {};
}

drive::AnyMessage BlockMember::write(const drive::AnyMessage& order, const drive::Strike& strike) {
    const Step step = order.get<WriteCheckpoint>()->step;
    if (strike(FaultKind::disk_full))
        return elastic::CheckpointFailed{self_, step, "no space is left"};
    const bool torn = strike(FaultKind::torn).has_value();
    const int rank = plan_.layout.rank_of(self_);
    for (const BlockKey& block : mine_) {
        if (holders_of(plan_.layout, states_.experts, block).front() != rank) continue;
        states_.require(self_, block, plan_.epoch, step);
        auto& stored = states_.disk[{step, block}];
        stored = held()[block];
        if (torn) stored.reset();
    }
    return CheckpointWritten{self_, step};
}

void BlockMember::suffer(const drive::Strike& strike) {
    while (strike(FaultKind::nan)) poisoned_ = true;
    while (strike(FaultKind::corrupt)) damaged_ = true;
}

}  // namespace assay::hetermoe
