// What the figures on the paper's GPUs share: arms at points, simulated and emulated.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "impls/hetermoe/simulated/arms.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::hetermoe {

/// What one figure adds. Axes "calibration" and "batch" are everyone's; "sequence" is in thousands
/// (1,024) of tokens.
struct PaperExperiment {
    std::string id, title, source, says;
    std::vector<Axis> axes;
    std::vector<std::string> variants;
    Figure figure;
    /// The point of a sample, but for its calibration, and batch where that is not set here (0).
    std::function<Point(const SampleSpec&)> point;
    /// Of variants that are no arms by name; empty: none.
    std::function<std::string(const SampleSpec&)> arm = {};
    /// Sweeps of profile gpu, and its variants; no variants: there is none.
    std::map<std::string, std::vector<Value>> on_parts = {};
    std::vector<std::string> on_parts_variants = {};
    bool crossing = false;    ///< records crossing_k too
    bool sheet_only = false;  ///< anchors say nothing of its points
    /// Emulated at profile toy, of these values of the axes; among them "part", one of so many
    /// equal parts of the cluster. Empty: simulated only.
    std::map<std::string, std::vector<Value>> emulated = {};
};

Experiment paper_experiment(PaperExperiment declared);

/// An axis of sequence lengths, in thousands of tokens.
Axis sequence_axis(std::vector<Value> k_tokens);
/// 4 to 32 by steps of 4.
Axis all_sequences();

/// A model on a cluster, "d1-o1".
Point panel_point(const std::string& panel);

/// `gpus` of a shipped device each.
Point point_on(const ModelShape& model, const std::string& network, const std::string& new_device,
               int new_gpus, const std::string& old_device, int old_gpus);

/// Figures of the throughput over the sequence length.
Figure throughput_figure(std::vector<std::string> panels);

}  // namespace assay::hetermoe
