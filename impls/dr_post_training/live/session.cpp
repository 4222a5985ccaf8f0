#include "impls/dr_post_training/live/session.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "impls/elastic/session.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;

class Session final : public elastic::Session<Session, Guard, SessionResult> {
    using Base = elastic::Session<Session, Guard, SessionResult>;
    friend Base;

  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder)
        : Base(std::move(launcher),
               {.supervisor = options.supervisor, .faults = options.faults, .phases = {}},
               options.checkpoints, recorder, options.guard),
          options_(options) {}

    SessionResult run() {
        Base::run(1);
        result_.checkpoints = controller_->checkpoints();
        if (const auto last = controller_->digests().find(controller_->stored());
            last != controller_->digests().end())
            result_.digest = last->second;
        return std::move(result_);
    }

  private:
    using Base::act;

    // ---- what happens ------------------------------------------------------------------------
    json configuration(WorkerId) override {
        return {{"training", drive::to_json(options_.training)},
                {"checkpoints", options_.checkpoints.string()}};
    }
    void died(WorkerId worker) override {
        ++result_.deaths;
        Base::died(worker);
    }
    void blamed(const Blame&) override {}
    void idle() override {}

    void heard(const Applied& applied, const json& message) {
        heard_[applied.step] = {applied.step, applied.digest, message.at("loss"),
                                message.at("selections")};
        decide(applied);
    }
    template <class Other>
    void heard(const Other& other, const json&) {
        decide(other);  // the guard's notes are what is recorded of it
    }

    // ---- what is done about it ---------------------------------------------------------------
    void act(const WriteCheckpoint& order) { driver_.send(members_, drive::to_message(order)); }
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
        recorder_.event(note.kind, now(), -1, {{"step", note.step}, {"why", note.why}});
    }

    const SessionOptions& options_;
    std::map<Step, StoredStep> heard_;
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
