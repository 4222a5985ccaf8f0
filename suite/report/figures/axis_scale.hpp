// Axes: round tick values that cover the data, and the mapping from a value to a place along the
// axis.
#pragma once

#include <string>
#include <vector>

namespace assay::report {

/// 3 to 10 multiples of 1, 2 or 5 times a power of ten that cover [low, high]. `whole`: whole
/// numbers only. Both ends must be finite, low <= high; equal ends are widened.
std::vector<double> round_ticks(double low, double high, bool whole = false);

/// 3 to 10 values 1, 2 or 5 times a power of ten (powers alone for wide spans) that cover
/// [low, high], 0 < low <= high.
std::vector<double> log_ticks(double low, double high);

class AxisScale {
  public:
    static AxisScale linear(double low, double high, bool whole = false);
    /// From zero to just beyond `end` > 0, with the ticks in between: for time, which ends
    /// somewhere.
    static AxisScale until(double end);
    static AxisScale logarithmic(double low, double high);
    /// Indices 0 … count-1, each in the middle of its share of the axis; no ticks.
    static AxisScale categories(std::size_t count);

    /// The part from `low` to `high` of this axis, with ticks of its own inside; low < high, on a
    /// logarithmic axis 0 < low.
    AxisScale part(double low, double high) const;

    double low() const { return low_; }
    double high() const { return high_; }
    double position(double value) const;     ///< 0 at the low end, 1 at the high end
    double value_at(double position) const;  ///< the other way round
    const std::vector<double>& ticks() const { return ticks_; }
    std::string label(double tick) const;  ///< as precise as the distance between ticks demands

  private:
    double low_ = 0, high_ = 1;
    bool log_ = false;
    std::vector<double> ticks_;
};

}  // namespace assay::report
