// Google Benchmark's JSON: a UserError, or rows that can be believed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/exchange/benchmark_results.hpp"
#include "suite/exchange/row_check.hpp"
#include "suite/experiment/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        assay::exchange::read_benchmark_results(text, "b.json",
                                                [](const assay::exchange::Row& row) {
                                                    if (assay::exchange::problem_of(row))
                                                        std::abort();
                                                });
    } catch (const assay::UserError&) {
    }
    return 0;
}
