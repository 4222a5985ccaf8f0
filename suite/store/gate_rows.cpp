#include "suite/store/gate_rows.hpp"

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"

namespace assay::store {
namespace {

template <class Enum>
std::string word(const std::optional<Enum>& value) {
    return value ? std::string(to_string(*value)) : std::string();
}

}  // namespace

std::vector<std::string> gate_row_columns(const RowId& id) {
    return {id.experiment,       id.variant,  canonical(id.axes), word(id.profile),
            word(id.provenance), id.scenario, id.metric,          canonical(id.labels)};
}

std::string gate_row_id(const std::vector<std::string>& columns) {
    return derived_uuid(json_text(columns));
}

std::string put_gate_row(SQLite::Database& sql, const RowId& id) {
    const std::vector<std::string> columns = gate_row_columns(id);
    std::string row = gate_row_id(columns);
    SQLite::Statement insert(
        sql, "INSERT INTO gate_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    insert.bind(1, row);
    for (std::size_t i = 0; i < columns.size(); ++i)
        insert.bind(static_cast<int>(i) + 2, columns[i]);
    insert.exec();
    return row;
}

RowId gate_row_at(const SQLite::Statement& row, int first) {
    const auto text = [&](int column) { return row.getColumn(first + column).getString(); };
    return {.experiment = text(0),
            .variant = text(1),
            .axes = case_from_text(text(2)),
            .metric = text(6),
            .labels = case_from_text(text(7)),
            .profile = parse_profile(text(3)),
            .provenance = parse_provenance(text(4)),
            .scenario = text(5)};
}

}  // namespace assay::store
