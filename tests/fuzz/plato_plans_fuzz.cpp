// Plans in numbers: a malformed file is a UserError, anything else a plan that can be scheduled.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "impls/plato/plans/plan_file.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    try {
        for (const auto& plan : assay::plato::read_plans(in, "plans.jsonl")) {
            const auto schedule = assay::plato::schedule(plan, {}, {});
            if (!(schedule.makespan_ms > 0)) std::abort();
        }
    } catch (const assay::UserError&) {
    }
    return 0;
}
