#include "suite/report/figures/axis_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::report {
namespace {

constexpr double aimed_intervals = 5;
constexpr std::array<double, 3> round_factors{1, 2, 5};

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : round_factors)
        if (factor * power >= least * (1 - 1e-12)) return factor * power;
    return 10 * power;
}

std::string short_number(double value) {
    const double size = std::abs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) return fmt::format("{:.3g}", value);
    if (size >= 1e9) return fmt::format("{:.4g}G", value / 1e9);
    if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
    if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
    return fmt::format("{:.4g}", value);
}

}  // namespace

std::vector<double> round_ticks(double low, double high, bool whole) {
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low <= size * 1e-9) {  // one value: make room on both sides, but not below zero
        const double room = size > 0 ? size / 2 : 1;
        if (low != 0) low -= room;
        high += room;
    }
    double step = round_step((high - low) / aimed_intervals);
    if (whole) step = std::max(step, 1.0);
    constexpr double slack = 1e-9;  // an end that is a tick but for rounding stays the last tick
    double first = std::floor(low / step + slack), last = std::ceil(high / step - slack);
    while (last - first < 2) ++last;
    std::vector<double> ticks;
    for (double i = first; i <= last; ++i) ticks.push_back(i * step);
    return ticks;
}

std::vector<double> log_ticks(double low, double high) {
    const double first = std::floor(std::log10(low) + 1e-12);
    const double last = std::ceil(std::log10(high) - 1e-12);
    std::vector<double> ticks;
    if (last - first > 2) {
        const double stride = std::ceil((last - first) / 8);
        for (double power = first; power < last + stride; power += stride)
            ticks.push_back(std::pow(10.0, power));
        return ticks;
    }
    for (double power = first; power <= std::max(last, first + 1); ++power)
        for (const double factor : round_factors) ticks.push_back(factor * std::pow(10.0, power));
    const auto covers = [&](double a, double b) { return a <= b * (1 + 1e-9); };
    while (ticks.size() > 3 && covers(ticks[1], low)) ticks.erase(ticks.begin());
    while (ticks.size() > 3 && covers(high, ticks[ticks.size() - 2])) ticks.pop_back();
    return ticks;
}

AxisScale AxisScale::linear(double low, double high, bool whole) {
    AxisScale scale;
    scale.ticks_ = round_ticks(low, high, whole);
    scale.low_ = scale.ticks_.front();
    scale.high_ = scale.ticks_.back();
    return scale;
}

AxisScale AxisScale::until(double end) {
    AxisScale scale = linear(0, end);
    scale.high_ = end * 1.02;
    while (scale.ticks_.back() > scale.high_) scale.ticks_.pop_back();
    return scale;
}

AxisScale AxisScale::logarithmic(double low, double high) {
    AxisScale scale;
    scale.log_ = true;
    scale.ticks_ = log_ticks(low, high);
    scale.low_ = scale.ticks_.front();
    scale.high_ = scale.ticks_.back();
    return scale;
}

AxisScale AxisScale::categories(std::size_t count) {
    AxisScale scale;
    scale.low_ = -0.5;
    scale.high_ = static_cast<double>(std::max<std::size_t>(count, 1)) - 0.5;
    return scale;
}

AxisScale AxisScale::part(double low, double high) const {
    AxisScale scale = *this;
    scale.low_ = low;
    scale.high_ = high;
    if (ticks_.empty()) return scale;
    const auto outside = [&](double tick) { return tick < low || tick > high; };
    scale.ticks_ = log_ ? log_ticks(low, high) : round_ticks(low, high);
    std::erase_if(scale.ticks_, outside);
    if (scale.ticks_.size() < 2) {  // within less than a decade
        scale.ticks_ = round_ticks(low, high);
        std::erase_if(scale.ticks_, outside);
    }
    return scale;
}

double AxisScale::position(double value) const {
    if (!log_) return (value - low_) / (high_ - low_);
    return value <= 0 ? 0 : std::log(value / low_) / std::log(high_ / low_);
}

double AxisScale::value_at(double position) const {
    if (!log_) return low_ + position * (high_ - low_);
    return low_ * std::pow(high_ / low_, position);
}

std::string AxisScale::label(double tick) const {
    constexpr double told_apart = 1e-3;  // of the largest: steps that short numbers still show
    if (ticks_.size() < 2) return short_number(tick);
    const double step = ticks_[1] - ticks_[0];
    const double largest = std::max(std::abs(low_), std::abs(high_));
    const bool fine = step < told_apart * (log_ ? std::abs(ticks_[1]) : largest);
    if (log_ && !fine) return short_number(tick);
    if (!fine && (largest >= 1e4 || largest < 1e-3))
        return short_number(std::abs(tick) < step / 2 ? 0 : tick);
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
    return fmt::format("{:.{}f}", std::abs(tick) < step / 2 ? 0.0 : tick, decimals);
}

}  // namespace assay::report
