// Experiments on the recorded answers (datasets/plans) with the real model: what they share.
#pragma once

#include <string>
#include <vector>

#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/plans/recorded.hpp"

namespace assay::plato {

inline constexpr int recorded_count = 30;

struct Recorded : LiveSample {
    int records = recorded_count;  ///< how many of them
    /// So many, every so-manieth, so that all shapes are among few, too.
    std::vector<RecordedAnswer> answers() const;
};
Axes<Recorded> recorded_axes();
/// The file that they are in.
std::vector<Input> recorded_inputs(const Recorded&);
/// Measured: at toy `records` of them, at small all.
std::vector<ProfilePlan> recorded_profiles(int records, double seconds_per_sample);

/// Nothing of it but times varies.
template <std::derived_from<Recorded> Settings>
void declare_recorded(Declaration<Settings>& declared, int records, double seconds_per_sample) {
    declared.part(recorded_axes());
    declared.rest.profiles = recorded_profiles(records, seconds_per_sample);
    declared.unsupported(live_unsupported);
    declared.inputs(live_inputs);
    declared.inputs(recorded_inputs);
}

/// Of what was answered: [question][node - 1], nats per token.
std::vector<std::vector<double>> nats_per_token(const LiveRun& run);

/// Wins of one list over another where less is better, equal ones left out.
struct SignTest {
    int wins = 0, losses = 0, ties = 0;
    double net_win_rate() const;  ///< (wins - losses) / all
    double p() const;             ///< of so uneven a split or more, either way, by a fair coin
};
SignTest sign_test(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace assay::plato
