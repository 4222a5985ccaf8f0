#include "suite/compare/compare.hpp"

#include <cmath>
#include <limits>

#include "suite/compare/judge.hpp"
#include "suite/compare/matching.hpp"
#include "suite/compare/warnings.hpp"
#include "suite/measure/statistics/rank_tests.hpp"

namespace assay::compare {

std::vector<Row> compare(const Arm& a, const Arm& b, const Options& options) {
    std::vector<Row> rows;
    for (const Match& pair : match(a, b, options)) {
        Row row = judge(pair, options);
        // A series of which every sample failed has no metric, so no direction either, and shows.
        if (options.all_metrics || row.better != Direction::none || row.id.metric.empty())
            rows.push_back(std::move(row));
    }
    warn_of_disagreeing_times(rows);
    return rows;
}

std::vector<double> corrected_p(const std::vector<Row>& rows) {
    std::vector<double> p;
    std::vector<std::size_t> tested;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const bool by_numbers =
            row.method != statistics::IntervalMethod::none || row.reason_code == Reason::too_few;
        if (!by_numbers) continue;
        tested.push_back(i);
        const Basis basis = unpaired_basis(*row.a, *row.b);
        p.push_back(statistics::mann_whitney(basis.a, basis.b).p);
    }
    std::vector<double> corrected(rows.size(), std::numeric_limits<double>::quiet_NaN());
    const std::vector<double> adjusted = statistics::holm(p);
    for (std::size_t i = 0; i < tested.size(); ++i) corrected[tested[i]] = adjusted[i];
    return corrected;
}

}  // namespace assay::compare
