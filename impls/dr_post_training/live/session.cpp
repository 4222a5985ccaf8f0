#include "impls/dr_post_training/live/session.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "suite/drive/processes/group_driver.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;

class Session final : public drive::GroupSession {
  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder)
        : options_(options),
          recorder_(recorder),
          driver_(std::move(launcher),
                  {.supervisor = options.supervisor, .faults = options.faults, .phases = {}},
                  recorder, *this),
          guard_(true, options.guard) {}

    SessionResult run() {
        driver_.run(1);
        driver_.send(driver_.alive(), {{"type", "dismiss"}});
        result_.counts = guard_->counts();
        result_.decisions = guard_.decisions();
        result_.faults_fired = driver_.faults_fired();
        result_.checkpoints = guard_->checkpoints();
        if (const auto last = guard_->digests().find(guard_->stored());
            last != guard_->digests().end())
            result_.digest = last->second;
        return std::move(result_);
    }

  private:
    void decide(const Guard::Event& event) {
        for (const auto& action : guard_.on(event, driver_.now())) {
            if (driver_.ending()) return;
            std::visit([this](const auto& one) { act(one); }, action);
        }
    }

    // ---- what happens (drive::GroupSession) --------------------------------------------------
    json configuration(WorkerId) override {
        return {{"training", drive::to_json(options_.training)},
                {"checkpoints", options_.checkpoints.string()}};
    }
    void joined(WorkerId worker, bool more) override {
        driver_.group_forms(worker + 1, {worker});  // a group of one
        driver_.group_is_ready();
        driver_.group_works(driver_.now());
        decide(Joined{worker, more});
    }
    void died(WorkerId worker) override {
        ++result_.deaths;
        decide(Died{worker});
    }
    void leave_requested(WorkerId) override {}
    void blamed(const drive::Suspicion::Blame&) override {}
    void failed(const std::string& why) override { act(Stop{false, why}); }
    bool waits() const override { return false; }  // the guard always has somebody under way
    void idle() override {}

    void said(WorkerId, const json& message) override {
        if (driver_.ending()) return;
        if (message.at("type") == "applied")
            heard_[message.at("step")] = {message.at("step"), message.at("digest"),
                                          message.at("loss"), message.at("selections")};
        decide(drive::message_to<Guard::Event>(message));
    }

    // ---- what is done about it -----------------------------------------------------------------
    template <class Order>
    void act(const Order& order) {
        driver_.send(order.worker, drive::to_message(order));
    }
    void act(const Spawn&) { driver_.spawn(); }
    void act(const Compute& order) {
        driver_.step_begins(order.step);
        driver_.send(order.worker, drive::to_message(order));
    }
    void act(const StoreStep& store) {
        result_.steps.push_back(heard_.at(store.step));
        recorder_.progress(
            static_cast<double>(store.step + 1) / static_cast<double>(options_.guard.steps),
            fmt::format("step {}", store.step + 1));
    }
    void act(const DropCheckpoint& drop) {
        std::error_code ignored;  // what cannot be removed is only in the way
        std::filesystem::remove(checkpoint_file(options_.checkpoints, drop.step), ignored);
    }
    void act(const Note& note) {
        recorder_.event(note.kind, driver_.now(), -1, {{"step", note.step}, {"why", note.why}});
    }
    void act(const drive::StartTimer& timer) {
        driver_.timers().at(driver_.now() + timer.after_s, [this, id = timer.id] {
            if (!driver_.ending()) decide(drive::Timer{id});
        });
    }
    void act(const drive::Evict& evict) { driver_.evict(evict); }
    void act(const drive::Stop& stop) {
        driver_.end();
        result_.ok = stop.ok;
        result_.why = stop.why;
    }

    const SessionOptions& options_;
    Recorder& recorder_;
    drive::GroupDriver driver_;
    drive::RecordedPolicy<Guard> guard_;
    std::map<Step, StoredStep> heard_;
    SessionResult result_;
};

}  // namespace

std::filesystem::path checkpoint_file(const std::filesystem::path& folder, Step step) {
    return folder / fmt::format("step-{}.state", step);
}

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

SessionResult run_undisturbed(const SessionOptions& options) {
    SessionResult result;
    GuardedTraining training(options.training);
    for (Step step = 0; step < options.guard.steps; ++step) {
        const auto outcome = training.compute(step);
        training.apply(step);
        result.steps.push_back({step, training.digest(), outcome.loss, outcome.selections});
    }
    result.digest = training.digest();
    result.ok = true;
    return result;
}

}  // namespace assay::dr_post_training
