// Format checks of data files: any bytes are accepted or refused with a DataError, in every format.
#include <cstdint>
#include <sstream>
#include <string>

#include "suite/data/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using assay::data::Format;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    for (const Format format :
         {Format::text, Format::expert_loads, Format::node_trace, Format::gguf}) {
        std::istringstream in(bytes);
        try {
            assay::data::validate(in, format);
        } catch (const assay::data::DataError&) {
        }
    }
    return 0;
}
