// What was recovered of the paper's costs (specification 3.5, 3.9, 4.3), and the choices that are
// left where a model's own number was not: of each range both ends, and never a value between.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "impls/foundry/method/ready_time.hpp"

namespace assay::foundry {

inline constexpr int paper_graphs = 512;  ///< batch sizes 1 to 512

enum class PaperModel {
    qwen3_14b,
    qwen3_32b,
    llama3_8b,
    gemma3_12b,
    qwen3_30b_a3b,
    qwen3_235b_a22b,
};
ASSAY_NAMES(PaperModel, (qwen3_14b, "qwen3-14b"), (qwen3_32b, "qwen3-32b"),
            (llama3_8b, "llama3-8b"), (gemma3_12b, "gemma3-12b"), (qwen3_30b_a3b, "qwen3-30b-a3b"),
            (qwen3_235b_a22b, "qwen3-235b-a22b"))

/// Which model of Fig. 10 stands for the costs of a graph: the one whose graphs cost least, or
/// most.
enum class GraphCosts { least, most };
ASSAY_NAMES(GraphCosts, least, most)

/// Templates of 512 graphs, where they were recovered (specification 4.3.4).
std::optional<int> paper_templates(PaperModel model);

/// Seconds to capture a graph (specification 4.3.3). Qwen3-30B-A3B is the model with the most: its
/// own cost at both ends.
double capture_s(PaperModel model, GraphCosts end);

/// One choice of ends.
struct PaperChoice {
    GraphCosts graph_costs{};
    int templates = 0;
    double images_s = 0, prepare_ms = 0;
    Costs costs;  ///< that these make
};
std::vector<PaperChoice> paper_choices(PaperModel model, int threads);

/// The ranges and what they were taken from, for Experiment::calibration.
nlohmann::json paper_costs_json(PaperModel model, int threads);

}  // namespace assay::foundry
