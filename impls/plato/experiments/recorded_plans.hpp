// Experiments on the recorded answers (datasets/plans) with the real model: what they share.
#pragma once

#include <string>
#include <vector>

#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/plans/recorded.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::plato {

/// `count` of them, every so-manieth, so that all shapes are among few, too.
std::vector<RecordedAnswer> recorded_answers(int count);
int recorded_count();

/// "records": how many of them.
Axis records_axis();
/// Measured, nothing of it but times varies: at toy `records` of them, at small all.
void declare_recorded(Experiment& experiment, int records, double seconds_per_sample);

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
