// Format checks of data files: any bytes are accepted or refused with a DataError, in every format
// of the suite's.
#include <cstdint>
#include <sstream>
#include <string>

#include "suite/data/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    for (const auto& [name, check] : assay::data::suite_formats()) {
        std::istringstream in(bytes);
        try {
            check(in);
        } catch (const assay::data::DataError&) {
        }
    }
    return 0;
}
