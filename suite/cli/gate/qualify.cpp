// assay qualify: how many false alarms the gate raises on this machine, and what it finds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/dry_run.hpp"
#include "suite/cli/run/run_options.hpp"
#include "suite/cli/run/warnings_before_run.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/qualify/qualification.hpp"
#include "suite/measure/build_info.hpp"

namespace assay::cli {
namespace {

struct QualifyOptions {
    std::string suite, session;
    std::vector<double> slowed;  ///< percent
    int rounds = 40;
    qualify::Options nights;
    bool json = false, dry_run = false, fresh = false, no_lock = false, no_doctor = false;
};

/// Runs the pool's rounds; the session, or nothing when interrupted.
std::optional<std::string> record_pool(const QualifyOptions& options, const Context& context,
                                       const gate::SuiteFile& suite, const gate::NightPlan& plan,
                                       store::Store& store) {
    std::vector<std::filesystem::path> benchmarks;
    for (const gate::SuiteBenchmark& benchmark : suite.benchmarks)
        benchmarks.push_back(benchmark.program);
    runner::Request request;
    request.command = context.command_line;
    const auto lock = lock_machine(plan.plan, !options.no_lock, context.command_line);
    request.lock = false;  // it is taken
    request.suspects[gate::programs_suspect] = gate::programs_text(benchmarks);
    const auto unfinished = store.newest_unfinished(plan.plan.hash, measure::build_id());
    const bool is_other = unfinished && unfinished->suspects.value(gate::programs_suspect, "") !=
                                            request.suspects[gate::programs_suspect];
    request.fresh = options.fresh || is_other;
    if (is_other && !options.fresh)
        print_line(
            std::cerr,
            fmt::format(
                "the pool of session {:.8} does not go on, since {}; this is a new one",
                unfinished->id,
                gate::programs_changed(unfinished->suspects.value(gate::programs_suspect, ""),
                                       request.suspects[gate::programs_suspect])));
    if (!options.no_doctor)
        if (const auto names = warnings_before_run(plan.plan, default_settle_s()))
            request.suspects["warnings"] = *names;
    LiveProgress progress(terminal_width());
    const runner::Outcome outcome =
        runner::execute(context.registry, plan.plan, request, store,
                        [&](const runner::Notice& notice) { progress.on(notice); });
    if (outcome.interrupted) return std::nullopt;
    return outcome.session;
}

qualify::Pool read_pool(const Context& context, const store::Store& store,
                        const gate::NightPlan& plan, const std::string& session) {
    const std::vector<store::Sample> samples = store.samples(session);
    if (const auto mixed = gate::mixed_builds(samples))
        throw UserError(
            fmt::format("session {:.8} is no pool, since its samples are of two builds: "
                        "{}; record a new one",
                        session, *mixed));
    return qualify::make_pool(compare::arm_of_sessions(context.registry, store, {session}), samples,
                              plan.gates);
}

/// The share that is done, on a terminal.
std::function<void(double)> show_share() {
    if (terminal_width() == 0) return {};
    return [last = -1](double share) mutable {
        const int percent = static_cast<int>(100 * share);
        if (percent == last) return;
        last = percent;
        overwrite_line(fmt::format("resampling: {} %", percent));
        if (percent == 100) std::cerr << '\n';
    };
}

std::string machine_of(const store::Store& store, const std::string& id) {
    const auto session = store.session(id);
    return session ? session->machine : "";
}

int run_qualify(const QualifyOptions& options, const Context& context) {
    const gate::SuiteFile suite = gate::read_suite(options.suite);
    const bool records = options.session.empty();
    if (const auto missing = gate::missing_programs(suite); records && !missing.empty())
        throw UserError(fmt::format("{}", fmt::join(missing, "\n       ")));
    std::vector<double> factors;
    for (const double percent : options.slowed) factors.push_back(1 + percent / 100);
    const gate::NightPlan plan =
        records ? qualify::make_pool_plan(context.registry, suite, options.rounds, factors)
                : gate::make_night_plan(context.registry, suite);
    if (records && options.dry_run) return print_plan(plan.plan, options.json);
    store::Store store = records ? open_or_begin(context) : open_existing(context);
    const auto session = records ? record_pool(options, context, suite, plan, store)
                                 : store.resolve_session(options.session);
    if (!session) {
        std::cerr << "interrupted: the same command goes on from here\n";
        return exit_error;
    }
    const qualify::Pool pool = read_pool(context, store, plan, *session);
    if (pool.rows.empty())
        throw UserError(fmt::format(
            "{}: no row of the suite has the rounds of three nights in it; record a pool with "
            "{}",
            *session, suggested("qualify " + shell_quoted(options.suite))));
    qualify::Qualification result = qualify::qualify(pool, suite, options.nights, show_share());
    result.session = *session;
    result.machine = machine_of(store, *session);
    if (options.json)
        print_json(qualify::qualification_json(result));
    else
        std::cout << qualify::qualification_text(result) << "resample this pool again: "
                  << suggested_line(fmt::format("qualify {} --session {:.8}",
                                                shell_quoted(options.suite), *session))
                  << '\n';
    return result.fit() ? exit_ok : exit_regression;
}

constexpr const char* qualify_footer =
    R"(Records a pool first: ROUNDS rounds of the suite, one after the other, while nothing
changes. Nights are resampled from it and judged by the gate's own code, with history,
reruns and confirmation. Slowdowns are the pool's values multiplied; with --slowed also
samples that are really slowed while they run, which are recorded next to the others.
Exit codes: 0 fit (at most one false alarm in 20 quiet nights of at least 50 rows, 95 % of
            the slowdowns by 10 % found), 1 usage or infrastructure, 2 not fit.
Examples:
  assay qualify datasets/suites/cpu.toml --slowed 10
  assay qualify datasets/suites/cpu.toml --session 1a2b3c4d --json)";

}  // namespace

void add_qualify_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<QualifyOptions>();
    CLI::App* command = program.add_subcommand(
        "qualify", "False alarms and detection rates of the nightly gate on this machine");
    command->group("Gate");
    command->add_option("suite", options->suite, "SUITE.toml: what a night runs")->required();
    command->add_option("--rounds", options->rounds, "Rounds of the pool")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command
        ->add_option("--slowed", options->slowed,
                     "Record samples slowed by so many percent, too: --slowed 5,10")
        ->delimiter(',')
        ->check(CLI::Range(0.1, 900.0));
    command->add_option("--session", options->session,
                        "Resample this pool, recorded earlier; records nothing");
    command
        ->add_option("--campaigns", options->nights.campaigns, "Baselines with quiet nights after")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str()
        ->group("Resampling");
    command->add_option("--nights", options->nights.nights, "Quiet nights after each baseline")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str()
        ->group("Resampling");
    command->add_option("--trials", options->nights.trials, "Per row and slowdown")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str()
        ->group("Resampling");
    command->add_option("--seed", options->nights.seed, "Of the resampling")
        ->capture_default_str()
        ->group("Resampling");
    command->add_flag("--dry-run", options->dry_run, "Print the pool's plan, run nothing");
    command->add_flag("--fresh", options->fresh, "Do not go on with an interrupted pool");
    command->add_flag("--no-lock", options->no_lock,
                      "Run beside another measured run; both disturb each other");
    command->add_flag("--no-doctor", options->no_doctor, "Do not look at the machine first");
    command->add_flag("--json", options->json, "Print JSON, with every row")->group("Output");
    add_database_option(*command, context);
    command->footer(qualify_footer);
    command->callback([options, &context] {
        context.action = [options, &context] { return run_qualify(*options, context); };
    });
}

}  // namespace assay::cli
