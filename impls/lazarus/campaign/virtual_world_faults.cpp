// Faults in the virtual world: who dies, hangs, leaves or slows down, and what goes wrong with
// those that live.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/campaign/virtual_world.hpp"

namespace assay::lazarus::campaign {
namespace {
constexpr int kMostRescues = 200;
}  // namespace

void VirtualWorld::spawn() {
    const auto id = static_cast<Worker>(workers_.size());
    workers_.push_back(std::make_unique<VirtualWorker>(id, *this));
    after(id, between(0.5, 20), [this, id] { report(id, Joined{id}); });
}

void VirtualWorld::exit(Worker id) {
    worker(id).alive = false;
    at(time_.now() + between(0.1, schedule_.slowest_detection),
       [this, id] { to_controller(Died{id}); });
}

void VirtualWorld::kill(Worker id) {
    if (!worker(id).alive) return;
    ++faults_["kill"];
    exit(id);
    if (random_() % 2) silenced_.insert(id);
    if (controller_->stopped() || between(0, 1) >= schedule_.replacement_odds) return;
    at(time_.now() + between(1, 150), [this] { spawn(); });
}

void VirtualWorld::hang(Worker id) {
    if (!worker(id).alive || worker(id).frozen_until == kForever) return;
    ++faults_["hang"];
    worker(id).frozen_until = kForever;
    at(time_.now() + schedule_.hang_timeout, [this, id] { kill(id); });
}

void VirtualWorld::hang_briefly(Worker id) {
    if (!worker(id).alive || !awake(id)) return;
    ++faults_["short_hang"];
    worker(id).frozen_until = time_.now() + between(1, 0.9 * schedule_.hang_timeout);
    after(id, worker(id).frozen_until - time_.now(), [this, id] { worker(id).work(); });
}

Worker VirtualWorld::random_worker(Worker except) {
    std::vector<Worker> alive;
    for (std::size_t id = 0; id < workers_.size(); ++id) {
        if (workers_[id]->alive && static_cast<Worker>(id) != except)
            alive.push_back(static_cast<Worker>(id));
    }
    return alive.empty() ? -1 : alive[random_() % alive.size()];
}

void VirtualWorld::apply(const TimedFault& fault) {
    if (controller_->stopped()) return;
    if (fault.kind == TimedFault::Kind::join) {
        ++faults_["join"];
        return spawn();
    }
    const Worker victim = random_worker();
    if (victim < 0) return;
    switch (fault.kind) {
        case TimedFault::Kind::kill_two: {
            const Worker other = random_worker(victim);
            if (other >= 0) kill(other);
            return kill(victim);
        }
        case TimedFault::Kind::kill:
            return kill(victim);
        case TimedFault::Kind::hang:
            return hang(victim);
        case TimedFault::Kind::short_hang:
            return hang_briefly(victim);
        case TimedFault::Kind::leave:
            ++faults_["leave"];
            report(victim, LeaveRequested{victim});
            if (random_() % 2) at(time_.now() + between(1, 200), [this, victim] { kill(victim); });
            return;
        case TimedFault::Kind::slow_worker:
            slow_[victim] = between(2, 8);
            ++faults_["slow_worker"];
            return;
        case TimedFault::Kind::slow_link: {
            const Worker other = random_worker(victim);
            slow_links_[{victim, other}] = slow_links_[{other, victim}] = between(2, 10);
            ++faults_["slow_link"];
            return;
        }
        case TimedFault::Kind::join:
            return;
    }
}

bool VirtualWorld::strike(Moment moment, Worker id) {
    const auto index = static_cast<std::size_t>(moment);
    if (controller_->stopped() || strikes_left_ == 0 || between(0, 1) >= schedule_.odds[index])
        return worker(id).alive;
    --strikes_left_;
    ++strikes_[index];
    const Worker other = random_worker(id);
    switch (random_() % 8) {
        case 0:
            hang(id);
            break;
        case 1:
            hang_briefly(id);
            break;
        case 2:
            if (other >= 0) kill(other);
            break;
        case 3:
            if (other >= 0) kill(other);
            [[fallthrough]];
        default:
            kill(id);
    }
    return worker(id).alive;
}

// ---- faults of those that live -----------------------------------------------------------------

bool VirtualWorld::draw_fault(double odds, const char* kind) {
    if (odds <= 0 || controller_->stopped() || between(0, 1) >= odds) return false;
    ++faults_[kind];
    return true;
}

bool VirtualWorld::break_group(Epoch epoch, const std::vector<Worker>& among) {
    if (among.size() < 2) return false;
    const Worker suspect = among[random_() % among.size()];
    if (draw_fault(schedule_.fault_odds.corrupt_step, "corrupt_message")) {
        report_broken(epoch, suspect, GroupBroken::Cause::corrupt_message);
        return true;
    }
    if (!draw_fault(schedule_.fault_odds.cut_link, "cut_link")) return false;
    report_broken(epoch, suspect, GroupBroken::Cause::unreachable);
    return true;
}

void VirtualWorld::report_broken(Epoch epoch, Worker suspect, GroupBroken::Cause cause) {
    if (!broken_.insert(epoch).second) return;  // one report for an epoch
    at(time_.now() + between(1, 30), [this, epoch, suspect, cause] {
        if (worker(suspect).alive) to_controller(GroupBroken{epoch, suspect, cause, "in a test"});
        // Else its death explains the broken group.
    });
}

/// Those whose sums of this try are not finite: everybody (a dense block, the loss), or the holders
/// of one expert.
std::set<Worker> VirtualWorld::poisoned(const Reconfigure& plan, Step step) {
    const bool again = poison_again_ == step;
    poison_again_.reset();
    const bool strikes = again ? draw_fault(schedule_.fault_odds.nan_again, "nan")
                               : draw_fault(schedule_.fault_odds.nan, "nan");
    if (!strikes) return {};
    poison_again_ = step;
    std::set<Worker> affected(plan.training.begin(), plan.training.end());
    if (random_() % 2) return affected;
    const auto& layer = plan.holders[random_() % plan.holders.size()];
    const int expert =
        static_cast<int>(random_() % static_cast<std::uint64_t>(schedule_.job.experts));
    for (std::size_t i = 0; i < layer.size(); ++i) {
        if (!std::count(layer[i].begin(), layer[i].end(), expert)) affected.erase(plan.training[i]);
    }
    return affected;
}

bool VirtualWorld::readable(Step step) {
    if (step == 0) return true;
    const auto [found, first] = torn_.insert({{step, orders_[step]}, false});
    if (first) found->second = draw_fault(schedule_.fault_odds.torn_checkpoint, "torn_checkpoint");
    return !found->second;
}

/// Nothing happens any more. Where the controller rightly waits for nodes, another one is found.
bool VirtualWorld::more_nodes_come() {
    if (controller_->stopped() || !schedule_.job.wait_for_nodes || ++rescues_ > kMostRescues)
        return false;
    if (!watch_.too_few_workers()) return false;
    ++faults_["wait"];
    spawn();
    return true;
}

}  // namespace assay::lazarus::campaign
