#include "impls/lte/method/stages.hpp"

#include <ATen/TensorOperators.h>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/nn/training/language_model.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::lte {
namespace {

struct Regularisers {
    at::Tensor efficiency, separability;  ///< scalars, averaged over layers
    double sparsity = 0;
};

Regularisers regularisers(const std::vector<at::Tensor>& scores, double tau,
                          const LossWeights& weights) {
    Regularisers sum;
    for (const auto& layer : scores) {
        const auto efficiency = efficiency_loss(layer);
        const auto separability = separability_loss(layer, weights.centre, weights.eps);
        sum.efficiency = sum.efficiency.defined() ? sum.efficiency + efficiency : efficiency;
        sum.separability =
            sum.separability.defined() ? sum.separability + separability : separability;
        sum.sparsity += (layer.detach() <= tau).to(at::kDouble).mean().item<double>();
    }
    const auto layers = static_cast<double>(scores.size());
    return {sum.efficiency / layers, sum.separability / layers, sum.sparsity / layers};
}

std::vector<nn::ParameterBlock*> blocks_of(nn::Decoder& decoder, Routers& routers) {
    std::vector<nn::ParameterBlock*> blocks;
    for (auto& block : decoder.blocks()) blocks.push_back(block.get());
    for (auto& block : routers.blocks()) blocks.push_back(block.get());
    return blocks;
}

// A step as it is kept in a checkpoint.
nlohmann::json kept(const Stage1Step& s) {
    return {s.nll,         s.efficiency,     s.separability, s.sparsity,
            s.weights.eta, s.weights.lambda, s.weights.eps,  s.weights.centre};
}

Stage1Step step_of(std::int64_t step, const nlohmann::json& kept) {
    return {step,       kept.at(0), kept.at(1),
            kept.at(2), kept.at(3), {kept.at(4), kept.at(5), kept.at(6), kept.at(7)}};
}

}  // namespace

void train_stage1(nn::Decoder& decoder, Routers& routers, double tau, Schedule& schedule,
                  const nn::TokenData& data, const nn::LanguageModelTraining& training,
                  nn::StateKeeper& keeper, const std::function<void(const Stage1Step&)>& after) {
    const auto steps = training.options.steps;
    const auto device = decoder.blocks().front()->values().device();
    const auto batches = nn::batch_settings(data, training);
    LteFeedForward ffn(routers, tau, LteMode::soft);
    Stage1Step current;
    nlohmann::json history = nlohmann::json::array();
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        const auto tokens = data.batch(training.seed, step, training.sequences).to(device);
        const auto scored = static_cast<double>(tokens.size(0) * (tokens.size(1) - 1));
        const auto task = decoder.loss(tokens, ffn, training.compute) / scored;
        const auto weights = schedule.weights(step, steps);
        const auto terms = regularisers(ffn.scores(), tau, weights);
        current = {step,
                   task.item<double>(),
                   terms.efficiency.item<double>(),
                   terms.separability.item<double>(),
                   terms.sparsity,
                   weights};
        return nn::TrainingStep{
            task + weights.eta * terms.efficiency + weights.lambda * terms.separability,
            current.nll};
    };
    callbacks.after = [&](std::int64_t step, const nn::TrainingStep&) {
        std::vector<at::Tensor> scores;
        for (const auto& layer : ffn.scores()) scores.push_back(layer.detach());
        schedule.observe(step, steps, scores);
        history.push_back(kept(current));
        if (after) after(current);
    };
    callbacks.save_extra = [&] {
        return nlohmann::json{
            {"batches", batches}, {"schedule", schedule.state()}, {"history", history}};
    };
    callbacks.load_extra = [&](const nlohmann::json& extra) {
        nn::require_same_batches("stage1", extra.at("batches"), batches);
        schedule.restore(extra.at("schedule"));
        history = extra.at("history");
        // Whoever draws the curves was killed with the process: it hears of the earlier steps
        // again.
        for (std::size_t step = 0; after && step < history.size(); ++step)
            after(step_of(static_cast<std::int64_t>(step), history[step]));
    };
    nn::train("stage1", blocks_of(decoder, routers), training.options, callbacks, keeper,
              training.checkpoint_every);
}

void train_stage2(nn::Decoder& decoder, const Routers& routers, double tau,
                  const nn::TokenData& data, const nn::LanguageModelTraining& training,
                  nn::StateKeeper& keeper, const nn::LossCurve& curve) {
    LteFeedForward ffn(routers, tau, LteMode::hard);
    nn::train_language_model("stage2", decoder, ffn, data, training, keeper, curve);
}

}  // namespace assay::lte
