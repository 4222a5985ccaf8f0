// Fig. 11: what the time on the spot trace goes to, system by system.
#include <algorithm>

#include "impls/lazarus/experiments/experiments.hpp"

namespace assay::lazarus {

Experiment fig11() {
    Experiment e = fig9();
    e.id = "lazarus/fig11";
    e.title = "What the time on the spot trace goes to";
    e.source = "arXiv 2407.04656v2, section 6.5, Fig. 11";
    e.says =
        "The simulated trainings of lazarus/fig9, by what their time goes to: steps that count, "
        "checkpoints, restarts (launching the job and loading state), reconfiguration (detecting, "
        "regrouping, moving state, for losses, joins and rebalances), and what was lost (steps "
        "that a restart undid or a death interrupted, and waiting for nodes). The claims of Fig. "
        "11 are checked on lazarus/fig9 itself, which stores the same shares.";
    e.profiles.erase(e.profiles.begin() + 1);  // toy and paper are enough
    for (ProfilePlan& plan : e.profiles) {
        plan.provenances = {Provenance::simulated};
        plan.variants = {"lazarus", "ds_ft", "ds"};
        plan.axes["model"] = {"gpt-s", "gpt-l"};
        plan.axes.erase("mapping");
        plan.seconds_of.clear();
        plan.seconds_per_sample = 0.5;
    }
    std::erase_if(e.metrics, [](const MetricSpec& metric) {
        const auto& only = metric.only;
        return metric.name.ends_with("_at_ends") ||
               (!only.empty() &&
                std::find(only.begin(), only.end(), Provenance::simulated) == only.end());
    });
    e.figure = {Figure::Kind::bars,  "share", "part", {"model", "relaunch_s"}, "",
                "share of the time", false};
    return e;
}

}  // namespace assay::lazarus
