#include "impls/lazarus/campaign/hashed_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay::lazarus::campaign {
namespace {

/// What the plan gives to a worker; nothing to a leaver.
std::set<ExpertId> planned(const Reconfigure& plan, Worker worker) {
    std::set<ExpertId> mine;
    const auto found = std::find(plan.training.begin(), plan.training.end(), worker);
    if (found == plan.training.end()) return mine;
    const auto place = static_cast<std::size_t>(found - plan.training.begin());
    for (std::size_t layer = 0; layer < plan.holders.size(); ++layer)
        for (int expert : plan.holders[layer][place])
            mine.insert({static_cast<int>(layer), expert});
    return mine;
}

std::string name(const StatePart& part) {
    return part ? fmt::format("expert {} of layer {}", part->second, part->first)
                : "the dense state";
}

Hash of(const ModelState& state, const StatePart& part) {
    return part ? state.experts.at(*part) : state.dense;
}

}  // namespace

HashedStates::HashedStates(const ControllerConfig& job, Hash seed, Complain complain)
    : job_(job),
      seed_(seed),
      complain_(std::move(complain)),
      states_{initial_state(job.layers, job.experts, seed)} {}

// ---- what should be -----------------------------------------------------------------------------

void HashedStates::asked_for(const Action& action) {
    if (const auto* plan = std::get_if<Reconfigure>(&action)) {
        plan_ = *plan;
        if (plan->restore_step) states_.resize(static_cast<std::size_t>(*plan->restore_step) + 1);
    }
    if (const auto* commit = std::get_if<Commit>(&action)) {
        states_.push_back(next_state(states_.back(),
                                     {commit->step, commit->epoch, plan_.training, plan_.holders}));
        after_step_[{commit->epoch, commit->step}] = states_.back();
    }
}

ModelState HashedStates::replayed(const std::vector<CommittedStep>& lineage) const {
    return replay(job_.layers, job_.experts, seed_, lineage);
}

bool HashedStates::agrees_with(const std::vector<CommittedStep>& lineage) const {
    return replayed(lineage) == states_.back();
}

bool HashedStates::ends_as(Worker worker, const Reconfigure& plan,
                           const std::vector<CommittedStep>& lineage) const {
    const ModelState oracle = replayed(lineage);
    std::map<ExpertId, Hash> expected;
    for (const ExpertId& id : planned(plan, worker)) expected[id] = oracle.experts.at(id);
    const Held& held = holders_.at(worker).now;
    return held.experts == expected && held.dense == oracle.dense;
}

// ---- what is ------------------------------------------------------------------------------------

void HashedStates::expects(Worker worker, const Reconfigure&) { holders_[worker].staged = {}; }

void HashedStates::moved(Worker from, Worker to, const StatePart& part) {
    const Held& source = holders_[from].now;
    Holder& target = holders_[to];
    if (!part) {
        if (!source.dense) complain_(fmt::format("worker {} has no dense state to send", from));
        target.staged.dense = source.dense;
        return;
    }
    const auto found = source.experts.find(*part);
    if (found == source.experts.end())
        return complain_(fmt::format("worker {} is to send what it does not hold", from));
    if (target.now.experts.contains(*part))
        complain_(fmt::format("worker {} fetched what it held", to));
    target.staged.experts[*part] = found->second;
}

std::optional<Hash> HashedStates::stored(Step step, const StatePart& part) {
    const Hash expected = of(states_.at(static_cast<std::size_t>(step)), part);
    if (step == 0) return expected;  // made from the seed
    const auto found = storage_.find({step, part});
    if (found == storage_.end() || found->second != expected)
        complain_(
            fmt::format("checkpoint {} lacks {}, or has another history's", step, name(part)));
    return expected;
}

void HashedStates::restored(Worker worker, const Reconfigure& plan) {
    Held& staged = holders_[worker].staged;
    for (const ExpertId& id : planned(plan, worker))
        staged.experts[id] = *stored(*plan.restore_step, id);
    staged.dense = stored(*plan.restore_step, std::nullopt);
}

void HashedStates::adopted(Worker worker, const Reconfigure& plan) {
    Holder& holder = holders_[worker];
    std::map<ExpertId, Hash> next;
    for (const ExpertId& id : planned(plan, worker)) {
        const bool staged = holder.staged.experts.contains(id);
        if (!staged && (plan.restore_step || !holder.now.experts.contains(id)))
            return complain_(fmt::format("worker {} goes into epoch {} without {}", worker,
                                         plan.epoch, name(id)));
        next[id] = (staged ? holder.staged : holder.now).experts.at(id);
    }
    holder.now.experts = std::move(next);
    if (holder.staged.dense) holder.now.dense = holder.staged.dense;
    if (!holder.now.dense) complain_(fmt::format("worker {} goes without dense state", worker));
    holder.staged = {};
}

void HashedStates::applied(Worker worker, const Commit& commit, const Reconfigure& plan) {
    const CommittedStep step{commit.step, commit.epoch, plan.training, plan.holders};
    const ModelState& expected = after_step_.at({commit.epoch, commit.step});
    Held& held = holders_[worker].now;
    for (auto& [id, state] : held.experts) {
        state = next_expert(state, id, step);
        if (state != expected.experts.at(id))
            complain_(fmt::format("worker {} has another {} after step {}", worker, name(id),
                                  commit.step));
    }
    if (held.dense) held.dense = next_dense(*held.dense, step);
    if (held.dense != expected.dense)
        complain_(
            fmt::format("worker {} has another dense state after step {}", worker, commit.step));
}

void HashedStates::wrote(Worker worker, Step step, const StatePart& part) {
    const Held& held = holders_[worker].now;
    const bool lacks = part ? !held.experts.contains(*part) : !held.dense;
    if (lacks)
        return complain_(fmt::format("worker {} is to write {} of checkpoint {}, which it lacks",
                                     worker, name(part), step));
    storage_[{step, part}] = part ? held.experts.at(*part) : *held.dense;
}

}  // namespace assay::lazarus::campaign
