// Fig. 1: what capture is of a worker's initialisation, as far as the paper's numbers say.
#include <string>

#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/paper_costs.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

enum class Configuration {
    qwen3_14b_dp2,
    qwen3_14b_dp1,
    qwen3_14b_dp8,
    llama3_8b_dp1,
    gemma3_12b_dp1,
    qwen3_30b_a3b_ep2,
    qwen3_30b_a3b_ep8,
    qwen3_235b_a22b_ep8,
};
ASSAY_NAMES(Configuration, (qwen3_14b_dp2, "qwen3-14b-dp2"), (qwen3_14b_dp1, "qwen3-14b-dp1"),
            (qwen3_14b_dp8, "qwen3-14b-dp8"), (llama3_8b_dp1, "llama3-8b-dp1"),
            (gemma3_12b_dp1, "gemma3-12b-dp1"), (qwen3_30b_a3b_ep2, "qwen3-30b-a3b-ep2"),
            (qwen3_30b_a3b_ep8, "qwen3-30b-a3b-ep8"), (qwen3_235b_a22b_ep8, "qwen3-235b-a22b-ep8"))

/// The initialisation of vLLM with graphs, in seconds (specification 4.3.1).
struct Initialisation {
    PaperModel model{};
    double least_s = 0, most_s = 0;
};

Initialisation initialisation(Configuration configuration) {
    switch (configuration) {
        case Configuration::qwen3_14b_dp2:
            return {PaperModel::qwen3_14b, 36, 48};  // between DP1 and DP8
        case Configuration::qwen3_14b_dp1:
            return {PaperModel::qwen3_14b, 36, 36};
        case Configuration::qwen3_14b_dp8:
            return {PaperModel::qwen3_14b, 48, 48};
        case Configuration::llama3_8b_dp1:
            return {PaperModel::llama3_8b, 28, 28};
        case Configuration::gemma3_12b_dp1:
            return {PaperModel::gemma3_12b, 45, 45};
        case Configuration::qwen3_30b_a3b_ep2:
            return {PaperModel::qwen3_30b_a3b, 112, 112};
        case Configuration::qwen3_30b_a3b_ep8:
            return {PaperModel::qwen3_30b_a3b, 154, 154};
        case Configuration::qwen3_235b_a22b_ep8:
            return {PaperModel::qwen3_235b_a22b, 650, 650};
    }
    return {};
}

struct Fig1 {
    Configuration configuration{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric total_s = exact("total_s", "s", "the paper's initialisation", lower, {"end"});
    Metric capture_s =
        exact("capture_s", "s", "512 graphs at Fig. 10's cost of a capture", lower, {"end"});
    Metric share = exact("share", "share",
                         "capture of the initialisation; absent where it would be more than all of "
                         "it, so that the model's own cost lies inside the range",
                         none, {"end"});
};

void run(const Fig1& fig1, Recorder& recorder) {
    const Found found(recorder);
    const Initialisation whole = initialisation(fig1.configuration);
    for (const GraphCosts end : values_of<GraphCosts>) {
        const bool least = end == GraphCosts::least;
        const Labels labels{{"end", std::string(to_string(end))}};
        const double captured = paper_graphs * capture_s(whole.model, end);
        const double share = captured / (least ? whole.most_s : whole.least_s);
        found.total_s(least ? whole.least_s : whole.most_s, labels);
        found.capture_s(captured, labels);
        if (share <= 1) found.share(share, labels);
    }
}

}  // namespace

Experiment fig1() {
    Declaration<Fig1> fig1(
        {.id = "foundry/fig1",
         .title = "What capture is of a worker's initialisation",
         .source = "arXiv 2604.06664v1, Fig. 1",
         .says = "The paper's chart stacks the stages of vLLM's initialisation, Qwen3-14B on two "
                 "H200. Its bars were not recovered: here is capture's share alone, 512 times the "
                 "cost of one capture (Fig. 10; of each model but Qwen3-30B-A3B a range) over the "
                 "paper's total for that configuration, of which Qwen3-14B's on two GPUs lies "
                 "between those on one and on eight. Nothing is simulated beyond that product. "
                 "Fig. 10 may leave Qwen3-235B-A22B out: its total is 1.27 s a graph. Other stages "
                 "have no number, and nothing stands for them.",
         .variants = {"vllm"},
         .metrics = declared<Found>(),
         .profiles = {{.profile = Profile::paper,
                       .provenances = {Provenance::simulated},
                       .seconds_per_sample = 0.02}},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "share",
                    .x = "configuration",
                    .panels = {"end"},
                    .x_title = "model and GPUs",
                    .y_title = "capture's share of the initialisation"}});
    fig1.axis("configuration", &Fig1::configuration, "the model, and its GPUs; the paper's first");
    fig1.calibration([](const Fig1& settings) {
        const Initialisation whole = initialisation(settings.configuration);
        const std::string coldstart = "foundry/coldstart/vllm/";
        nlohmann::json from = {"foundry/fig10/capture/least", "foundry/fig10/capture/most"};
        if (settings.configuration == Configuration::qwen3_14b_dp2)
            from.insert(from.end(), {coldstart + "qwen3-14b-dp1", coldstart + "qwen3-14b-dp8"});
        else
            from.push_back(coldstart + std::string(to_string(settings.configuration)));
        return nlohmann::json{
            {"graphs", paper_graphs},
            {"capture_s",
             {capture_s(whole.model, GraphCosts::least), capture_s(whole.model, GraphCosts::most)}},
            {"initialisation_s", {whole.least_s, whole.most_s}},
            {"fitted_from", from}};
    });
    return fig1.runs(run);
}

}  // namespace assay::foundry
