// Runs a plan: expands experiments into samples, gives each a fresh process, stores results as they
// come, resumes unfinished sessions, checks claims at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/error.hpp"
#include "suite/experiment/system.hpp"
#include "suite/runner/contrast.hpp"
#include "suite/runner/input_hash.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {

/// What the user asked for.
struct Request {
    std::vector<std::string> patterns;  ///< experiment ids or patterns
    Profile profile = Profile::toy;
    std::optional<Provenance> mode;                  ///< else each experiment's default
    std::map<std::string, std::vector<Value>> axes;  ///< -a axis=v1,v2
    std::vector<std::string> skip;                   ///< ids or patterns left out again
    std::vector<std::string> variants;               ///< only these; empty: all
    std::optional<int> rounds;
    std::uint64_t seed = 1;
    std::string scenario;  ///< fault plan text; counts only with scenario_given
    bool scenario_given = false;
    std::optional<double> timeout_s;
    /// Rounds of a case end as soon as its variants are told apart; excludes `rounds`.
    std::optional<DecisionOptions> until_decided;
    bool fresh = false;   ///< never resume
    bool lock = true;     ///< take the machine-wide lock when something is measured or emulated
    std::string command;  ///< argv, for the record
    std::map<std::string, std::string> suspects;  ///< added to the session's; never keys
};

struct PlannedSample {
    const Experiment* experiment;
    SampleSpec spec;
    double seconds = 0;       ///< estimate
    double bytes = 0;         ///< estimate of what the store grows by
    std::string calibration;  ///< hash of what an emulated or simulated sample takes for granted
    std::string data;         ///< hash of the files it reads (data_hash()); empty: none
    std::vector<HashedInput> inputs;  ///< those files, as the plan found them
    bool on_gpus = false;             ///< a GPU that throttles makes it invalid
};

struct Plan {
    /// In execution order: experiments, cases, rounds, variants; variants turn round in every
    /// second round (A B, B A, …), so that a drift of the machine weighs on all of them alike.
    std::vector<PlannedSample> samples;
    std::map<std::string, store::Calibration> calibrations;  ///< of the samples, by hash
    double seconds = 0;                                      ///< estimate
    double bytes = 0;
    std::string hash;
    /// Sentences: experiments that a pattern matched but that cannot do what was asked.
    std::vector<std::string> left_out;
};

/// Throws UserError: unknown experiment, impossible axis or value, mode or profile not offered,
/// faults where none are taken, a device profile that is not there, an input file that was changed.
/// An experiment named by its id must be able to do what is asked; of those that a wider pattern
/// matches, the ones that cannot are left out, and at least one must remain.
Plan make_plan(const Registry&, const Request&);

/// The samples of all of them, one plan after the other, to be run in one session.
Plan joined(std::vector<Plan> plans);

/// What happens, for display and for `--events jsonl`.
struct Notice {
    std::string kind;  ///< session, state_removed, sample_started, event, progress,
                       ///< sample_finished, decided, claim, finished, note
    /// sample_started and sample_finished: experiment, variant, case, profile, provenance, scenario
    /// (the fault plan's canonical text, may be empty), seed, round, sample; the latter with
    /// status, reason, seconds and metrics too. decided (adaptive rounds of a case are over before
    /// their maximum): experiment, case, rounds, contrasts (contrast_json()). state_removed
    /// (checkpoints of another session, which will not go on): session, bytes, why. note: says, a
    /// sentence for people.
    nlohmann::json body;
    long done = 0, failed = 0,
         planned = 0;  ///< `done` counts finished samples, failed ones included
    double eta_s = 0;
    long saved = 0;  ///< samples that need not be run any more; not among `planned`
};
using Listener = std::function<void(const Notice&)>;

struct Outcome {
    std::string session;
    std::vector<store::Sample> samples;  ///< of this session, finished earlier ones included
    std::vector<ClaimCheck> claims;
    bool interrupted = false;
    bool resumed = false;
    std::vector<Contrast> contrasts;  ///< of adaptive rounds
    long saved = 0;                   ///< samples that those made unnecessary
};

/// Executes the plan. SIGINT, SIGTERM and SIGHUP end it after killing the running sample; what is
/// finished stays, and the next call with the same plan goes on from there. Throws UserError when
/// another measured run holds the machine.
Outcome execute(const Registry&, const Plan&, const Request&, store::Store&, const Listener&);

/// Entry of the sample's own process (`assay sample`, hidden): spec on stdin, results as JSON lines
/// on file descriptor 3; file descriptor 4 is the lifeline.
int sample_main(const Registry&);

/// One sample in a fresh process, outside any session and store; for `assay replay`.
store::Sample run_once(const SampleSpec& spec, const Listener& listener);

/// Checks every claim of the given experiments against the store. The reason of a verdict that
/// rests, wholly or in part, on samples of other sessions than `session` says so; an empty
/// `session` stands for all of them.
std::vector<ClaimCheck> check_claims(const Registry&, const store::Store&,
                                     const std::vector<const Experiment*>&,
                                     const std::string& session);

}  // namespace assay::runner
