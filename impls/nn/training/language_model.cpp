#include "impls/nn/training/language_model.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "suite/base/error.hpp"

namespace assay::nn {

void train_language_model(const std::string& name, Decoder& decoder, FeedForward& ffn,
                          const TokenData& data, const LanguageModelTraining& training,
                          StateKeeper& keeper, const LossCurve& curve, const TrainedAlong& along) {
    std::vector<TrainedBlock> blocks;
    for (auto& block : decoder.blocks()) blocks.push_back(block.get());
    blocks.insert(blocks.end(), along.blocks.begin(), along.blocks.end());
    const auto device = decoder.blocks().front()->values().device();
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

nlohmann::json batch_settings(const TokenData& data, const LanguageModelTraining& training) {
    return {{"sequences", training.sequences},
            {"seed", training.seed},
            {"compute", c10::toString(training.compute)},
            {"text", fmt::format("{:016x}", data.digest())}};
}

void require_same_batches(const std::string& name, const nlohmann::json& kept,
                          const nlohmann::json& wanted) {
    if (kept == wanted) return;
    auto same_text = kept;
    if (same_text.is_object()) same_text["text"] = wanted.at("text");
    if (same_text == wanted) {
        throw UserError(fmt::format(
            "the checkpoint of training \"{}\" was made with another text, or with other windows "
            "of it; remove it to start anew, or give the text it was made with",
            name));
    }
    throw UserError(
        fmt::format("the checkpoint of training \"{}\" was made with batches {}, not {}; remove it "
                    "to start anew, or give the settings it was made with",
                    name, kept.dump(), wanted.dump()));
}

double Evaluation::perplexity() const { return std::exp(nll_nats_per_token); }

Evaluation evaluate(const Decoder& decoder, FeedForward& ffn, const TokenData& data, int windows,
                    int sequences, at::ScalarType compute) {
    at::NoGradGuard no_grad;
    const auto device = decoder.blocks().front()->values().device();
    Evaluation result;
    double sum = 0;
    for (const auto& tokens : data.held_out_batches(sequences, windows)) {
        sum += decoder.loss(tokens.to(device), ffn, compute).item<double>();
        result.windows += tokens.size(0);
        result.tokens += tokens.size(0) * (tokens.size(1) - 1);
    }
    if (result.windows == 0) {
        throw UserError("there is no held-out text to evaluate on; give a held-out share above 0");
    }
    result.bytes = data.held_out_bytes(windows);
    result.nll_nats_per_token = sum / static_cast<double>(result.tokens);
    result.bits_per_byte = sum / std::numbers::ln2 / static_cast<double>(result.bytes);
    return result;
}

}  // namespace assay::nn
