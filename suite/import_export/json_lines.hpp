// A results database as text, one JSON object per line; nothing is lost on the way there and back.
//
//   {"format":"assay-results","version":1,"schema":3}
//   {"table":"metric","row":{"sample":"…","ordinal":0,"name":"loss","labels":"{}","value":2.5}}
//   …
//   {"rows":1}
//
// Integers are integers, reals have a point or an exponent, NULL (which in a column of reals is
// NaN) is null; infinities are {"real":"inf"} and {"real":"-inf"}, blobs {"blob":"base64"}, texts
// that are not UTF-8 {"text":"base64"}. Seeds are unsigned.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "suite/import_export/rows.hpp"

namespace assay::import_export {

/// True when `text` begins like such a file.
bool looks_like_json_lines(std::string_view text);

/// The version of the schema that the rows of such a text are of, from its beginning; the newest
/// one where it does not say.
int schema_of_json_lines(std::string_view text);

/// Writes every result table of an SQLite file.
void write_json_lines(const std::filesystem::path& database, std::ostream& out);

/// Calls `sink` for each row, in order. UserError with `source`, line and column for what is not
/// such a file, was cut off, or holds values that this program cannot have written.
void read_json_lines(std::istream& in, const std::string& source, const RowSink& sink);

}  // namespace assay::import_export
