#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "suite/measure/statistics/dip.hpp"
#include "suite/measure/statistics/dip_table.hpp"

namespace assay::statistics {
namespace {

/// The table's row for n values: between two of its rows in the logarithm of n; beyond the last,
/// the last, as sqrt(n) times the dip has a limit.
DipQuantiles row_for(std::size_t n) {
    const auto table = dip_table();
    if (n < static_cast<std::size_t>(table.front().n))
        throw std::invalid_argument("the dip test of too few values");
    const auto above = std::find_if(table.begin(), table.end(), [&](const DipQuantiles& row) {
        return static_cast<std::size_t>(row.n) >= n;
    });
    if (above == table.end()) return table.back();
    if (static_cast<std::size_t>(above->n) == n) return *above;
    const DipQuantiles& below = *(above - 1);
    const double share = std::log(double(n) / below.n) / std::log(double(above->n) / below.n);
    DipQuantiles row{static_cast<int>(n), {}};
    for (std::size_t i = 0; i < row.root_n_dip.size(); ++i)
        row.root_n_dip[i] = std::lerp(below.root_n_dip[i], above->root_n_dip[i], share);
    return row;
}

}  // namespace

double dip_p_value(double dip, std::size_t n) {
    const auto quantiles = row_for(n).root_n_dip;
    const double scaled = std::sqrt(static_cast<double>(n)) * dip;
    // Equal quantiles (small n: many samples have the least dip of all) count with the lowest
    // share.
    const auto at = std::lower_bound(quantiles.begin(), quantiles.end(), scaled);
    if (at == quantiles.begin()) return 1;
    if (at == quantiles.end()) return 1 - kDipShares.back();
    const auto i = static_cast<std::size_t>(at - quantiles.begin());
    // p falls nearly exponentially with the dip.
    const double share = (scaled - quantiles[i - 1]) / (quantiles[i] - quantiles[i - 1]);
    return std::exp(std::lerp(std::log1p(-kDipShares[i - 1]), std::log1p(-kDipShares[i]), share));
}

}  // namespace assay::statistics
