#include "impls/lazarus/campaign/virtual_world.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::lazarus::campaign {
namespace {
constexpr std::uint64_t kMostHappenings = 2'000'000;  // far above any honest run: a livelock
}  // namespace

VirtualWorld::VirtualWorld(const Schedule& schedule, const ControllerConfig& controller)
    : schedule_(schedule),
      controller_(true, controller),
      watch_(schedule.job, schedule.seed, [this](std::string what) { fail(std::move(what)); }),
      random_(schedule.seed ^ 0x5eed),
      strikes_left_(schedule.strikes) {}

void VirtualWorld::run() {
    for (int i = 0; i < schedule_.spawned; ++i) spawn();
    for (const TimedFault& fault : schedule_.faults) at(fault.at, [this, fault] { apply(fault); });
    while (failure_.empty() && (!time_.empty() || more_nodes_come())) {
        if (time_.happened() > kMostHappenings) return fail("livelock: it goes on and on");
        time_.next();
    }
    if (!failure_.empty()) return;
    watch_.finish(*controller_);
    check_final_states();
}

void VirtualWorld::check_final_states() {
    if (!finished_ok()) return;
    const Reconfigure& plan = watch_.plan();
    const ModelState oracle =
        replay(schedule_.job.layers, schedule_.job.experts, schedule_.seed, controller_->lineage());
    for (std::size_t i = 0; i < plan.training.size(); ++i) {
        const VirtualWorker& one = worker(plan.training[i]);
        if (!one.alive) continue;
        std::map<ExpertId, Hash> expected;
        for (std::size_t layer = 0; layer < plan.holders.size(); ++layer) {
            for (int expert : plan.holders[layer][i]) {
                const ExpertId id{static_cast<int>(layer), expert};
                expected[id] = oracle.experts.at(id);
            }
        }
        if (!one.told_to_stop() || one.experts() != expected || one.dense() != oracle.dense)
            fail(
                fmt::format("worker {} ends with another state than the replay", plan.training[i]));
    }
}

// ---- time and channels -------------------------------------------------------------------------

double VirtualWorld::between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() % 10000) / 10000;
}

bool VirtualWorld::awake(Worker id) const {
    return workers_[static_cast<std::size_t>(id)]->frozen_until <= time_.now();
}

void VirtualWorld::after(Worker id, double delay, std::function<void()> then) {
    at(time_.now() + delay, [this, id, then = std::move(then)] {
        VirtualWorker& one = worker(id);
        if (!one.alive || one.frozen_until == kForever) return;
        if (!awake(id)) return after(id, one.frozen_until - time_.now(), then);
        then();
    });
}

void VirtualWorld::report(Worker id, Event event) {
    double& last = last_from_[id];
    last = std::max(last, time_.now() + between(0, schedule_.slowest_message));
    at(last, [this, id, event = std::move(event)] {
        if (!silenced_.count(id)) to_controller(event);
    });
}

void VirtualWorld::to_worker(Worker id, const Action& action) {
    double& last = last_to_[id];
    last = std::max(last, time_.now() + between(0, schedule_.slowest_message));
    at(last, [this, id, action] {
        if (worker(id).alive) worker(id).deliver(action);
    });
}

void VirtualWorld::to_controller(const Event& event) {
    watch_.before(event);
    // The controller has finished with the event; what its actions refer to is its present state.
    for (const Action& action : controller_.on(event, time_.now())) {
        watch_.after(action, *controller_);
        carry_out(action);
    }
}

void VirtualWorld::carry_out(const Action& action) {
    if (const auto* timer = std::get_if<StartTimer>(&action)) {
        return at(time_.now() + timer->after_s,
                  [this, id = timer->id] { to_controller(Timer{id}); });
    }
    if (const auto* dismiss = std::get_if<Dismiss>(&action))
        return to_worker(dismiss->worker, action);
    if (const auto* abort = std::get_if<Abort>(&action)) {
        aborted_ = abort->epoch;
        for (Worker id : watch_.plan().members) {
            at(time_.now() + between(0, schedule_.slowest_message),
               [this, id, epoch = abort->epoch] {
                   if (worker(id).alive) worker(id).interrupt(epoch);
               });
        }
        return;
    }
    if (std::holds_alternative<Stop>(action)) {
        for (std::size_t id = 0; id < workers_.size(); ++id)
            to_worker(static_cast<Worker>(id), action);
        return;
    }
    if (const auto* evict = std::get_if<Evict>(&action)) return kill(evict->worker);
    if (const auto* checkpoint = std::get_if<WriteCheckpoint>(&action)) ++orders_[checkpoint->step];
    const Reconfigure& plan = watch_.plan();
    const bool reconfigure = std::holds_alternative<Reconfigure>(action);
    if (reconfigure) plans_[plan.epoch] = plan;
    for (Worker id : reconfigure ? plan.members : plan.training) to_worker(id, action);
}

// ---- what workers do together ------------------------------------------------------------------

void VirtualWorld::enter_group(Epoch epoch, Worker id) {
    const Reconfigure& plan = plans_.at(epoch);
    auto& arrived = groups_[epoch];
    arrived.insert(id);
    if (arrived.size() < plan.members.size()) return;
    if (plan.members.size() > 1 && draw_fault(schedule_.fault_odds.cut_link, "cut_link"))
        return report_broken(epoch, plan.members[random_() % plan.members.size()],
                             GroupBroken::Cause::unreachable);
    for (Worker member : plan.members)
        after(member, between(1, 5), [this, member, epoch] { worker(member).group_built(epoch); });
    for (const Transfer& one : plan.transfers) {
        transfer(plan, one.from, one.to, [this, one, epoch] {
            const ExpertId id{one.layer, one.expert};
            const auto found = worker(one.from).experts().find(id);
            if (found == worker(one.from).experts().end())
                return fail(fmt::format("worker {} is to send what it does not hold", one.from));
            const Hash state = found->second;
            worker(one.from).sent(epoch);
            worker(one.to).received(epoch, id, state);
        });
    }
    for (std::size_t i = 0; i < plan.need_dense.size(); ++i) {
        const Worker joiner = plan.need_dense[i], source = plan.dense_sources.at(i);
        transfer(plan, source, joiner, [this, joiner, source, epoch] {
            const auto state = worker(source).dense();
            if (!state) return fail(fmt::format("worker {} has no dense state to send", source));
            worker(source).sent(epoch);
            worker(joiner).received_dense(epoch, *state);
        });
    }
}

void VirtualWorld::transfer(const Reconfigure& plan, Worker from, Worker to,
                            std::function<void()> move) {
    const auto link = slow_links_.find({from, to});
    const double pace_of_link = link == slow_links_.end() ? 1 : link->second;
    at(time_.now() + pace_of_link * between(2, 20), [this, &plan, from, to,
                                                     move = std::move(move)] {
        if (plan.epoch <= aborted_ || !worker(from).alive || !worker(to).alive) return;
        const bool both_there = worker(from).in_transfers_of(plan.epoch) &&
                                worker(to).in_transfers_of(plan.epoch) && awake(from) && awake(to);
        if (!both_there) return transfer(plan, from, to, move);
        if (draw_fault(schedule_.fault_odds.corrupt_transfer, "corrupt_message"))
            return report_broken(plan.epoch, from, GroupBroken::Cause::corrupt_message);
        if (strike(Moment::sending, from) && strike(Moment::receiving, to)) move();
    });
}

void VirtualWorld::enter_sums(Epoch epoch, Step step, Worker id) {
    const Reconfigure& plan = plans_.at(epoch);
    auto& arrived = sums_[{epoch, step}];
    arrived.insert(id);
    if (arrived.size() < plan.training.size()) return;
    if (break_group(epoch, plan.training)) return;
    std::set<Worker> poisoned_ones = poisoned(plan, step);
    if (draw_fault(schedule_.fault_odds.corrupt_tensor, "corrupt_tensor")) {
        const Worker damaged = plan.training[random_() % plan.training.size()];
        poisoned_ones.insert(damaged);
        damaged_.insert(damaged);
    }
    for (Worker member : plan.training) {
        const bool finite = poisoned_ones.count(member) == 0;
        after(member, between(0.5, 10), [this, member, epoch, step, finite] {
            // A peer that died meanwhile leaves some with the sums and others waiting.
            for (Worker peer : plans_.at(epoch).training) {
                if (!worker(peer).alive && random_() % 2) return;
            }
            worker(member).sums_finished(epoch, step, finite);
        });
    }
}

// ---- storage and checks ------------------------------------------------------------------------

Hash VirtualWorld::load(Step step, ExpertId id) {
    const Hash expected = watch_.expected_before(step).experts.at(id);
    if (step == 0) return expected;
    const auto found = storage_.find({step, id});
    if (found == storage_.end() || found->second != expected)
        fail(fmt::format("checkpoint {} lacks expert {} of layer {}, or has another history's",
                         step, id.second, id.first));
    return expected;
}

Hash VirtualWorld::load_dense(Step step) {
    const Hash expected = watch_.expected_before(step).dense;
    if (step == 0) return expected;
    const auto found = dense_storage_.find(step);
    if (found == dense_storage_.end() || found->second != expected)
        fail(fmt::format("checkpoint {} has no dense state, or another history's", step));
    return expected;
}

void VirtualWorld::applied(Worker id, const Commit& commit) {
    const ModelState& expected = watch_.expected_after(commit);
    for (const auto& [expert, state] : worker(id).experts()) {
        if (state != expected.experts.at(expert))
            fail(fmt::format("worker {} has another expert {} of layer {} after step {}", id,
                             expert.second, expert.first, commit.step));
    }
    if (worker(id).dense() != expected.dense)
        fail(fmt::format("worker {} has another dense state after step {}", id, commit.step));
}

std::vector<Loads> VirtualWorld::loads_of(Step step, const std::vector<Worker>& training) const {
    return routed(schedule_.job.layers, schedule_.job.experts, schedule_.seed, step, training);
}

void VirtualWorld::fail(std::string what) {
    if (failure_.empty()) failure_ = fmt::format("at {:.2f}: {}", time_.now(), what);
}

}  // namespace assay::lazarus::campaign
