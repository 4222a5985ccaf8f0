// What the figures on the paper's GPUs share: arms at points, simulated, emulated and measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "impls/hetermoe/simulated/arms.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::hetermoe {

/// timeline: each exchange alone on its link; flows: they share links (SimGrid).
enum class Exchanges { timeline, flows };
ASSAY_NAMES(Exchanges, timeline, flows)

/// Of every such figure; its own settings derive from this.
struct PaperSample {
    Arm arm{};
    double sequence = 0;  ///< thousands (1,024) of tokens
    Calibration calibration{};
    int batch = 4;  ///< sequences of a step for each new GPU
    Exchanges network{};
    int part = 1;  ///< one of so many equal parts of the cluster
    Provenance provenance{};
    std::uint64_t seed = 1;
};

/// What a figure has besides, or has not.
struct PaperVersions {
    using Sweeps = std::map<std::string, std::vector<Value>>;
    /// Sweeps of profile gpu, and its variants; no variants: there is none.
    Sweeps on_parts = {};
    std::vector<std::string> on_parts_variants = {};
    bool crossing = false;    ///< records crossing_k too
    bool sheet_only = false;  ///< anchors say nothing of its points
    bool own_batch = false;   ///< that axis is among the figure's own
    /// Emulated at profile toy, of these values of the axes; among them "part". Empty: simulated
    /// only.
    Sweeps emulated = {};
};

Axes<PaperSample> batch_axis(const std::string& says, const Sweep<int>& batches);
Axes<PaperSample> sequence_axis(const Sweep<double>& k_tokens);
/// 4 to 32 by steps of 4.
Axes<PaperSample> all_sequences();

/// A model on a cluster, "d1-o1".
Point panel_point(const std::string& panel);

struct OnPanel : PaperSample {
    std::string panel;
};
/// Panels and all sequences.
Axes<OnPanel> panel_axes(const std::string& says, const Sweep<std::string>& panels);
inline Point point_at(const OnPanel& sample) { return panel_point(sample.panel); }

/// `gpus` of a shipped device each.
Point point_on(const ModelShape& model, const std::string& network, const std::string& new_device,
               int new_gpus, const std::string& old_device, int old_gpus);

/// Figures of the throughput over the sequence length.
Figure throughput_figure(std::vector<std::string> panels);

namespace paper {  // for paper_experiment() below; `point`: what the figure says it is

void describe(Experiment& figure, const PaperVersions& versions);
Axes<PaperSample> common_axes(const PaperVersions& versions);
void check(const PaperSample& sample, const Point& point);
std::optional<std::string> lacks(const PaperSample& sample);
nlohmann::json calibration(const PaperSample& sample, const Point& point);
void run(const PaperSample& sample, const Point& point, bool crossing, Recorder& recorder);

}  // namespace paper

/// Of a figure's own axes and variants, and its point of a sample, but for what is PaperSample's;
/// the batch, too, may be the point's (not 0).
template <class Settings>
Experiment paper_experiment(Declaration<Settings> figure,
                            const std::type_identity_t<Hook<Point(const Settings&)>>& point,
                            const PaperVersions& versions = {}) {
    paper::describe(figure.rest, versions);
    figure.part(paper::common_axes(versions));
    figure.check([point](const Settings& sample) { paper::check(sample, point(sample)); });
    figure.unsupported(paper::lacks);
    figure.calibration(
        [point](const Settings& sample) { return paper::calibration(sample, point(sample)); });
    return figure.runs([point, versions](const Settings& sample, Recorder& recorder) {
        paper::run(sample, point(sample), versions.crossing, recorder);
    });
}

}  // namespace assay::hetermoe
