#include "impls/hetermoe/live/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/messages.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/drive/processes/group_driver.hpp"

namespace assay::hetermoe {
namespace {

using nlohmann::json;

class Session final : public drive::GroupSession {
  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder)
        : options_(options),
          recorder_(recorder),
          driver_(std::move(launcher),
                  {.supervisor = options.supervisor,
                   .operation_timeout_s = options.operation_timeout_s,
                   .faults = options.faults,
                   .phases = fault_phases()},
                  recorder, *this),
          controller_(true, options.controller),
          retention_(options.checkpoints) {
        if (options.pace)
            pace_.emplace(*options.pace, options.controller.times, options.controller.experts);
    }

    SessionResult run() {
        driver_.run(options_.controller.new_workers() + options_.controller.old_workers());
        collect_digests();
        result_.lineage = controller_->lineage();
        result_.counts = controller_->counts();
        result_.decisions = controller_.decisions();
        result_.recoveries = driver_.recoveries();
        result_.faults_fired = driver_.faults_fired();
        return std::move(result_);
    }

  private:
    void decide(const Event& event) {
        for (const auto& action : controller_.on(event, driver_.now())) {
            if (driver_.ending()) return;
            std::visit([this](const auto& one) { act(one); }, action);
        }
    }

    // Asks those that trained the last step for what they hold, then dismisses everyone.
    void collect_digests() {
        std::vector<Worker> asked;
        if (result_.ok) asked = controller_->lineage().back().layout.ranks;
        std::erase_if(asked, [this](Worker worker) { return !driver_.alive(worker); });
        driver_.send(asked, {{"type", "finish"}});
        const bool heard = driver_.hear_until(options_.operation_timeout_s, [&] {
            return std::none_of(asked.begin(), asked.end(), [this](Worker worker) {
                return driver_.alive(worker) && !result_.digests.contains(worker);
            });
        });
        if (!heard)
            throw SampleError(SampleStatus::invalid,
                              "a worker did not say what it holds at the end");
        driver_.send(driver_.alive(), {{"type", "dismiss"}});
    }

    // ---- what happens (drive::GroupSession) --------------------------------------------------
    json configuration(Worker) override {
        return {{"training", drive::to_json(options_.training)},
                {"port", rendezvous_.port()},
                {"checkpoints", options_.checkpoints.string()}};
    }
    void joined(Worker worker, bool more) override { decide(Joined{worker, more}); }
    void died(Worker worker) override { decide(Died{worker}); }
    void leave_requested(Worker worker) override { decide(LeaveRequested{worker}); }
    void failed(const std::string& why) override { act(Stop{false, why}); }
    void settled() override { tell_of_steps(); }
    bool waits() const override { return controller_->short_of_workers(); }
    void idle() override {
        result_.gave_up = true;
        decide(Idle{});
    }
    void blamed(const drive::Suspicion::Blame& blame) override {
        decide(GroupBroken{.epoch = blame.epoch,
                           .suspect = blame.suspect,
                           .corrupt = blame.cause == drive::Suspicion::Cause::corrupt_message,
                           .why = blame.cause == drive::Suspicion::Cause::unexplained
                                      ? "its group broke though nobody died"
                                      : blame.why});
    }

    void said(Worker worker, const json& message) override {
        const std::string type = message.at("type");
        if (type == "digests") {
            result_.digests[worker] = drive::message_to<Digests>(message).digests;
        } else if (driver_.ending()) {
            return;
        } else if (type == "checkpoint_failed") {
            const auto failed = drive::message_to<CheckpointFailed>(message);
            recorder_.event("checkpoint", driver_.now(), worker,
                            {{"step", failed.step}, {"failed", failed.why}});
        } else {
            const auto event = drive::message_to<Event>(message);
            std::visit([&](const auto& one) { heard(one, message); }, event);
        }
    }

    // Somebody's coming or going is on its way: a step ends after that, so that it takes effect
    // from the next one on.
    void heard(const StepDone& done, const json& message) {
        if (done.epoch == epoch_) {
            losses_[done.step] = message.at("loss");
            computed_[done.worker] = drive::from_json<ComputedTimes>(message.at("computed"));
        }
        held_.push_back(done);
        tell_of_steps();
    }
    void tell_of_steps() {
        while (!held_.empty() && !driver_.awaits_a_worker() && !driver_.ending()) {
            const auto done = held_.front();
            held_.pop_front();
            decide(done);
            for (const auto& event : std::exchange(paces_, {})) {
                if (const auto* slow = std::get_if<Slow>(&event))
                    recorder_.event(
                        "pace", driver_.now(), -1,
                        {{"kind", slow->new_kind ? "new" : "old"}, {"factor", slow->factor}});
                decide(event);
            }
        }
    }
    void heard(const Ready& ready, const json& message) {
        if (const long blocks = message.at("blocks"); blocks > 0)
            recorder_.event("move", driver_.now(), ready.worker,
                            {{"blocks", blocks}, {"bytes", message.at("bytes")}});
        decide(ready);
    }
    void heard(const StepFailed& failed, const json&) {
        recorder_.event("retry", driver_.now(), failed.worker, {{"why", failed.why}});
        decide(failed);
    }
    void heard(const RestoreFailed& failed, const json&) {
        recorder_.event("checkpoint", driver_.now(), failed.worker,
                        {{"step", failed.step}, {"unreadable", failed.why}});
        decide(failed);
    }
    void heard(const CheckpointWritten& written, const json&) {
        decide(written);
        retention_.written(written.step, written.worker);
    }
    template <class Other>
    void heard(const Other& other, const json&) {
        decide(other);
    }

    // ---- what is done about it -----------------------------------------------------------------
    void act(const Reconfigure& form) {
        driver_.group_forms(form.epoch, form.members);
        epoch_ = form.epoch;
        members_ = form.members;
        layout_ = form.layout;
        forming_since_s_ = driver_.now();
        why_ = form.why;
        if (form.restore_step && form.epoch > 1) retention_.forget_after(*form.restore_step);
        driver_.send(form.members, drive::to_message(form));
    }

    void act(const Go& go) {
        if (forming_since_s_) {
            driver_.group_is_ready();
            if (driver_.begun())
                recorder_.event("regroup", *forming_since_s_, -1,
                                {{"why", why_},
                                 {"new", layout_.group.attention},
                                 {"old", layout_.group.expert},
                                 {"groups", layout_.groups},
                                 {"seconds", driver_.now() - *forming_since_s_}});
            driver_.group_works(driver_.now());
            forming_since_s_.reset();
        }
        driver_.step_begins(go.step);
        step_began_s_ = driver_.now();
        driver_.send(layout_.ranks, drive::to_message(go));
    }

    void act(const Commit& commit) {
        driver_.send(layout_.ranks, drive::to_message(commit));
        result_.steps.push_back(
            {commit.step, step_began_s_, driver_.now(), losses_.at(commit.step)});
        if (pace_) {
            std::vector<ComputedTimes> ranks;
            for (const Worker worker : layout_.ranks) ranks.push_back(computed_.at(worker));
            paces_ = pace_->step_done({commit.step, commit.epoch, layout_}, ranks);
        }
        recorder_.progress(
            static_cast<double>(commit.step + 1) / static_cast<double>(options_.controller.steps),
            fmt::format("step {}, {} groups of {} new and {} old", commit.step + 1, layout_.groups,
                        layout_.group.attention, layout_.group.expert));
    }

    void act(const WriteCheckpoint& checkpoint) {
        recorder_.event("checkpoint", driver_.now(), -1, {{"step", checkpoint.step}});
        retention_.ordered(checkpoint.step, {checkpoint.writers.begin(), checkpoint.writers.end()});
        driver_.send(checkpoint.writers, drive::to_message(checkpoint));
    }

    void act(const Abort& abort) {
        auto message = drive::to_message(abort);
        message["urgent"] = true;
        message["groups"] = layout_.groups;
        driver_.send(members_, message);
    }

    void act(const Evict& evict) { driver_.evict(evict); }
    void act(const Dismiss& dismiss) {
        driver_.dismiss(dismiss.worker, drive::to_message(dismiss));
    }

    void act(const Stop& stop) {
        driver_.end();
        result_.ok = stop.ok;
        result_.why = stop.why;
        if (!stop.ok && !driver_.unexpected_death().empty())
            result_.why +=
                fmt::format(" (nobody asked for the end of {})", driver_.unexpected_death());
    }

    const SessionOptions& options_;
    Recorder& recorder_;
    cluster::RendezvousServer rendezvous_;
    drive::GroupDriver driver_;
    drive::RecordedPolicy<Controller> controller_;
    nn::CheckpointRetention retention_;

    // Of the epoch in force.
    Epoch epoch_ = 0;
    std::vector<Worker> members_;
    Layout layout_;
    std::optional<double> forming_since_s_;
    std::string why_;
    double step_began_s_ = 0;

    std::deque<StepDone> held_;  // while somebody is awaited
    std::map<Step, double> losses_;
    std::map<Worker, ComputedTimes> computed_;  // of the running step
    std::optional<PaceWatch> pace_;
    std::vector<Event> paces_;  // what it found in the step that was committed last
    SessionResult result_;
};

}  // namespace

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

}  // namespace assay::hetermoe
