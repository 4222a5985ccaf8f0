// The driver of a simulated cluster: what it tells the controller, what it does for it, and who
// comes and goes.
#include "impls/lazarus/simulated/cluster.hpp"

#include <algorithm>
#include <utility>

namespace assay::lazarus {

using drive::Suspicion;

SimulatedCluster::SimulatedCluster(const ControllerConfig& job, drive::VirtualTime& time,
                                   Durations& durations, bool keep_decisions)
    : durations_(durations),
      world_(time, *this),
      controller_(keep_decisions, job),
      suspicion_(durations.patience()),
      group_(std::make_shared<EpochGroup>(Reconfigure{})) {}

SimulatedCluster::Node::Node(Worker id, SimulatedCluster& cluster)
    : member(id, cluster),
      worker(id, cluster.world_, cluster,
             [this](drive::Worker& me) {
                 return elastic::member(me, member, {.regroup = regroup_point, .move = {}}, member);
             },
             {}) {}

void SimulatedCluster::complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
}

// ---- who comes and goes -------------------------------------------------------------------------

Worker SimulatedCluster::spawn() {
    const Worker id = world_.add();
    nodes_.emplace_back(id, *this).worker.begin();
    observer_->spawned(id);
    world_.after(id, durations_.starting(id), [this, id] {
        trouble_->reached(Moment::before_joining, id);
        if (is_there(id)) world_.to_policy(id, [this, id] { joined(id); });
    });
    return id;
}

// Those who come at one moment are told of together.
void SimulatedCluster::joined(Worker id) {
    joined_.push_back(id);
    if (joined_.size() == 1) time().after(0, [this] { announce(); });
}

void SimulatedCluster::announce() {
    const auto joined = std::exchange(joined_, {});
    for (const Worker& worker : joined) decide(Joined{worker, &worker != &joined.back()});
}

void SimulatedCluster::leave(Worker id) {
    world_.after(id, 0, [this, id] { report(id, LeaveRequested{id}); });
}

void SimulatedCluster::kill(Worker id) {
    if (is_there(id)) end_process(id, "killed", trouble_->silences(id));
}

// By the driver, which knows at once.
void SimulatedCluster::end_by_driver(Worker id, const char* how) {
    if (!is_there(id)) return;
    ended_by_driver_.insert(id);
    end_process(id, how, trouble_->silences(id));
}

void SimulatedCluster::end_process(Worker id, const char* how, bool silenced) {
    if (!is_there(id)) return;
    // Who is frozen was lost then.
    auto& loss = losses_.insert({id, {.since_s = now(), .member = is_member(id)}}).first->second;
    loss.how = how;
    const auto& training = plan().training;
    if (std::binary_search(training.begin(), training.end(), id)) group_->broken = true;
    world_.kill(
        id, [this, id] { died(id); }, silenced);
}

void SimulatedCluster::hang(Worker id, double for_s) {
    if (!is_there(id)) return;
    losses_.insert({id, {.since_s = now(), .member = is_member(id)}});
    const double from_s = now();
    world_.freeze(id, from_s + for_s, [this, id] {
        losses_.erase(id);
        at(id).worker.woken();
    });
    time().after(durations_.silence(), [this, id, from_s] {
        const auto loss = losses_.find(id);
        if (loss != losses_.end() && loss->second.since_s <= from_s && !is_awake(id))
            end_by_driver(id, "silent");
    });
}

double SimulatedCluster::detection(drive::WorkerId id) {
    if (ended_by_driver_.contains(id)) return durations_.eviction(id);
    return durations_.detection(id, losses_.at(id).member);
}

void SimulatedCluster::died(Worker id) {
    suspect(drive::Died{id});
    decide(Died{id});
}

// ---- what the controller is told ----------------------------------------------------------------

void SimulatedCluster::report(Worker id, Event event) {
    world_.to_policy(id, [this, event = std::move(event)] { decide(event); });
}

void SimulatedCluster::report_broken(Suspicion::GroupBroke broke) {
    const Worker id = broke.reporter;
    world_.to_policy(id, [this, broke = std::move(broke)] { suspect(broke); });
}

void SimulatedCluster::suspect(const Suspicion::Event& event) {
    std::vector<Suspicion::Action> actions;
    suspicion_.on(event, now(), actions);
    for (const Suspicion::Action& action : actions) {
        if (const auto* timer = std::get_if<StartTimer>(&action)) {
            time().after(timer->after_s, [this, id = timer->id] { suspect(Timer{id}); });
        } else {
            blame(std::get<Suspicion::Blame>(action));
        }
    }
}

void SimulatedCluster::blame(const Suspicion::Blame& blame) {
    decide(GroupBroken{blame.epoch, blame.suspect, cause_of(blame), blame.why});
}

void SimulatedCluster::decide(Event event) {
    if (ended_) return;
    observer_->before(event);
    // The controller has finished with the event; what its actions refer to is its present state.
    for (const Action& action : controller_.on(std::move(event), now())) {
        observer_->after(action, *controller_);
        if (ended_) return;
        std::visit([this](const auto& one) { act(one); }, action);
    }
    observer_->decided(*controller_);
}

// ---- what the controller asks for ---------------------------------------------------------------

void SimulatedCluster::send(Worker id, const drive::AnyMessage& message) {
    world_.to_worker(id, [this, id, message] { at(id).worker.deliver(message); });
}

void SimulatedCluster::act(const Reconfigure& plan) {
    group_ = std::make_shared<EpochGroup>(plan);
    durations_.planned(plan, controller().history().loads_of_plan());
    suspect(Suspicion::GroupForms{plan.epoch, plan.members});
    const drive::AnyMessage announced = Announced{group_};
    for (Worker id : plan.members) send(id, announced);
}

void SimulatedCluster::act(const Go& go) {
    if (!std::exchange(begun_, true)) trouble_->begins();
    const drive::AnyMessage message = go;
    for (Worker id : plan().training) send(id, message);
}

void SimulatedCluster::act(const Commit& commit) {
    const drive::AnyMessage message = commit;
    for (Worker id : plan().training) send(id, message);
}

void SimulatedCluster::act(const WriteCheckpoint& checkpoint) {
    auto order = std::make_shared<CheckpointOrder>();
    order->step = checkpoint.step;
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer) {
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert)
            order->parts[checkpoint.owners[layer][expert]].push_back(
                ExpertId{static_cast<int>(layer), static_cast<int>(expert)});
    }
    order->parts[checkpoint.dense_owner].push_back(std::nullopt);
    orders_[checkpoint.step] = order;
    torn_.erase(checkpoint.step);
    const drive::AnyMessage message = Ordered{order};
    for (const auto& [id, parts] : order->parts) send(id, message);
}

void SimulatedCluster::act(const Abort& abort) {
    for (Worker id : plan().members) send(id, abort);
}

void SimulatedCluster::act(const Dismiss& dismiss) {
    suspect(Suspicion::Left{dismiss.worker});
    world_.to_worker(dismiss.worker, [this, id = dismiss.worker] { at(id).worker.dismiss(); });
}

void SimulatedCluster::act(const Evict& evict) { end_by_driver(evict.worker, "evicted"); }

void SimulatedCluster::act(const StartTimer& timer) {
    time().after(timer.after_s, [this, id = timer.id] { decide(Timer{id}); });
}

void SimulatedCluster::act(const Stop& stop) {
    for (Worker id = 0; id < size(); ++id) send(id, stop);
}

}  // namespace assay::lazarus
