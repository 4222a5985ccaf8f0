// A live training from its first worker to its last.
#include "impls/lazarus/live/driver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"

namespace assay::lazarus {

using cluster::Seconds;
using nlohmann::json;

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

Session::Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
                 Recorder& recorder)
    : options_(options),
      recorder_(recorder),
      supervisor_(std::move(launcher), options.supervisor),
      timers_(clock_, supervisor_),
      controller_(options.controller),
      retention_(options.checkpoints),
      faults_(
          options.faults, supervisor_, timers_, clock_,
          {.spawn = [this] { return spawn(); },
           .strikes = [this](const Fault& fault, Worker worker,
                             std::string_view means) { on_fault(fault, worker, means); },
           .pace = options.pacing ? [this](Worker worker,
                                           double factor) { pacing_->set_slowdown(worker, factor); }
                                  : std::function<void(Worker, double)>{}}) {
    if (options.pacing) pacing_.emplace(*options.pacing, clock_, timers_);
}

SessionResult Session::run() {
    for (int i = 0; i < options_.controller.initial_workers; ++i) spawn();
    while (!ending_) {
        if (const auto event = supervisor_.next(Seconds(1)))
            std::visit([this](const auto& e) { handle(e); }, *event);
        run_clock_again();
        end_if_nobody_can_come();
    }
    collect_digests();
    result_.counts = controller_.counts();
    result_.lineage = controller_.lineage();
    result_.faults_fired = faults_.fired();
    result_.recoveries = recoveries_.recoveries();
    if (pacing_) {
        result_.pacing = pacing_->summary();
        result_.pauses = pacing_->pauses();
    }
    return std::move(result_);
}

Worker Session::spawn() {
    // Ids are handed out in order; the worker's fault points are part of its configuration.
    const Worker expected = next_worker_++;
    json config{{"training", to_json(options_.training)},
                {"port", rendezvous_.port()},
                {"timeout_s", options_.operation_timeout_s},
                {"heartbeat_s", options_.supervisor.heartbeat_interval.count()},
                {"checkpoints", options_.checkpoints.string()},
                {"points", faults_.points_for(expected)}};
    if (pacing_) config["modelling"] = to_json(pacing_->options().modelling);
    const auto worker = supervisor_.spawn(config);
    if (worker != expected) throw std::logic_error("worker ids are not consecutive");
    return worker;
}

void Session::decide(const Event& event) {
    Actions actions;
    controller_.on(event, now(), actions);
    for (const auto& action : actions) {
        if (ending_) return;  // time was up at the commit: what would follow is not begun
        std::visit([this](const auto& a) { act(a); }, action);
    }
}

bool Session::is_member(Worker worker) const {
    return std::find(members_.begin(), members_.end(), worker) != members_.end();
}

// ---- the end -----------------------------------------------------------------------------------

// Nobody trains, and only newcomers could change that.
void Session::end_if_nobody_can_come() {
    if (ending_ || !controller_.short_of_workers()) return;
    if (time_is_up_) return end_of_time();
    if (pacing_ && !clock_.frozen()) pacing_->idle();
    const bool time_goes_on = pacing_ && pacing_->options().duration_s > 0;
    if (time_goes_on || faults_.expects_joins() || !unresolved_.empty()) return;
    result_.gave_up = true;
    act(Stop{false, "too few workers are left to hold every expert, and none will join"});
}

// By the clock. Training goes on until a step ends after that time, which it has not reached yet
// where real work is late (act(Commit)); nobody to train ends it at once.
void Session::time_is_up() {
    time_is_up_ = true;
    if (controller_.short_of_workers()) end_of_time();
}

void Session::end_of_time() {
    ending_ = true;
    result_.ok = true;
    result_.why = "time is up";
}

// Asks those that trained the last step for what they hold, then dismisses everyone.
void Session::collect_digests() {
    std::vector<Worker> asked;
    if (result_.ok && !controller_.lineage().empty() && !controller_.short_of_workers())
        asked = controller_.lineage().back().training;
    std::erase_if(asked, [this](Worker w) { return !supervisor_.alive(w); });
    supervisor_.send(asked, {{"type", "finish"}});
    const double deadline = cluster::monotonic_s() + options_.operation_timeout_s;
    const auto missing = [&] {
        return std::any_of(asked.begin(), asked.end(), [this](Worker w) {
            return supervisor_.alive(w) && !result_.digests.contains(w);
        });
    };
    while (missing() && cluster::monotonic_s() < deadline) {
        const auto event = supervisor_.next(Seconds(0.1));
        if (!event) continue;
        if (const auto* interrupted = std::get_if<cluster::Interrupted>(&*event))
            handle(*interrupted);
        if (const auto* death = std::get_if<cluster::WorkerDied>(&*event)) record_death(*death);
        if (const auto* message = std::get_if<cluster::WorkerMessage>(&*event))
            if (message->body.at("type") == "digests") handle(*message);
    }
    if (missing())
        throw SampleError(SampleStatus::invalid, "a worker did not say what it holds at the end");
    supervisor_.send(supervisor_.alive(), {{"type", "dismiss"}});
}

}  // namespace assay::lazarus
