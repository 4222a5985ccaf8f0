// A decoder made sparse by one of the competing methods, and what it is measured by. Every method
// is trained on the same number of tokens and measured on the same held-out windows; sparsity is
// counted, never assumed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/lte/method/routed_feed_forward.hpp"
#include "impls/lte/method/sparsity.hpp"
#include "impls/lte/method/stages.hpp"
#include "impls/lte/recipes/workbench.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"

namespace assay::lte {

/// What evaluation needs of a method. Whatever `ffn` refers to lives in `owned`.
struct SparseModel {
    std::unique_ptr<nn::FeedForward> ffn;
    /// What a layer used in the last forward pass: bool [tokens, N] or [tokens, f]. Empty: the
    /// share of weights removed is `fixed_sparsity`.
    std::function<at::Tensor(int layer)> active;
    double fixed_sparsity = 0;
    /// For methods that are sparse in weights, not neurons: by layer, counted since the model was
    /// made; asked after the evaluation. Empty: see above.
    std::function<std::vector<double>()> counted_sparsity;
    /// For softmax routers: share of a token's scores that its strongest expert has, mean over the
    /// last forward pass.
    std::function<double()> top_score;
    /// How a file tells a decoder to leave out the same; none: only this process knows how.
    std::optional<nn::FfnSparsity> stored;
    std::shared_ptr<void> owned;
};

/// Writes the workbench's decoder with `stored` and a tokenizer into a GGUF file, which `assay
/// model generate` and `eval` take: matrices in f32 or bf16, everything else in f32. none: its
/// feed-forward networks are dense. Weights that came without a tokenizer of GGUF's kind go without
/// one. Throws UserError where the file cannot be written.
void write_model(const Workbench& bench, const std::optional<nn::FfnSparsity>& stored,
                 nn::TensorType matrices, const std::filesystem::path& path);

struct Quality {
    nn::Evaluation evaluation;
    double sparsity = 0;  ///< of the feed-forward networks, mean over tokens and layers
    std::vector<double> layer_sparsity;
    double token_spread = 0;
    std::shared_ptr<SparsityStatistics> statistics;  ///< null where sparsity is fixed
};
/// keep_masks: see SparsityStatistics.
Quality measure(Workbench& bench, SparseModel& model, bool keep_masks = false);

/// Groups the neurons of each layer of the workbench's decoder into experts, in place, so that an
/// expert's are neighbours. A function of the decoder and the sample's seed.
void group_neurons(Workbench& bench, GroupingKind kind);

/// 50 times the rate at which SmolLM2 is tuned: with its rate routers hardly leave where they
/// start.
inline constexpr double fast_router_rate = 2.5e-3;

/// How LTE is trained in one sample.
struct LteRecipe {
    GroupingKind grouping = GroupingKind::kmeans;
    bool published = false;  ///< the published loss with constant `eta`; else our schedule
    double eta = 0.5;        ///< published schedule
    /// Without separability (0) our schedule has nothing to reach its target with: then the
    /// threshold of stage 2 is put where the target lies among the scores of training text.
    double lambda = 0.5;
    double target_sparsity = 0.5;  ///< our schedule
    double tau = 0.5;

    // What lte/x_routers varies. The defaults are its arm `fast`.
    double router_rate = fast_router_rate;  ///< the routers' learning rate; 0: the decoder's
    bool before_gain = true, detached_separability = false;  ///< see Routers, Stage1Options
    double router_bias = 0;                                  ///< initial, of the logits
    /// Share of the tokens of both stages that the dense model is tuned on first, as the paper's
    /// is; the stages get the rest.
    double tuned_share = 0;
    /// Steps of stage 1 at which the gradients of its losses are told apart; when there are any,
    /// scores are looked at before stage 1 too.
    int probes = 0;
};
/// What all experiments trained until x_routers found its cause, and what the paper's text says:
/// routers at the decoder's rate, behind the norm's gain.
inline LteRecipe recipe_as_is() { return {.router_rate = 0, .before_gain = false}; }

/// What stage 1 left behind, before stage 2.
struct LteTrained {
    SparseModel model;               ///< hard mode, after both stages
    double tau = 0;                  ///< its threshold
    double nll_soft = 0;             ///< held-out, soft mode, after stage 1
    double nll_hard_before = 0;      ///< held-out, hard mode, before stage 2
    std::vector<at::Tensor> scores;  ///< of held-out tokens after stage 1, by layer: [tokens, N]

    // With probes.
    double nll_soft_first = 0;             ///< before stage 1
    std::vector<at::Tensor> first_scores;  ///< the same before stage 1
    std::vector<Stage1Step> probed;
};
LteTrained train_lte(Workbench& bench, const LteRecipe& recipe);

/// Of any but LTE, sparsity: the share of the feed-forward networks that it leaves out. Throws
/// UserError for a sparsity outside [0, 1), or one that its pattern does not give;
/// std::out_of_range for LTE.
SparseModel make_rival(Workbench& bench, Competitor rival, double sparsity);

}  // namespace assay::lte
