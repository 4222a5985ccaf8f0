// What is to be run: what the user asked for, expanded into samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/experiment/system.hpp"
#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/adaptive/precision.hpp"
#include "suite/runner/input_hash.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {

/// What the user asked for.
struct Request {
    std::vector<std::string> patterns;  ///< experiment ids or patterns
    Profile profile = Profile::toy;
    std::optional<Provenance> provenance;            ///< else each experiment's default
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
    /// Where neither this nor `rounds` is given: measured experiments have more rounds than their
    /// profiles say, until two such runs could be told apart.
    std::optional<PrecisionOptions> until_precise;
    int jobs = 0;        ///< samples that need not be alone at once; 0: one per processor
    bool fresh = false;  ///< never resume
    /// Goes on with the session of the same samples that is part of this (a night's reruns), even
    /// where it is over; empty: of nothing.
    std::string part_of;
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
    bool side_by_side = false;        ///< ProfilePlan::side_by_side
};

/// A value in place of one that names a data set which is not on this machine ("trace:smartmoe", of
/// the catalogue's `serves`): another case, so a series of its own.
struct StandIn {
    std::string experiment, axis;
    Value value, absent;
    std::string fetch;  ///< the command that brings the data set
};

std::string sentence(const StandIn&);

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
    std::vector<StandIn> stand_ins;
    /// Sentences: of which experiments the time allows too few rounds to tell two runs apart.
    std::vector<std::string> too_few_rounds;
};

/// Where all that a profile gives an axis names data sets that are not on this machine, the first
/// of the axis' own values that names none stands in. What the request gives the axis stays.
///
/// Throws UserError: unknown experiment, impossible axis or value, provenance or profile not
/// offered, faults where none are taken, a device profile that is not there, an input file that was
/// changed. An experiment named by its id must be able to do what is asked; of those that a wider
/// pattern matches, the ones that cannot are left out, and at least one must remain.
Plan make_plan(const Registry&, const Request&);

/// The samples of all of them, one plan after the other, to be run in one session.
Plan joined(std::vector<Plan> plans);

/// Most cases one experiment may expand into; beyond it the request is a typing error.
inline constexpr std::size_t max_cases = 1'000'000;

/// The product of the axes, the last axis turning fastest. An axis with an unnamed_value()
/// is in a case only where `narrowing` gives it another one. `narrowing` replaces
/// the sweep of the axes that it names; axes that the experiment does not have are ignored here
/// (make_plan() checks them). Throws UserError when a value is not among those of a closed axis.
std::vector<Case> cases(const Experiment& experiment, const ProfilePlan& profile,
                        const std::map<std::string, std::vector<Value>>& narrowing);

/// Of everything that defines the samples of a plan: an unfinished session is resumed only by a
/// plan of equal hash. SHA-256 over the specs, their calibrations and the content of their input
/// files, in order. Left out: a spec's folders, and the timeout, which decides whether a sample
/// ends but not what it measures: a run may be resumed with a longer one.
std::string plan_hash(const std::vector<PlannedSample>& samples);

/// What makes two specs the same sample of a session: the part of it that plan_hash() hashes.
std::string identity(const SampleSpec& spec);

}  // namespace assay::runner
