// What an interval rests on: pairs, values, or the medians of sessions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "suite/compare/judge.hpp"
#include "suite/measure/statistics/bimodality.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::compare {
namespace {

std::vector<double> session_medians(const Series& series) {
    std::map<int, std::vector<double>> by_session;
    for (const Point& point : series.points) by_session[point.session].push_back(point.value);
    std::vector<double> medians;
    for (const auto& [session, values] : by_session) medians.push_back(statistics::median(values));
    return medians;
}

/// Enough pairs, and most values have a partner: a few common seeds must not stand for many others.
bool pairs_decide(const Series& a, const Series& b, const Pairs& pairs) {
    const auto n = pairs.a.size();
    return n >= static_cast<std::size_t>(statistics::smallest_n_for_interval) &&
           2 * n >= std::min(a.points.size(), b.points.size());
}

double log_gap_of(const std::vector<double>& values) {
    const statistics::Bimodality shape = statistics::bimodality(values);
    return shape.bimodal ? std::log(shape.high / shape.low) : 0;
}

}  // namespace

std::vector<double> values_of(const Series& series) {
    std::vector<double> values;
    for (const Point& point : series.points) values.push_back(point.value);
    return values;
}

Pairs common_pairs(const Series& a, const Series& b) {
    std::map<std::string_view, double> of_b;
    for (const Point& point : b.points)
        if (!point.pair.empty()) of_b.emplace(point.pair, point.value);
    Pairs pairs;
    for (const Point& point : a.points)
        if (const auto found = of_b.find(point.pair); found != of_b.end()) {
            pairs.a.push_back(point.value);
            pairs.b.push_back(found->second);
        }
    return pairs;
}

int sessions_in(const Series& series) {
    std::set<int> sessions;
    for (const Point& point : series.points)
        if (point.session > 0) sessions.insert(point.session);
    return static_cast<int>(sessions.size());
}

bool rests_on_sessions(const Series& a, const Series& b) {
    if (a.deterministic && b.deterministic) return false;
    return sessions_in(a) > 1 || sessions_in(b) > 1;
}

Basis unpaired_basis(const Series& a, const Series& b) {
    if (rests_on_sessions(a, b))
        return {Basis::Unit::session, session_medians(a), session_medians(b)};
    return {Basis::Unit::value, values_of(a), values_of(b)};
}

Basis basis_of(const Series& a, const Series& b, const Pairs& pairs) {
    if (!rests_on_sessions(a, b) && pairs_decide(a, b, pairs))
        return {Basis::Unit::pair, pairs.a, pairs.b};
    return unpaired_basis(a, b);
}

double log_gap(const Basis& basis) {
    if (basis.unit != Basis::Unit::pair) return std::max(log_gap_of(basis.a), log_gap_of(basis.b));
    // Of the logarithms, so that swapping the sides changes nothing.
    std::vector<double> logs;
    for (std::size_t i = 0; i < basis.a.size(); ++i)
        logs.push_back(std::log(basis.b[i] / basis.a[i]));
    const statistics::Bimodality shape = statistics::bimodality(logs);
    return shape.bimodal ? shape.high - shape.low : 0;
}

std::string unpaired_text(const Series& a, const Series& b) {
    const int in_a = sessions_in(a), in_b = sessions_in(b);
    if (rests_on_sessions(a, b))
        return fmt::format("medians of {} and {} sessions, {} and {} values", std::max(in_a, 1),
                           std::max(in_b, 1), a.points.size(), b.points.size());
    return fmt::format("unpaired, {} and {} values{}", a.points.size(), b.points.size(),
                       in_a == 1 && in_b == 1 ? " of one session each" : "");
}

}  // namespace assay::compare
