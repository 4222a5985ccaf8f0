// How values of the suite look in columns, and back.
#include "suite/store/row_codec.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

std::string json_text(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string canonical(const Case& values) {
    for (const auto& [name, value] : values)
        if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number))
            throw StoreError(
                fmt::format("the label or axis \"{}\" has the value {}; only finite numbers and "
                            "words can name a value",
                            name, *number));
    return json_text(to_json(values));
}

Case case_from_text(const std::string& text) { return case_from_json(nlohmann::json::parse(text)); }

std::string blob_of(std::span<const double> values) {
    std::string bytes(values.size() * 8, '\0');
    auto* out = bytes.data();
    for (const double value : values) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8)
            *out++ = static_cast<char>(bits >> shift & 0xff);
    }
    return bytes;
}

std::vector<double> doubles_of(std::string_view blob) {
    if (blob.size() % 8 != 0) throw std::invalid_argument("a blob of doubles with a broken length");
    std::vector<double> values(blob.size() / 8);
    const auto* in = reinterpret_cast<const unsigned char*>(blob.data());
    for (auto& value : values) {
        std::uint64_t bits = 0;
        for (int shift = 0; shift < 64; shift += 8) bits |= std::uint64_t{*in++} << shift;
        value = std::bit_cast<double>(bits);
    }
    return values;
}

double real_or_nan(const SQLite::Column& column) {
    return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

std::optional<double> optional_real(const SQLite::Column& column) {
    if (column.isNull()) return std::nullopt;
    return column.getDouble();
}

std::string text_or_empty(const SQLite::Column& column) {
    return column.isNull() ? std::string() : column.getString();
}

Value cell(const SQLite::Column& column) {
    if (column.isInteger()) return column.getInt64();
    if (column.isText()) return column.getString();
    if (column.isFloat() || column.isNull()) return real_or_nan(column);
    throw std::invalid_argument("a table cell that is neither number nor text");
}

void bind_optional(SQLite::Statement& statement, int index, std::optional<double> value) {
    // SQLite makes NULL of NaN by itself.
    if (value)
        statement.bind(index, *value);
    else
        statement.bind(index);
}

void bind_text(SQLite::Statement& statement, int index, std::string_view text) {
    statement.bind(index, std::string(text));
}

void bind_text_or_null(SQLite::Statement& statement, int index, std::string_view text) {
    if (text.empty())
        statement.bind(index);
    else
        bind_text(statement, index, text);
}

void bind_blob(SQLite::Statement& statement, int index, std::string_view bytes) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw StoreError("one value is larger than SQLite can hold (1 GB)");
    // A null pointer would be stored as NULL rather than as an empty blob.
    statement.bind(index, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()));
}

void bind_cell(SQLite::Statement& statement, int index, const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        statement.bind(index, *integer);
    else if (const auto* number = std::get_if<double>(&value))
        statement.bind(index, *number);
    else
        statement.bind(index, std::get<std::string>(value));
}

bool is_final_status(std::string_view status) {
    const auto known = of_word<SampleStatus>(status);
    return known && *known != SampleStatus::running;
}

SampleSpec spec_from_text(const std::string& text) {
    return sample_spec_from_json(nlohmann::json::parse(text));
}

SeriesKey series_at(const SQLite::Statement& row) {
    const auto text = [&](int column) { return row.getColumn(column).getString(); };
    const auto profile = of_word<Profile>(text(3));
    const auto provenance = of_word<Provenance>(text(4));
    if (!profile || !provenance)
        throw std::invalid_argument("a series with an unknown profile or provenance");
    return {text(0), text(1), case_from_text(text(2)), *profile, *provenance, text(5), text(6),
            text(7), text(8)};
}

std::string GateRows::put(const RowId& id) {
    const std::vector<std::string> columns = gate_row_columns(id);
    std::string row = gate_row_id(columns);
    if (!insert_)
        insert_.emplace(
            sql_, "INSERT INTO gate_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    insert_->bind(1, row);
    for (std::size_t i = 0; i < columns.size(); ++i)
        insert_->bind(static_cast<int>(i) + 2, columns[i]);
    insert_->exec();
    insert_->reset();
    return row;
}

RowId gate_row_at(const SQLite::Statement& row, int first) {
    const auto text = [&](int column) { return row.getColumn(first + column).getString(); };
    return {.experiment = text(0),
            .variant = text(1),
            .axes = case_from_text(text(2)),
            .metric = text(6),
            .labels = case_from_text(text(7)),
            .profile = of_word<Profile>(text(3)),
            .provenance = of_word<Provenance>(text(4)),
            .scenario = text(5)};
}

}  // namespace assay::store
