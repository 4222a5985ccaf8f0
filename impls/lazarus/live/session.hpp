// A running training: what is Lazarus' own about it. Steps, groups and checkpoints of a paced one
// last as long as on the modelled cluster. Internal to run_training().
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "impls/elastic/session.hpp"
#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

class Session final : public elastic::Session<Session, Controller, SessionResult> {
    using Base = elastic::Session<Session, Controller, SessionResult>;
    friend Base;
    using json = nlohmann::json;

  public:
    /// `port`: of the rendezvous.
    Session(std::unique_ptr<cluster::Launcher> launcher, drive::ProcessOptions process,
            const SessionOptions& options, std::uint16_t port, Recorder& recorder)
        : Base(std::move(launcher), std::move(process), options.checkpoints, recorder,
               options.controller),
          options_(options),
          port_(port) {
        if (options.pacing) costs_.emplace(cluster_profile(options.pacing->modelling.cluster));
    }

    SessionResult run() {
        Base::run(options_.controller.initial_workers);
        result_.lineage = controller_->lineage();
        result_.joins = driver_.joins();
        result_.recoveries = driver_.recoveries();
        result_.detections_real_s = driver_.detections_real_s();
        result_.pacing = driver_.time().summary();
        return std::move(result_);
    }

  private:
    using Base::act;
    using Base::heard;

    // ---- what happens ------------------------------------------------------------------------
    json configuration(Worker) override {
        json config{{"training", drive::to_json(options_.training)},
                    {"port", port_},
                    {"checkpoints", options_.checkpoints.string()}};
        if (options_.pacing) config["modelling"] = to_json(options_.pacing->modelling);
        return config;
    }
    void blamed(const Blame& blame) override {
        decide(GroupBroken{blame.epoch, blame.suspect, cause_of(blame), why_of(blame)});
    }
    void struck(const Fault& fault) override {
        if (fault.kind != FaultKind::join) open_disturbances_.push_back({fault.kind, now(), 0});
    }
    void idle() override {
        result_.gave_up = true;
        act(Stop{false, "too few workers are left to hold every expert, and none will join"});
    }
    // By the clock. Training goes on until a step ends after that time, which it has not reached
    // yet where real work is late (act(Commit)); where none trains it ends at once.
    void time_is_up() override {
        if (waits()) act(Stop{true, "time is up"});
    }
    void died(Worker worker) override {
        Base::died(worker);
        look_who_is_ready();
    }

    void heard(const Ready& ready, const json& message) {
        if (message.at("blocks").get<long>() > 0)
            recorder_.event("transfer", now(), ready.worker,
                            {{"blocks", message.at("blocks")},
                             {"bytes", message.at("bytes")},
                             {"real_seconds", message.at("transfer_s")}});
        if (ready.epoch != epoch_) return;
        ready_.push_back(ready);
        look_who_is_ready();
    }
    void heard(const StepDone& done, const json& message) {
        if (done.epoch == epoch_) {
            losses_[done.step] = message.at("loss");
            // The modelled step ends then, however soon the real one did.
            if (const auto end_s = driver_.time().step_done(message); end_s && !end_timer_)
                at(*end_s, end_timer_, [this] { release_held(); });
        }
        hold(done);
    }
    bool holds() const override { return Base::holds() || end_timer_; }
    // A modelled checkpoint takes its time; what a worker that dies meanwhile has written is no
    // part of one.
    void heard(const CheckpointWritten& written, const json& message) {
        const auto durable = durable_.find(written.step);
        if (durable == durable_.end() || durable->second <= now())
            return Base::heard(written, message);
        driver_.timers().at(durable->second, [this, written] {
            if (driver_.alive(written.worker)) Base::heard(written, {});
        });
    }

    // ---- what is done about it ---------------------------------------------------------------
    void act(const Reconfigure& plan) {
        forget_what_was_due();
        forming_since_real_s_ = cluster::monotonic_s();
        Base::act(plan);
        why_ = plan.why;
        forming_ = {.after_death = driver_.lost_a_member(),
                    .restart = plan.restore_step.has_value(),
                    .transfers = static_cast<long>(plan.transfers.size())};
        if (forming_.after_death) result_.pauses.end_at(now());
        if (costs_ && plan.epoch > 1)  // the start belongs to no scenario
            forming_.cost = reconfiguration_cost(*costs_, options_.pacing->modelling, plan,
                                                 forming_.after_death, options_.pacing->relaunch_s);
    }

    void act(const Go& go) {
        const double start_s = forming_since_s_ ? group_goes(go) : driver_.time().next_start();
        const auto begin = [this, go, start_s] {
            checkpoint_since_step_ = false;
            begin_step(go, start_s);
        };
        if (start_s <= now() + 1e-6) return begin();
        at(start_s, go_timer_, begin);
    }
    // The first step of a new plan. Returns when it begins.
    double group_goes(const Go& go) {
        if (driver_.begun()) result_.reconfigurations.push_back(forming_);
        const double since_s = *forming_since_s_, start_s = ready_s_;  // a timer comes a bit later
        group_works(start_s);
        record_group({.epoch = go.epoch,
                      .step = go.step,
                      .restored = forming_.restart,
                      .after_death = forming_.after_death,
                      .reason = controller_->restart_reason(),
                      .why = why_,
                      .members = members_.size(),
                      .training = static_cast<int>(ranks_.size()),
                      .since_s = since_s,
                      .ready_s = start_s},
                     result_, recorder_);
        return start_s;
    }

    void act(const Commit& commit) {
        Base::act(commit);
        const int workers = static_cast<int>(ranks_.size());
        result_.steps.push_back(
            {commit.step, step_began_s_, step_ended_s_, workers, losses_[commit.step]});
        for (auto& disturbance : open_disturbances_) {
            disturbance.first_step_s = step_ended_s_;
            result_.disturbances.push_back(disturbance);
        }
        open_disturbances_.clear();
        const double duration = options_.duration_s;
        const auto done = duration > 0 ? step_ended_s_ / duration
                                       : static_cast<double>(commit.step + 1) /
                                             static_cast<double>(options_.controller.steps);
        recorder_.progress(std::min(1.0, done),
                           fmt::format("step {}, {} workers", commit.step + 1, workers));
        // By the training's time: the clock runs on while real work is late.
        if (duration > 0 && step_ended_s_ >= duration) act(Stop{true, "time is up"});
    }

    void act(const WriteCheckpoint& checkpoint) {
        std::map<Worker, json> shares;
        for (const Worker worker : members_)
            if (const auto share = share_of(checkpoint, worker); !share.blocks.empty())
                shares[worker] = drive::to_message(share);
        order_checkpoint(checkpoint.step, shares);
        checkpoint_since_step_ = true;
        const auto pause = driver_.time().checkpoint(
            costs_ ? checkpoint_cost(*costs_, options_.pacing->modelling) : 0);
        result_.pauses.add(Pause::checkpoint, pause.from_s, pause.to_s);
        durable_[checkpoint.step] = pause.to_s;
    }

    void act(const Abort& abort) {
        result_.pauses.end_at(now());
        forget_what_was_due();
        Base::act(abort);
    }

    // ---- what waits for its modelled time ----------------------------------------------------
    void at(double t_s, std::optional<std::uint64_t>& timer, std::function<void()> what) {
        timer = driver_.timers().at(t_s, [&timer, what = std::move(what)] {
            timer.reset();
            what();
        });
    }
    // The running step, the one about to begin, or the group that forms, is over or will never be.
    void forget_what_was_due() {
        for (auto* timer : {&ready_timer_, &go_timer_, &end_timer_}) {
            if (*timer) driver_.timers().cancel(**timer);
            timer->reset();
        }
        ready_.clear();
    }

    void look_who_is_ready() {
        if (!forming_since_s_ || ready_.empty() || ready_timer_) return;
        const bool all = std::all_of(members_.begin(), members_.end(), [this](Worker member) {
            return !driver_.alive(member) ||
                   std::count(ready_.begin(), ready_.end(), Ready{member, epoch_}) > 0;
        });
        if (all) all_are_ready();
    }
    // The machine has formed the group; the modelled cluster needs its own time for it. Whoever
    // dies until then dies in the middle of it.
    void all_are_ready() {
        forming_.real_s = cluster::monotonic_s() - forming_since_real_s_;
        driver_.group_is_ready();
        if (!driver_.begun()) return tell_of_readiness();
        const auto& cost = forming_.cost;
        const bool planned = forming_.restart && !forming_.after_death && checkpoint_since_step_;
        const auto pause = driver_.time().regroup(*forming_since_s_, cost.detect_s,
                                                  cost.regroup_s + cost.transfer_s, planned);
        result_.pauses.add(forming_.restart ? Pause::restart : Pause::reconfiguration, pause.from_s,
                           pause.to_s);
        ready_s_ = pause.to_s;
        if (ready_s_ <= now()) return tell_of_readiness();
        at(ready_s_, ready_timer_, [this] { tell_of_readiness(); });
    }
    void tell_of_readiness() {
        for (const auto& one : std::exchange(ready_, {}))
            if (!driver_.ending()) decide(one);
    }

    std::optional<std::uint64_t> ready_timer_;  // the group is ready
    std::optional<std::uint64_t> go_timer_;     // the next step begins
    std::optional<std::uint64_t> end_timer_;    // the running step ends
    std::vector<Ready> ready_;                  // not told to the controller yet
    double ready_s_ = 0;                        // when the group is, in the scenario
    std::map<Step, double> durable_;            // checkpoints: when they are written down

    const SessionOptions& options_;
    std::uint16_t port_;
    std::optional<CostModel> costs_;  // what recoveries and checkpoints cost the modelled cluster
    std::string why_;                 // of the plan in force
    double forming_since_real_s_ = 0;
    ReconfigurationRecord forming_;
    bool checkpoint_since_step_ = false;  // one was ordered after the last step
    std::map<Step, double> losses_;
    std::vector<Disturbance> open_disturbances_;  // no step has been committed since
};

}  // namespace assay::lazarus
