// A member of HeterMoE's training (elastic::Member) without weights: of every block that it holds
// it knows the step that it is the state before, and by which steps it came to that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/elastic/member.hpp"
#include "impls/hetermoe/policy/controller/protocol.hpp"

namespace assay::hetermoe {

struct BlockState {
    Step before = 0;
    std::uint64_t history = 0;  ///< a hash of the steps applied, and in which epochs
    bool operator==(const BlockState&) const = default;
};
BlockState next_state(const BlockState& state, Epoch epoch);

/// What all members of a training hold, what is on disk, and what the lineage makes of a block.
struct BlockStates {
    explicit BlockStates(int experts) : experts(experts) {}

    int experts;
    std::map<Worker, std::map<BlockKey, BlockState>> held;
    std::map<std::pair<Step, BlockKey>, std::optional<BlockState>> disk;  ///< nothing: torn
    std::vector<BlockState> lineage{BlockState{}};    ///< as before step 0, 1, … up to now
    std::map<std::pair<Epoch, Step>, BlockState> at;  ///< as before a step that was asked for

    /// Throws BrokenRule unless the worker has the block as it is before that step of that epoch.
    void require(Worker worker, const BlockKey& block, Epoch epoch, Step step) const;
};

/// Throws elastic::BrokenRule where it is to send, compute, apply or write what it does not have.
class BlockMember final : public elastic::Member {
  public:
    BlockMember(Worker self, BlockStates& states) : self_(self), states_(states) {}

    elastic::Plan plan(const drive::AnyMessage& message) override;
    drive::AnyMessage take(const elastic::Plan& plan) override;
    void keep(const elastic::Plan& plan) override;
    elastic::Outcome compute(const elastic::Plan& plan, const drive::AnyMessage& go) override;
    drive::AnyMessage apply(Step step) override;
    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike& strike) override;
    std::string damaged() override { return damaged_ ? "a block changed in memory" : ""; }
    void suffer(const drive::Strike& strike) override;

  private:
    std::map<BlockKey, BlockState>& held() { return states_.held[self_]; }

    Worker self_;
    BlockStates& states_;
    Reconfigure plan_;
    std::vector<BlockKey> mine_;
    std::optional<std::pair<Epoch, Step>> computed_;  // last
    bool poisoned_ = false, damaged_ = false;
};

}  // namespace assay::hetermoe
