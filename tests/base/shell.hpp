// Processes that run a line of shell, and which descriptors are open.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "suite/base/process.hpp"

namespace assay::testing {

inline ProcessCommand shell(const std::string& line) {
    ProcessCommand command;
    command.arguments = {"sh", "-c", line};
    return command;
}

/// What a program prints that ends well.
inline std::string printed_by(ProcessCommand command) {
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    std::string text = read_to_end(process.out);
    EXPECT_TRUE(process.wait().ok());
    return text;
}

inline std::set<int> open_descriptors() {
    std::set<int> open;
    for (int fd = 0; fd < 1024; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) open.insert(fd);
    return open;
}

}  // namespace assay::testing
