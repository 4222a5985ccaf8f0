#include "impls/dr_post_training/recipes/settings.hpp"

#include <fmt/format.h>

#include <utility>

#include "suite/base/error.hpp"
#include "suite/drive/messages.hpp"

namespace assay::dr_post_training {
namespace {

nn::DecoderConfig byte_llama(std::string name, int layers, int width, int hidden) {
    nn::DecoderConfig config;
    config.layers = layers;
    config.width = width;
    config.hidden = hidden;
    config.head_width = 16;
    config.heads = config.kv_heads = width / config.head_width;
    config.vocabulary = 256;  // bytes
    config.context = 32;      // rows of the pools have up to 21 bytes
    config.name = std::move(name);
    return config;
}

/// SmolLM2-135M as two cores fine-tune it in minutes: one rate, 64 tokens a row.
void pretrained_settings(SftSettings& settings) {
    if (settings.readings.tuning != Trained::lora)
        throw UserError(
            fmt::format("model smollm2 with tuning {}: it is fine-tuned by adapters; give "
                        "-a tuning=lora",
                        to_string(settings.readings.tuning)));
    settings.model.name = "smollm2";
    settings.rates = {1e-3};
    settings.validation_rows = 8;
    settings.test_rows = 24;
    settings.evaluations = 4;
    settings.equal_time = false;
    settings.checkpoint_every = 5;
    settings.bf16 = true;
    settings.threads = 2;
}

}  // namespace

std::string words(SftSettings settings) {
    settings.rates.clear();
    settings.equal_time = false;
    settings.checkpoint_every = 0;
    return drive::to_json(settings).dump();
}

Axes<LearningRate> rate_axis(const std::string& says) {
    Axes<LearningRate> axes;
    axes.optional_axis("rate", &LearningRate::rate, says, "grid", {}, or_others);
    axes.check([](const LearningRate& asked) {
        if (asked.rate && !(*asked.rate > 0 && *asked.rate < 1))
            throw UserError(
                fmt::format("rate {}: grid, or a number above 0 and below 1", *asked.rate));
    });
    return axes;
}

std::vector<double> rates_of(const LearningRate& asked, std::vector<double> grid) {
    return asked.rate ? std::vector{*asked.rate} : std::move(grid);
}

Axes<PoolShape> pool_axes(const std::string& noise_says) {
    Axes<PoolShape> axes;
    axes.axis("relevance", &PoolShape::relevance,
              "share of the general pool that is of the target's task", between(0, 1));
    axes.axis("noise", &PoolShape::noise, noise_says, between(0, 1));
    return axes;
}

Axes<Readings> reading_axes() {
    Axes<Readings> axes;
    axes.axis("tuning", &Readings::tuning,
              "what is trained: full, the model; lora: adapters of rank 8 beside every linear map, "
              "at ten times the rates; meso: the model, with Adam's moments in random subspaces");
    axes.axis("loss", &Readings::loss, "the mean over general rows is of tokens or of examples");
    axes.axis("rule", &Readings::rule, "by which rows are chosen",
              {SetKind::topk, SetKind::greedy, SetKind::exact});
    axes.axis("similarity", &Readings::similarity,
              "what products of general rows are multiplied with for greedy and exact; "
              "as_published: by the square of the scores' factor, as the code that was released at "
              "first");
    axes.axis("head", &Readings::head,
              "all: the head learns from all general rows; selected: it chooses like any other "
              "map");
    axes.axis("target", &Readings::target,
              "merged: target rows run with the general ones; cached: before them, by themselves");
    axes.axis("backend", &Readings::backend, "how scores are computed",
              {Scoring::pip, Scoring::gip, Scoring::direct, Scoring::compressed});
    axes.axis("m", &Readings::m, "target rows of a step", between(1, 1000));
    return axes;
}

Axes<SftAxes> sft_axes() {
    Axes<SftAxes> axes;
    axes.axis("model", &SftAxes::model,
              "llama-toy: 0.2 M, llama-1m: 1 M parameters, on bytes, trained here; llama-tiny: to "
              "see that it works; smollm2: SmolLM2-135M, pretrained, on dictionaries and the Bible",
              {"llama-toy", "llama-1m", "llama-tiny", "smollm2"});
    axes.part(pool_axes("share of the pool that answers the target's questions (smollm2: such "
                        "questions) wrongly"),
              &SftAxes::pool);
    axes.axis("n_val", &SftAxes::given, "target rows there are", between(1, 100'000));
    axes.axis("steps", &SftAxes::steps, "of the fine-tuning", between(1, 1'000'000));
    axes.part(
        rate_axis("learning rate; grid: of four (smollm2: one), the one with the least "
                  "perplexity on validation rows"));
    axes.part(reading_axes());
    axes.check([](const SftAxes& sft) { sft_settings(sft); });
    return axes;
}

const std::vector<std::string>& sft_arms() {
    static const std::vector<std::string> arms{
        "full",   "layer",  "global",        "block",        "sublayer",
        "full_k", "greats", "random_global", "random_layer", "iif",
        "less",   "mixing", "a_gem",         "target",       "target_stopped"};
    return arms;
}

const std::vector<std::string>& set_arms() {
    static const std::vector<std::string> arms{"simplex", "cone", "subspace", "ball", "halfspace"};
    return arms;
}

nn::DecoderConfig toy_model(const std::string& name) {
    if (name == "llama-tiny") return byte_llama(name, 2, 32, 64);
    if (name == "llama-toy") return byte_llama(name, 4, 64, 192);
    if (name == "llama-1m") return byte_llama(name, 5, 128, 352);
    throw UserError(fmt::format("model {}: there are llama-toy, llama-1m and llama-tiny", name));
}

SftSettings sft_settings(const SftAxes& axes) {
    SftSettings settings;
    settings.readings = axes;
    settings.given = axes.given;
    settings.pool = axes.pool;
    settings.steps = axes.steps;
    if (axes.model == "smollm2") {
        pretrained_settings(settings);
    } else if (axes.model == "llama-tiny") {  // to see that it works, in a second
        settings.model = toy_model(axes.model);
        settings.base_steps = 30;
        settings.rates = {1e-3};
        settings.validation_rows = 16;
        settings.test_rows = 32;
    } else {
        settings.model = toy_model(axes.model);
        settings.base_steps = 2000;
        settings.rates = {3e-4, 1e-3, 3e-3, 1e-2};
        if (axes.tuning == Trained::lora)  // the authors' ratio
            for (double& rate : settings.rates) rate *= 10;
    }
    settings.rates = rates_of(axes, std::move(settings.rates));
    if (axes.pool.relevance + axes.pool.noise > 1)
        throw UserError(
            fmt::format("relevance {} and noise {}: shares of one pool, together at most 1",
                        axes.pool.relevance, axes.pool.noise));
    if (axes.target == Targets::cached && axes.similarity == Similarity::as_published)
        throw UserError(
            "similarity as_published with target cached: the released factor is one of merged "
            "batches");
    return settings;
}

}  // namespace assay::dr_post_training
