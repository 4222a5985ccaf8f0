// The verdict on one pair of series.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/compare/matching.hpp"

namespace assay::compare {

Row judge(const Match&, const Options&);

/// Values of both sides that belong together (equal, non-empty Point::pair), in the order of A.
struct Pairs {
    std::vector<double> a, b;
};
Pairs common_pairs(const Series& a, const Series& b);
std::vector<double> values_of(const Series&);

/// A deterministic metric with at least one common pair: equal in every pair, or changed. Fills in
/// everything but the names; `low` and `high` are the smallest and largest ratio.
void judge_exactly(Row&, const Pairs&);

/// slower or faster by the direction of the metric, `above`: B is larger; ambiguous without one.
Verdict by_direction(Direction better, bool above);

/// Sets verdict and reason: "code: detail", or the code alone.
void decide(Row&, Verdict, Reason, const std::string& detail = "");

}  // namespace assay::compare
