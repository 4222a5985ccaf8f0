// The options that `run`, `reproduce` and `versus` share, and the runner's request made of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Seconds to wait for a quiet machine unless --settle says otherwise: $ASSAY_SETTLE, else 20.
double default_settle_s();
/// Seconds that `run` gives an experiment for more rounds than its profile has, where --rounds does
/// not say how many: $ASSAY_ROUNDS_BUDGET, else 600.
double default_rounds_budget_s();

/// How long rounds go on until a verdict stands (`run --until-decided`, `versus`), as typed.
struct DecisionWords {
    std::optional<std::string> margin;
    std::string budget;
    std::optional<int> max_rounds;
    std::vector<std::string> metrics;
};

/// As typed.
struct RunOptions {
    std::vector<std::string> patterns;
    std::string profile = "toy";
    std::string provenance;  ///< of --mode; empty: the experiment's first
    std::vector<std::string> axes;
    std::vector<std::string> variants, skip;
    std::optional<int> rounds;
    std::string seed = "1";
    std::vector<std::string> faults;
    std::string scenario_file;
    std::optional<double> timeout_s;
    bool until_decided = false;
    DecisionWords decision;  ///< counts only with until_decided
    std::string against;     ///< the same
    int jobs = 0;            ///< 0: one per processor
    bool fresh = false;
    bool no_lock = false;
    bool no_doctor = false;
    double settle_s = default_settle_s();
    bool dry_run = false;
    bool gate = false;
    bool all_metrics = false;  ///< in what is printed
    bool json = false;
    std::string events;
};

/// What keeps measured samples undisturbed, and where results go.
void add_care_options(CLI::App& command, RunOptions& options, Context& context);

/// These, which samples, and how each is made.
void add_sampling_options(CLI::App& command, RunOptions& options, Context& context);

/// Which session, and what its exit code says.
void add_session_options(CLI::App& command, RunOptions& options);

/// These, and how many samples.
void add_run_options(CLI::App& command, RunOptions& options, Context& context);

/// --margin, --budget, --max-rounds, --metric.
void add_decision_options(CLI::App& command, DecisionWords& words);

/// Throws UserError for whatever does not read: profile, provenance, axis, fault, scenario.
runner::Request make_request(const RunOptions& options, const Context& context);

/// Options of rounds that go on until a verdict stands, given without --until-decided: UserError
/// that names them. They would count for nothing.
void refuse_undecided_words(const RunOptions& options);

/// "90", "90s", "10m", "1.5h" → seconds, above 0. UserError, naming `flag`, otherwise.
double parse_duration_s(const std::string& text, const std::string& flag);

/// Throws UserError for a margin or a budget that does not read.
runner::DecisionOptions decision_options(const DecisionWords& words);

}  // namespace assay::cli
