#include "impls/lazarus/simulated/course_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "impls/lazarus/simulated/training.hpp"

namespace assay::lazarus {

using nlohmann::json;

CourseKeeper::CourseKeeper(SimulatedCluster& cluster, Recorder& recorder, const CourseEnd& end)
    : cluster_(cluster), recorder_(recorder), end_(end) {}

// ---- who comes and goes -------------------------------------------------------------------------

void CourseKeeper::spawned(Worker worker) {
    recorder_.event("join", cluster_.now(), worker, json::object());
}

void CourseKeeper::struck(const Fault& fault, Worker worker) {
    recorder_.event("fault", cluster_.now(), worker,
                    {{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}});
    if (fault.kind == FaultKind::stop)
        recorder_.event("leave", cluster_.now(), worker, json::object());
}

void CourseKeeper::before(const Event& event) {
    if (const auto* died = std::get_if<Died>(&event)) return on(*died);
    if (const auto* done = std::get_if<StepDone>(&event)) {
        if (done->epoch == plan_.epoch) step_end_s_ = cluster_.now();
    } else if (const auto* failed = std::get_if<StepFailed>(&event)) {
        recorder_.event("retry", cluster_.now(), failed->worker, {{"why", failed->why}});
    } else if (const auto* broken = std::get_if<GroupBroken>(&event)) {
        recorder_.event("detection", cluster_.now(), broken->suspect, {{"why", broken->why}});
    }
}

void CourseKeeper::on(const Died& died) {
    if (dismissed_.contains(died.worker)) return;
    const auto& loss = cluster_.loss_of(died.worker);
    recorder_.event("death", cluster_.now(), died.worker, {{"how", loss.how}});
    if (loss.member) loss_s_ = std::min(loss.since_s, loss_s_.value_or(loss.since_s));
}

// ---- what the controller asks for ---------------------------------------------------------------

void CourseKeeper::after(const Action& action, const Controller& controller) {
    if (const auto* plan = std::get_if<Reconfigure>(&action)) return on(*plan);
    if (const auto* go = std::get_if<Go>(&action)) return on(*go, controller);
    if (const auto* commit = std::get_if<Commit>(&action)) return on(*commit);
    if (const auto* checkpoint = std::get_if<WriteCheckpoint>(&action)) return on(*checkpoint);
    if (const auto* dismiss = std::get_if<Dismiss>(&action)) {
        dismissed_.insert(dismiss->worker);
    } else if (const auto* evict = std::get_if<Evict>(&action)) {
        recorder_.event("evict", cluster_.now(), evict->worker, {{"why", evict->why}});
    } else if (const auto* stop = std::get_if<Stop>(&action)) {
        end(stop->ok, stop->why);
    }
}

void CourseKeeper::on(const Reconfigure& plan) {
    after_death_ = after_death_ || loss_s_.has_value();
    // What is written first counts as checkpoint.
    const double since = loss_s_.value_or(free_s(plan.members));
    loss_s_.reset();
    // Several who died together are told of one by one, at one moment: that is one pause.
    if (!pausing_since_ || planned_s_ != cluster_.now()) {
        pause_ends(since);
        pausing_since_ = std::max(since, last_end_s_);
    }
    planned_s_ = cluster_.now();
    plan_ = plan;
}

void CourseKeeper::on(const Go& go, const Controller& controller) {
    const double now = cluster_.now();
    if (pausing_since_) {
        record_group({.epoch = go.epoch,
                      .step = go.step,
                      .restored = plan_.restore_step.has_value(),
                      .after_death = after_death_,
                      .reason = controller.restart_reason(),
                      .why = plan_.why,
                      .members = plan_.members.size(),
                      .training = static_cast<int>(plan_.training.size()),
                      .since_s = *pausing_since_,
                      .ready_s = now},
                     course_, recorder_);
        pause_ends(now);
        after_death_ = false;
    }
    step_start_s_ = free_s(plan_.training);
}

void CourseKeeper::on(const Commit& commit) {
    last_end_s_ = step_end_s_;
    course_.steps.push_back({.step = commit.step,
                             .start_s = step_start_s_,
                             .end_s = step_end_s_,
                             .workers = static_cast<int>(plan_.training.size()),
                             .loss = 0});
    work_.resize(static_cast<std::size_t>(commit.step) + 1);
    work_.push_back(work_.back() + static_cast<long>(plan_.training.size()));
    double done = 0;
    if (end_.duration_s > 0) done = last_end_s_ / end_.duration_s;
    if (end_.work > 0) done = std::max(done, double(work_.back()) / double(end_.work));
    if (done > 0)
        recorder_.progress(std::min(1.0, done), fmt::format("step {}, simulated", commit.step + 1));
    if (end_.work > 0 && work_.back() >= end_.work) return end(true, all_is_trained);
    if (time_is_up_) end(true, "time is up");
}

void CourseKeeper::on(const WriteCheckpoint& checkpoint) {
    const double now = cluster_.now(), until = now + end_.checkpoint_s;
    recorder_.event("checkpoint", now, -1, {{"step", checkpoint.step}});
    course_.pauses.add(Pause::checkpoint, now, until);
    writing_until_s_ = {{checkpoint.dense_owner, until}};
    for (const auto& layer : checkpoint.owners)
        for (Worker writer : layer) writing_until_s_[writer] = until;
}

void CourseKeeper::decided(const Controller& controller) {
    if (!controller.short_of_workers()) return;
    // Until nodes come it waits: that is neither a restart nor a reconfiguration.
    after_death_ = after_death_ || loss_s_.has_value();
    pause_ends(loss_s_.value_or(cluster_.now()));
    loss_s_.reset();
    if (time_is_up_) end(true, "time is up");
}

// ---- pauses and the end -------------------------------------------------------------------------

/// When all of them have written what they were told to write.
double CourseKeeper::free_s(const std::vector<Worker>& workers) const {
    double free = cluster_.now();
    for (Worker worker : workers) {
        const auto writing = writing_until_s_.find(worker);
        if (writing != writing_until_s_.end()) free = std::max(free, writing->second);
    }
    return free;
}

void CourseKeeper::pause_ends(double t_s) {
    if (pausing_since_) {
        const auto kind = plan_.restore_step ? Pause::restart : Pause::reconfiguration;
        course_.pauses.end_at(std::max(*pausing_since_, last_end_s_));
        course_.pauses.add(kind, *pausing_since_, t_s);
    }
    pausing_since_.reset();
}

void CourseKeeper::time_is_up() {
    time_is_up_ = true;
    if (cluster_.controller().short_of_workers()) end(true, "time is up");
}

void CourseKeeper::end(bool ok, std::string why) {
    if (cluster_.ended()) return;
    cluster_.end();
    course_.ok = ok;
    course_.why = std::move(why);
    course_.gave_up = !ok;
    pause_ends(cluster_.now());
}

}  // namespace assay::lazarus
