// A live training from its first worker to its last.
#include "impls/lazarus/live/driver.hpp"

#include <algorithm>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"

namespace assay::lazarus {

using nlohmann::json;

namespace {

drive::ProcessOptions process_options(const SessionOptions& options) {
    drive::ProcessOptions process{.supervisor = options.supervisor,
                                  .operation_timeout_s = options.operation_timeout_s,
                                  .faults = options.faults,
                                  .phases = fault_phases(),
                                  .duration_s = options.duration_s,
                                  .speed = options.speed};
    if (options.pacing) {
        process.pace = drive::Pace::steps;
        // A modelled step of a second: the speed before the first one is known.
        process.typical_step_s = options.pacing->modelling.modelled_steps;
    }
    return process;
}

}  // namespace

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

ModelledCosts::ModelledCosts(const std::optional<PacingOptions>& pacing) : pacing_(pacing) {
    if (pacing_) costs_.emplace(cluster_profile(pacing_->modelling.cluster));
}

ReconfigurationCost ModelledCosts::reconfiguration(const Reconfigure& plan,
                                                   bool after_death) const {
    if (!pacing_ || plan.epoch == 1) return {};  // the start belongs to no scenario
    return reconfiguration_cost(*costs_, pacing_->modelling, plan, after_death,
                                pacing_->relaunch_s);
}

double ModelledCosts::checkpoint_s() const {
    return pacing_ ? checkpoint_cost(*costs_, pacing_->modelling) : 0;
}

Session::Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
                 Recorder& recorder)
    : options_(options),
      recorder_(recorder),
      driver_(std::move(launcher), process_options(options), recorder, *this),
      costs_(options.pacing),
      controller_(true, options.controller),
      retention_(options.checkpoints) {}

SessionResult Session::run() {
    driver_.run(options_.controller.initial_workers);
    collect_digests();
    result_.counts = controller_->counts();
    result_.lineage = controller_->lineage();
    result_.decisions = controller_.decisions();
    result_.faults_fired = driver_.faults_fired();
    result_.joins = driver_.joins();
    result_.recoveries = driver_.recoveries();
    result_.detections_real_s = driver_.detections_real_s();
    result_.pacing = driver_.time().summary();
    return std::move(result_);
}

json Session::configuration(Worker) {
    json config{{"training", to_json(options_.training)},
                {"port", rendezvous_.port()},
                {"checkpoints", options_.checkpoints.string()}};
    if (options_.pacing) config["modelling"] = to_json(options_.pacing->modelling);
    return config;
}

void Session::decide(const Event& event) {
    for (const auto& action : controller_.on(event, now())) {
        if (driver_.ending()) return;  // time was up at the commit: what would follow is not begun
        std::visit([this](const auto& a) { act(a); }, action);
    }
}

// ---- the end -----------------------------------------------------------------------------------

void Session::idle() {
    result_.gave_up = true;
    act(Stop{false, "too few workers are left to hold every expert, and none will join"});
}

// By the clock. Training goes on until a step ends after that time, which it has not reached yet
// where real work is late (act(Commit)); nobody to train ends it at once.
void Session::time_is_up() {
    time_is_up_ = true;
    if (waits()) end_of_time();
}

void Session::end_of_time() {
    driver_.end();
    result_.ok = true;
    result_.why = "time is up";
}

// Asks those that trained the last step for what they hold, then dismisses everyone.
void Session::collect_digests() {
    std::vector<Worker> asked;
    if (result_.ok && !controller_->lineage().empty() && !waits())
        asked = controller_->lineage().back().training;
    std::erase_if(asked, [this](Worker w) { return !driver_.alive(w); });
    driver_.send(asked, {{"type", "finish"}});
    const bool heard = driver_.hear_until(options_.operation_timeout_s, [&] {
        return std::none_of(asked.begin(), asked.end(), [this](Worker w) {
            return driver_.alive(w) && !result_.digests.contains(w);
        });
    });
    if (!heard)
        throw SampleError(SampleStatus::invalid, "a worker did not say what it holds at the end");
    driver_.send(driver_.alive(), {{"type", "dismiss"}});
}

}  // namespace assay::lazarus
