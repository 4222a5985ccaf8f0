#include "suite/compare/compare.hpp"

#include "suite/compare/judge.hpp"
#include "suite/compare/matching.hpp"
#include "suite/compare/warnings.hpp"

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
    warn_of_new_failures(rows);
    return rows;
}

}  // namespace assay::compare
