#include "gui/data/figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"
#include "suite/claim/quantity.hpp"
#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/figures/timeline.hpp"
#include "suite/report/page/html_page.hpp"
#include "suite/report/text/claims_summary.hpp"

namespace assay::gui {
namespace {

std::vector<JudgedClaim> judged_claims(const Registry& registry, const store::Store& store,
                                       const Experiment& experiment) {
    std::vector<const Claim*> claims;
    if (const System* system = registry.system(experiment.system()))
        for (const Claim& claim : system->claims)
            if (claim.experiment == experiment.id) claims.push_back(&claim);
    std::vector<ClaimCheck> checks = report::newest_checks(registry, &store, claims);
    std::vector<JudgedClaim> judged;
    for (std::size_t i = 0; i < claims.size(); ++i)
        judged.push_back({claims[i], std::move(checks[i])});
    return judged;
}

/// The first value of the metric that the claim looks at on this side; nullopt: the sample has
/// none.
std::optional<double> selected_value(const Claim& claim, const Selector& side,
                                     const std::string& metric, const store::Sample& sample) {
    Observation seen;
    seen.variant = sample.spec.variant;
    seen.axes = sample.spec.axes;
    for (const store::MetricValue& value : sample.metrics) {
        if (value.name != metric) continue;
        seen.labels = value.labels;
        if (selects(side, seen) && is_selected(claim, seen)) return value.value;
    }
    return std::nullopt;
}

bool is_checkable(const Claim& claim, const SampleSpec& spec) {
    const auto profile = claim.checkable.find(std::string(to_string(spec.profile)));
    return profile != claim.checkable.end() && profile->second == to_string(spec.provenance);
}

}  // namespace

std::vector<ClaimSample> samples_behind(const JudgedClaim& judged,
                                        const std::vector<store::Sample>& samples) {
    const Claim& claim = *judged.claim;
    std::vector<ClaimSample> behind;
    for (const store::Sample& sample : samples) {
        const SampleSpec& spec = sample.spec;
        if (sample.status != "ok" || !is_checkable(claim, spec)) continue;
        const auto at = claim.at.find(std::string(to_string(spec.profile)));
        const std::string& metric =
            at != claim.at.end() && !at->second.metric.empty() ? at->second.metric : claim.metric;
        std::optional<double> value = selected_value(claim, claim.of, metric, sample);
        if (!value && claim.over) value = selected_value(claim, *claim.over, metric, sample);
        if (!value && !claim.test.custom()) continue;  // those look at all of them
        behind.push_back({sample.id, spec.variant, to_string(spec.axes),
                          std::string(to_string(spec.profile)),
                          std::string(to_string(spec.provenance)), spec.seed, value, claim.unit});
    }
    return behind;
}

report::Plot draw_figure(const Registry& registry, const FigureContent& figure,
                         const report::ViewWindow& window) {
    const Experiment& experiment = *figure.experiment;
    if (experiment.figure.kind != Figure::Kind::timeline)
        return report::data_plot(experiment, figure.data, window);
    return report::timeline_figure(experiment, figure.samples, registry.event_kinds(experiment),
                                   window);
}

FigureContent read_figure(const Registry& registry, const store::Store& store,
                          const std::string& id) {
    FigureContent view;
    view.experiment = registry.experiment(id);
    if (!view.experiment)
        throw UserError(fmt::format("figure:{} names {} experiments: give one", id,
                                    registry.select(id).size()));
    view.claims = judged_claims(registry, store, *view.experiment);
    std::vector<Claim> claims;
    for (const JudgedClaim& judged : view.claims) claims.push_back(*judged.claim);
    view.samples = report::samples_to_draw(store, *view.experiment);
    if (view.experiment->figure.kind != Figure::Kind::timeline) {
        view.data = report::figure_data(*view.experiment, view.samples, claims);
        for (store::Sample& sample : view.samples) {
            sample.series_data.clear();
            sample.tables.clear();
            sample.artifacts.clear();
            sample.hardware.clear();
        }
    }
    view.plot = draw_figure(registry, view);
    return view;
}

}  // namespace assay::gui
