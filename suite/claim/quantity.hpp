// What the observations say about a claim's quantity, case by case: selection, pairing of the two
// sides of a ratio, medians, reductions. Decides nothing; criterion.cpp does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/claim/claim.hpp"

namespace assay {

/// One seed's values, each the mean of its samples; `over` is 1 without another side.
struct OfSeed {
    double of = 0, over = 1;
    double ratio() const { return of / over; }
};

/// The quantity in one case, or what a reduction makes of several.
struct Measured {
    Case at;           ///< axes and labels that the claim's selectors leave open
    double value = 0;  ///< median, or with `over` the median ratio
    double difference =
        0;  ///< with `over`: median of of − over; decides where a ratio cannot (0/0)
    double low = 0, high = 0;
    std::size_t samples = 0;
    bool paired = true;                      ///< the sides of the ratio had common seeds
    std::optional<std::uint64_t> only_seed;  ///< of all samples, or of the only pair
    std::map<std::uint64_t, OfSeed> seeds;   ///< with `over` those of both sides
    std::vector<const Origin*> origins;      ///< of the observations behind it: one comparable set
    std::string reduced;                     ///< "mean of 5 cases"; empty: one case
    double misplaced = 0;  ///< how far its extreme is from the value where it should lie
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

/// Whether an observation is of the selector's variant, axes and labels.
bool selects(const Selector&, const Observation&);

/// Whether the claim looks at the observation, whatever its metric: one of its sides does, and
/// neither `except`, `between` nor `absent` leaves it out.
bool is_selected(const Claim&, const Observation&);

/// Groups what the claim selects by everything its selectors leave open, and by what is comparable:
/// a case may come out more than once. `walks_variants`: the variant is a coordinate of its own
/// (order over variants). Cases without both sides of a ratio are left out.
std::vector<Measured> measure(const Claim&, const Observations&, bool walks_variants);

/// The points of which every observation lies in one comparable set of all of them.
std::vector<std::vector<const Measured*>> comparable(const std::vector<const Measured*>& points);

/// What `reduce` makes of each comparable set that has all cases; none where no set does.
std::vector<Measured> reduced(const Claim&, const std::vector<Measured>& points);

/// Median; of an even number the mean of the middle two. NaN if any is NaN or there is none.
double median(std::vector<double> values);

double mean(const std::vector<double>& values);  ///< of at least one

/// Both sides of a comparison come from decimal text and from sums of doubles: a difference in the
/// last digits is none.
double rounding(double size);

}  // namespace assay
