// Runs a plan: expands experiments into samples, gives each a fresh process, stores results as they
// come, resumes unfinished sessions, checks claims at the end.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {

/// What the user asked for.
struct Request {
    std::vector<std::string> patterns;                ///< experiment ids or patterns
    Profile profile = Profile::toy;
    std::optional<Provenance> mode;                   ///< else each experiment's default
    std::map<std::string, std::vector<Value>> axes;   ///< -a axis=v1,v2
    std::optional<int> rounds;
    std::uint64_t seed = 1;
    std::string scenario;                             ///< fault plan text; empty: the experiment's own
    bool scenario_given = false;
    std::optional<double> timeout_s;
    bool fresh = false;
    std::string command;                              ///< argv, for the record
};

struct PlannedSample {
    const Experiment* experiment;
    SampleSpec spec;
};

struct Plan {
    std::vector<PlannedSample> samples;  ///< in execution order: rounds, ABBA over variants
    double seconds = 0;                  ///< estimate
    double bytes = 0;
    std::string hash;
};

/// Throws UserError: unknown experiment, impossible axis or value, mode not offered, faults where none
/// are taken.
Plan make_plan(const Registry&, const Request&);

/// What happens, for display and for `--events jsonl`.
struct Notice {
    std::string kind;  ///< session, sample_started, event, progress, sample_finished, claim, finished
    nlohmann::json body;
    long done = 0, failed = 0, planned = 0;
    double eta_s = 0;
};
using Listener = std::function<void(const Notice&)>;

struct Outcome {
    std::string session;
    std::vector<store::Sample> samples;  ///< of this session, finished earlier ones included
    std::vector<ClaimCheck> claims;
    bool interrupted = false;
};

/// Executes the plan. SIGINT/SIGTERM end it after killing the running sample; what is finished stays.
Outcome execute(const Registry&, const Plan&, const Request&, store::Store&, const Listener&);

/// Entry of the sample's own process (`assay sample`, hidden): spec on stdin, results as JSON lines on
/// file descriptor 3; file descriptor 4 is the lifeline.
int sample_main(const Registry&);

/// Checks every claim of the given experiments against the store.
std::vector<ClaimCheck> check_claims(const Registry&, const store::Store&,
                                     const std::vector<const Experiment*>&);

}  // namespace assay::runner
