// Axis values: any text becomes a value, whose text becomes the same value again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/experiment/value.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const assay::Value value =
        assay::parse_value(std::string_view(reinterpret_cast<const char*>(data), size));
    if (assay::parse_value(assay::to_string(value)) != value) std::abort();
    return 0;
}
