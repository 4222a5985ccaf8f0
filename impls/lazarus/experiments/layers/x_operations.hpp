// What the operations of a training step take: settings, for x_operations.cpp, which declares, and
// x_operations_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/tensors/part.hpp"

namespace assay::lazarus {

struct XOperations {
    int width = 0, sequences = 0;
    std::uint64_t seed = 1;
    std::filesystem::path corpus;
};

inline const tensors::Part<void(const XOperations&, Recorder&)> time_operations{
    "lazarus/x_operations", tensors::Needs::text};

}  // namespace assay::lazarus
