// Google Benchmark's JSON: a UserError, or an arm whose series can be compared with themselves.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "suite/base/error.hpp"
#include "suite/compare/compare.hpp"
#include "suite/compare/read_arm.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::compare;
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const Arm arm = read_google_benchmark(text, "fuzz.json");
        if (arm.series.empty()) std::abort();
        for (const Row& row : compare(arm, arm))
            if (row.verdict == RowVerdict::faster || row.verdict == RowVerdict::slower ||
                row.reason.empty())
                std::abort();
    } catch (const assay::UserError&) {
    }
    return 0;
}
