// Results as JSON lines: a UserError, or rows that can be believed.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "suite/exchange/json_lines.hpp"
#include "suite/exchange/row_check.hpp"
#include "suite/experiment/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    try {
        assay::exchange::read_json_lines(in, "r.jsonl", [](const assay::exchange::Row& row) {
            if (assay::exchange::problem_of(row)) std::abort();
        });
    } catch (const assay::UserError&) {
    }
    return 0;
}
