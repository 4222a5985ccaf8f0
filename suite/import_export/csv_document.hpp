// Comma-separated values (RFC 4180): fields may be quoted, quotes are doubled, lines may end with
// LF or CRLF; or with semicolons or tabs between fields, as spreadsheets write them, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::import_export {

struct CsvField {
    std::string text;
    std::size_t line = 0, column = 0;  ///< where it begins, from 1; the column counts bytes
};

/// Every line with its fields; empty lines are left out. UserError with `source`, line and column
/// for a quote that is not closed or stands where none may.
std::vector<std::vector<CsvField>> parse_csv(std::string_view text, const std::string& source,
                                             char separator = ',');

/// What separates the fields of the first line: of ',', ';' and tab the one that it has most of.
char separator_of(std::string_view text);

}  // namespace assay::import_export
