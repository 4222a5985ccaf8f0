// Whether a file, above all one in folder(), is what the catalogue says.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/system.hpp"

namespace assay::data {

enum class State { ok, absent, changed, malformed };
ASSAY_NAMES(State, ok, absent, changed, malformed)

struct Check {
    std::string id;
    std::filesystem::path file;
    State state = State::absent;
    std::string says;  ///< what is wrong; empty where all is well
};

// `formats`: those of the systems (Registry::data_formats()), beside the suite's own. An entry
// whose format nobody knows is a mistake in the catalogue: DataError.

/// Whether a file, wherever it lies, has the format, size and hash of an entry.
Check check_file(const Entry& entry, const std::filesystem::path& file,
                 const DataFormats& formats = {});

/// The fetched file of one entry; its format is looked up where it is absent, too.
Check check(const Entry& entry, const DataFormats& formats = {});

/// Every entry, in the catalogue's order.
std::vector<Check> check_all(const DataFormats& formats = {});

/// Formats of no paper:
///     text         UTF-8 or Latin-1 text without NUL bytes
///     node_trace   CSV without header: milliseconds,add|remove,node
///     gguf         model weights, GGUF version 2 or 3; only the header is read
const DataFormats& suite_formats();

}  // namespace assay::data
