#include "suite/drive/simulated/world.hpp"

#include <algorithm>
#include <utility>

namespace assay::drive {

WorkerId SimulatedWorld::add() {
    workers_.emplace_back();
    return static_cast<WorkerId>(workers_.size()) - 1;
}

// ---- channels -----------------------------------------------------------------------------------

void SimulatedWorld::to_worker(WorkerId id, Callback arrives) {
    double& last = worker(id).last_to_s;
    last = std::max(last, now() + latencies_.message(id));
    time_.at(last, [this, id, arrives = std::move(arrives)]() mutable {
        if (!alive(id)) return;
        auto& waiting = worker(id).waiting;
        // At the very moment of its waking it still has to read what came before.
        if (awake(id) && waiting.empty()) return arrives();
        waiting.push_back(std::move(arrives));
    });
}

void SimulatedWorld::to_policy(WorkerId id, Callback arrives) {
    double& last = worker(id).last_from_s;
    last = std::max(last, now() + latencies_.message(id));
    time_.at(last, [this, id, arrives = std::move(arrives)] {
        if (!worker(id).silenced) arrives();
    });
}

// ---- what a worker does -------------------------------------------------------------------------

void SimulatedWorld::after(WorkerId id, double seconds, Callback then) {
    const Worker& one = worker(id);
    const double begins = std::max(now(), one.frozen_until_s);
    if (begins == forever) return;
    at(id, begins + seconds, one.frozen_s, std::move(then));
}

void SimulatedWorld::at(WorkerId id, double due_s, double frozen_before_s, Callback then) {
    time_.at(due_s, [this, id, due_s, frozen_before_s, then = std::move(then)]() mutable {
        const Worker& one = worker(id);
        if (!one.alive || one.frozen_until_s == forever) return;
        const double frozen = one.frozen_s - frozen_before_s;
        if (frozen <= 0) return then();
        at(id, due_s + frozen, one.frozen_s, std::move(then));
    });
}

// ---- freezing and dying -------------------------------------------------------------------------

void SimulatedWorld::freeze(WorkerId id, double until_s, Callback woken) {
    Worker& one = worker(id);
    const double from = std::max(now(), one.frozen_until_s);
    if (!one.alive || from == forever) return;
    if (until_s > from) {
        one.frozen_s += until_s - from;
        one.frozen_until_s = until_s;
    }
    if (until_s == forever) return;
    time_.at(until_s, [this, id, woken = std::move(woken)] { wake(id, woken); });
}

// What it reads may end it, or freeze it again; then the rest waits on.
void SimulatedWorld::wake(WorkerId id, const Callback& woken) {
    Worker& one = worker(id);
    while (!one.waiting.empty()) {
        if (!one.alive || !awake(id)) return;
        const Callback arrives = std::move(one.waiting.front());
        one.waiting.pop_front();
        arrives();
    }
    if (one.alive && awake(id) && woken) woken();
}

void SimulatedWorld::kill(WorkerId id, Callback detected, bool silenced) {
    if (alive(id)) kill(id, std::move(detected), latencies_.detection(id), silenced);
}

void SimulatedWorld::kill(WorkerId id, Callback detected, double after_s, bool silenced) {
    Worker& one = worker(id);
    if (!one.alive) return;
    one.alive = false;
    one.silenced = silenced;
    one.waiting.clear();
    time_.after(after_s, std::move(detected));
}

}  // namespace assay::drive
