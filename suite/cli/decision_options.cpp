#include "suite/cli/decision_options.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>
#include <string_view>

#include "suite/cli/comparison_filter.hpp"
#include "suite/experiment/error.hpp"

namespace assay::cli {

void add_decision_options(CLI::App& command, DecisionWords& words) {
    command.add_option("--margin", words.margin, "Smaller changes do not matter: 2% or 0.02")
        ->type_name("SHARE")
        ->capture_default_str()
        ->group("Until decided");
    command
        .add_option("--budget", words.budget,
                    "Time for all samples together: 90s, 10m, 2h (default: no limit)")
        ->type_name("TIME")
        ->group("Until decided");
    command
        .add_option("--max-rounds", words.max_rounds, "What is not decided then stays ambiguous")
        ->type_name("N")
        ->capture_default_str()
        ->group("Until decided");
    command
        .add_option("--metric", words.metrics,
                    "What decides (repeatable; default: the metric of the figure)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("Until decided");
}

runner::DecisionOptions decision_options(const DecisionWords& words) {
    runner::DecisionOptions options;
    options.margin = parse_margin(words.margin);
    if (!words.budget.empty()) options.budget_s = parse_duration_s(words.budget, "--budget");
    options.max_rounds = words.max_rounds;
    options.metrics = words.metrics;
    return options;
}

double parse_duration_s(const std::string& text, const std::string& flag) {
    const char* const end = text.data() + text.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    const double factor = unit.empty() || unit == "s" ? 1
                          : unit == "m"               ? 60
                          : unit == "h"               ? 3600
                                                      : 0;
    if (error != std::errc() || !std::isfinite(value) || !(value * factor > 0))
        throw UserError(
            fmt::format("{} '{}': a time above 0, for example 90s, 10m or 2h", flag, text));
    return value * factor;
}

}  // namespace assay::cli
