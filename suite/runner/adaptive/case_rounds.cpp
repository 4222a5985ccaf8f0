#include "suite/runner/adaptive/case_rounds.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "suite/runner/plan.hpp"

namespace assay::runner {
namespace {

std::string key(const SampleSpec& spec) {
    return spec.experiment + ' ' + to_json(spec.axes).dump();
}

}  // namespace

int CaseRounds::CaseSoFar::complete_rounds() const {
    int rounds = 0;
    while (true) {
        const auto it = finished.find(rounds);
        if (it == finished.end() || it->second.size() < variants.size()) return rounds;
        ++rounds;
    }
}

double CaseRounds::CaseSoFar::seconds_below(int round) const {
    double sum = 0;
    for (const auto& [at, taken] : seconds)
        if (at < round) sum += taken;
    return sum;
}

const ArmRounds& CaseRounds::CaseSoFar::arm(const std::string& variant) const {
    static const ArmRounds nothing;
    const auto it = arms.find(variant);
    return it == arms.end() ? nothing : it->second;
}

CaseRounds::CaseRounds(const Plan& plan, double budget_s, const MetricsOf& metrics_of)
    : budget_s_(budget_s) {
    for (const PlannedSample& planned : plan.samples) {
        const auto [it, is_new] = index_.try_emplace(key(planned.spec), cases_.size());
        if (is_new) {
            CaseSoFar& added = cases_.emplace_back();
            added.experiment = planned.experiment;
            added.axes = planned.spec.axes;
            added.profile = planned.spec.profile;
            added.metrics = metrics_of(*planned.experiment);
        }
        CaseSoFar& of = cases_[it->second];
        if (planned.spec.round == 0) of.variants.push_back(planned.spec.variant);
        of.planned = std::max(of.planned, planned.spec.round + 1);
    }
}

const CaseRounds::CaseSoFar& CaseRounds::of(const SampleSpec& spec) const {
    return cases_[index_.at(key(spec))];
}

void CaseRounds::add(const store::Sample& sample) {
    const auto it = index_.find(key(sample.spec));
    if (it == index_.end()) return;
    CaseSoFar& of = cases_[it->second];
    of.arms[sample.spec.variant].add(sample, of.metrics);
    of.finished[sample.spec.round].insert(sample.spec.variant);
    of.seconds[sample.spec.round] += sample.seconds;
}

double CaseRounds::seconds_left(std::size_t index, int round) const {
    constexpr int all = std::numeric_limits<int>::max();
    double left = budget_s_;
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        left -= cases_[earlier].seconds_below(all);
    return left / static_cast<double>(cases_.size() - index) - cases_[index].seconds_below(round);
}

CaseRounds::Turn CaseRounds::turn(const SampleSpec& spec) {
    const std::size_t index = index_.at(key(spec));
    CaseSoFar& of = cases_[index];
    if (of.stopped) return Turn::skip;
    if (spec.round <= of.asked_round) return Turn::run;
    of.asked_round = spec.round;
    of.stopped = enough(of, spec.round, seconds_left(index, spec.round));
    return of.stopped ? Turn::stop : Turn::run;
}

}  // namespace assay::runner
