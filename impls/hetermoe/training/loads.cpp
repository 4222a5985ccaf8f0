#include "impls/hetermoe/training/loads.hpp"

#include <algorithm>

namespace assay::hetermoe {

std::vector<std::int64_t> dealt_choices(const std::vector<double>& loads, int top_k,
                                        std::int64_t rows) {
    std::vector<double> ends;  // of each expert's stretch of a line that is top_k long
    double end = 0;
    for (const double load : loads) ends.push_back(end += top_k * load);
    std::vector<std::int64_t> chosen;
    for (std::int64_t row = 0; row < rows; ++row)
        for (int k = 0; k < top_k; ++k) {
            const double at = k + (static_cast<double>(row) + 0.5) / static_cast<double>(rows);
            const auto found = std::upper_bound(ends.begin(), ends.end() - 1, at) - ends.begin();
            chosen.push_back(found);
        }
    return chosen;
}

nn::ForcedChoice choice_of_loads(const std::vector<std::vector<double>>& loads, int top_k) {
    if (loads.empty()) return {};
    return [&loads, top_k](int layer, std::int64_t rows) {
        return dealt_choices(loads[static_cast<std::size_t>(layer)], top_k, rows);
    };
}

}  // namespace assay::hetermoe
