// Files of gradients: a malformed one is a UserError, any other one a plan by every set.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "impls/dr_post_training/plans/gradient_file.hpp"
#include "impls/dr_post_training/policy/plan.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay::dr_post_training;

void check(const Plan& plan) {
    for (const PlannedGroup& group : plan.groups)
        for (const double weight : group.update.weights)
            if (!std::isfinite(weight)) std::abort();
    if (!std::isfinite(plan.total.dot) || !(plan.total.norm2 >= 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const PlanInput input = read_gradients("gradients", std::as_bytes(std::span(data, size)));
        if (input.rows() > 64 || input.target_rows() > 64) return 0;  // they take their time
        const SetSettings settings{.k = rows_of_fraction(0.1, input.rows())};
        for (const SetKind set : set_kinds) {
            try {
                check(make_plan(input,
                                {.set = set, .partition = Partition::block, .settings = settings}));
            } catch (const SetRefused&) {
            }
        }
    } catch (const assay::UserError&) {
    }
    return 0;
}
