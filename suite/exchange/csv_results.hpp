// Results from CSV with the columns that `assay export --csv` writes.
#pragma once

#include <string>
#include <string_view>

#include "suite/exchange/row.hpp"

namespace assay::exchange {

/// `experiment`, `metric` and `value` are required; session, variant, profile (toy), provenance
/// (measured), scenario, seed (0), round, status (ok), labels, unit, started and sample may be
/// there; every other column is an axis. Lines of one `sample` are one sample. Without that column,
/// lines that agree in everything but metric, labels and value are one sample, and a metric that
/// comes again begins the next round. Ids follow from the contents of the file, so that the same
/// file gives the same ids, and none of the original's: what CSV lost can still be imported. Every
/// file is a machine of its own. UserError with `source`, line and column.
///
/// CSV does not carry: the machine, events, curves, tables, artifacts, hardware readings,
/// calibrations, notes, why a sample failed, and whether an axis value "1" was a number or a word.
void read_csv_results(std::string_view text, const std::string& source, const RowSink& sink);

}  // namespace assay::exchange
