// The GPUs of this machine, asked from NVIDIA's management library at run time. Nothing is linked:
// a machine without a driver simply has none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/measure/hardware/nvml.hpp"

namespace assay::measure {

struct Gpu {
    std::string name;  ///< "NVIDIA H200"
    std::uint64_t memory_bytes = 0;
};

struct Gpus {
    std::vector<Gpu> devices;
    std::string driver;  ///< version; empty without a driver
    std::string reason;  ///< why there are none, when the library is there but does not answer
};

/// `library`: the file to load, named so that a test can put one of its own in its place.
Gpus read_gpus(const char* library = nvml_library());

}  // namespace assay::measure
