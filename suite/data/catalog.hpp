// What corpora, traces and models are known, and where they lie on this machine. The catalogue is
// datasets/catalog.toml; the data itself is never part of the project.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::data {

/// Unknown id, a file of the wrong content, a package that is not installed, a malformed catalogue.
class DataError : public UserError {
    using UserError::UserError;
};

enum class Kind { corpus, trace, model };
ASSAY_NAMES(Kind, corpus, trace, model)

/// A Debian package whose installed files hold the data.
struct DebianSource {
    std::string package, version;
    std::vector<std::string> command;  ///< prints the data on its standard output
    bool verses = false;               ///< lines open with a verse reference, which is dropped
};

/// A folder that the user may give in place of the file, and what makes the file of it.
struct FolderSource {
    std::string converter;  ///< its name among System::data_converters
    std::string called;  ///< how the user is asked for it: "folder of logs or the file they make"
    /// What the folder holds, as the converter calls it.
    std::map<std::string, std::int64_t> numbers;
};

struct Entry {
    std::string id;  ///< "bible-kjv"
    Kind kind = Kind::corpus;
    std::string says;     ///< one line: what it is
    std::string licence;  ///< SPDX expression, or "public domain"
    std::string origin;   ///< where it comes from, in words
    std::string obtain;   ///< how to get the file that is then given by path; empty for packages
    std::string serves;   ///< the need of claims that it meets: "trace:smartmoe"; may be empty
    std::string file;     ///< name inside folder()
    std::string format;   ///< "text": of check.hpp's, or one that a system declares
    std::optional<DebianSource> debian;  ///< absent: the user gives a path
    std::optional<std::string> sha256;   ///< lower-case hex, where the content is fixed
    std::optional<std::uint64_t> size_bytes;
    std::optional<FolderSource> folder;  ///< absent: only the file itself can be given
};

/// Every entry, in the order of the file (read once). Throws DataError for a malformed catalogue.
const std::vector<Entry>& catalog();

/// Throws DataError for an unknown id, and suggests the nearest.
const Entry& find(std::string_view id);

/// "assay data fetch smartmoe-loads --from FOLDER"
std::string fetch_command(const Entry&);

/// Parses a catalogue; `source` names it in errors ("catalog.toml:12: …"). Throws DataError.
std::vector<Entry> parse_catalog(std::string_view toml, std::string_view source);

/// $ASSAY_DATA, else $XDG_DATA_HOME/assay/data, else ~/.local/share/assay/data.
std::filesystem::path folder();

/// The file of an entry if it has been fetched (its content is not read: see check.hpp).
/// Throws DataError for an unknown id.
std::optional<std::filesystem::path> locate(std::string_view id);

/// The fetched file as what experiments declare (Experiment::inputs), with the content that the
/// catalogue knows; none where it has not been fetched. `name`: what it is to the experiment.
std::optional<Input> input_of(std::string_view id, std::string name);

}  // namespace assay::data
