// Rows for other programs: JSON, CSV, Markdown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "suite/compare/compare.hpp"

namespace assay::compare {

/// {"series","metric","unit","ratio","low","high","n_a","n_b","verdict","reason"}: exactly these
/// keys. NaN becomes null.
nlohmann::json row_json(const Row&);

/// An array of them.
nlohmann::json rows_json(std::span<const Row>);

/// The same columns, RFC 4180 quoting; NaN becomes an empty field.
std::string rows_csv(std::span<const Row>);

/// A table of GitHub's Markdown; numbers rounded for people.
std::string rows_markdown(std::span<const Row>);

}  // namespace assay::compare
