// Runs a program (no shell in between) and returns what it prints.
#pragma once

#include <string>
#include <vector>

namespace assay::data {

struct ProgramOutput {
    bool started = false;  ///< false: no such program in PATH
    int status = -1;       ///< exit status; 128 + signal where a signal ended it
    std::string bytes;     ///< standard output; standard input and error are /dev/null
};

/// Waits for the program to end. Throws std::system_error where no pipe or process is to be had.
ProgramOutput output_of(const std::vector<std::string>& command);

}  // namespace assay::data
