// The options that `run`, `reproduce` and `versus` share, and the runner's request made of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/cli/decision_options.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Seconds to wait for a quiet machine unless --settle says otherwise: $ASSAY_SETTLE, else 20.
double default_settle_s();

struct RunOptions {
    std::vector<std::string> patterns;
    std::string profile = "toy";
    std::string mode;
    std::vector<std::string> axes;
    std::vector<std::string> variants, skip;
    std::optional<int> rounds;
    std::string seed = "1";  ///< as typed
    std::vector<std::string> faults;
    std::string scenario_file;
    std::optional<double> timeout_s;
    bool until_decided = false;
    DecisionWords decision;  ///< counts only with until_decided
    std::string against;     ///< the same
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

/// Throws UserError for whatever does not read: profile, mode, axis, fault, scenario.
runner::Request make_request(const RunOptions& options, const Context& context);

}  // namespace assay::cli
