// What the experiments have in common that train a paper's model on the clock (fig6, fig7, fig9,
// fig11, fig12, fig14, x_clocks): settings, axes, and how a sample is simulated at the ends of what
// is not known.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/spot/assumed_inputs.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// What no axis says of the training (routing, workers, duration) is filled in where it is run.
struct TrainingOnTheClock : SpotTraining {
    std::string trace;                                    ///< that the gates follow
    std::map<std::string, std::optional<double>> inputs;  ///< assumed ones by name, but overlap
    Profile profile{};

    /// MoE layers that are routed and planned one by one: all twelve at profile paper, four
    /// elsewhere, each for three.
    int routed_layers() const { return profile == Profile::paper ? 12 : 4; }
    /// The assumed inputs that the case itself names.
    AssumedValues assumed_values() const;
};

// ---- axes --------------------------------------------------------------------------------------
/// "model", "relaunch_s", "trace"; what is given; the checks of all that are below.
Axes<TrainingOnTheClock> training_axes();
/// "modelled_steps", "cluster": the profile's `id` where nobody names another.
Axes<TrainingOnTheClock> modelling_axes(const std::string& id);
/// One per assumed input but overlap, whose first value is a word for what the profiles say.
Axes<TrainingOnTheClock> profile_input_axes();
Axes<TrainingOnTheClock> overlap_axis();

/// Series name them only where they differ: an empty sweep for each of the assumed inputs' axes.
void leave_unnamed(ProfilePlan& plan);

// ---- at the ends -------------------------------------------------------------------------------
/// NAME_at_ends of each: the same at profile paper, simulated, labelled by the ends.
std::vector<MetricSpec> metrics_at_ends(const std::vector<MetricSpec>& metrics,
                                        const std::vector<std::string>& names);

using SimulateWith = std::function<void(const AssumedValues&, Recorder&)>;

/// Simulates what the case says; at profile paper then every corner of the ranges of what it does
/// not name, of which only the metrics `names` are kept, as NAME_at_ends.
void simulate_with_ends(const TrainingOnTheClock& training, const std::vector<std::string>& names,
                        Recorder& recorder, const SimulateWith& simulate);

}  // namespace assay::lazarus
