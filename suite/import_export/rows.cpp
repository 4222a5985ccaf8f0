// Whether rows can be believed, and how samples from elsewhere become rows.
#include "suite/import_export/rows.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/sha256.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::import_export {
namespace {

const std::string* text_in(const Row& row, std::string_view column) {
    for (const auto& [name, cell] : row.cells)
        if (name == column) return std::get_if<std::string>(&cell);
    return nullptr;
}

bool is_name(std::string_view column) {
    return !column.empty() &&
           column.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == column.npos;
}

/// Throws what the readers of the store would throw.
void parse_json_column(const std::string& table, const std::string& column,
                       const std::string& text) {
    if (table == "sample" && column == "spec")
        sample_spec_from_json(nlohmann::json::parse(text));
    else if (column == "axes" || column == "labels")
        case_from_json(nlohmann::json::parse(text));
    else if (column == "description" || column == "suspects" || column == "detail" ||
             column == "parameters" || column == "fitted_from" || column == "report")
        static_cast<void>(nlohmann::json::parse(text).type());
}

/// Throws for a time that is written otherwise than the store writes it, or that there is not.
void check_time(const std::string& table, const std::string& column, const std::string& text) {
    const bool is_time =
        (table == "session" || table == "sample") && (column == "started" || column == "finished");
    if (is_time && !text.empty() && !store::parse_utc(text))
        throw std::runtime_error(
            fmt::format("'{}' is no time; write 2026-11-21T02:03:04.567Z (UTC)", text));
}

std::optional<std::string> derived_id_problem(
    const Row& row, const std::vector<const char*>& names,
    std::string (*derived)(const std::vector<std::string>&)) {
    std::vector<std::string> columns;
    for (const char* name : names) {
        const auto* text = text_in(row, name);
        if (!text) return fmt::format("the text '{}' of the {} is missing", name, row.table);
        columns.push_back(*text);
    }
    if (const auto* id = text_in(row, "id"); !id || *id != derived(columns))
        return fmt::format("the id of the {} does not follow from its columns", row.table);
    return std::nullopt;
}

std::optional<std::string> identity_problem(const Row& row) {
    if (row.table == "artifact_blob") {
        const auto* hash = text_in(row, "sha256");
        for (const auto& [name, cell] : row.cells)
            if (const auto* blob = std::get_if<Blob>(&cell);
                blob && hash && sha256_hex(blob->bytes) != *hash)
                return "the bytes of the artifact do not have the SHA-256 that names them";
    }
    if (row.table == "series")
        return derived_id_problem(row,
                                  {"experiment", "variant", "axes", "profile", "provenance",
                                   "scenario", "hardware", "calibration", "data"},
                                  store::series_id);
    if (row.table == "gate_row")
        return derived_id_problem(row,
                                  {"experiment", "variant", "axes", "profile", "provenance",
                                   "scenario", "metric", "labels"},
                                  store::gate_row_id);
    return std::nullopt;
}

}  // namespace

const std::vector<std::string>& result_tables() {
    static const std::vector<std::string> tables = {"machine",
                                                    "session",
                                                    "calibration",
                                                    "series",
                                                    "sample",
                                                    "metric",
                                                    "event",
                                                    "time_series",
                                                    "data_table",
                                                    "data_table_column",
                                                    "data_table_cell",
                                                    "artifact_blob",
                                                    "artifact",
                                                    "hardware",
                                                    "claim_check",
                                                    "baseline",
                                                    "annotation",
                                                    "metric_unit",
                                                    "night",
                                                    "gate_row",
                                                    "night_row",
                                                    "regression",
                                                    "regression_step",
                                                    "accepted_level",
                                                    "mute"};
    return tables;
}

std::optional<std::string> problem_of(const Row& row) {
    std::set<std::string> seen;
    for (const auto& [column, cell] : row.cells) {
        if (!is_name(column) || !seen.insert(column).second)
            return fmt::format("'{}' is no column, or is there twice", column);
        if (const auto* text = std::get_if<std::string>(&cell)) try {
                parse_json_column(row.table, column, *text);
                check_time(row.table, column, *text);
            } catch (const std::exception& error) {
                return fmt::format("column '{}': {}", column, error.what());
            }
    }
    return identity_problem(row);
}

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

}  // namespace assay::import_export
