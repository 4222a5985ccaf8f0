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

/// What an interval rests on: numbers that chance made independently of each other, as far as one
/// can know. Values of one session share what that session met (a machine's state, a layout of
/// memory), so of several sessions each counts once, by its median.
struct Basis {
    enum class Unit { pair, value, session };
    Unit unit = Unit::value;
    std::vector<double> a, b;  ///< of pairs: side by side
};
/// Sessions where a side has several of them; else the pairs where they are enough and most values
/// have a partner; else the values. Here and below every value is a number.
Basis basis_of(const Series& a, const Series& b, const Pairs&);
Basis unpaired_basis(const Series& a, const Series& b);

/// How many sessions the points are of; 0: unknown, as of a foreign file.
int sessions_in(const Series&);
/// Whether several sessions of a side must not pass for one; what is deterministic knows none.
bool rests_on_sessions(const Series& a, const Series& b);

/// log of the factor between two clusters in what the interval rests on (of pairs: their ratios; a
/// workload that differs from seed to seed has clusters of values that mean nothing); 0: no
/// clusters.
double log_gap(const Basis&);

/// "unpaired, 9 and 9 values of one session each" or "medians of 5 and 6 sessions, 45 and 54
/// values".
std::string unpaired_text(const Series& a, const Series& b);

/// Both sides have values and their contexts agree. Fills in everything but the names.
void judge_ratio(Row&, const Pairs&, const Options&);

/// slower or faster by the direction of the metric, `above`: B is larger; ambiguous without one.
RowVerdict by_direction(Direction better, bool above);

/// Sets verdict and reason: "code: detail", or the code alone.
void decide(Row&, RowVerdict, Reason, const std::string& detail = "");

}  // namespace assay::compare
