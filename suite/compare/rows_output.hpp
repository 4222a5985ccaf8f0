// Rows for other programs: JSON, CSV, Markdown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "suite/compare/compare.hpp"

namespace assay::compare {

/// {"series","metric","unit","ratio","low","high","n_a","n_b","verdict","reason","id"}: exactly
/// these keys; `id` is what identifies the row, "series" and "metric" are texts for people. NaN
/// becomes null.
nlohmann::json row_json(const Row&);

/// An array of them.
nlohmann::json rows_json(std::span<const Row>);

/// The same columns, RFC 4180 quoting; NaN becomes an empty field. Instead of `id`: profile,
/// provenance and scenario.
std::string rows_csv(std::span<const Row>);

/// A table of GitHub's Markdown; numbers rounded for people. Rows of one name say in which profile,
/// provenance or scenario they differ.
std::string rows_markdown(std::span<const Row>);

}  // namespace assay::compare
