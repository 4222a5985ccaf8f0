// Catalogue files: whatever is in one, it is read or refused with a DataError, and what is read
// names files inside the data folder only.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/data/catalog.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        for (const auto& entry : assay::data::parse_catalog(text, "fuzz.toml"))
            if (entry.file.empty() || entry.file.find('/') != std::string::npos) std::abort();
    } catch (const assay::data::DataError&) {
    }
    return 0;
}
