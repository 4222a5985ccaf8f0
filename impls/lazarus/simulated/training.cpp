#include "impls/lazarus/simulated/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/cost/step_timeline.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/event_queue.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;

class Simulation {
  public:
    Simulation(const ModelledTraining& training, Recorder& recorder)
        : training_(training),
          recorder_(recorder),
          costs_(cluster_profile(training.modelling.cluster)),
          routing_(training.routing),
          controller_(true, training.controller) {
        for (const Fault& fault : training.faults.faults) require_supported(fault);
    }

    SimulatedCourse run() {
        for (int i = 0; i < training_.controller.initial_workers; ++i) arrive();
        const double end_s = training_.duration_s;
        if (end_s > 0) time_.at(end_s, [this] { time_is_up(); });
        for (const Fault& fault : training_.faults.faults)
            time_.at(*fault.t_s, [this, &fault] { strike(fault); });
        while (!ended_ && time_.next()) {
        }
        if (!ended_)
            end(false, "too few workers are left to hold every expert, and none will join");
        course_.counts = controller_->counts();
        course_.lineage = controller_->lineage();
        course_.decisions = controller_.decisions();
        return std::move(course_);
    }

  private:
    struct Node {
        bool alive = true;
        double busy_until_s = 0;  ///< writing a checkpoint
        double slowdown = 1;
    };

    static void require_supported(const Fault& fault) {
        const bool known = fault.kind == FaultKind::kill || fault.kind == FaultKind::stop ||
                           fault.kind == FaultKind::join || fault.kind == FaultKind::slow;
        if (known && fault.t_s) return;
        throw NotSupportedHere(
            fmt::format("the fault {} cannot be simulated: kill, stop, join and slow at a time "
                        "(@t=SECONDS) can; others need processes (--mode emulated)",
                        to_string(fault)));
    }

    // ---- nodes come and go -------------------------------------------------------------------

    // Those who come at one moment are told of together.
    void arrive() {
        const Worker worker = static_cast<Worker>(nodes_.size());
        nodes_.emplace_back();
        recorder_.event("join", time_.now(), worker, json::object());
        arrived_.push_back(worker);
        if (arrived_.size() == 1) time_.after(0, [this] { announce(); });
    }

    void announce() {
        const auto arrived = std::exchange(arrived_, {});
        for (const Worker& worker : arrived) decide(Joined{worker, &worker != &arrived.back()});
    }

    void strike(const Fault& fault) {
        if (fault.kind == FaultKind::join) {
            for (int i = 0; i < fault.count; ++i) {
                struck(fault, static_cast<Worker>(nodes_.size()));
                arrive();
            }
            return;
        }
        const Worker target = *fault.rank;
        if (!is_alive(target)) return;
        struck(fault, target);
        if (fault.kind == FaultKind::kill) return kill(target);
        if (fault.kind == FaultKind::stop) {
            recorder_.event("leave", time_.now(), target, json::object());
            return decide(LeaveRequested{target});
        }
        nodes_[at(target)].slowdown = fault.factor;
        if (fault.for_s)
            time_.after(*fault.for_s, [this, target] { nodes_[at(target)].slowdown = 1; });
    }

    void struck(const Fault& fault, Worker worker) {
        recorder_.event("fault", time_.now(), worker,
                        {{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}});
    }

    void kill(Worker worker) {
        nodes_[at(worker)].alive = false;
        const bool member = is_member(worker);
        const double detect_s = member ? costs_.cluster().detect_s.value : 0;
        time_.after(detect_s, [this, worker, member, killed_s = time_.now()] {
            recorder_.event("death", time_.now(), worker, {{"how", "killed"}});
            if (member) loss_s_ = std::min(killed_s, loss_s_.value_or(killed_s));
            decide(Died{worker});
        });
    }

    bool is_alive(Worker worker) const {
        return at(worker) < nodes_.size() && nodes_[at(worker)].alive;
    }
    bool is_member(Worker worker) const {
        return std::find(plan_.members.begin(), plan_.members.end(), worker) != plan_.members.end();
    }
    bool all_alive(const std::vector<Worker>& workers) const {
        return std::all_of(workers.begin(), workers.end(),
                           [this](Worker w) { return is_alive(w); });
    }
    /// When all of them have written what they were told to write.
    double free_s(const std::vector<Worker>& workers) const {
        double free = time_.now();
        for (Worker worker : workers) free = std::max(free, nodes_[at(worker)].busy_until_s);
        return free;
    }

    // ---- what the controller asks for ----------------------------------------------------------

    void decide(const Event& event) {
        if (ended_) return;
        for (const auto& action : controller_.on(event, time_.now())) {
            if (ended_) return;  // time was up at the commit: what would follow is not begun
            std::visit([this](const auto& one) { act(one); }, action);
        }
        if (!controller_->short_of_workers()) return;
        // Until nodes come it waits: that is neither a restart nor a reconfiguration.
        after_death_ = after_death_ || loss_s_.has_value();
        pause_ends(loss_s_.value_or(time_.now()));
        loss_s_.reset();
        if (time_is_up_) end(true, "time is up");
    }

    void act(const Reconfigure& plan) {
        stop_waiting();
        after_death_ = after_death_ || loss_s_.has_value();
        // What is written first counts as checkpoint.
        const double since = loss_s_.value_or(free_s(plan.members));
        loss_s_.reset();
        // Several who died together are told of one by one, at one moment: that is one pause.
        if (!pausing_since_ || planned_s_ != time_.now()) {
            pause_ends(since);
            pausing_since_ = std::max(since, last_end_s_);
        }
        planned_s_ = time_.now();
        plan_ = plan;
        // The death, if there was one, is known by now.
        const auto cost = plan.epoch == 1 ? ReconfigurationCost{}
                                          : reconfiguration_cost(costs_, training_.modelling, plan,
                                                                 false, training_.relaunch_s);
        forming_ = time_.at(free_s(plan.members) + cost.total(), [this] { formed(); });
    }

    // A group that misses somebody waits until the controller hears of it.
    void formed() {
        forming_.reset();
        if (!all_alive(plan_.members)) return;
        const Epoch epoch = plan_.epoch;
        const auto members = plan_.members;
        for (Worker worker : members)
            if (plan_.epoch == epoch) decide(Ready{worker, epoch});
    }

    void act(const Go& go) {
        if (pausing_since_) {
            const bool restart = plan_.restore_step.has_value() && plan_.epoch > 1;
            const RestartReason reason = controller_->restart_reason();
            if (restart && after_death_ && reason != RestartReason::planned)
                course_.restarts.push_back(*pausing_since_);
            json detail{{"epoch", go.epoch},
                        {"step", go.step},
                        {"why", plan_.why},
                        {"members", plan_.members.size()},
                        {"seconds", time_.now() - *pausing_since_}};
            if (restart) detail["reason"] = to_string(reason);
            recorder_.event(restart ? "restart" : "regroup", *pausing_since_, -1, detail);
            pause_ends(time_.now());
            after_death_ = false;
            course_.workers.emplace_back(time_.now(), static_cast<int>(plan_.training.size()));
        }
        const double start = free_s(plan_.training);
        const double end = start + step_seconds(go.step);
        running_ = time_.at(end, [this, go, start, end] { computed(go, start, end); });
    }

    double step_seconds(Step step) {
        std::vector<double> slowdowns;
        for (Worker worker : plan_.training) slowdowns.push_back(nodes_[at(worker)].slowdown);
        StepTimeline timeline(costs_, training_.modelling,
                              {plan_.training, std::move(slowdowns), plan_.holders});
        const StepRouting routing = routing_.at(step);
        const int ranks = static_cast<int>(plan_.training.size());
        loads_.clear();
        for (int layer = 0; layer < training_.controller.layers; ++layer) {
            const auto tokens = routing.counts(
                layer, ranks, static_cast<std::int64_t>(training_.modelling.real_tokens));
            timeline.counted(layer, tokens);
            auto& loads = loads_.emplace_back(at(training_.controller.experts), 0);
            for (std::size_t i = 0; i < tokens.size(); ++i) loads[i / at(ranks)] += tokens[i];
        }
        return timeline.total();
    }

    // Sums need everybody: a step that has lost somebody never ends.
    void computed(const Go& go, double start_s, double end_s) {
        running_.reset();
        if (!all_alive(plan_.training)) return;
        step_start_s_ = start_s;
        step_end_s_ = end_s;
        const auto training = plan_.training;
        for (Worker worker : training)
            if (plan_.epoch == go.epoch) decide(StepDone{worker, go.epoch, go.step, loads_});
    }

    void act(const Commit& commit) {
        last_end_s_ = step_end_s_;
        course_.steps.push_back(
            {commit.step, step_start_s_, step_end_s_, static_cast<int>(plan_.training.size()), 0});
        if (training_.duration_s > 0)
            recorder_.progress(std::min(1.0, last_end_s_ / training_.duration_s),
                               fmt::format("step {}, simulated", commit.step + 1));
        if (time_is_up_) end(true, "time is up");
    }

    void act(const WriteCheckpoint& checkpoint) {
        recorder_.event("checkpoint", time_.now(), -1, {{"step", checkpoint.step}});
        const double until = time_.now() + checkpoint_cost(costs_, training_.modelling);
        course_.pauses.add(Pause::checkpoint, time_.now(), until);
        std::set<Worker> writers{checkpoint.dense_owner};
        for (const auto& layer : checkpoint.owners) writers.insert(layer.begin(), layer.end());
        for (Worker worker : plan_.members) nodes_[at(worker)].busy_until_s = until;
        time_.at(until, [this, writers, step = checkpoint.step] {
            for (Worker worker : writers)
                if (is_alive(worker)) decide(CheckpointWritten{worker, step});
        });
    }

    void act(const Abort&) { stop_waiting(); }
    void act(const Evict& evict) { kill(evict.worker); }
    void act(const Dismiss& dismiss) { nodes_[at(dismiss.worker)].alive = false; }
    void act(const StartTimer& timer) {
        time_.after(timer.after_s, [this, id = timer.id] { decide(Timer{id}); });
    }
    void act(const Stop& stop) { end(stop.ok, stop.why); }

    // ---- the end -------------------------------------------------------------------------------

    // The step under way is still finished.
    void time_is_up() {
        time_is_up_ = true;
        if (controller_->short_of_workers()) end(true, "time is up");
    }

    void end(bool ok, std::string why) {
        ended_ = true;
        course_.ok = ok;
        course_.why = std::move(why);
        course_.gave_up = !ok;
        pause_ends(time_.now());
    }

    // The step that ran, or the group that formed, will not come to its end.
    void stop_waiting() {
        for (auto* waiting : {&running_, &forming_}) {
            if (*waiting) time_.cancel(**waiting);
            waiting->reset();
        }
    }

    void pause_ends(double t_s) {
        if (pausing_since_) {
            const auto kind = plan_.restore_step ? Pause::restart : Pause::reconfiguration;
            course_.pauses.end_at(std::max(*pausing_since_, last_end_s_));
            course_.pauses.add(kind, *pausing_since_, t_s);
        }
        pausing_since_.reset();
    }

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    const ModelledTraining& training_;
    Recorder& recorder_;
    CostModel costs_;
    RoutingReplay routing_;
    drive::EventQueue time_;
    drive::RecordedPolicy<Controller> controller_;

    std::vector<Node> nodes_;  // by worker
    std::vector<Worker> arrived_;
    Reconfigure plan_;  // in force, or being formed
    std::vector<Loads> loads_;
    std::optional<drive::EventQueue::Id> running_, forming_;
    std::optional<double> loss_s_;         // when the member was killed whose end is being told
    std::optional<double> pausing_since_;  // while a group forms
    double planned_s_ = -1;                // when the plan in force was made
    bool after_death_ = false;
    double step_start_s_ = 0, step_end_s_ = 0, last_end_s_ = 0;
    bool time_is_up_ = false, ended_ = false;
    SimulatedCourse course_;
};

}  // namespace

SimulatedCourse simulate_training(const ModelledTraining& training, Recorder& recorder) {
    return Simulation(training, recorder).run();
}

}  // namespace assay::lazarus
