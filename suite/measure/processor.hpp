// Parts of the environment that come from the kernel's files on processors and memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/measure/environment.hpp"

namespace assay::measure {

std::string read_cpu_model(const std::filesystem::path& root);
int count_processors(const std::filesystem::path& root);
std::vector<Cache> read_caches(const std::filesystem::path& root);
std::uint64_t read_memory_bytes(const std::filesystem::path& root);

/// Cores' worth of time per period, from control groups version 2 or 1; nullopt: unlimited.
std::optional<double> read_cpu_quota(const std::filesystem::path& root);

/// First line of a file, without the line's end; empty if it cannot be read.
std::string first_line(const std::filesystem::path& file);

}  // namespace assay::measure
