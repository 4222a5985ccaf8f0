// How tables and figures sort samples: values and variants in their declared order; and what sets
// samples of several machines, calibrations or data sets apart, where a line or a median would
// otherwise take them together.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// A value with the place that the experiment's axis gives it; undeclared values follow, in order.
struct OrderedValue {
    std::size_t place = 0;
    Value value = std::string();
    std::partial_ordering operator<=>(const OrderedValue&) const;
    bool operator==(const OrderedValue&) const = default;
};
OrderedValue ordered(const Experiment&, const std::string& axis, const Value&);

double number_of(const Value&);  ///< NaN: a word
/// Numbers compare as numbers: 4 equals 4.0.
bool same_number_or_text(const Value&, const Value&);

/// Place of a variant among the declared ones: decides its colour. Unknown variants come last.
std::size_t variant_slot(const Experiment&, const std::string& variant);

double median_of_sorted(std::span<const double> sorted);  ///< of at least one value

/// Short hashes; each empty where it sets nothing apart.
struct OriginLabel {
    std::string machine, calibration, data;
    std::string text() const;  ///< "machine 1a2b3c4d · calibration 5e6f7a8b"
};

/// A label for each sample. The machine is told wherever there are several; calibration and data
/// where samples of one machine with an equal `group` are not comparable (comparable_sets()).
std::vector<OriginLabel> origin_labels(
    std::span<const store::Sample> samples,
    const std::function<std::string(const store::Sample&)>& group);

/// A group for origin_labels(): all that was asked for but the variant and the axis `left_out`.
std::string asked_for(const store::Sample&, const std::string& left_out = "");

}  // namespace assay::report
