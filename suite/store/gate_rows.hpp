// The identity of the gate's rows in the database: stored once, others refer to it by its id.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <string>
#include <vector>

#include "suite/experiment/row_id.hpp"

namespace assay::store {

/// The columns of the table gate_row after its id, in the order of the schema. StoreError for an
/// axis value or a label that is not finite.
std::vector<std::string> gate_row_columns(const RowId&);

/// Derived from those columns, so that files of several machines agree about it.
std::string gate_row_id(const std::vector<std::string>& columns);

/// Stores it where it is new. Returns its id.
std::string put_gate_row(SQLite::Database&, const RowId&);

/// The columns for a SELECT, and the identity in them, from column `first` on.
inline constexpr const char* gate_row_fields =
    "gate_row.experiment, gate_row.variant, gate_row.axes, gate_row.profile, gate_row.provenance, "
    "gate_row.scenario, gate_row.metric, gate_row.labels";
RowId gate_row_at(const SQLite::Statement&, int first);

/// A step from version 2 of the schema to version 3, after its SQL: fills the gate's tables from
/// the temporary tables of old rows, which were named by texts, and drops those.
void identify_gate_rows(SQLite::Database&);

}  // namespace assay::store
