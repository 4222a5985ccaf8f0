// Data out of an installed Debian package: what its program prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/data/catalog.hpp"

namespace assay::data {

/// The data of an entry that has a package, verse references dropped where it asks for that. Throws
/// DataError where program or package is missing, and says what to install.
std::string out_of_package(const Entry& entry);

struct ProgramOutput {
    bool started = false;  ///< false: no such program in PATH
    int status = -1;       ///< exit status; 128 + signal where a signal ended it
    std::string bytes;     ///< standard output; standard input and error are /dev/null
};

/// Runs a program, no shell in between, and waits for it to end. Throws std::system_error where no
/// pipe or process is to be had.
ProgramOutput output_of(const std::vector<std::string>& command);

/// Every line of a text whose lines open with a verse reference ("Ge1:1 In the beginning …"),
/// without it. Throws DataError "line N: …" for a line that has none.
std::string without_references(std::string_view verses);

}  // namespace assay::data
