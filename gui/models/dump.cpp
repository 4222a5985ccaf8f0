#include "gui/models/dump.hpp"

#include <cmath>

#include "suite/compare/rows_output.hpp"
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

json number(const std::optional<double>& value) { return value ? number(*value) : json(); }

json values_json(const compare::Series* series) {
    json values = json::array();
    if (series)
        for (const compare::Point& point : series->points) values.push_back(number(point.value));
    return values;
}

json range_json(const std::optional<store::ReadingRange>& range) {
    return range ? json{{"low", range->low}, {"high", range->high}} : json();
}

json mark_json(const TimelineMark& mark) {
    return {{"t_s", number(mark.t_s)},
            {"kind", mark.kind},
            {"rank", mark.rank ? json(*mark.rank) : json()},
            {"seconds", number(mark.seconds)},
            {"detail", mark.detail}};
}

json curve_json(const TimelineCurve& curve) {
    return {{"name", curve.name},
            {"unit", curve.unit},
            {"labels", assay::to_json(curve.labels)},
            {"points", curve.points},
            {"low", number(curve.low)},
            {"high", number(curve.high)},
            {"drawn", curve.drawn},
            {"drawn_low", number(curve.drawn_low)},
            {"drawn_high", number(curve.drawn_high)}};
}

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
    for (const JudgedClaim& judged : claims.rows())
        object["claims"].push_back(report::claim_json(*judged.claim, judged.check));
    return object;
}

json dump(const DumpHead& head, const Comparison& comparison, const RowsModel& rows) {
    json object = head_json(head);
    object["a"] = comparison.a_typed;
    object["b"] = comparison.b_typed;
    object["counts"] = json::object();
    std::vector<compare::Row> shown;
    for (const ComparedRow& one : rows.rows()) shown.push_back(one.row);
    object["rows"] = compare::rows_json(shown);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const compare::Row& row = shown[i];
        json& count = object["counts"][std::string(to_string(row.verdict))];
        count = (count.is_null() ? 0 : count.get<long>()) + 1;
        object["rows"][i]["values_a"] = values_json(row.a);
        object["rows"][i]["values_b"] = values_json(row.b);
    }
    return object;
}

json dump(const DumpHead& head, const Timeline& timeline, const MarksModel& marks) {
    json object = head_json(head);
    const store::Sample& sample = timeline.sample;
    object.update({{"sample", sample.id},
                   {"session", sample.session},
                   {"experiment", sample.spec.experiment},
                   {"variant", sample.spec.variant},
                   {"case", assay::to_json(sample.spec.axes)},
                   {"seed", sample.spec.seed},
                   {"round", sample.spec.round},
                   {"profile", to_string(sample.spec.profile)},
                   {"provenance", to_string(sample.spec.provenance)},
                   {"scenario", sample.spec.scenario},
                   {"status", sample.status},
                   {"end_s", number(timeline.end_s)}});
    for (const char* key : {"lanes", "marks", "curves", "hardware"}) object[key] = json::array();
    for (const TimelineLane& lane : timeline.lanes)
        object["lanes"].push_back({{"rank", lane.rank},
                                   {"label", "rank " + std::to_string(lane.rank)},
                                   {"present", lane.present}});
    for (const TimelineMark& mark : marks.rows()) object["marks"].push_back(mark_json(mark));
    for (const TimelineCurve& curve : timeline.curves)
        object["curves"].push_back(curve_json(curve));
    for (const store::DeviceReadings& device : timeline.hardware)
        object["hardware"].push_back({{"device", device.device},
                                      {"readings", device.readings},
                                      {"throttled", device.throttled}});
    return object;
}

json dump(const DumpHead& head, const MachineContent& machine, const FactsModel& facts,
          const FindingsModel* findings) {
    json object = head_json(head);
    const auto id = [](const std::optional<store::Session>& session) {
        return session ? json(session->id) : json();
    };
    object.update({{"session", id(machine.session)},
                   {"before", id(machine.before)},
                   {"elsewhere", id(machine.elsewhere)},
                   {"started", machine.session ? json(machine.session->started) : json()},
                   {"state", machine.session ? json(machine.session->state) : json()},
                   {"command", machine.session ? json(machine.session->command) : json()}});
    for (const char* key : {"facts", "hardware"}) object[key] = json::array();
    for (const MachineFact& fact : facts.rows()) {
        json differs = json::array();
        if (fact.differs_before()) differs.push_back("before");
        if (fact.differs_elsewhere()) differs.push_back("elsewhere");
        object["facts"].push_back({{"name", fact.name},
                                   {"value", fact.value},
                                   {"before", or_null(fact.before)},
                                   {"elsewhere", or_null(fact.elsewhere)},
                                   {"differs", differs}});
    }
    for (const store::DeviceReadings& device : machine.hardware)
        object["hardware"].push_back({{"device", device.device},
                                      {"readings", device.readings},
                                      {"throttled", device.throttled},
                                      {"reasons", device.reasons},
                                      {"clock_hz", range_json(device.clock_hz)},
                                      {"memory_clock_hz", range_json(device.memory_clock_hz)},
                                      {"temperature_c", range_json(device.temperature_c)},
                                      {"power_w", range_json(device.power_w)}});
    object["fit"] = json();
    if (!findings) return object;
    object["fit"] = json::array();
    for (const Finding& finding : findings->rows())
        object["fit"].push_back(
            {{"check", finding.check}, {"level", finding.level}, {"says", finding.says}});
    return object;
}

json dump(const DumpHead& head, const RunsModel& runs, const QString& command,
          const std::optional<RunPlan>& plan) {
    json object = head_json(head);
    object["command"] = command.isEmpty() ? json() : json(command.toStdString());
    object["plan"] = plan ? plan->said : json();
    object["runs"] = json::array();
    for (const Run& run : runs.rows())
        object["runs"].push_back({{"session", run.session.id},
                                  {"state", run.session.state},
                                  {"runs", run.runs},
                                  {"started", run.session.started},
                                  {"command", run.session.command},
                                  {"planned", run.session.planned},
                                  {"done", run.done},
                                  {"sample", run.sample.empty() ? json() : json(run.sample)},
                                  {"process", run.process ? json(*run.process) : json()},
                                  {"left_s", number(run.left_s)}});
    return object;
}

json dump(const DumpHead& head, const TrendsModel& trends) {
    json object = head_json(head);
    std::vector<report::Trend> shown;
    for (const TrendHistory& history : trends.rows()) shown.push_back(history.trend);
    object["trends"] = report::trends_json(shown);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        json notes = json::array(), nights = json::array();
        for (const SessionNote& note : trends.rows()[i].notes)
            notes.push_back({{"at", note.at}, {"session", note.session}, {"text", note.text}});
        for (const store::RowOfNight& night : trends.rows()[i].nights)
            nights.push_back({{"night", night.night},
                              {"started", night.started},
                              {"evidence", night.row.evidence},
                              {"median", number(night.row.median)}});
        object["trends"][i]["notes"] = notes;
        object["trends"][i]["nights"] = nights;
    }
    return object;
}

}  // namespace assay::gui
