// Brings a data set into folder(): out of an installed Debian package, or from a path the user
// gives: the file itself or, where a converter is known, a folder of what it is made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "suite/data/catalog.hpp"
#include "suite/experiment/system.hpp"

namespace assay::data {

/// The complete file is checked under another name, then appears at once and for good (a power cut
/// leaves all of it or nothing), beside a manifest `<file>.manifest.json` with origin, licence and
/// hash. Already there with the right content: nothing is done. Throws
/// DataError: package or program missing (says what to install), wrong format (says which line),
/// wrong hash, no path given for data that only the user can supply, a folder that its converter
/// refuses (says which file and line), or whose converter is not among `converters`
/// (Registry::data_converters()); a format that is not the suite's nor among `formats`
/// (Registry::data_formats()). `progress` hears of the files of such a folder.
std::filesystem::path fetch(std::string_view id,
                            const std::optional<std::filesystem::path>& from = std::nullopt,
                            const DataConverters& converters = {}, const DataFormats& formats = {},
                            const FileProgress& progress = {});

/// The manifest beside a fetched file.
std::filesystem::path manifest_of(const std::filesystem::path& file);

}  // namespace assay::data
