// What the observations say about a claim's quantity, case by case: selection, pairing of the two
// sides of a ratio, medians. Decides nothing; check.cpp does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"

namespace assay {

/// The quantity in one case.
struct Measured {
    Case at;           ///< axes and labels that the claim's selectors leave open
    double value = 0;  ///< median, or with `over` the median ratio
    double difference =
        0;  ///< with `over`: median of of − over; decides where a ratio cannot (0/0)
    double low = 0, high = 0;
    std::size_t samples = 0;
    bool paired = true;                      ///< the sides of the ratio had common seeds
    std::optional<std::uint64_t> only_seed;  ///< of all samples, or of the only pair
    std::vector<const Origin*> origins;      ///< of the observations behind it: one comparable set
};

using Observations = std::vector<const Observation*>;

/// The sets of comparable_sets() (series.hpp), as observations.
std::vector<Observations> comparable_sets(const Observations&);

/// The axis or label of that name; null when there is none.
const Value* coordinate(const Observation&, std::string_view name);

/// nullopt: a word.
std::optional<double> as_number(const Value&);

/// Numbers compare as numbers: 4 equals 4.0.
bool same_value(const Value&, const Value&);

/// True when every entry of `where` is an axis or label of the observation with that value.
bool is_at(const Observation&, const Case& where);

/// Groups what the claim selects by everything its selectors leave open, and by what is comparable:
/// a case may come out more than once. `walks_variants`: the variant is a coordinate of its own
/// (order over variants). Cases without both sides of a ratio are left out.
std::vector<Measured> measure(const Claim&, const Observations&, bool walks_variants);

/// Median; of an even number the mean of the middle two. NaN if any is NaN or there is none.
double median(std::vector<double> values);

}  // namespace assay
