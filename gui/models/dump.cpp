#include "gui/models/dump.hpp"

#include <cmath>

#include "suite/report/text/claims_summary.hpp"

namespace assay::gui {
namespace {

using nlohmann::json;

json head_json(const DumpHead& head) {
    return {{"view", head.view},
            {"database", head.database},
            {"schema", head.schema},
            {"notices", head.notices}};
}

json number(double value) { return std::isfinite(value) ? json(value) : json(); }
json or_null(const std::optional<std::string>& text) { return text ? json(*text) : json(); }

json running_json(const RunningSession& session) {
    return {{"session", session.id},
            {"planned", session.planned},
            {"done", session.done},
            {"sample", or_null(session.sample)}};
}

// The category, where x is one.
json x_json(const report::FigureData& data, double x) {
    return data.categories.empty() ? number(x) : json(data.categories[static_cast<std::size_t>(x)]);
}

json curve_json(const report::FigureData& data, const report::FigureCurve& curve) {
    json points = json::array(), paper = json::array();
    for (const report::FigurePoint& point : curve.points)
        points.push_back({{"x", x_json(data, point.x)},
                          {"median", number(point.median)},
                          {"low", number(point.low)},
                          {"high", number(point.high)},
                          {"n", point.count}});
    for (const report::PaperPoint& point : curve.paper)
        paper.push_back(
            {{"x", x_json(data, point.x)}, {"value", number(point.value)}, {"claim", point.claim}});
    return {{"variant", curve.variant}, {"points", points}, {"paper", paper}};
}

}  // namespace

json dump(const DumpHead& head, const OverviewModel& model) {
    const Overview& overview = model.overview();
    json object = head_json(head);
    object["claims"] = overview.claims;
    for (const char* key : {"systems", "running"}) object[key] = json::array();
    for (const OverviewSystem& system : overview.systems) {
        json experiments = json::array();
        for (const OverviewExperiment& experiment : system.experiments)
            experiments.push_back({{"id", experiment.id},
                                   {"title", experiment.title},
                                   {"claims", experiment.claims},
                                   {"samples", experiment.samples},
                                   {"newest", or_null(experiment.newest)}});
        object["systems"].push_back(
            {{"id", system.id}, {"title", system.title}, {"experiments", experiments}});
    }
    for (const RunningSession& session : overview.running)
        object["running"].push_back(running_json(session));
    object["regressions"] = {{"candidate", overview.candidates}, {"confirmed", overview.confirmed}};
    return object;
}

json dump(const DumpHead& head, const report::FigureData& data, const ClaimsModel& claims) {
    json object = head_json(head);
    for (const char* key : {"panels", "claims"}) object[key] = json::array();
    for (const report::FigurePanel& panel : data.panels) {
        json series = json::array();
        for (const report::FigureCurve& curve : panel.curves)
            series.push_back(curve_json(data, curve));
        object["panels"].push_back(
            {{"title", panel.title}, {"badge", panel.badge}, {"series", series}});
    }
    for (const JudgedClaim& judged : claims.claims())
        object["claims"].push_back(report::claim_json(*judged.claim, judged.check));
    return object;
}

}  // namespace assay::gui
