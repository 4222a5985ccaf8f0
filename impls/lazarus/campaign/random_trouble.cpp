#include "impls/lazarus/campaign/random_trouble.hpp"

#include <algorithm>
#include <cmath>

namespace assay::lazarus::campaign {

using Cause = drive::Suspicion::Cause;

RandomTrouble::RandomTrouble(const Schedule& schedule, SimulatedCluster& cluster, KeyedDice& dice)
    : PlannedTrouble(schedule.faults, cluster),
      schedule_(schedule),
      dice_(dice),
      strikes_left_(schedule.strikes) {}

// ---- strikes ------------------------------------------------------------------------------------

void RandomTrouble::reached(Moment moment, Worker worker) {
    const auto index = static_cast<std::size_t>(moment);
    if (cluster().controller().stopped() || strikes_left_ == 0) return;
    auto draws = dice_.next("strike", {worker, static_cast<std::int64_t>(moment)});
    if (!draws.chance(schedule_.odds[index])) return;
    --strikes_left_;
    ++strikes_[index];
    const auto other = another_than(worker, draws);
    switch (draws.below(10)) {
        case 0:
            return hang(worker, drive::SimulatedWorld::forever);
        case 1:
            return hang(worker, draws.between(1, 0.9 * schedule_.silence));
        case 2:
            // With its sums made and not reported, or where nobody ever gives up, nobody would miss
            // it.
            if (moment == Moment::before_step_done || std::isinf(schedule_.endurance))
                return cluster().kill(worker);
            ++faults_["stuck"];
            return cluster().stick(worker);
        case 3:
            if (other) cluster().kill(*other);
            return;
        case 4:
            if (other) cluster().kill(*other);
            [[fallthrough]];
        default:
            cluster().kill(worker);
    }
}

std::optional<Worker> RandomTrouble::another_than(Worker worker, Draws& draws) {
    std::vector<Worker> others;
    for (Worker one = 0; one < cluster().size(); ++one)
        if (one != worker && cluster().is_there(one)) others.push_back(one);
    if (others.empty()) return std::nullopt;
    return one_of(others, draws);
}

bool RandomTrouble::silences(Worker worker) {
    ++faults_["kill"];
    auto draws = dice_.next("killed", {worker});
    const bool replaced =
        !cluster().controller().stopped() && draws.chance(schedule_.replacement_odds);
    if (replaced) cluster().time().after(draws.between(1, 150), [this] { cluster().spawn(); });
    return draws.chance(0.5);
}

void RandomTrouble::hang(Worker worker, double for_s) {
    ++faults_[for_s < schedule_.silence ? "short_hang" : "hang"];
    cluster().hang(worker, for_s);
}

void RandomTrouble::befall(const Fault& fault, Worker target) {
    if (fault.kind == FaultKind::hang)
        return hang(target, fault.for_s.value_or(drive::SimulatedWorld::forever));
    if (fault.kind != FaultKind::kill) ++faults_[std::string(to_string(fault.kind))];
    PlannedTrouble::befall(fault, target);
}

// ---- faults of those that live ------------------------------------------------------------------

bool RandomTrouble::befalls(double odds, const char* kind, Draws& draws) {
    if (odds <= 0 || cluster().controller().stopped() || !draws.chance(odds)) return false;
    ++faults_[kind];
    return true;
}
bool RandomTrouble::befalls(double odds, const char* kind, Worker worker) {
    auto draws = dice_.next(kind, {worker});
    return befalls(odds, kind, draws);
}

std::vector<Symptom> RandomTrouble::breaks(Together what, const std::vector<Worker>& among) {
    auto symptoms = PlannedTrouble::breaks(what, among);
    if (!symptoms.empty()) return symptoms;
    const FaultOdds& odds = schedule_.fault_odds;
    auto draws = dice_.next("group", {static_cast<std::int64_t>(what)});
    const Worker member = one_of(among, draws);
    const double after_s = draws.between(1, 30);
    if (what == Together::summing && befalls(odds.corrupt_step, "corrupt", draws)) {
        const Worker sender = among[among[0] == member ? 1 : 0];
        return with_onlookers(Symptom{member, after_s, Cause::corrupt_message, sender}, among,
                              draws);
    }
    if (befalls(odds.cut_link, "link", draws))
        return with_onlookers(Symptom{member, after_s, Cause::unreachable, member}, among, draws);
    if (befalls(odds.broken_group, "broken", draws))
        return with_onlookers(std::nullopt, among, draws);
    return {};
}

// Others notice that the group is broken too, or do not. Somebody does.
std::vector<Symptom> RandomTrouble::with_onlookers(std::optional<Symptom> cause,
                                                   const std::vector<Worker>& among, Draws& draws) {
    std::vector<Symptom> symptoms;
    if (cause) symptoms.push_back(*cause);
    const double share = 0.5 * static_cast<double>(draws.below(3));  // none, some, all
    for (Worker member : among)
        if ((!cause || member != cause->member) && draws.chance(share))
            symptoms.push_back({.member = member, .after_s = draws.between(1, 30)});
    if (symptoms.empty())
        symptoms.push_back({.member = one_of(among, draws), .after_s = draws.between(1, 30)});
    return symptoms;
}

bool RandomTrouble::damages(Worker from, Worker to) {
    return PlannedTrouble::damages(from, to) ||
           befalls(schedule_.fault_odds.corrupt_transfer, "corrupt", from);
}

// Everybody (a dense block, the loss), or the holders of one expert.
std::set<Worker> RandomTrouble::not_finite(const Reconfigure& plan, Step step) {
    const FaultOdds& odds = schedule_.fault_odds;
    const double odds_now = poisoned_ == step ? odds.nan_again : odds.nan;
    poisoned_.reset();
    auto draws = dice_.next("nan", {plan.epoch, step});
    if (!befalls(odds_now, "nan", draws)) return PlannedTrouble::not_finite(plan, step);
    poisoned_ = step;
    std::set<Worker> affected(plan.training.begin(), plan.training.end());
    if (draws.chance(0.5)) return affected;
    const auto& layer = plan.holders[draws.below(plan.holders.size())];
    const auto expert =
        static_cast<int>(draws.below(static_cast<std::uint64_t>(schedule_.job.experts)));
    for (std::size_t i = 0; i < layer.size(); ++i)
        if (!std::count(layer[i].begin(), layer[i].end(), expert)) affected.erase(plan.training[i]);
    return affected;
}

bool RandomTrouble::changed_state(Worker worker) {
    if (befalls(schedule_.fault_odds.corrupt_tensor, "corrupt_tensor", worker))
        change_state(worker);
    return PlannedTrouble::changed_state(worker);
}

Writing RandomTrouble::writes(Worker worker, Step step) {
    if (befalls(schedule_.fault_odds.disk_full, "disk_full", worker)) return Writing::no_space;
    if (befalls(schedule_.fault_odds.torn, "torn", worker)) return Writing::torn;
    return PlannedTrouble::writes(worker, step);
}

}  // namespace assay::lazarus::campaign
