#include "impls/lazarus/live/training_session.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "impls/lazarus/live/checkpoint_shelf.hpp"
#include "impls/lazarus/live/fault_driver.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/monotonic_clock.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::lazarus {
namespace {

using cluster::Seconds;
using nlohmann::json;

class Session {
  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder)
        : options_(options),
          recorder_(recorder),
          started_(clock_s()),
          supervisor_(std::move(launcher), options.supervisor),
          controller_(options.controller),
          shelf_(options.checkpoints),
          faults_(
              options.faults, supervisor_, [this] { return spawn(); },
              [this](const Fault& fault, Worker worker) { on_fault(fault, worker); }) {}

    SessionResult run() {
        for (int i = 0; i < options_.controller.initial_workers; ++i) spawn();
        while (!ending_) {
            if (const auto event = supervisor_.next(Seconds(1)))
                std::visit([this](const auto& e) { handle(e); }, *event);
        }
        collect_digests();
        result_.counts = controller_.counts();
        result_.lineage = controller_.lineage();
        result_.faults_fired = faults_.fired();
        result_.recoveries = recoveries_.recoveries();
        return std::move(result_);
    }

  private:
    double now() const { return clock_s() - started_; }

    Worker spawn() {
        // Ids are handed out in order; the worker's fault points are part of its configuration.
        const Worker expected = next_worker_++;
        const auto worker =
            supervisor_.spawn({{"training", to_json(options_.training)},
                               {"port", rendezvous_.port()},
                               {"timeout_s", options_.operation_timeout_s},
                               {"heartbeat_s", options_.supervisor.heartbeat_interval.count()},
                               {"checkpoints", options_.checkpoints.string()},
                               {"points", faults_.points_for(expected)}});
        if (worker != expected) throw std::logic_error("worker ids are not consecutive");
        return worker;
    }

    // ---- what happens --------------------------------------------------------------------------
    void handle(const cluster::Interrupted& interrupted) {
        throw SampleError(SampleStatus::interrupted, interrupted.why);
    }

    void handle(const cluster::TimerFired& timer) {
        if (faults_.on_timer(timer.id)) return;
        if (timer.id == suspicion_) return act_on_suspicion();
        const auto found = timers_.find(timer.id);
        if (found != timers_.end()) decide(Timer{found->second});
    }

    void handle(const cluster::WorkerDied& death) {
        record_death(death);
        if (dismissed_.contains(death.worker)) return;
        if (is_member(death.worker)) {
            // The supervisor's clock started a little later than ours.
            recoveries_.on_death(death.worker, death.detected_s + now() - supervisor_.now_s());
        }
        faults_.on_gone(death.worker);
        decide(Died{death.worker});
        release_held();
    }

    void record_death(const cluster::WorkerDied& death) {
        recorder_.event("death", now(), death.worker, {{"how", death.how}});
        if (!injected_.contains(death.worker) && !dismissed_.contains(death.worker))
            unexpected_death_ = fmt::format("worker {}: {}", death.worker, death.how);
    }

    void handle(const cluster::WorkerMessage& message) {
        const auto& body = message.body;
        const std::string type = body.at("type");
        if (type == "joined") {
            recorder_.event("join", now(), message.worker, json::object());
            if (message.worker >= options_.controller.initial_workers) ++result_.joins;
            faults_.on_joined(message.worker);
            decide(Joined{message.worker});
            release_held();
        } else if (type == "step_done") {
            if (body.at("loss").is_null()) {  // JSON has no NaN
                throw SampleError(
                    SampleStatus::invalid,
                    fmt::format("the loss of step {} is not finite", body.at("step").get<Step>()));
            }
            losses_[body.at("step")] = body.at("loss");
            held_.push_back(step_done_from(message.worker, body));
            release_held();
        } else if (type == "ready") {
            on_ready(message.worker, body);
        } else if (type == "broken") {
            on_broken(message.worker, body);
        } else if (type == "at_point") {
            faults_.on_point(message.worker, body.at("phase"), body.at("step"));
        } else if (type == "leave_requested") {
            recorder_.event("leave", now(), message.worker, json::object());
            faults_.on_leave_requested(message.worker);
            decide(LeaveRequested{message.worker});
            release_held();
        } else if (type == "checkpoint_written") {
            decide(CheckpointWritten{message.worker, body.at("step")});
            shelf_.written(body.at("step"), message.worker);
        } else if (type == "checkpoint_failed") {
            recorder_.event("checkpoint", now(), message.worker,
                            {{"step", body.at("step")}, {"failed", body.at("why")}});
        } else if (type == "checkpoint_unreadable") {
            act(Stop{false, body.at("why")});
        } else if (type == "digests") {
            result_.digests[message.worker] = digests_from(body);
        }
    }

    void release_held() {
        while (!held_.empty() && !faults_.holds_commit() && !ending_) {
            const auto done = std::move(held_.front());
            held_.pop_front();
            decide(done);
        }
    }

    void on_ready(Worker worker, const json& body) {
        if (body.at("blocks").get<long>() > 0) {
            recorder_.event("transfer", now(), worker,
                            {{"blocks", body.at("blocks")},
                             {"bytes", body.at("bytes")},
                             {"seconds", body.at("transfer_s")}});
        }
        decide(Ready{worker, body.at("epoch")});
    }

    void on_broken(Worker worker, const json& body) {
        const double t = body.at("clock_s").get<double>() - started_;
        const Epoch epoch = body.at("epoch");
        recorder_.event("detection", t, worker, {{"why", body.at("why")}});
        recoveries_.on_broken(epoch, t);
        if (epoch != epoch_) return;
        reporters_.push_back(worker);
        broken_why_ = body.at("why");
        if (!suspicion_) {
            suspicion_ =
                supervisor_.start_timer(options_.supervisor.heartbeat_timeout + Seconds(2));
        }
    }

    // A group broke and yet nobody died: somebody is stuck, or a connection failed. The members
    // cannot mend that among themselves; one has to go as if it had died. Rather one that did not
    // notice, for it may be the one that is stuck.
    void act_on_suspicion() {
        suspicion_.reset();
        if (!training_started_) {
            return act(
                Stop{false, fmt::format("the workers cannot form a group on 127.0.0.1 ({}); is the "
                                        "loopback interface up, and are there free ports?",
                                        broken_why_)});
        }
        const auto silent = std::find_if(members_.begin(), members_.end(), [this](Worker w) {
            return supervisor_.alive(w) &&
                   std::find(reporters_.begin(), reporters_.end(), w) == reporters_.end();
        });
        const Worker suspect = silent != members_.end() ? *silent : reporters_.front();
        recorder_.event("fault", now(), suspect,
                        {{"kind", "evicted"}, {"why", "its group broke though nobody died"}});
        supervisor_.kill(suspect);
    }

    void calm_down() {
        if (suspicion_) supervisor_.cancel_timer(*suspicion_);
        suspicion_.reset();
        reporters_.clear();
    }

    void on_fault(const Fault& fault, Worker worker) {
        recorder_.event("fault", now(), worker,
                        {{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}});
        if (fault.kind != FaultKind::kill && fault.kind != FaultKind::hang) return;
        injected_.insert(worker);
        recoveries_.on_fault(worker, now());
    }

    bool is_member(Worker worker) const {
        return std::find(members_.begin(), members_.end(), worker) != members_.end();
    }

    // ---- what is done about it -----------------------------------------------------------------
    void decide(const Event& event) {
        Actions actions;
        controller_.on(event, now(), actions);
        for (const auto& action : actions) std::visit([this](const auto& a) { act(a); }, action);
    }

    void act(const Reconfigure& plan) {
        calm_down();
        members_ = plan.members;
        epoch_ = plan.epoch;
        epoch_started_ = now();
        why_ = plan.why;
        recoveries_.on_plan(plan.epoch);
        if (plan.restore_step && plan.epoch > 1)
            recorder_.event("restart", now(), -1,
                            {{"step", *plan.restore_step}, {"why", plan.why}});
        faults_.on_members(members_);
        supervisor_.send(plan.members, to_message(plan));
    }

    void act(const Go& go) {
        if (!training_started_) {
            training_started_ = true;
            result_.first_go_s = now();
            faults_.training_started();
        }
        if (epoch_started_) {
            recorder_.event("regroup", now(), -1,
                            {{"epoch", go.epoch},
                             {"why", why_},
                             {"members", members_.size()},
                             {"seconds", now() - *epoch_started_}});
            epoch_started_.reset();
            recoveries_.on_go(now());
        }
        std::erase_if(members_, [this](Worker w) { return dismissed_.contains(w); });
        faults_.on_members(members_);
        faults_.on_go(go.step);
        supervisor_.send(members_, to_message(go));
    }

    void act(const Commit& commit) {
        supervisor_.send(members_, to_message(commit));
        // A step undone by a fallback and trained again overwrites its first try.
        const auto step = static_cast<std::size_t>(commit.step);
        result_.losses.resize(step + 1);
        result_.commit_s.resize(step + 1);
        result_.losses[step] = losses_[commit.step];
        result_.commit_s[step] = now();
        recorder_.progress(
            static_cast<double>(step + 1) / static_cast<double>(options_.controller.steps),
            "step " + std::to_string(step + 1) + ", " + std::to_string(members_.size()) +
                " workers");
    }

    void act(const WriteCheckpoint& checkpoint) {
        recorder_.event("checkpoint", now(), -1, {{"step", checkpoint.step}});
        std::set<Worker> writers;
        for (Worker worker : members_) {
            const auto message = to_message(checkpoint, worker);
            if (message.at("blocks").empty()) continue;
            supervisor_.send(worker, message);
            writers.insert(worker);
        }
        shelf_.ordered(checkpoint.step, std::move(writers));
    }

    void act(const Abort& abort) { supervisor_.send(members_, to_message(abort)); }

    void act(const Dismiss& dismiss) {
        dismissed_.insert(dismiss.worker);
        faults_.on_gone(dismiss.worker);
        supervisor_.send(dismiss.worker, {{"type", "dismiss"}});
    }

    void act(const StartTimer& timer) {
        timers_[supervisor_.start_timer(Seconds(timer.after_s))] = timer.id;
    }

    void act(const Stop& stop) {
        ending_ = true;
        result_.ok = stop.ok;
        result_.why = stop.why;
        if (!stop.ok && !unexpected_death_.empty())
            result_.why += fmt::format(" (nobody asked for the end of {})", unexpected_death_);
    }

    // Asks those that trained the last step for what they hold, then sends everyone home.
    void collect_digests() {
        std::vector<Worker> asked;
        if (result_.ok && !controller_.lineage().empty())
            asked = controller_.lineage().back().training;
        std::erase_if(asked, [this](Worker w) { return !supervisor_.alive(w); });
        supervisor_.send(asked, {{"type", "finish"}});
        const double deadline = now() + options_.operation_timeout_s;
        const auto missing = [&] {
            return std::any_of(asked.begin(), asked.end(), [this](Worker w) {
                return supervisor_.alive(w) && !result_.digests.contains(w);
            });
        };
        while (missing() && now() < deadline) {
            const auto event = supervisor_.next(Seconds(0.1));
            if (!event) continue;
            if (const auto* interrupted = std::get_if<cluster::Interrupted>(&*event))
                handle(*interrupted);
            if (const auto* death = std::get_if<cluster::WorkerDied>(&*event)) record_death(*death);
            if (const auto* message = std::get_if<cluster::WorkerMessage>(&*event))
                if (message->body.at("type") == "digests") handle(*message);
        }
        if (missing())
            throw SampleError(SampleStatus::invalid,
                              "a worker did not say what it holds at the end");
        supervisor_.send(supervisor_.alive(), {{"type", "dismiss"}});
    }

    const SessionOptions& options_;
    Recorder& recorder_;
    double started_;
    cluster::RendezvousServer rendezvous_;
    cluster::Supervisor supervisor_;
    Controller controller_;
    CheckpointShelf shelf_;
    RecoveryLog recoveries_;
    FaultDriver faults_;
    Worker next_worker_ = 0;
    Epoch epoch_ = 0;

    std::vector<Worker> members_;  // of the current epoch, in rank order
    std::set<Worker> dismissed_;
    std::map<std::uint64_t, std::uint64_t> timers_;  // supervisor's timer → controller's
    std::deque<StepDone> held_;                      // while FaultDriver::holds_commit()
    std::map<Step, double> losses_;
    std::set<Worker> injected_;  // those whose end was asked for
    std::string unexpected_death_;
    std::optional<double> epoch_started_;
    std::string why_;
    std::optional<std::uint64_t> suspicion_;  // timer: a group broke, no death has explained it yet
    std::string broken_why_;
    std::vector<Worker> reporters_;  // members whose group of this epoch broke
    bool training_started_ = false;
    bool ending_ = false;
    SessionResult result_;
};

}  // namespace

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

}  // namespace assay::lazarus
