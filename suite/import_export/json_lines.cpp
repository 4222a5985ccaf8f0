// A results database to JSON lines, and JSON lines to rows; whatever is wrong with a text is said
// with line and column.
#include "suite/import_export/json_lines.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/store/schema/migration.hpp"

namespace assay::import_export {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;  // what is written has its names in front

// ---- writing ------------------------------------------------------------------------------------

std::string bytes_of(const SQLite::Column& column) {
    const auto* bytes = static_cast<const char*>(column.getBlob());
    return bytes ? std::string(bytes, static_cast<std::size_t>(column.getBytes())) : std::string();
}

bool is_utf8(const std::string& text) {
    try {
        (void)json(text).dump();
        return true;
    } catch (const json::type_error&) {
        return false;
    }
}

Json json_of(const SQLite::Column& column, bool is_seed) {
    if (column.isNull()) return nullptr;
    if (column.isInteger()) {
        const std::int64_t value = column.getInt64();
        if (is_seed) return std::bit_cast<std::uint64_t>(value);
        return value;
    }
    if (column.isFloat()) {
        const double value = column.getDouble();
        if (std::isinf(value)) return {{"real", value > 0 ? "inf" : "-inf"}};
        return value;
    }
    std::string bytes = bytes_of(column);
    if (column.isBlob()) return {{"blob", to_base64(bytes)}};
    if (!is_utf8(bytes)) return {{"text", to_base64(bytes)}};
    return bytes;
}

}  // namespace

void write_json_lines(const std::filesystem::path& database, std::ostream& out) {
    SQLite::Database sql(database.string(), SQLite::OPEN_READONLY);
    const Json header = {{"format", "assay-results"},
                         {"version", 1},
                         {"schema", sql.execAndGet("PRAGMA user_version").getInt()}};
    out << header.dump() << '\n';
    std::int64_t count = 0;
    for (const auto& table : result_tables()) {
        SQLite::Statement rows(sql, fmt::format("SELECT * FROM {}", table));
        while (rows.executeStep()) {
            Json line = {{"table", table}, {"row", Json::object()}};
            for (int i = 0; i < rows.getColumnCount(); ++i) {
                const std::string name = rows.getColumnName(i);
                if (name == "last_change") continue;  // a number that means nothing in another file
                line["row"][name] = json_of(rows.getColumn(i), table == "sample" && name == "seed");
            }
            out << line.dump() << '\n';
            ++count;
        }
    }
    out << Json{{"rows", count}}.dump() << '\n';
}

// ---- reading ------------------------------------------------------------------------------------

namespace {

int newest_schema() { return store::migrations().back().to; }

std::string decoded(const std::string& text) {
    auto bytes = from_base64(text);
    if (!bytes) throw std::invalid_argument("this is not base64");
    return std::move(*bytes);
}

Cell special_cell(const json& object) {
    if (object.size() == 1 && object.begin()->is_string()) {
        const std::string& kind = object.begin().key();
        const auto text = object.begin()->get<std::string>();
        if (kind == "blob") return Blob{decoded(text)};
        if (kind == "text") return decoded(text);
        if (kind == "real" && (text == "inf" || text == "-inf"))
            return (text == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
    }
    throw std::invalid_argument(
        R"(only {"real":"inf"}, {"real":"-inf"}, {"blob":…} and {"text":…} are values)");
}

Cell cell_of(const json& value) {
    if (value.is_null()) return std::monostate{};
    if (value.is_number_unsigned()) return std::bit_cast<std::int64_t>(value.get<std::uint64_t>());
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_object()) return special_cell(value);
    throw std::invalid_argument("neither true, false nor arrays are values");
}

class Reader {
  public:
    Reader(std::istream& in, const std::string& source) : in_(in), source_(source) {}

    [[noreturn]] void fail(const std::string& what, std::size_t column = 1) const {
        throw UserError(fmt::format("{}:{}:{}: {}", source_, line_, column, what));
    }

    json next() {
        if (!std::getline(in_, text_)) {
            ++line_;
            fail("the file ends before its last line, {\"rows\":N}: it was cut off");
        }
        ++line_;
        try {
            return parse_json(text_);
        } catch (const JsonError& error) {
            fail(error.what(), error.column);
        }
    }

    void header() {
        const json line = next();
        if (!line.is_object() || line.value("format", json()) != "assay-results")
            fail(R"(the first line must be {"format":"assay-results","version":1,"schema":…})");
        if (line.value("version", json()) != 1)
            fail("written by a newer program; import it with that version or a later one");
        if (const auto schema = line.find("schema"); schema != line.end())
            if (!schema->is_number_integer() || *schema < 1 || *schema > newest_schema())
                fail(
                    fmt::format("rows of schema {}, and this program knows 1 to {}; import it with "
                                "the version that wrote it or a later one",
                                schema->dump(), newest_schema()));
    }

    Row row(const json& line) const {
        const auto& tables = result_tables();
        const auto name = line.find("table");
        const auto values = line.find("row");
        if (name == line.end() || !name->is_string() || values == line.end() ||
            !values->is_object())
            fail(R"(expected {"table":NAME,"row":{…}})");
        Row row{name->get<std::string>(), {}};
        if (std::find(tables.begin(), tables.end(), row.table) == tables.end())
            fail(fmt::format("there is no table '{}'", row.table));
        for (const auto& [column, value] : values->items()) try {
                row.cells.emplace_back(column, cell_of(value));
            } catch (const std::exception& error) {
                fail(fmt::format("column '{}': {}", column, error.what()), column_of(column));
            }
        if (const auto problem = problem_of(row)) fail(*problem);
        return row;
    }

    /// The database names the column as table.column, where it knows it.
    [[noreturn]] void fail_at(const Row& row, const std::string& what) const {
        for (const auto& [column, cell] : row.cells)
            if ((what + ' ').find(fmt::format(" {}.{} ", row.table, column)) != std::string::npos)
                fail(what, column_of(column));
        fail(what);
    }

    bool only_blank_left() {
        while (std::getline(in_, text_)) {
            ++line_;
            if (text_.find_first_not_of(" \t\r") != std::string::npos) return false;
        }
        return true;
    }

  private:
    std::size_t column_of(const std::string& key) const {
        const auto at = text_.find('"' + key + "\":");
        return at == std::string::npos ? 1 : at + 1;
    }

    std::istream& in_;
    const std::string& source_;
    std::string text_;
    std::size_t line_ = 0;
};

}  // namespace

bool looks_like_json_lines(std::string_view text) {
    const auto line = text.substr(0, text.find('\n'));
    return line.starts_with('{') && line.find("\"assay-results\"") != line.npos;
}

int schema_of_json_lines(std::string_view text) {
    const json line = json::parse(text.substr(0, text.find('\n')), nullptr, false);
    if (!line.is_object()) return newest_schema();
    const auto schema = line.find("schema");
    if (schema == line.end() || !schema->is_number_integer()) return newest_schema();
    return static_cast<int>(std::clamp<std::int64_t>(*schema, 1, newest_schema()));
}

void read_json_lines(std::istream& in, const std::string& source, const RowSink& sink) {
    Reader reader(in, source);
    reader.header();
    for (std::int64_t count = 0;; ++count) {
        const json line = reader.next();
        if (!line.is_object()) reader.fail("expected an object");
        if (const auto end = line.find("rows"); end != line.end()) {
            if (*end != count)
                reader.fail(fmt::format("{} rows were written, {} are here", end->dump(), count));
            if (!reader.only_blank_left()) reader.fail("lines after the last one");
            return;
        }
        const Row row = reader.row(line);
        try {
            sink(row);
        } catch (const UserError& error) {
            reader.fail_at(row, error.what());
        }
    }
}

}  // namespace assay::import_export
