// A running training: its course (driver.cpp), what happens to it (session_events.cpp) and what is
// done about it (session_actions.cpp). Internal to run_training().
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/drive/processes/group_driver.hpp"

namespace assay::lazarus {

/// What recoveries and checkpoints cost the modelled cluster; nothing where none is modelled.
class ModelledCosts {
  public:
    explicit ModelledCosts(const std::optional<PacingOptions>& pacing);
    ReconfigurationCost reconfiguration(const Reconfigure& plan, bool after_death) const;
    double checkpoint_s() const;

  private:
    std::optional<PacingOptions> pacing_;
    std::optional<CostModel> costs_;
};

class Session final : public drive::GroupSession {
  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder);
    SessionResult run();

  private:
    // ---- its course --------------------------------------------------------------------------
    double now() const { return driver_.now(); }
    void decide(const Event& event);
    void end_of_time();
    void collect_digests();

    // ---- what happens (drive::GroupSession) ------------------------------------------------
    nlohmann::json configuration(Worker) override;
    void joined(Worker worker, bool more) override { decide(Joined{worker, more}); }
    void died(Worker worker) override;
    void leave_requested(Worker worker) override { decide(LeaveRequested{worker}); }
    void said(Worker worker, const nlohmann::json& message) override;
    void blamed(const drive::Suspicion::Blame&) override;
    void failed(const std::string& why) override { act(Stop{false, why}); }
    void settled() override { release_held(); }
    void struck(const Fault& fault) override;
    void time_is_up() override;
    bool waits() const override { return controller_->short_of_workers(); }
    void idle() override;

    void heard(const StepReport&);
    void heard(const StepFailed&);
    void heard(const GroupReport&);
    void heard(const CheckpointWritten&);
    void heard(const CheckpointFailed&);
    void heard(const RestoreFailed&);
    void heard(const Digests&) {}
    void hold_until(std::optional<double> end_s);
    void look_who_is_ready();
    void everyone_is_ready();
    void tell_of_readiness();
    void release_held();

    // ---- what is done about it ---------------------------------------------------------------
    void act(const Reconfigure&);
    void act(const Go&);
    void act(const Commit&);
    void act(const WriteCheckpoint&);
    void act(const Abort&);
    void act(const Evict& evict) { driver_.evict(evict); }
    void act(const Dismiss&);
    void act(const StartTimer&);
    void act(const Stop&);
    double group_goes(const Go& go);
    void forget_what_was_due();
    void send_go(const Go& go, double start_s);

    const SessionOptions& options_;
    Recorder& recorder_;
    cluster::RendezvousServer rendezvous_;
    drive::GroupDriver driver_;
    ModelledCosts costs_;
    drive::RecordedPolicy<Controller> controller_;
    nn::CheckpointRetention retention_;

    // Of the epoch in force.
    Epoch epoch_ = 0;
    std::vector<Worker> members_;          // in rank order
    std::vector<Worker> training_;         // those of them that train
    std::optional<double> epoch_started_;  // while it is being formed
    double epoch_started_real_s_ = 0;
    ReconfigurationRecord forming_;
    std::string why_;
    std::vector<Ready> ready_;  // not told to the controller yet
    double ready_s_ = 0;        // when the group is, in the scenario
    double step_started_ = 0;

    // What waits for its modelled time.
    std::optional<std::uint64_t> ready_timer_;  // the group is ready
    std::optional<std::uint64_t> go_timer_;     // the next step begins
    std::optional<std::uint64_t> end_timer_;    // the running step ends

    std::deque<StepDone> held_;           // while somebody is awaited, or end_timer_
    std::map<Step, double> durable_;      // checkpoints: when they are written down
    bool checkpoint_since_step_ = false;  // one was ordered after the last step
    std::map<Step, double> losses_;
    std::vector<Disturbance> open_disturbances_;  // no step has been committed since

    bool time_is_up_ = false;
    SessionResult result_;
};

}  // namespace assay::lazarus
