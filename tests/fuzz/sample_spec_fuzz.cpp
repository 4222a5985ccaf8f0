// Sample specifications: invalid_argument, or a specification that its own JSON reproduces.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suite/experiment/experiment.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document = nlohmann::json::parse(data, data + size, nullptr, false);
    if (document.is_discarded()) return 0;
    try {
        const nlohmann::json once = assay::to_json(assay::sample_spec_from_json(document));
        if (assay::to_json(assay::sample_spec_from_json(once)) != once) std::abort();
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
