#include "suite/store/described_rows.hpp"

#include <fmt/format.h>

namespace assay::store::detail {
namespace {

std::set<std::string, std::less<>> nullable_columns(SQLite::Database& sql, std::string_view table) {
    SQLite::Statement rows(sql, "SELECT name FROM pragma_table_info(?) WHERE \"notnull\" = 0");
    bind_text(rows, 1, table);
    std::set<std::string, std::less<>> names;
    while (rows.executeStep()) names.insert(rows.getColumn(0).getString());
    return names;
}

}  // namespace

std::string insert_sql(SQLite::Database& sql, const Into& into,
                       const std::vector<std::string_view>& fields) {
    const auto nullable = nullable_columns(sql, into.table);
    std::vector<std::string_view> columns;
    std::vector<std::string> values;
    const auto add = [&](std::string_view column, std::string value) {
        columns.push_back(column);
        values.push_back(std::move(value));
    };
    const auto add_bound = [&](std::string_view column) {
        add(column, nullable.contains(column) ? fmt::format("nullif(:{}, '')", column)
                                              : fmt::format(":{}", column));
    };
    for (const std::string_view field : fields)
        if (!into.left_out.contains(field) && !into.computed.contains(field)) add_bound(field);
    for (const std::string_view column : into.beside) add_bound(column);
    for (const auto& [column, expression] : into.computed) add(column, expression);
    return fmt::format("INSERT INTO {} ({}) VALUES ({}) {}", into.table, fmt::join(columns, ", "),
                       fmt::join(values, ", "), into.then);
}

std::string select_sql(const From& from, const std::vector<std::string_view>& fields) {
    std::vector<std::string> columns;
    for (const std::string_view field : fields)
        if (const auto found = from.elsewhere.find(field); found != from.elsewhere.end())
            columns.emplace_back(found->second);
        else if (field == "gate_row")
            columns.push_back(fmt::format("gate_row.id, {}", gate_row_fields));
        else
            columns.push_back(fmt::format("{}.{}", from.table, field));
    return fmt::format("SELECT {} FROM {} {}", fmt::join(columns, ", "), from.table, from.rest);
}

}  // namespace assay::store::detail
