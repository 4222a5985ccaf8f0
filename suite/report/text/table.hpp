// A table said once, for people and for programs: its columns as functions of a row. What others
// wrote is escaped by who renders it (text_table(), markdown_table()) and nowhere else.
//
//     const Table<store::Baseline> table{
//         {"name", "baseline", &store::Baseline::name},
//         {"session", "session", &store::Baseline::session, short_id},
//         {"created", "accepted", &store::Baseline::created, minute}};
//     table.values(baselines)                  // JSON: [{"name": …, "session": …, "created": …}]
//     text_table(table.shown(baselines), 80)   // what people read
#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/report/text/text_table.hpp"

namespace assay::report {

/// How people read what programs get.
using Look = std::function<std::string(const nlohmann::json&)>;

std::string plain(const nlohmann::json& value);     ///< number(); a text as it is; "" of null
std::string short_id(const nlohmann::json& value);  ///< "0f8a3c21"
std::string minute(const nlohmann::json& value);    ///< "2026-11-19T03:00" of a time
Look or_else(std::string words);                    ///< these where the text is empty

/// What programs get of what may be absent.
nlohmann::json text_or_null(const std::string& text);
nlohmann::json number_or_null(std::optional<double> number);

template <class Row>
class Table {
  public:
    struct Column {
        using Value = std::function<nlohmann::json(const Row&)>;

        // Not an aggregate: GCC 12 breaks down over default initialisers in lists of them.
        Column(std::string key_, std::string title_, Value value_, Look look_ = plain)
            : key(std::move(key_)),
              title(std::move(title_)),
              value(std::move(value_)),
              look(std::move(look_)) {}

        std::string key;    ///< for programs; empty: people alone read it
        std::string title;  ///< for people; empty: programs alone read it
        Value value;
        Look look;
    };

    Table(std::initializer_list<Column> columns) : columns_(columns) {}

    template <class Rows>
    nlohmann::json values(const Rows& rows) const {
        nlohmann::json all = nlohmann::json::array();
        for (const Row& row : rows) {
            nlohmann::json object = nlohmann::json::object();
            for (const Column& column : columns_)
                if (!column.key.empty()) object[column.key] = column.value(row);
            all.push_back(std::move(object));
        }
        return all;
    }

    /// Titles, then the rows: nothing is escaped yet.
    template <class Rows>
    Grid shown(const Rows& rows) const {
        Grid grid(1);
        for (const Column& column : columns_)
            if (!column.title.empty()) grid[0].push_back(column.title);
        for (const Row& row : rows) {
            grid.emplace_back();
            for (const Column& column : columns_)
                if (!column.title.empty()) grid.back().push_back(column.look(column.value(row)));
        }
        return grid;
    }

  private:
    std::vector<Column> columns_;
};

}  // namespace assay::report
