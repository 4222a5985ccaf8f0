// A worker of the virtual world: keeps to the protocol exactly as a live one must.
//
// Messages are taken one at a time, in order. Abort alone is urgent: it interrupts computing, group
// building and transfers, but neither drops what was staged nor overtakes a Commit or Go in the
// queue.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "impls/lazarus/campaign/model_state.hpp"
#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus::campaign {

class VirtualWorld;

class VirtualWorker {
  public:
    VirtualWorker(Worker id, VirtualWorld& world) : id_(id), world_(world) {}

    void deliver(Action message);
    void interrupt(Epoch epoch);
    void work();  ///< takes what is in the mailbox, as far as it goes

    // what the world tells a worker that waits for others
    void group_built(Epoch epoch);
    void sums_finished(Epoch epoch, Step step, bool finite);
    void sent(Epoch epoch);
    void received(Epoch epoch, ExpertId id, Hash state);
    void received_dense(Epoch epoch, Hash state);

    bool in_transfers_of(Epoch epoch) const;
    const std::map<ExpertId, Hash>& experts() const { return experts_; }
    std::optional<Hash> dense() const { return dense_; }
    bool told_to_stop() const { return told_to_stop_; }

    bool alive = true;
    double frozen_until = 0;

  private:
    enum class Busy { no, building, transferring, computing, writing };

    void process(const Reconfigure&);
    void process(const Go&);
    void process(const Commit&);
    void process(const WriteCheckpoint&);
    void process(const Dismiss&);
    void process(const Stop&);
    void process(const Abort&) {}       // urgent: never queued
    void process(const Evict&) {}       // the driver's own
    void process(const StartTimer&) {}  // the driver's own
    void adopt_plan();
    void load_from_storage();
    void one_transfer_less();
    void write_part(Step step, std::vector<ExpertId> parts, bool dense);
    std::vector<ExpertId> planned() const;

    Worker id_;
    VirtualWorld& world_;
    std::deque<Action> mailbox_;
    Busy busy_ = Busy::no;
    Epoch aborted_ = 0;
    Epoch adopted_ = 0;  ///< whose plan was adopted at Go; 0: none yet
    Reconfigure plan_{};
    int outstanding_ = 0;
    std::map<ExpertId, Hash> experts_, staged_;
    std::optional<Hash> dense_, staged_dense_;
    std::optional<std::pair<Epoch, Step>> gradients_;
    Step next_step_ = -1;  ///< of the state held; unknown before the first Go
    bool told_to_stop_ = false;
};

}  // namespace assay::lazarus::campaign
