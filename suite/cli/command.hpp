// How one command joins the command line: a function that adds its CLI11 subcommand. The list of
// all commands is in suite/cli/main.cpp; each command has a file of its own, in the folder of its
// group in `assay --help` (those of systems, `assay plan SYSTEM`, come from System::plan and the
// like).
//
// Parsing and doing are apart: the subcommand's callback only sets Context::action, which main()
// runs once the whole command line is known to be right. So no command does half of its work before
// a usage error is found.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "suite/experiment/system.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

/// Exit codes of every command.
enum ExitCode : int {
    exit_ok = 0,
    exit_error = 1,          ///< usage or infrastructure
    exit_regression = 2,     ///< slower; with --gate: a contradicted claim; replay: metrics
                             ///< or decisions differ; qualify: not fit
    exit_ambiguous = 3,      ///< neither yes nor no
    exit_not_supported = 4,  ///< this machine or this build cannot do it
};

/// What every command gets; lives as long as the program runs.
struct Context {
    const Registry& registry;
    std::string command_line;        ///< argv as typed, shell-quoted, for the record
    std::filesystem::path database;  ///< set by --db; empty: store::default_path()
    /// What the parsed command does; returns an ExitCode. Throws UserError (exit 1),
    /// NotSupportedHere (exit 4) or anything std::exception (exit 1); main() prints the text after
    /// "assay: ".
    std::function<int()> action;
    std::string program = "assay";  ///< argv[0], shell-quoted: how to call us again
    std::string lacks;              ///< why the claims could not be read; empty: they were

    std::filesystem::path database_path() const;  ///< `database`, ASSAY_DB or the default
};

/// Adds one subcommand to the program. With --json, a command prints JSON and nothing else on
/// stdout; what is meant for people goes to stderr then.
using AddCommand = void (*)(CLI::App& program, Context& context);

/// Whether this process is one that the runner started for a single sample.
bool runs_one_sample(int argc, char** argv);

void add_doctor_command(CLI::App& program, Context& context);
void add_list_command(CLI::App& program, Context& context);
void add_describe_command(CLI::App& program, Context& context);
void add_run_command(CLI::App& program, Context& context);
void add_highlights_command(CLI::App& program, Context& context);
void add_reproduce_command(CLI::App& program, Context& context);
void add_plan_command(CLI::App& program, Context& context);
void add_plan_trace_command(CLI::App& plan, Context& context);  ///< a subcommand of plan
void add_campaign_command(CLI::App& program, Context& context);
void add_compare_command(CLI::App& program, Context& context);
void add_versus_command(CLI::App& program, Context& context);
void add_nightly_command(CLI::App& program, Context& context);
void add_baseline_command(CLI::App& program, Context& context);
void add_qualify_command(CLI::App& program, Context& context);
void add_regressions_command(CLI::App& program, Context& context);
void add_mute_commands(CLI::App& program, Context& context);  ///< mute, unmute
void add_annotate_command(CLI::App& program, Context& context);
void add_claims_command(CLI::App& program, Context& context);
void add_headlines_command(CLI::App& program, Context& context);
void add_report_command(CLI::App& program, Context& context);
void add_export_command(CLI::App& program, Context& context);
void add_import_command(CLI::App& program, Context& context);
void add_gui_command(CLI::App& program, Context& context);
void add_history_command(CLI::App& program, Context& context);
void add_replay_command(CLI::App& program, Context& context);
void add_db_command(CLI::App& program, Context& context);
void add_data_command(CLI::App& program, Context& context);
void add_calibrate_command(CLI::App& program, Context& context);
void add_calibrate_fit_command(CLI::App& calibrate, Context& context);  ///< a subcommand of it
void add_tool_commands(CLI::App& program, Context& context);   ///< those of Registry::tools()
void add_sample_command(CLI::App& program, Context& context);  ///< hidden: a sample's own process

/// Program entry: adds the suite's own system to `registry`, parses, runs one command, turns errors
/// into sentences and exit codes. `lacks`: why the registry has no claims; only `doctor`, help and
/// version work then.
int main(int argc, char** argv, Registry registry, const std::string& lacks = {});

}  // namespace assay::cli
