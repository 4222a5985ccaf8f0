// Words for what happened in a sample, placed so that they do not overlap.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::report {

/// Events of one kind that happened at nearly the same moment.
struct TimelineMark {
    std::string kind;
    double t_s = 0;  ///< of the first
    std::size_t count = 1;
    std::vector<int> ranks;  ///< ascending, each once
    std::string text;  ///< "kill r1 2.400 s", "regroup ×3 +12 ms": after a fault, the time since it
};

/// Kinds that get a line and a label, in time order; commits and unknown kinds do not. Events
/// closer than `merge_s` are merged, but never across an event of another kind.
std::vector<TimelineMark> timeline_marks(std::span<const store::Event>, double merge_s);

struct PlacedLabel {
    std::size_t row = 0;  ///< 0 is the lowest
    double left = 0;
    bool shown = true;  ///< false: no row had room
};

/// Gives each label (x of its line, width; ascending x) a row and a left edge within [low, high].
std::vector<PlacedLabel> place_labels(std::span<const std::pair<double, double>> x_and_width,
                                      double low, double high, std::size_t most_rows);

/// Kind of a drawn event → its colour slot.
std::size_t event_slot(std::string_view kind);

}  // namespace assay::report
