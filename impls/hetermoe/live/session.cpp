#include "impls/hetermoe/live/session.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "impls/elastic/session.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/messages.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::hetermoe {
namespace {

using nlohmann::json;

class Session final : public elastic::Session<Session, Controller, SessionResult> {
    using Base = elastic::Session<Session, Controller, SessionResult>;
    friend Base;

  public:
    /// `port`: of the rendezvous.
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            std::uint16_t port, Recorder& recorder)
        : Base(std::move(launcher),
               {.supervisor = options.supervisor,
                .operation_timeout_s = options.operation_timeout_s,
                .faults = options.faults,
                .phases = fault_phases()},
               options.checkpoints, recorder, options.controller),
          options_(options),
          port_(port) {
        if (options.pace)
            pace_.emplace(*options.pace, options.controller.times, options.controller.experts);
    }

    SessionResult run() {
        Base::run(options_.controller.new_workers() + options_.controller.old_workers());
        result_.lineage = controller_->lineage();
        result_.recoveries = driver_.recoveries();
        return std::move(result_);
    }

  private:
    using Base::act;
    using Base::heard;

    // ---- what happens ------------------------------------------------------------------------
    json configuration(Worker) override {
        return {{"training", drive::to_json(options_.training)},
                {"port", port_},
                {"checkpoints", options_.checkpoints.string()}};
    }
    void idle() override {
        result_.gave_up = true;
        decide(Idle{});
    }
    void blamed(const Blame& blame) override {
        decide(GroupBroken{.epoch = blame.epoch,
                           .suspect = blame.suspect,
                           .corrupt = blame.cause == drive::Suspicion::Cause::corrupt_message,
                           .why = why_of(blame)});
    }
    void heard(const StepDone& done, const json& message) {
        if (done.epoch == epoch_) {
            losses_[done.step] = message.at("loss");
            computed_[done.worker] = drive::from_json<ComputedTimes>(message.at("computed"));
        }
        hold(done);
    }
    void heard(const Ready& ready, const json& message) {
        if (const long blocks = message.at("blocks"); blocks > 0)
            recorder_.event("move", now(), ready.worker,
                            {{"blocks", blocks}, {"bytes", message.at("bytes")}});
        decide(ready);
    }

    // ---- what is done about it ---------------------------------------------------------------
    void act(const Reconfigure& plan) {
        plan_ = plan;
        Base::act(plan);
    }

    void act(const Go& go) {
        const auto& layout = plan_.layout;
        if (forming_since_s_ && driver_.begun())
            recorder_.event("regroup", *forming_since_s_, -1,
                            {{"why", plan_.why},
                             {"new", layout.group.attention},
                             {"old", layout.group.expert},
                             {"groups", layout.groups},
                             {"seconds", now() - *forming_since_s_}});
        Base::act(go);
    }

    void act(const Commit& commit) {
        Base::act(commit);
        const auto& layout = plan_.layout;
        result_.steps.push_back(
            {commit.step, step_began_s_, step_ended_s_, losses_.at(commit.step)});
        if (pace_) watch_pace({commit.step, commit.epoch, layout});
        recorder_.progress(
            static_cast<double>(commit.step + 1) / static_cast<double>(options_.controller.steps),
            fmt::format("step {}, {} groups of {} new and {} old", commit.step + 1, layout.groups,
                        layout.group.attention, layout.group.expert));
    }
    void watch_pace(const CommittedStep& step) {
        std::vector<ComputedTimes> ranks;
        for (const Worker worker : ranks_) ranks.push_back(computed_.at(worker));
        for (auto& event : pace_->step_done(step, ranks)) {
            if (const auto* slow = std::get_if<Slow>(&event))
                recorder_.event(
                    "pace", now(), -1,
                    {{"kind", slow->new_kind ? "new" : "old"}, {"factor", slow->factor}});
            decide_afterwards(std::move(event));
        }
    }

    void act(const Abort& abort) {
        auto message = drive::AnyMessage(abort).to_json();
        message["groups"] = plan_.layout.groups;
        driver_.send(members_, message);
    }

    const SessionOptions& options_;
    std::uint16_t port_;
    Reconfigure plan_;  // in force
    std::map<Step, double> losses_;
    std::map<Worker, ComputedTimes> computed_;  // of the running step
    std::optional<PaceWatch> pace_;
};

}  // namespace

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    const cluster::RendezvousServer rendezvous;
    return Session(std::move(launcher), options, rendezvous.port(), recorder).run();
}

}  // namespace assay::hetermoe
