#include "gui/data/figure.hpp"

#include <fmt/format.h>

#include <utility>

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

}  // namespace

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
    if (view.experiment->figure.kind != Figure::Kind::timeline)
        view.data = report::figure_data(*view.experiment, std::exchange(view.samples, {}), claims);
    view.plot = draw_figure(registry, view);
    return view;
}

}  // namespace assay::gui
