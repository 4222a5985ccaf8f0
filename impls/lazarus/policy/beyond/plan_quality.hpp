// How good a placement is beside others, for clusters of at most 64 nodes: which failure sets it
// survives, in exact integers. Probabilities as floating-point numbers would leave "never worse" to
// rounding. Our own addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "impls/lazarus/policy/plan/survivors.hpp"

namespace assay::lazarus {

/// What counting survivors costs, in unions of two masks or 64 failure sets; a few nanoseconds
/// each. The cheaper of inclusion-exclusion and enumeration.
double counting_work(std::size_t masks, int nodes);

/// Counting beyond this is refused: about 10 ms.
inline constexpr double most_counting_work = 1 << 21;

/// Failure sets that contain none of `minimal`. Nothing where that takes more than
/// most_counting_work.
std::optional<Survivors> exact_survivors(std::span<const NodeMask> minimal, int nodes);

/// At least as many as survive, for every k: exact where that can be counted, otherwise counting
/// only the smallest of the sets that kill.
Survivors survivors_bound(std::span<const NodeMask> minimal, int nodes);

/// a[k] >= b[k] for every k.
bool never_fewer(const Survivors& a, const Survivors& b);

/// Pointwise larger of both.
Survivors larger(const Survivors& a, const Survivors& b);

/// Sum over k of a's shortfall below `wanted`, each as a share of all sets of k nodes, in units of
/// 2^-32: an integer, so that searches that follow it choose alike on every machine. 0 exactly when
/// never_fewer(a, wanted).
std::int64_t shortfall(const Survivors& a, const Survivors& wanted);

/// What is looked for, in survivors of the searched nodes.
struct SearchGoal {
    Survivors at_least;  ///< never fewer than these, above all
    Survivors wanted;    ///< never fewer than these either, if it can be had
};

/// How a plan does by a goal, each in units of 2^-32 as shortfall() gives it; smaller is better.
struct PlanQuality {
    std::int64_t below_least = 0;   ///< shortfall below SearchGoal::at_least
    std::int64_t below_wanted = 0;  ///< shortfall below SearchGoal::wanted
    std::int64_t lost = 0;          ///< share of failure sets that lose an expert, sum over k

    /// below_least first, then below_wanted, then lost.
    bool better_than(const PlanQuality& other) const;
};
PlanQuality judge(const Survivors& survivors, const SearchGoal& goal);

}  // namespace assay::lazarus
