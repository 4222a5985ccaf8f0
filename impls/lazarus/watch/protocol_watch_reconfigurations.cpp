// The rules for a Reconfigure: who takes part, where the state comes from, who holds what.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "impls/lazarus/watch/protocol_watch.hpp"

namespace assay::lazarus {

void ProtocolWatch::check(const Reconfigure& plan, const Controller& controller) {
    if (!plan_.members.empty() && !going_ && !is_troubled() &&
        std::none_of(plan_.members.begin(), plan_.members.end(),
                     [&](Worker one) { return is_dead(one); }))
        fail(fmt::format("epoch {} was given up without a death", plan_.epoch));
    for (Worker before : plan_.members) {
        const bool kept = std::count(plan.members.begin(), plan.members.end(), before) > 0;
        if (!kept && !groups() && !is_dead(before) && !dismissed_.count(before))
            fail(fmt::format("epoch {} forgets worker {}", plan.epoch, before));
    }
    check_source(plan, controller);
    check_holders(plan);
    if (groups()) check_groups(plan);
    if (plan.restore_step) {  // everybody was asked; those left over now are not asked again
        dropped_.clear();
        for (Worker worker : joined_) {
            const bool member = std::count(plan.members.begin(), plan.members.end(), worker) > 0;
            if (groups() && !surplus_waits() && is_usable(worker) && !member)
                dropped_.insert(worker);
        }
    }
    plan_ = plan;
    gave_up_saving_ = false;
    save_timer_.reset();
}

void ProtocolWatch::check_source(const Reconfigure& plan, const Controller& controller) {
    const auto& counts = controller.counts();
    if (counts.planned_restarts > planned_restarts_) {
        planned_restarts_ = counts.planned_restarts;
        if (!restarts() || plan.restore_step != next_ || !complete_.count(next_))
            fail(fmt::format("epoch {} restarts as planned without the checkpoint of step {}",
                             plan.epoch, next_));
        restoring_ = true;
        held_.clear();
    } else if (counts.fallbacks > fallbacks_) {
        ++fallbacks_;
        check_fallback(plan);
        go_back(plan, controller);
    } else if (counts.bad_checkpoints > bad_checkpoints_) {
        ++bad_checkpoints_;
        if (torn_ != plan_.epoch) fail("a checkpoint is given up though nobody failed to read it");
        go_back(plan, controller);
    } else if (restoring_ != plan.restore_step.has_value()) {
        fail(fmt::format("epoch {}: restore_step without a reason, or missing", plan.epoch));
    } else if (!restoring_ && !lost().empty()) {
        fail(fmt::format("epoch {} goes on although an expert is lost", plan.epoch));
    } else if (!restoring_ && restarts() && one_that_trained_died()) {
        fail(fmt::format("epoch {} goes on although one that trained is dead", plan.epoch));
    }
}

bool ProtocolWatch::one_that_trained_died() const {
    return std::any_of(plan_.members.begin(), plan_.members.end(),
                       [&](Worker one) { return is_dead(one) && !dismissed_.contains(one); });
}

bool ProtocolWatch::may_fall_back() const {
    if (!lost().empty()) return true;
    if (restarts()) {
        const bool leavers = std::any_of(leaving_.begin(), leaving_.end(),
                                         [&](Worker one) { return !dismissed_.count(one); });
        return one_that_trained_died() || (gave_up_saving_ && leavers);
    }
    long available = usable_workers();
    for (Worker worker : dropped_) available -= is_usable(worker);
    return groups() && available < job_.group;
}

void ProtocolWatch::check_fallback(const Reconfigure& plan) {
    if (restoring_ || !may_fall_back())
        fail(
            fmt::format("epoch {} falls back although every expert has a live holder", plan.epoch));
}

void ProtocolWatch::go_back(const Reconfigure& plan, const Controller& controller) {
    if (plan.restore_step != newest())
        fail(fmt::format("epoch {} restores {} instead of {}", plan.epoch,
                         plan.restore_step.value_or(-1), newest()));
    const Step back = plan.restore_step.value_or(0);
    restoring_ = true;
    held_.clear();
    step_failures_ = corruptions_ = 0;
    window_ = no_loads();
    steps_of_window_ = 0;
    if (controller.committed() != back) fail("the lineage was not cut where it was restored");
}

void ProtocolWatch::check_groups(const Reconfigure& plan) {
    const auto group = static_cast<std::size_t>(job_.group);
    if (plan.training.empty() || plan.training.size() % group != 0)
        return fail(fmt::format("epoch {} trains on {} nodes in groups of {}", plan.epoch,
                                plan.training.size(), group));
    for (const Placement& layer : plan.holders) {
        if (layer != plan.holders[0]) fail("a node has another share in another layer");
    }
    for (std::size_t first = 0; first < plan.training.size(); first += group) {
        std::multiset<int> together;
        for (std::size_t i = first; i < first + group; ++i)
            together.insert(plan.holders[0][i].begin(), plan.holders[0][i].end());
        if (together.size() != static_cast<std::size_t>(job_.experts) ||
            std::set<int>(together.begin(), together.end()).size() != together.size())
            fail("a group does not hold every expert once");
    }
    if (plan.restore_step) {
        if (static_cast<long>(plan.training.size()) < most_training(usable_workers()))
            fail(fmt::format("epoch {} restarts on fewer nodes than there are", plan.epoch));
        return;
    }
    for (Worker worker : plan.members) {
        if (dropped_.count(worker))
            fail(fmt::format("worker {} was dropped and is taken back", worker));
    }
    for (Worker before : plan_.training) {
        if (std::count(plan.members.begin(), plan.members.end(), before)) continue;
        // What it held counts no longer. One that has not held anything yet may come again.
        for (auto& [id, workers] : held_) {
            if (workers.erase(before) && !surplus_waits()) dropped_.insert(before);
        }
    }
    if (!lost().empty())
        fail(fmt::format("epoch {} drops the last holder of an expert", plan.epoch));
}

void ProtocolWatch::check_dense_sources(const Reconfigure& plan) {
    std::set<Worker> able;
    for (const auto& [id, workers] : held_) {
        for (Worker worker : workers) {
            if (std::count(plan.members.begin(), plan.members.end(), worker)) able.insert(worker);
        }
    }
    const std::set<Worker> used(plan.dense_sources.begin(), plan.dense_sources.end());
    if (!std::includes(able.begin(), able.end(), used.begin(), used.end()))
        fail(fmt::format("epoch {} wants dense state from one of {}, of whom {} have it",
                         plan.epoch, used, able));
    if (plan.dense_sources.size() != plan.need_dense.size() ||
        used.size() < std::min(able.size(), plan.need_dense.size()))
        fail(fmt::format("epoch {} sends the dense state to {} from {} alone", plan.epoch,
                         plan.need_dense, used));
}

void ProtocolWatch::check_holders(const Reconfigure& plan) {
    std::set<ExpertId> placed;
    for (std::size_t layer = 0; layer < plan.holders.size(); ++layer) {
        if (plan.holders[layer].size() != plan.training.size()) fail("holders without a worker");
        for (std::size_t i = 0; i < plan.holders[layer].size(); ++i) {
            const auto& slots = plan.holders[layer][i];
            const int expected = groups() ? job_.experts / job_.group : job_.slots;
            if (static_cast<int>(slots.size()) != expected ||
                !std::is_sorted(slots.begin(), slots.end()))
                fail(fmt::format("worker {} has slots {}", plan.training[i], slots));
            for (int expert : slots) {
                placed.insert({static_cast<int>(layer), expert});
            }
        }
    }
    if (placed.size() != static_cast<std::size_t>(job_.layers * job_.experts))
        fail(fmt::format("epoch {} leaves experts without a holder", plan.epoch));
    for (const Transfer& one : plan.transfers) {
        const auto found = held_.find({one.layer, one.expert});
        if (found == held_.end() || !found->second.count(one.from))
            fail(fmt::format("epoch {} wants expert {} of layer {} from {}, which does not hold it",
                             plan.epoch, one.expert, one.layer, one.from));
    }
    check_dense_sources(plan);
    if (!std::is_sorted(plan.transfers.begin(), plan.transfers.end(), [](auto& a, auto& b) {
            return std::tuple(a.from, a.to, a.layer, a.expert) <
                   std::tuple(b.from, b.to, b.layer, b.expert);
        }))
        fail("transfers out of order");
    if (plan.restore_step && !(plan.transfers.empty() && plan.need_dense.empty()))
        fail("transfers although the state comes from storage");
}

}  // namespace assay::lazarus
