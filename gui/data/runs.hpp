// What runs, how far it is, and what a run would take. Plain values.
#pragma once

#include <sys/types.h>

#include <QByteArray>
#include <QStringList>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

/// A session as somebody follows it.
struct Run {
    store::Session session;
    bool runs = false;             ///< by a living runner
    long done = 0;                 ///< samples that no longer run
    std::string sample;            ///< one that runs; empty: none
    std::optional<pid_t> process;  ///< that can be asked to stop
    /// Until it is done: the samples that are left, each as long as the median time from one
    /// sample's start to the next's of the last twenty. nullopt: it does not run, or too few
    /// started.
    std::optional<double> left_s;
};

/// Those that run first, then the newest others, `most_ended` of them.
std::vector<Run> read_runs(const store::Store& store, std::size_t most_ended = 20);

/// SIGINT to the runner that holds the session's lock: it ends cleanly, and the same command goes
/// on from there. Throws UserError where nobody does, or it cannot be told who.
void stop_run(const std::filesystem::path& database, const std::string& session);

/// What somebody chose to run.
struct RunChoice {
    std::string experiments;            ///< ids or patterns with blanks between them
    std::string profile;                ///< empty: as `assay run` does
    std::string mode;                   ///< the same
    int rounds = 0;                     ///< 0: as the profile says
    std::vector<std::string> variants;  ///< empty: all
    std::map<std::string, std::vector<std::string>> axes;  ///< narrowed ones
    std::string more;                                      ///< further options, as typed
};

/// "run", … ; with --db where `database` is not the usual one.
QStringList run_arguments(const RunChoice& choice, const std::filesystem::path& database);

struct PlannedSample {
    int number = 0;  ///< from 1
    std::string experiment, variant, axes, scenario;
    std::uint64_t seed = 0;
    double seconds = 0;  ///< estimate
};

/// What `assay run … --dry-run --json` says.
struct RunPlan {
    std::vector<PlannedSample> samples;
    double seconds = 0, bytes = 0;  ///< estimates
    std::vector<std::string> left_out;
    nlohmann::json said;
};
/// Throws UserError for what is no plan.
RunPlan read_plan(const QByteArray& json);

}  // namespace assay::gui
