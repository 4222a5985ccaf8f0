// Commands that messages suggest: as they can be pasted, with the results database in use.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// What suggested commands name with --db from now on; empty: the usual database. Before any
/// thread.
void suggest_database(std::string file);

/// "`assay claims --again --db results.db`" of "claims --again", for commands that know --db. No
/// line is broken within the backticks.
std::string suggested(std::string_view words);
/// The same without backticks, for a line of its own.
std::string suggested_line(std::string_view words);
/// "claims --again --db results.db"
std::string with_database(std::string_view words);

}  // namespace assay
