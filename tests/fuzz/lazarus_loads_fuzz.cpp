// Loads files: any text gives layers of equally many loads, none negative, or a UserError; printed
// again, the layers read as themselves.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "impls/lazarus/data/loads_file.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto layers = assay::lazarus::parse_loads(text, "loads");
        if (layers.empty()) std::abort();
        std::string again;
        for (const assay::lazarus::Loads& loads : layers) {
            if (loads.empty() || loads.size() != layers.front().size()) std::abort();
            for (assay::lazarus::Tokens t : loads) {
                if (t < 0) std::abort();
                again += std::to_string(t) + ' ';
            }
            again += '\n';
        }
        if (assay::lazarus::parse_loads(again, "again") != layers) std::abort();
    } catch (const assay::UserError& error) {
        // The message starts with the place.
        if (std::string_view(error.what()).substr(0, 6) != "loads:") std::abort();
    }
    return 0;
}
