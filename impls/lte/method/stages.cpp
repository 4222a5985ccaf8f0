#include "impls/lte/method/stages.hpp"

#include <ATen/TensorOperators.h>

#include <utility>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/nn/training/language_model.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::lte {
namespace {

struct Regularisers {
    at::Tensor efficiency, separability;  ///< scalars, averaged over layers
    double sparsity = 0;
};

/// separable: the scores that separability is a function of, the same numbers.
Regularisers regularisers(const std::vector<at::Tensor>& scores,
                          const std::vector<at::Tensor>& separable, double tau,
                          const LossWeights& weights) {
    at::Tensor efficiency, separability, inactive;
    const auto add = [](at::Tensor& sum, const at::Tensor& term) {
        sum = sum.defined() ? sum + term : term;
    };
    for (std::size_t layer = 0; layer < scores.size(); ++layer) {
        add(efficiency, efficiency_loss(scores[layer]));
        add(separability, separability_loss(separable[layer], weights.centre, weights.eps));
        add(inactive, (scores[layer].detach() <= tau).to(at::kDouble).mean());
    }
    const auto layers = static_cast<double>(scores.size());
    return {efficiency / layers, separability / layers, inactive.item<double>() / layers};
}

std::vector<nn::TrainedBlock> blocks_of(
    const std::vector<std::unique_ptr<nn::ParameterBlock>>& owned, double rate) {
    std::vector<nn::TrainedBlock> blocks;
    for (const auto& block : owned) blocks.emplace_back(block.get(), rate);
    return blocks;
}

/// Leaves the graph and gradients of zero.
LossGradients gradients_of(const at::Tensor& task, const at::Tensor& separability,
                           const std::vector<nn::TrainedBlock>& trunk,
                           const std::vector<nn::TrainedBlock>& routers) {
    const auto norms = [&](const at::Tensor& loss, double& in_trunk, double& in_routers) {
        loss.backward({}, /*retain_graph=*/true);
        in_trunk = nn::gradient_norm(trunk);
        in_routers = nn::gradient_norm(routers);
        for (const auto* part : {&trunk, &routers})
            for (const auto& trained : *part) trained.block->zero_grad();
    };
    LossGradients found;
    norms(task, found.task_trunk, found.task_routers);
    norms(separability, found.separability_trunk, found.separability_routers);
    return found;
}

/// Whether `step` of `steps` is one of `probes` evenly spread ones.
bool is_probed(std::int64_t step, std::int64_t steps, int probes) {
    for (int probe = 0; probe < probes; ++probe)
        if (step == (probes > 1 ? probe * (steps - 1) / (probes - 1) : 0)) return true;
    return false;
}

// A step as it is kept in a checkpoint.
nlohmann::json kept(const Stage1Step& s) {
    nlohmann::json list{s.nll,         s.efficiency,     s.separability, s.sparsity,
                        s.weights.eta, s.weights.lambda, s.weights.eps,  s.weights.centre};
    if (const auto& g = s.gradients)
        list.push_back(
            {g->task_trunk, g->task_routers, g->separability_trunk, g->separability_routers});
    return list;
}

Stage1Step step_of(std::int64_t step, const nlohmann::json& kept) {
    Stage1Step s{.step = step,
                 .nll = kept.at(0),
                 .efficiency = kept.at(1),
                 .separability = kept.at(2),
                 .sparsity = kept.at(3),
                 .weights = {kept.at(4), kept.at(5), kept.at(6), kept.at(7)},
                 .gradients = {}};
    if (kept.size() > 8) {
        const auto& g = kept.at(8);
        s.gradients = LossGradients{g.at(0), g.at(1), g.at(2), g.at(3)};
    }
    return s;
}

}  // namespace

void train_stage1(nn::Decoder& decoder, Routers& routers, const Stage1Options& options,
                  Schedule& schedule, const nn::TokenData& data,
                  const nn::LanguageModelTraining& training, nn::StateKeeper& keeper,
                  const std::function<void(const Stage1Step&)>& after) {
    const auto steps = training.options.steps;
    const auto device = decoder.blocks().front()->values().device();
    const auto batches = nn::batch_settings(data, training);
    const auto trunk = blocks_of(decoder.blocks(), 1),
               routing = blocks_of(routers.blocks(), options.router_rate);
    LteFeedForward ffn(routers, options.tau, LteMode::soft, options.detached_separability);
    Stage1Step current;
    nlohmann::json history = nlohmann::json::array();
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        const auto tokens = data.batch(training.seed, step, training.sequences).to(device);
        const auto scored = static_cast<double>(tokens.size(0) * (tokens.size(1) - 1));
        const auto task = decoder.loss(tokens, ffn, training.compute) / scored;
        const auto weights = schedule.weights(step, steps);
        const auto terms = regularisers(
            ffn.scores(), options.detached_separability ? ffn.detached_scores() : ffn.scores(),
            options.tau, weights);
        const auto separability = weights.lambda * terms.separability;
        current = {.step = step,
                   .nll = task.item<double>(),
                   .efficiency = terms.efficiency.item<double>(),
                   .separability = terms.separability.item<double>(),
                   .sparsity = terms.sparsity,
                   .weights = weights,
                   .gradients = {}};
        if (is_probed(step, steps, options.probes))
            current.gradients = gradients_of(task, separability, trunk, routing);
        return nn::TrainingStep{task + weights.eta * terms.efficiency + separability, current.nll};
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
    auto blocks = trunk;
    blocks.insert(blocks.end(), routing.begin(), routing.end());
    nn::train("stage1", std::move(blocks), training.options, callbacks, keeper,
              training.checkpoint_every);
}

void train_stage2(nn::Decoder& decoder, const Routers& routers, double tau,
                  const nn::TokenData& data, const nn::LanguageModelTraining& training,
                  nn::StateKeeper& keeper, const nn::LossCurve& curve) {
    LteFeedForward ffn(routers, tau, LteMode::hard);
    nn::train_language_model("stage2", decoder, ffn, data, training, keeper, curve);
}

}  // namespace assay::lte
