// Fig. 5: why overlap helps. Experts against the failure sets that kill them, as bipartite graphs.
#include <cstddef>
#include <cstdint>

#include "impls/lazarus/experiments/exact/exhaustive_search.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr int experts = 4;
constexpr std::size_t lost_nodes = 3;
constexpr long sets_of_lost_nodes = 10;  // of five

// Both hold experts A to D with 2, 2, 3 and 3 replicas in pairs. Case 1 keeps A with B and C with
// D; case 2, rebuilt from the failure sets that the text names, mixes them.
const Placement case_1 = {{0, 1}, {0, 1}, {2, 3}, {2, 3}, {2, 3}};
const Placement case_2 = {{0, 1}, {0, 3}, {1, 2}, {2, 3}, {2, 3}};

enum class Layout { overlapping, mixed };
ASSAY_NAMES(Layout, (overlapping, "case_1"), (mixed, "case_2"))

struct Fig5 {
    Layout layout{};
};

void run(const Fig5& fig5, Recorder& recorder) {
    const Placement& placement = fig5.layout == Layout::overlapping ? case_1 : case_2;
    const std::vector<long> surviving = surviving_failure_sets(placement, experts);
    recorder.metric("killing_sets",
                    static_cast<double>(sets_of_lost_nodes - surviving[lost_nodes]));
    record_recovery(recovery_probability(placement, experts), recorder);
}

}  // namespace

Experiment fig5() {
    Declaration<Fig5> fig5(
        {.id = "lazarus/fig5",
         .title = "Failure sets that kill, with and without overlap",
         .source = "arXiv 2407.04656v2, section 4.1, Fig. 5",
         .says =
             "Five nodes with two slots each, experts with 2, 2, 3 and 3 replicas. An edge joins "
             "an expert and a set of failed nodes that holds all its replicas; a failure set with "
             "any edge kills. Case 1 is the overlapping placement, case 2 is rebuilt from the "
             "failure sets named in the text. After three failures 4 of 10 sets kill in case 1, 7 "
             "of 10 in case 2.",
         .metrics = {recovery_metric(),
                     {.name = "killing_sets",
                      .unit = "count",
                      .says = "sets of three failed nodes (of ten) whose loss loses an expert",
                      .better = Direction::lower,
                      .deterministic = true}},
         .profiles = exact_profiles(0.05),
         .figure = recovery_figure({})});
    fig5.variants(&Fig5::layout);
    return fig5.runs(run);
}

}  // namespace assay::lazarus
