#include "suite/claim/equal_metric.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace assay {

CurveBounds loss_at(std::vector<CurvePoint> points, double at) {
    if (points.empty()) throw std::invalid_argument("a curve without a point");
    std::sort(points.begin(), points.end(),
              [](const CurvePoint& a, const CurvePoint& b) { return a.at < b.at; });
    const CurvePoint &first = points.front(), &last = points.back();
    constexpr double unknown = std::numeric_limits<double>::infinity();
    if (at < first.at - equal_enough) return {-unknown, first.loss};
    if (at > last.at + equal_enough) return {last.loss, unknown};
    if (at <= first.at) return {first.loss, first.loss};
    if (at >= last.at) return {last.loss, last.loss};
    const auto above = std::find_if(points.begin(), points.end(),
                                    [&](const CurvePoint& point) { return point.at >= at; });
    const CurvePoint &left = *(above - 1), &right = *above;
    const double share = (at - left.at) / (right.at - left.at);
    const double loss = left.loss + share * (right.loss - left.loss);
    return {loss, loss};
}

namespace {

/// One sample: what was asked for, and what came of it.
struct Asked {
    Value along;
    CurvePoint point;
};
using Curves = std::map<std::uint64_t, std::vector<Asked>>;  // by seed
struct Contest {
    Curves of, over;
};

Case open_axes(const Claim& claim, const Observation& observation) {
    Case open = observation.axes;
    open.erase(claim.test.along);
    for (const auto* fixed : {&claim.of.where, &claim.over->where})
        for (const auto& [name, value] : *fixed) open.erase(name);
    for (const auto& [name, ends] : claim.assumes) open.erase(name);
    return open;
}

std::map<Case, Contest> contests(const Claim& claim, const Observations& observations) {
    // The two metrics of a sample arrive as two observations.
    std::map<std::string, double> place_of_sample;
    for (const Observation* o : observations)
        if (o->metric == claim.test.equal) place_of_sample[o->sample] = o->value;
    std::map<Case, Contest> found;
    for (const Observation* o : observations) {
        const auto place = place_of_sample.find(o->sample);
        const Value* along = coordinate(*o, claim.test.along);
        if (o->metric != claim.metric || place == place_of_sample.end() || !along ||
            !is_selected(claim, *o))
            continue;
        Contest& contest = found[open_axes(claim, *o)];
        const Asked asked{*along, {place->second, std::log(o->value)}};
        if (selects(claim.of, *o)) contest.of[o->seed].push_back(asked);
        if (selects(*claim.over, *o)) contest.over[o->seed].push_back(asked);
    }
    return found;
}

std::vector<CurvePoint> curve(const std::vector<Asked>& asked) {
    std::vector<CurvePoint> points;
    for (const Asked& one : asked) points.push_back(one.point);
    return points;
}

// By what was asked for and by which side; a seed that was run twice is one seed.
std::map<std::pair<Value, bool>, SeedValues> log_ratios(const Contest& contest) {
    std::map<std::pair<Value, bool>, SeedValues> found;
    for (const auto& [seed, of] : contest.of) {
        const auto over = contest.over.find(seed);
        if (over == contest.over.end()) continue;
        std::map<std::pair<Value, bool>, SeedValues> of_seed;
        for (const Asked& one : of) {
            const CurveBounds other = loss_at(curve(over->second), one.point.at);
            SeedValues& here = of_seed[{one.along, true}];
            here.low.push_back(one.point.loss - other.high);
            here.high.push_back(one.point.loss - other.low);
        }
        for (const Asked& one : over->second) {
            const CurveBounds own = loss_at(curve(of), one.point.at);
            SeedValues& here = of_seed[{one.along, false}];
            here.low.push_back(own.low - one.point.loss);
            here.high.push_back(own.high - one.point.loss);
        }
        for (const auto& [point, values] : of_seed) {
            found[point].low.push_back(mean(values.low));
            found[point].high.push_back(mean(values.high));
        }
    }
    return found;
}

}  // namespace

std::vector<EqualPoint> at_equal(const Claim& claim, const Observations& observations) {
    std::vector<EqualPoint> points;
    for (const auto& [at, contest] : contests(claim, observations)) {
        if (contest.of.empty() || contest.over.empty()) continue;
        for (auto& [point, values] : log_ratios(contest)) {
            points.push_back({at, std::move(values)});
            points.back().at[claim.test.along] = point.first;
        }
    }
    return points;
}

}  // namespace assay
