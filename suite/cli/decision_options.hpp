// The options of commands whose rounds go on until a verdict stands: `run --until-decided` and
// `versus`.
#pragma once

#include <string>
#include <vector>

#include "suite/runner/contrast.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

/// As typed.
struct DecisionWords {
    std::string margin = "1%", budget;
    int max_rounds = 30;
    std::vector<std::string> metrics;
};

/// --margin, --budget, --max-rounds, --metric.
void add_decision_options(CLI::App& command, DecisionWords& words);

/// Throws UserError for a margin or a budget that does not read.
runner::DecisionOptions decision_options(const DecisionWords& words);

/// "90", "90s", "10m", "1.5h" → seconds, above 0. UserError, naming `flag`, otherwise.
double parse_duration_s(const std::string& text, const std::string& flag);

}  // namespace assay::cli
