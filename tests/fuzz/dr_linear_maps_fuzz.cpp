// Linear maps as typed: malformed ones are a UserError, of others the costs are numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "impls/dr_post_training/plans/linear_maps.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::dr_post_training;
    try {
        const auto maps = parse_linear_maps({reinterpret_cast<const char*>(data), size});
        const ScoringCosts costs = scoring_costs(maps, {});
        for (const double flops : costs.flops)
            if (!std::isfinite(flops) || !(flops > 0)) std::abort();
    } catch (const assay::UserError&) {
    }
    return 0;
}
