// Routing traces: any text gives a trace with at least one expert, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "impls/lazarus/data/routing_trace.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto trace = assay::lazarus::RoutingTrace::parse(text, "trace");
        if (trace.experts() < 1) std::abort();
        for (const auto& layer : trace.at(1, 1)) {
            if (layer.size() != static_cast<std::size_t>(trace.experts())) std::abort();
            for (auto tokens : assay::lazarus::most_loaded(layer, 1)) {
                if (tokens < 0) std::abort();
            }
        }
    } catch (const assay::UserError&) {
        // Malformed, or without iteration 1: said, not crashed.
    }
    return 0;
}
