// The experiments that train models: their settings, what is measured and what makes a sample, for
// those who declare them and, in the module of tensors, training_runs.cpp, task_run.cpp and
// product_run.cpp.
#pragma once

#include <optional>
#include <string>

#include "impls/lte/recipes/materials.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lte {

/// How LTE's routers train: see recipe_as_is() and add_recipe().
enum class Recipe { fast, as_is };
ASSAY_NAMES(Recipe, fast, as_is)

struct Training : Materials {
    Competitor competitor = Competitor::lte;
    double sparsity = 0.5;         ///< asked for
    std::optional<Recipe> recipe;  ///< without it as_is, as older samples
};

struct Separated : Training {
    double lambda = 0;  ///< weight of the separability loss
};
struct Fig3 : Separated {};
struct Fig11 : Separated {};
struct Fig9 : Training {
    GroupingKind grouping{};
};
struct Fig10 : Training {
    double eta = 0;  ///< weight of the efficiency loss
};
struct Fig15 : Training {};
struct Tab2 : Training {};
/// Figs. 5, 7 and 14.
struct Task : Training {
    std::optional<std::string> task, prompt;  ///< files of the user's
};
struct XProduct : Training {
    std::string scratch;
};

/// Competitors under their names, and LTE with one change after the other (x_routers.cpp).
enum class RouterArm {
    as_is,
    random_router,
    rate,
    gain,
    fast,
    fast_detached,
    fast_detached_bias,
    fast_detached_bias_tuned,
    published,
    published_fast,
    dense,
    cats,
    teal
};
ASSAY_NAMES(RouterArm, as_is, random_router, rate, gain, fast, fast_detached, fast_detached_bias,
            fast_detached_bias_tuned, published, published_fast, dense, cats, teal)
struct XRouters : Training {
    RouterArm arm{};
};

/// Of every trained model.
struct TrainingFound : Metrics {
    using Metrics::Metrics;
    Metric perplexity =
        exact("perplexity", "per token",
              "of held-out text; a token of the models trained here is a byte", lower);
    Metric bits_per_byte = exact("bits_per_byte", "bit", "of held-out text", lower);
    Metric ffn_sparsity = exact(
        "ffn_sparsity", "share",
        "of neurons (static pruning and TEAL: of weights) of the feed-forward networks left out, "
        "mean over tokens and layers; what selects them is not counted: LTE's router, Deja Vu's "
        "predictor, the gate that CATS reads whole",
        higher);
    Metric layer_sparsity =
        exact("layer_sparsity", "share", "the same for each layer", none, {"layer"});
    Metric layer_range = exact("layer_range", "share",
                               "sparsity of the layer with most less that of the layer with least");
    Metric token_spread =
        exact("token_spread", "share",
              "standard deviation over tokens of a layer's sparsity, mean over layers");
};

struct Fig2Found : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric top_score =
        exact("top_score", "share",
              "topk_softmax: of a token's scores, what its strongest expert has, mean over the "
              "tokens of the last held-out batch and over layers");
};

struct Fig3Found : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric score_share =
        exact("score_share", "share", "of scores in each of 20 bins of [0, 1]", none, {"bin"});
    Metric near_threshold =
        exact("near_threshold", "share", "of scores within 0.1 of the threshold", lower);
};

struct Fig11Found : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric soft_to_hard =
        exact("soft_to_hard", "nats per token",
              "what the step from soft scores to the hard mask costs before stage 2", lower);
};

struct Fig15Found : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric union_sparsity =
        exact("union_sparsity", "share", "of experts that no token of the batch activates", higher,
              {"batch"});
    Metric union_over_independent =
        exact("union_over_independent", "ratio",
              "of experts that the batch activates over what it would activate if experts were "
              "independent and equally often active",
              lower, {"batch"});
};

struct Tab2Found : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric overall_sparsity =
        exact("overall_sparsity", "share", "of the weights of all layers left out", higher);
};

struct TaskFound : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric accuracy = exact("accuracy", "share", "of the questions answered right", higher);
    Metric questions = exact("questions", "count", "of the task");
    Metric matthews = exact("matthews", "correlation",
                            "Matthews' (CoLA's metric), of tasks with two answers", higher);
};

struct XRoutersFound : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric score_share = exact("score_share", "share",
                               "of scores of held-out tokens in each of 20 bins of [0, 1], when: "
                               "before or after stage 1",
                               none, {"bin", "when"});
    Metric near_threshold = exact("near_threshold", "share",
                                  "of these scores within 0.1 of the threshold", lower, {"when"});
    Metric soft_loss = exact("soft_loss", "nats per token",
                             "of held-out text, experts scaled by their scores", lower, {"when"});
    Metric hard_loss =
        exact("hard_loss", "nats per token", "of held-out text, hard mask, before stage 2", lower);
    Metric gradient_norm = exact(
        "gradient_norm", "1",
        "before clipping, of a loss as it is weighed (task, separability) in the decoder (trunk) "
        "or the routers, at the first step of stage 1, its quarters and its last",
        none, {"loss", "part", "progress"});
};

struct XProductFound : TrainingFound {
    using TrainingFound::TrainingFound;
    Metric decoded_perplexity = varying("decoded_perplexity", "per token",
                                        "of held-out text, by the file through the decoder", lower);
    Metric decoded_gap = varying(
        "decoded_gap", "nats per token",
        "between the file through the decoder and the model in training (bf16 products): what "
        "rounding its weights to bf16 and other arithmetic change",
        lower);
    Metric file_bytes = exact("file_bytes", "B", "of the file");
    Metric latency_s = varying("latency_s", "s", "per token, median over rounds", lower);
    Metric tokens_per_s = varying("tokens_per_s", "1/s", "its inverse", higher);
    Metric latency_ratio =
        varying("latency_ratio", "ratio",
                "over the same weights with dense networks in the same round, median", lower);
    Metric latency_saved =
        varying("latency_saved", "fraction", "of the dense latency, 1 - latency_ratio", higher);
    Metric bytes_per_token =
        varying("bytes_per_token", "B",
                "weights and cache read for a token, mean over the timed ones", lower);
    Metric bound_share = varying(
        "bound_share", "share",
        "of a file that fits no cache (smollm2): time to read a token's bytes at the bandwidth of "
        "a plain read in the same round, over latency, median",
        higher);
};

/// A whole sample.
template <class Settings>
using TrainingPart = tensors::Part<void(const Settings&, Recorder&)>;
inline const TrainingPart<Training> compete{"lte/compete"};
inline const TrainingPart<Tab2> compete_overall{"lte/tab2"};  ///< and how sparse the model is
inline const TrainingPart<Fig3> histogram_of_scores{"lte/fig3"};
inline const TrainingPart<Fig9> train_on_grouping{"lte/fig9"};
inline const TrainingPart<Fig10> train_as_published{"lte/fig10"};
inline const TrainingPart<Fig11> train_with_lambda{"lte/fig11"};
inline const TrainingPart<Fig15> measure_unions{"lte/fig15"};
inline const TrainingPart<Task> answer_task{"lte/task"};
inline const TrainingPart<XRouters> train_router_arm{"lte/x_routers"};
inline const TrainingPart<XProduct> make_product{"lte/x_product"};

/// A reason why no such sample can be made here: workbench_lacks().
inline const tensors::Part<std::optional<std::string>(const Materials&)> training_lacks{
    "lte/training_lacks"};

}  // namespace assay::lte
