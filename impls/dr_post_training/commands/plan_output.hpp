// Plans for programs and for people.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/dr_post_training/policy/plan.hpp"

namespace assay::dr_post_training {

/// {"n","m","k","set","partition","groups","total","sources","compare","recommended"}
nlohmann::ordered_json to_json(const Plan& plan, const PlanInput& input);
/// Tables of at most `columns`.
std::string to_text(const Plan& plan, const PlanInput& input, std::size_t columns);

/// {"linears","total","crossover_m","crossover_tokens","overhead_flops"}
nlohmann::ordered_json to_json(const ScoringCosts& costs);
std::string to_text(const ScoringCosts& costs, const CostSettings& settings, std::size_t columns);

}  // namespace assay::dr_post_training
