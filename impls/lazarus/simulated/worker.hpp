// A worker of a simulated cluster: keeps to the protocol exactly as a live one must.
//
// Messages are taken one at a time, in order. Abort alone is urgent: it interrupts computing, group
// building and transfers, but neither drops what was staged nor overtakes a Commit or Go in the
// queue.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "impls/lazarus/simulated/epoch_group.hpp"
#include "impls/lazarus/simulated/trouble.hpp"

namespace assay::lazarus {

class SimulatedCluster;

class SimulatedWorker {
  public:
    /// Shared where they are large: thousands of workers get the same ones.
    using Message = std::variant<std::shared_ptr<EpochGroup>, Go, Commit,
                                 std::shared_ptr<const CheckpointOrder>, Dismiss, Stop>;

    SimulatedWorker(Worker id, SimulatedCluster& cluster) : id_(id), cluster_(cluster) {}

    void deliver(Message message);
    void interrupt(Epoch epoch);
    void work();   ///< takes what is in the mailbox, as far as it goes
    void stick();  ///< it lives, but does nothing any more, whatever it is told

    // ---- what the cluster tells a worker that waits for others ----------------------------------
    void group_built(Epoch epoch);
    void moved(Epoch epoch);  ///< one state that it sends or receives
    void sums_finished(Epoch epoch, Step step, bool finite);
    void sees(Epoch epoch, const Symptom& symptom);  ///< what they do together has failed

    bool in_transfers_of(Epoch epoch) const;
    bool told_to_stop() const { return told_to_stop_; }
    bool stuck() const { return busy_ == Busy::stuck; }

  private:
    enum class Busy { no, building, transferring, computing, summing, writing, stuck };

    void process(const std::shared_ptr<EpochGroup>&);
    void process(const Go&);
    void process(const Commit&);
    void process(const std::shared_ptr<const CheckpointOrder>&);
    void process(const Dismiss&);
    void process(const Stop&) { told_to_stop_ = true; }
    bool goes_on(Moment moment);
    bool notices_changed_state();
    bool adopt_plan();
    void wait_together(Busy how);
    bool is_together() const;
    void restore();
    void one_transfer_less();
    void write_parts(const std::shared_ptr<const CheckpointOrder>&, const std::vector<StatePart>&,
                     bool torn);
    const Reconfigure& plan() const { return group_->plan; }
    Epoch epoch() const { return group_ ? plan().epoch : 0; }

    Worker id_;
    SimulatedCluster& cluster_;
    std::deque<Message> mailbox_;
    Busy busy_ = Busy::no;
    Epoch aborted_ = 0;
    Epoch adopted_ = 0;  ///< whose plan was adopted at Go; 0: none yet
    std::shared_ptr<EpochGroup> group_;
    std::size_t outstanding_ = 0;  ///< transfers
    std::uint64_t waits_ = 0;      ///< counts what it has waited for together with others
    std::optional<std::pair<Epoch, Step>> gradients_;
    Step next_step_ = -1;  ///< of the state held; unknown before the first Go
    bool told_to_stop_ = false;
};

}  // namespace assay::lazarus
