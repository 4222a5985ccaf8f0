#include "suite/cli/run_session.hpp"

#include <iostream>
#include <set>

#include "suite/cli/json_output.hpp"
#include "suite/cli/live_progress.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/warnings_before_run.hpp"

namespace assay::cli {
namespace {

/// So that whoever reads the database without this program sees units.
std::vector<store::MetricUnit> declared_units(const Registry& registry, const runner::Plan& plan) {
    std::set<std::string> ids;
    for (const auto& sample : plan.samples) ids.insert(sample.spec.experiment);
    std::vector<store::MetricUnit> units;
    for (const auto& id : ids)
        if (const Experiment* experiment = registry.experiment(id))
            for (const MetricSpec& metric : experiment->metrics)
                units.push_back({id, metric.name, metric.unit, metric.better});
    return units;
}

}  // namespace

runner::Outcome run_session(const RunOptions& options, const runner::Request& request,
                            const runner::Plan& plan, const Context& context) {
    for (const std::string& sentence : plan.left_out)
        std::cerr << "left out: " << sentence << std::endl;
    store::Store store = open_or_begin(context);
    store.put_metric_units(declared_units(context.registry, plan));
    runner::Request recorded = request;
    if (!options.no_doctor)
        if (const auto warnings = warnings_before_run(plan, options.settle_s))
            recorded.suspects["warnings"] = *warnings;
    const bool stream = options.events == "jsonl";
    LiveProgress progress(terminal_width());
    return runner::execute(context.registry, plan, recorded, store,
                           [&](const runner::Notice& notice) {
                               if (stream)
                                   print_json_line(event_line(notice));
                               else
                                   progress.on(notice);
                           });
}

}  // namespace assay::cli
