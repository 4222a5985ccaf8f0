#include "suite/runner/sample/sample_protocol.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "suite/base/encoding.hpp"

namespace assay::runner {
namespace {

using nlohmann::json;

constexpr int max_depth = 100;

json numbers(const std::vector<double>& values) {
    json array = json::array();
    for (const double value : values) array.push_back(finite_or_null(value));
    return array;
}

struct Encoder {
    json operator()(const store::MetricValue& metric) const {
        return {{"kind", "metric"},
                {"name", metric.name},
                {"labels", to_json(metric.labels)},
                {"value", metric.value}};
    }
    json operator()(const store::Event& event) const {
        return {{"kind", "event"},
                {"event", event.kind},
                {"t_s", event.t_s},
                {"rank", event.rank},
                {"detail", event.detail}};
    }
    json operator()(const store::TimeSeries& series) const {
        json line = {{"kind", "series"},           {"name", series.name},
                     {"unit", series.unit},        {"labels", to_json(series.labels)},
                     {"t_s", numbers(series.t_s)}, {"values", numbers(series.values)}};
        if (series.grows) line["grows"] = true;
        return line;
    }
    json operator()(const store::Table& table) const {
        json columns = json::array();
        for (const TableColumn& column : table.columns)
            columns.push_back({{"name", column.name}, {"unit", column.unit}});
        json rows = json::array();
        for (const auto& row : table.rows) {
            json cells = json::array();
            for (const Value& cell : row) cells.push_back(to_json(cell));
            rows.push_back(std::move(cells));
        }
        return {{"kind", "table"}, {"name", table.name}, {"columns", columns}, {"rows", rows}};
    }
    json operator()(const store::Artifact& artifact) const {
        return {{"kind", "artifact"},
                {"name", artifact.name},
                {"media_type", artifact.media_type},
                {"base64", to_base64(artifact.bytes)}};
    }
    json operator()(const Progress& progress) const {
        return {{"kind", "progress"}, {"fraction", progress.fraction}, {"what", progress.what}};
    }
    json operator()(const End& end) const {
        return {{"kind", "end"}, {"status", to_string(end.status)}, {"reason", end.reason}};
    }
};

/// Reads members of one line; every mistake names kind and member.
class Reader {
  public:
    explicit Reader(const json& object) : object_(object) { kind_ = text("kind"); }

    const std::string& kind() const { return kind_; }

    const json& member(const char* name) const {
        const auto it = object_.find(name);
        if (it == object_.end()) fail(name, "is missing");
        return *it;
    }
    const json& array(const char* name) const {
        const json& value = member(name);
        if (!value.is_array()) fail(name, "is not an array");
        return value;
    }
    std::string text(const char* name) const {
        const json& value = member(name);
        if (!value.is_string()) fail(name, "is not a string");
        return value.get<std::string>();
    }
    double number(const char* name) const {
        const json& value = member(name);
        if (!value.is_number() || !std::isfinite(value.get<double>()))
            fail(name, "is not a number");
        return value.get<double>();
    }
    /// Builds before there was such a member are started too (`assay versus`): false.
    bool flag(const char* name) const {
        const auto it = object_.find(name);
        if (it == object_.end()) return false;
        if (!it->is_boolean()) fail(name, "is neither true nor false");
        return it->get<bool>();
    }
    int rank(const char* name) const {
        const json& value = member(name);
        const double number = value.is_number_integer() ? value.get<double>() : -2;
        if (number < -1 || number > std::numeric_limits<int>::max()) fail(name, "is not a rank");
        return static_cast<int>(number);
    }
    Labels labels(const char* name) const {
        const json& value = member(name);
        if (!value.is_object()) fail(name, "is not an object");
        try {
            return case_from_json(value);
        } catch (const std::exception& error) {
            fail(name, error.what());
        }
    }
    std::vector<double> numbers(const char* name) const {
        std::vector<double> values;
        for (const json& value : array(name)) {
            if (!value.is_number() && !value.is_null()) fail(name, "holds something not a number");
            values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                             : value.get<double>());
        }
        return values;
    }
    [[noreturn]] void fail(const char* name, const char* what) const {
        throw ProtocolError(fmt::format("line of kind '{}': '{}' {}", kind_, name, what));
    }

  private:
    const json& object_;
    std::string kind_;
};

Value cell(const Reader& reader, const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        reader.fail("rows", "hold a number beyond 64 bits");
    if (value.is_number_integer()) return value.get<std::int64_t>();
    reader.fail("rows", "hold something neither number nor string");
}

store::Table read_table(const Reader& reader) {
    store::Table table{reader.text("name"), {}, {}};
    for (const json& column : reader.array("columns")) {
        if (!column.is_object() || !column.contains("name") || !column["name"].is_string() ||
            !column.contains("unit") || !column["unit"].is_string())
            reader.fail("columns", "need name and unit");
        table.columns.push_back(
            {column["name"].get<std::string>(), column["unit"].get<std::string>()});
    }
    for (const json& row : reader.array("rows")) {
        if (!row.is_array() || row.size() != table.columns.size())
            reader.fail("rows", "do not match the columns");
        std::vector<Value> cells;
        for (const json& value : row) cells.push_back(cell(reader, value));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

End read_end(const Reader& reader) {
    const auto status = of_word<SampleStatus>(reader.text("status"));
    if (status && *status != SampleStatus::running) return {*status, reader.text("reason")};
    reader.fail("status", "is not one that a sample can end with");
}

}  // namespace

std::string encode(const Message& message) {
    return std::visit(Encoder{}, message).dump(-1, ' ', false, json::error_handler_t::replace) +
           '\n';
}

Message decode(std::string_view line) {
    // Whoever prints or copies what came in recurses as deep as it is nested.
    const auto not_too_deep = [](int depth, json::parse_event_t, json&) {
        if (depth > max_depth)
            throw ProtocolError(fmt::format("nested more than {} deep", max_depth));
        return true;
    };
    const json object = json::parse(line, not_too_deep, false);
    if (object.is_discarded() || !object.is_object())
        throw ProtocolError(fmt::format("not a JSON object: '{}'", line.substr(0, 80)));
    const Reader reader(object);
    const std::string& kind = reader.kind();
    if (kind == "metric")
        return store::MetricValue{reader.text("name"), reader.labels("labels"),
                                  reader.number("value")};
    if (kind == "event") {
        if (!reader.member("detail").is_object()) reader.fail("detail", "is not an object");
        return store::Event{reader.number("t_s"), reader.text("event"), reader.rank("rank"),
                            reader.member("detail")};
    }
    if (kind == "series") {
        store::TimeSeries series{reader.text("name"),      reader.text("unit"),
                                 reader.labels("labels"),  reader.numbers("t_s"),
                                 reader.numbers("values"), reader.flag("grows")};
        if (series.t_s.size() != series.values.size())
            reader.fail("values", "are not as many as the times");
        return series;
    }
    if (kind == "table") return read_table(reader);
    if (kind == "artifact") {
        auto bytes = from_base64(reader.text("base64"));
        if (!bytes) reader.fail("base64", "is not base64");
        return store::Artifact{reader.text("name"), reader.text("media_type"), std::move(*bytes)};
    }
    if (kind == "progress") return Progress{reader.number("fraction"), reader.text("what")};
    if (kind == "end") return read_end(reader);
    throw ProtocolError(fmt::format("unknown kind of line '{}'", kind));
}

void LineSplitter::append(std::string_view bytes) {
    if (rest_.size() + bytes.size() > max_line_bytes_)
        throw ProtocolError(fmt::format("a line of more than {} bytes", max_line_bytes_));
    rest_.append(bytes);
}

}  // namespace assay::runner
