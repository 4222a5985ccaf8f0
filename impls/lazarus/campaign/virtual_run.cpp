#include "impls/lazarus/campaign/virtual_run.hpp"

#include <fmt/format.h>

namespace assay::lazarus::campaign {
namespace {

constexpr std::uint64_t most_happenings = 2'000'000;  // far above any honest run: a livelock
constexpr int most_rescues = 200;

}  // namespace

VirtualRun::VirtualRun(const Schedule& schedule, const ControllerConfig& controller)
    : schedule_(schedule),
      dice_(schedule.seed ^ 0x5eed),
      durations_(schedule_, time_, dice_),
      cluster_(controller, time_, durations_),
      trouble_(schedule_, cluster_, dice_),
      watch_(schedule.job),
      states_(schedule.job, schedule.seed, [this](const std::string& what) { fail(what); }) {
    cluster_.attach(static_cast<ClusterObserver&>(*this));
    cluster_.attach(trouble_);
    cluster_.attach(states_);
}

void VirtualRun::run() {
    for (int i = 0; i < schedule_.spawned; ++i) cluster_.spawn();
    while (nothing_failed() && (!time_.empty() || more_nodes_come() || somebody_looks())) {
        if (time_.happened() > most_happenings) return fail("livelock: it goes on and on");
        time_.next();
    }
    if (!failure_.empty()) return;
    watch_.finish(controller());
    if (!states_.agrees_with(controller().lineage()))
        fail("the lineage does not lead to the expected state");
    check_final_states();
    nothing_failed();
}

void VirtualRun::after(const Action& action, const Controller& controller) {
    watch_.after(action, controller);
    states_.asked_for(action);
}

void VirtualRun::fail(const std::string& what) {
    if (failure_.empty()) failure_ = fmt::format("at {:.2f}: {}", time_.now(), what);
}

bool VirtualRun::nothing_failed() {
    if (!watch_.failures().empty()) fail(watch_.failures().front());
    if (!cluster_.complaint().empty()) fail(cluster_.complaint());
    return failure_.empty();
}

/// Nothing happens any more. Where the controller rightly waits for nodes, another one is found.
bool VirtualRun::more_nodes_come() {
    if (controller().stopped() || !schedule_.job.wait_for_nodes || !watch_.too_few_workers() ||
        rescues_ >= most_rescues)
        return false;
    ++rescues_;
    cluster_.spawn();
    return true;
}

/// Nothing happens any more, and all that train are stuck: nobody is left to notice it. In the end
/// a human does.
bool VirtualRun::somebody_looks() {
    if (controller().stopped()) return false;
    std::vector<Worker> stuck;
    for (Worker worker : watch_.plan().training) {
        if (!cluster_.is_there(worker)) continue;
        if (!cluster_.is_stuck(worker)) return false;
        stuck.push_back(worker);
    }
    for (Worker worker : stuck) cluster_.kill(worker);
    return !stuck.empty();
}

void VirtualRun::check_final_states() {
    if (!finished_ok()) return;
    for (Worker worker : watch_.plan().training) {
        if (!cluster_.is_there(worker) || cluster_.is_stuck(worker)) continue;
        if (!cluster_.member(worker).told_to_stop() ||
            !states_.ends_as(worker, watch_.plan(), controller().lineage()))
            fail(fmt::format("worker {} ends with another state than the replay", worker));
    }
}

}  // namespace assay::lazarus::campaign
