// Availability traces from SkyPilot's JSON: a TraceError or a trace that can be.
#include <cstdint>
#include <string_view>

#include "suite/scenario/traces/availability_trace.hpp"
#include "tests/fuzz/scenario/trace_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        assay::testing::check_trace(assay::read_skypilot_json(text, "t"));
    } catch (const assay::TraceError&) {
    }
    return 0;
}
