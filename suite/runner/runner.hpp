// Runs a plan: gives each sample a fresh process, stores results as they come, resumes unfinished
// sessions, checks claims at the end.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/plan.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {

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
    double seconds_before = 0;        ///< that samples took which were finished before
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
