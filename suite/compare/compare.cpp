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

// How verdicts and reasons are called wherever they are shown.

std::string_view to_string(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::same:
            return "same";
        case RowVerdict::faster:
            return "faster";
        case RowVerdict::slower:
            return "slower";
        case RowVerdict::ambiguous:
            return "ambiguous";
        case RowVerdict::not_comparable:
            return "not comparable";
        case RowVerdict::failed:
            return "failed";
        case RowVerdict::failed_before:
            break;
    }
    return "failed before too";
}

std::string_view code(Reason reason) {
    switch (reason) {
        case Reason::within_margin:
            return "within-margin";
        case Reason::beyond_margin:
            return "beyond-margin";
        case Reason::straddles_margin:
            return "straddles-margin";
        case Reason::too_few:
            return "too-few";
        case Reason::bimodal:
            return "bimodal";
        case Reason::identical:
            return "identical";
        case Reason::changed:
            return "changed";
        case Reason::no_direction:
            return "no-direction";
        case Reason::not_positive:
            return "not-positive";
        case Reason::context_differs:
            return "context-differs";
        case Reason::only_in_a:
            return "only-in-a";
        case Reason::only_in_b:
            return "only-in-b";
        case Reason::all_failed:
            return "all-failed";
        case Reason::all_excluded:
            return "all-excluded";
        case Reason::aggregates_only:
            break;
    }
    return "aggregates-only";
}

}  // namespace assay::compare
