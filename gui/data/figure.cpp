#include "gui/data/figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"
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

/// 4 and 4.0 are one place.
bool is_same(const Value& a, const Value& b) {
    const auto number = [](const Value& value) -> std::optional<double> {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) return double(*whole);
        if (const auto* real = std::get_if<double>(&value)) return *real;
        return std::nullopt;
    };
    const auto x = number(a), y = number(b);
    return x && y ? *x == *y : a == b;
}

/// The first value of the metric that the selector asks for; nullopt: the sample has none.
std::optional<double> selected_value(const Selector& wanted, const std::string& metric,
                                     const store::Sample& sample) {
    if (!wanted.variant.empty() && wanted.variant != sample.spec.variant) return std::nullopt;
    for (const store::MetricValue& value : sample.metrics) {
        if (value.name != metric) continue;
        const bool selected =
            std::all_of(wanted.where.begin(), wanted.where.end(), [&](const auto& one) {
                const auto axis = sample.spec.axes.find(one.first);
                if (axis != sample.spec.axes.end()) return is_same(axis->second, one.second);
                const auto label = value.labels.find(one.first);
                return label != value.labels.end() && is_same(label->second, one.second);
            });
        if (selected) return value.value;
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
        std::optional<double> value = selected_value(claim.of, metric, sample);
        if (!value && claim.over) value = selected_value(*claim.over, metric, sample);
        const bool of_itself = claim.test.starts_with("custom:");  // looks at all of them
        if (!value && !of_itself) continue;
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
