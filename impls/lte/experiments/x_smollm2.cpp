// Ours: a real pretrained model made sparse.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment x_smollm2() {
    Experiment experiment =
        training_experiment("x_smollm2", "SmolLM2-135M made sparse", "section 3 (ours)");
    experiment.says =
        "SmolLM2-135M-Instruct, pretrained, on the King James Bible: LTE in bf16 with as many "
        "tokens as two cores do in about an hour (profile gpu: the full schedule), against the "
        "dense model tuned on as many, and "
        "training-free rivals on top of that.";
    experiment.axes[0].values = {"smollm2"};
    experiment.axes.push_back(sparsity_axis({0.5}));
    experiment.variants = {"dense", "lte", "teal", "cats"};
    experiment.profiles = training_profiles({}, 1, 400);
    experiment.profiles.erase(experiment.profiles.begin());  // nothing of this takes minutes
    experiment.profiles[0].rounds = 1;
    experiment.profiles[0].axes = {{"corpus", {"bible-kjv"}}};
    experiment.profiles[1].axes = {};  // SmolLM2 alone, on every text
    experiment.figure = {Figure::Kind::bars,   "perplexity",           "sparsity", {"corpus"},
                         "sparsity asked for", "perplexity per token", false};
    return experiment;
}

}  // namespace assay::lte
