// A worker of a simulated cluster: a member's half of the protocol as live workers have it
// (impls/elastic/member.hpp), in virtual time. What it would hold of the model is a StateKeeper's,
// what it does together with others the cluster's; it keeps how far it is with them.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "impls/elastic/member.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/simulated/epoch_group.hpp"
#include "impls/lazarus/simulated/trouble.hpp"

namespace assay::lazarus {

class SimulatedCluster;

// A Reconfigure and a WriteCheckpoint as thousands of members share them. They never leave memory:
// no field is described.
struct Announced {
    std::shared_ptr<EpochGroup> group;
};
struct Ordered {
    std::shared_ptr<const CheckpointOrder> order;
};
constexpr std::string_view message_name(const Announced*) { return "reconfigure"; }
constexpr std::string_view message_name(const Ordered*) { return "write_checkpoint"; }
template <class Value, class Visit>
requires std::same_as<std::remove_const_t<Value>, Announced> ||
    std::same_as<std::remove_const_t<Value>, Ordered>
void for_each_field(Value&, Visit&&) {}

class SimulatedMember final : public elastic::Member, public elastic::Times {
  public:
    SimulatedMember(Worker id, SimulatedCluster& cluster) : id_(id), cluster_(cluster) {}

    /// What it does together with others, or is about to.
    enum class Phase { building, transferring, summing };
    Phase phase() const { return phase_; }
    Epoch epoch() const { return group_ ? plan().epoch : 0; }
    const std::shared_ptr<EpochGroup>& group() const { return group_; }
    Step next_step() const { return next_step_; }
    bool told_to_stop() const { return told_to_stop_; }
    /// Of this plan, or of any, it has been told to go.
    bool goes() const { return adopted_ == epoch(); }
    bool ever_went() const { return adopted_ != 0; }
    /// What it is to restore is there, or torn; its sums are there.
    void restored(bool readable) { readable_ = readable; }
    void summed(bool finite) { finite_ = finite; }

  private:
    elastic::Plan plan(const drive::AnyMessage& reconfigure) override;
    void connect(const elastic::Plan&) override { phase_ = Phase::transferring; }
    drive::AnyMessage take(const elastic::Plan&) override;
    void keep(const elastic::Plan&) override;
    elastic::Outcome compute(const elastic::Plan&, const drive::AnyMessage& go) override;
    drive::AnyMessage apply(Step step) override;
    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike&) override;
    std::string damaged() override;
    drive::AnyMessage answer(const drive::AnyMessage& question) override;

    double computing(Worker, const elastic::Plan&, Step step) override;
    double writing(Worker, const drive::AnyMessage& order) override;

    const Reconfigure& plan() const { return group_->plan; }

    Worker id_;
    SimulatedCluster& cluster_;
    std::shared_ptr<EpochGroup> group_;
    Phase phase_ = Phase::building;
    bool readable_ = true, finite_ = true, told_to_stop_ = false;
    Writing writing_ = Writing::whole;
    Epoch adopted_ = 0;  ///< whose plan was adopted at Go; 0: none yet
    std::optional<std::pair<Epoch, Step>> gradients_;
    Step next_step_ = -1;  ///< of the state held; unknown before the first Go
};

}  // namespace assay::lazarus
