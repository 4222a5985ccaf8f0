// How verdicts and reasons are called wherever they are shown.
#include "suite/compare/compare.hpp"

namespace assay::compare {

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::same:
            return "same";
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::ambiguous:
            return "ambiguous";
        case Verdict::not_comparable:
            return "not comparable";
        case Verdict::failed:
            return "failed";
        case Verdict::failed_before:
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
            break;
    }
    return "all-excluded";
}

}  // namespace assay::compare
