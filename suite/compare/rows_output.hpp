// Rows for other programs: JSON, CSV, Markdown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/report/text/row_name.hpp"

namespace assay::compare {

/// {"series","metric","unit","ratio","low","high","n_a","n_b","verdict","reason","id","name",
/// "warnings"}: exactly these keys; `id` is what identifies the row, "series" and "metric" are
/// texts for people, "name" is what tables and --explain call it, "warnings" holds the sentences
/// that belong beside the verdict. NaN becomes null.
nlohmann::json row_json(const Row&, const report::RowNames&);

/// An array of them, each with "errors": what failed and skipped samples say, "B: no device".
nlohmann::json rows_json(std::span<const Row>);

/// The same columns, RFC 4180 quoting; NaN becomes an empty field, and what does not print is
/// written out. Instead of `id`: profile, provenance and scenario.
std::string rows_csv(std::span<const Row>);

/// GitHub's Markdown: the counts, then a table; numbers rounded for people. Rows of one name say in
/// which profile, provenance or scenario they differ; warnings stand after the reason. Where it
/// would be longer than report::longest_markdown, the rows that tell least are left out, and their
/// number is told. `last`: a paragraph below the table.
std::string rows_markdown(std::span<const Row>, const std::string& last = "");

/// How much a row tells: 0 what failed or became slower, more for what tells less, most for what is
/// the same.
int place_of(RowVerdict);

/// "13 rows: 9 same, 1 slower (!), 3 faster, 1 of them (!)": (!) where a warning belongs to a row.
std::string counts_text(std::span<const Row* const>);
std::vector<const Row*> pointers_to(std::span<const Row>);

/// The names of these rows among each other.
report::RowNames names_of(std::span<const Row>);

/// "faster", or "faster (!)" where a warning belongs to it.
std::string marked_verdict(const Row&);

}  // namespace assay::compare
