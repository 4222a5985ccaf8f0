// What it would take to decide what is ambiguous.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "suite/compare/judge.hpp"

namespace assay::compare {

/// Rows of one experiment at one profile and provenance; of benchmarks of files, all of them.
struct Deciding {
    std::vector<const Row*> rows;  ///< ambiguous, and more values would decide them
    std::size_t others = 0;        ///< such rows elsewhere
    Basis::Unit unit = Basis::Unit::value;
    /// Of either side: rounds, repetitions of a benchmark, or sessions that would decide most of
    /// the rows that most_needed can decide; 0: what there is does, with `margin`. nullopt: no
    /// number that anyone waits for.
    std::optional<int> needed;
    std::size_t decided = 0;  ///< of the rows
    double margin = 0;        ///< with this larger one; 0: with the rows' own
    double round_s = 0;       ///< one round of the rows' series, as their samples took; 0: unknown
    double session_s = 0;     ///< the same of all rounds of one session
};

/// Of rounds; more would not be waited for.
inline constexpr int most_needed = 300;

/// Where most of such rows are, by the noise and the ratios of what was measured. nullopt: there
/// are none.
std::optional<Deciding> what_would_decide(std::span<const Row> rows);

}  // namespace assay::compare
