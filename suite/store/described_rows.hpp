// Rows of the database of what suite/base/describe.hpp describes: a field is the column of its
// name. A RowId is the column gate_row; a vector is none, its elements are rows of another table.
//
//     Insert<NightRecord> insert(sql, {.table = "night", .left_out = {"finished", "verdict"}});
//     insert(night);
//     select<NightRecord>(sql, {"night", "WHERE suite = ? ORDER BY started DESC"}, suite);
//
// What the schema lets be NULL is NULL where a text is empty, and is read as an empty text.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::store {

/// Where records go.
struct Into {
    std::string_view table;
    std::vector<std::string_view> beside = {};  ///< columns that are no fields: texts of each call
    /// Columns as SQL, which may name :fields; in place of a field of that name.
    std::map<std::string_view, std::string> computed = {};
    std::set<std::string_view> left_out = {};  ///< fields that are no columns, or set later
    std::string_view then = {};                ///< "ON CONFLICT …"
};

/// Where records come from.
struct From {
    std::string_view table;
    std::string_view rest;  ///< JOIN, WHERE, ORDER BY; joins gate_row where the record has a RowId
    /// Fields that are not the table's, as SQL.
    std::map<std::string_view, std::string_view> elsewhere = {};
};

namespace detail {

template <class Field>
inline constexpr bool is_row_id =
    std::same_as<Field, RowId> || std::same_as<Field, std::optional<RowId>>;
template <class Field>
inline constexpr bool is_list = false;
template <class Element>
inline constexpr bool is_list<std::vector<Element>> = true;

/// Calls visit(column, field) for each field that is a column.
template <class Record, class Visit>
void for_each_column(Record& record, const Visit& visit) {
    for_each_field(record, [&]<class Field>(std::string_view name, Field& field) {
        using Plain = std::remove_const_t<Field>;
        if constexpr (!is_list<Plain>) visit(is_row_id<Plain> ? "gate_row" : name, field);
    });
}

template <Described Record>
std::vector<std::string_view> columns_of() {
    std::vector<std::string_view> columns;
    Record any{};
    for_each_column(any, [&](std::string_view column, auto&) { columns.push_back(column); });
    return columns;
}

std::string insert_sql(SQLite::Database&, const Into&, const std::vector<std::string_view>&);
std::string select_sql(const From&, const std::vector<std::string_view>&);

template <class Field>
void bind_field(GateRows& gate_rows, SQLite::Statement& to, int at, const Field& field) {
    if constexpr (std::same_as<Field, nlohmann::json>)
        to.bind(at, json_text(field));
    else if constexpr (std::convertible_to<const Field&, std::string_view>)
        bind_text(to, at, field);
    else if constexpr (std::same_as<Field, RowId>)
        to.bind(at, gate_rows.put(field));
    else if constexpr (std::integral<Field>)
        to.bind(at, static_cast<std::int64_t>(field));
    else if constexpr (std::floating_point<Field>)
        to.bind(at, field);
    else if constexpr (Named<Field>)
        bind_text(to, at, word_of(field));
    else if (field)  // an optional
        bind_field(gate_rows, to, at, *field);
    else
        to.bind(at);
}

template <class Field>
Field field_at(const SQLite::Statement& row, int at) {
    const SQLite::Column column = row.getColumn(at);
    if constexpr (std::same_as<Field, std::string>) {
        return text_or_empty(column);
    } else if constexpr (std::same_as<Field, nlohmann::json>) {
        return nlohmann::json::parse(column.getString());
    } else if constexpr (std::same_as<Field, RowId>) {
        return gate_row_at(row, at + 1);
    } else if constexpr (std::integral<Field>) {
        return static_cast<Field>(column.getInt64());
    } else if constexpr (std::floating_point<Field>) {
        return real_or_nan(column);
    } else if constexpr (Named<Field>) {
        const std::string word = column.getString();
        if (const auto known = of_word<Field>(word)) return *known;
        throw std::invalid_argument("\"" + word + "\" is none of " + words_of<Field>());
    } else {
        if (column.isNull()) return std::nullopt;
        return field_at<typename Field::value_type>(row, at);
    }
}

}  // namespace detail

/// A statement that is prepared once and stores one record after another.
template <Described Record>
class Insert {
  public:
    /// The database must outlive it. Throws what SQLite throws for a field that is no column.
    Insert(SQLite::Database& sql, const Into& into)
        : gate_rows_(sql),
          statement_(sql, detail::insert_sql(sql, into, detail::columns_of<Record>())) {
        for (const std::string_view column : detail::columns_of<Record>())
            fields_.push_back(place_of(column));
        for (const std::string_view column : into.beside) beside_.push_back(place_of(column));
    }

    /// `texts`: of the columns beside the record, in their order.
    void operator()(const Record& record, std::initializer_list<std::string_view> texts = {}) {
        if (texts.size() != beside_.size())
            throw std::logic_error("columns beside a record want one text each");
        auto place = fields_.begin();
        detail::for_each_column(record, [&](std::string_view, const auto& field) {
            const int at = *place++;
            if (at > 0) detail::bind_field(gate_rows_, statement_, at, field);
        });
        place = beside_.begin();
        for (const std::string_view text : texts) bind_text(statement_, *place++, text);
        statement_.exec();
        statement_.reset();
    }

  private:
    /// 0: the statement does not name it.
    int place_of(std::string_view column) const {
        return statement_.getIndex((":" + std::string(column)).c_str());
    }

    GateRows gate_rows_;
    SQLite::Statement statement_;
    std::vector<int> fields_, beside_;  ///< their places in the statement
};

/// `values`: of the places in `from.rest`.
template <Described Record, class... Values>
std::vector<Record> select(SQLite::Database& sql, const From& from, const Values&... values) {
    SQLite::Statement rows(sql, detail::select_sql(from, detail::columns_of<Record>()));
    GateRows gate_rows(sql);
    int place = 0;
    (detail::bind_field(gate_rows, rows, ++place, values), ...);
    std::vector<Record> all;
    while (rows.executeStep()) {
        int at = 0;
        const auto take = [&]<class Field>(std::string_view, Field& field) {
            field = detail::field_at<Field>(rows, at);
            at += detail::is_row_id<Field> ? 1 + gate_row_field_count : 1;
        };
        detail::for_each_column(all.emplace_back(), take);
    }
    return all;
}

template <class Record>
std::optional<Record> first(std::vector<Record> rows) {
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

}  // namespace assay::store
