// A set of plans decoded, in virtual time or by the engine, as an experiment: what Plato's have in
// common.
#pragma once

#include <string>
#include <vector>

#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/policy/controller.hpp"
#include "impls/plato/policy/prompts.hpp"

namespace assay::plato {

/// Whether static parts of prompts are cached before the questions come.
enum class Start { warm, cold };
ASSAY_NAMES(Start, warm, cold)

struct AnsweredPlans : MachinePlans {
    KvReuse reuse = KvReuse::prefix;
    Start start{};
    int engines = 1;  ///< more: in processes of their own
    Mode mode{};
};

struct PlansOptions {
    /// What measured samples are compared with, in time: no plan; waiting for the whole plan.
    bool with_ar = true, with_waiting = false;
    bool simulated_first = false;             ///< at toy, where nobody says which
    std::vector<std::string> toy_variants{};  ///< measured and simulated; empty: all
    double seconds_per_sample = 30;           ///< measured
};
/// declared: but for what all have, with axes of the plans ("plans" or "density") and of what else
/// is looked at, and variants. Its `says` is a beginning.
Experiment plans_experiment(Declaration<AnsweredPlans> declared, const PlansOptions& options);

}  // namespace assay::plato
