// Rows of results that come from elsewhere.
#include "suite/exchange/arriving_rows.hpp"

#include <bit>
#include <cmath>

#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"

namespace assay::exchange {

void ArrivingRows::machine(const std::string& fingerprint, const nlohmann::json& description) {
    if (first_time("machine " + fingerprint))
        sink_({"machine",
               {{"fingerprint", fingerprint}, {"description", store::json_text(description)}}});
}

void ArrivingRows::session(const store::Session& session) {
    if (!first_time("session " + session.id)) return;
    sink_({"session",
           {{"id", session.id},
            {"machine", session.machine},
            {"command", session.command},
            {"plan_hash", std::string()},
            {"build", std::string()},
            {"suspects", store::json_text(session.suspects)},
            {"started", session.started},
            {"finished", session.started},
            {"state", std::string("finished")},
            {"planned", std::int64_t{session.planned}},
            {"arrival", ++sessions_}}});
}

void ArrivingRows::sample(const store::Sample& sample, const std::string& hardware) {
    const SampleSpec& spec = sample.spec;
    const auto columns =
        store::series_columns({spec.experiment, spec.variant, spec.axes, spec.profile,
                               spec.provenance, spec.scenario, hardware, "", ""});
    const auto series = store::series_id(columns);
    if (first_time("series " + series)) {
        Row row{"series", {{"id", series}}};
        const char* const names[] = {"experiment", "variant",     "axes",
                                     "profile",    "provenance",  "scenario",
                                     "hardware",   "calibration", "data"};
        for (std::size_t i = 0; i < columns.size(); ++i)
            row.cells.emplace_back(names[i], columns[i]);
        sink_(std::move(row));
    }
    sink_({"sample",
           {{"id", sample.id},
            {"session", sample.session},
            {"series", series},
            {"seed", std::bit_cast<std::int64_t>(spec.seed)},
            {"round", std::int64_t{spec.round}},
            {"status", sample.status},
            {"reason", sample.reason},
            {"spec", store::json_text(to_json(spec))},
            {"started", sample.started},
            {"seconds", sample.seconds}}});
    std::int64_t ordinal = 0;
    for (const auto& metric : sample.metrics) {
        const Cell value = std::isnan(metric.value) ? Cell() : Cell(metric.value);
        sink_({"metric",
               {{"sample", sample.id},
                {"ordinal", ordinal++},
                {"name", metric.name},
                {"labels", store::canonical(metric.labels)},
                {"value", value}}});
    }
}

void ArrivingRows::metric_unit(const store::MetricUnit& unit) {
    if (first_time("unit " + unit.experiment + '\n' + unit.name))
        sink_({"metric_unit",
               {{"experiment", unit.experiment},
                {"name", unit.name},
                {"unit", unit.unit},
                {"better", std::string(to_string(unit.better))}}});
}

}  // namespace assay::exchange
