#include "impls/nn/training/language_model.hpp"

#include <ATen/ATen.h>

#include "impls/nn/training/batch_settings.hpp"

namespace assay::nn {

void train_language_model(const std::string& name, Decoder& decoder, FeedForward& ffn,
                          const TokenData& data, const LanguageModelTraining& training,
                          StateKeeper& keeper, const LossCurve& curve, const TrainedAlong& along) {
    std::vector<ParameterBlock*> blocks;
    for (auto& block : decoder.blocks()) blocks.push_back(block.get());
    blocks.insert(blocks.end(), along.blocks.begin(), along.blocks.end());
    const auto device = blocks.front()->values().device();
    const auto batches = batch_settings(data, training);
    std::vector<double> losses;
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        if (along.before) along.before(step);
        const auto tokens = data.batch(training.seed, step, training.sequences).to(device);
        const auto scored = tokens.size(0) * (tokens.size(1) - 1);
        const auto loss = decoder.loss(tokens, ffn, training.compute) / static_cast<double>(scored);
        const double task = loss.item<double>();
        return TrainingStep{along.regulariser ? loss + along.regulariser() : loss, task};
    };
    callbacks.after = [&](std::int64_t step, const TrainingStep& done) {
        losses.push_back(done.task_loss);
        if (curve) curve(step, done.task_loss);
    };
    callbacks.save_extra = [&] { return nlohmann::json{{"batches", batches}, {"losses", losses}}; };
    callbacks.load_extra = [&](const nlohmann::json& extra) {
        require_same_batches(name, extra.at("batches"), batches);
        losses = extra.at("losses").get<std::vector<double>>();
        // Whoever draws the curve was killed with the process: it hears of the earlier steps again.
        for (std::size_t step = 0; curve && step < losses.size(); ++step)
            curve(static_cast<std::int64_t>(step), losses[step]);
    };
    train(name, blocks, training.options, callbacks, keeper, training.checkpoint_every);
}

}  // namespace assay::nn
