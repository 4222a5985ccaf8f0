// Suite files of the nightly gate: whatever is in one, it is read or refused with a UserError, and
// what is read has something to run and numbers that a night can use.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/gate/plan/suite_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const assay::gate::SuiteFile suite = assay::gate::parse_suite(text, "fuzz.toml");
        if (suite.name.empty() || suite.rounds < 1 || !(suite.margin > 0 && suite.margin < 1) ||
            !(suite.rerun_budget_s > 0) || !(suite.p > 0 && suite.p < 1))
            std::abort();
        if (suite.experiments.empty() && suite.benchmarks.empty()) std::abort();
        for (const auto& experiment : suite.experiments)
            if (experiment.patterns.empty()) std::abort();
    } catch (const assay::UserError&) {
    }
    return 0;
}
