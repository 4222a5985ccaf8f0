#include "impls/dr_post_training/policy/sets/constraint_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::dr_post_training {

bool selects(SetKind kind) {
    return kind == SetKind::topk || kind == SetKind::greedy || kind == SetKind::exact ||
           kind == SetKind::filter;
}

bool needs_target_norm(SetKind kind) {
    return kind == SetKind::ball || kind == SetKind::halfspace || kind == SetKind::target;
}

void demand_finite(std::span<const double> values, std::string_view what) {
    const auto bad = std::count_if(values.begin(), values.end(),
                                   [](double value) { return !std::isfinite(value); });
    if (bad > 0)
        throw NotFinite(fmt::format("{} of {} {} are not finite", bad, values.size(), what));
}

std::size_t rows_of_fraction(double fraction, std::size_t rows) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::trunc(fraction * static_cast<double>(rows))));
}

}  // namespace assay::dr_post_training
