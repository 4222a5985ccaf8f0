// Whether a file, above all one in folder(), is what the catalogue says.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "suite/data/catalog.hpp"

namespace assay::data {

enum class State { ok, absent, changed, malformed };
std::string_view to_string(State);

struct Check {
    std::string id;
    std::filesystem::path file;
    State state = State::absent;
    std::string says;  ///< what is wrong; empty where all is well
};

/// Whether a file, wherever it lies, has the format, size and hash of an entry.
Check check_file(const Entry& entry, const std::filesystem::path& file);

/// The fetched file of one entry.
Check check(const Entry& entry);

/// Every entry, in the catalogue's order.
std::vector<Check> check_all();

/// Reads the stream to its end (GGUF: only the header). Throws DataError "line N: …" for the line
/// that is not in this format.
void validate(std::istream& in, Format format);

}  // namespace assay::data
