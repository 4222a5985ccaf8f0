#include "impls/dr_post_training/recipes/settings.hpp"

#include <fmt/format.h>

#include <charconv>

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

double share(const SampleSpec& spec, const char* axis, double otherwise) {
    if (!spec.axes.contains(axis)) return otherwise;
    const double value = number_axis(spec, axis);
    if (!(value >= 0 && value <= 1))
        throw UserError(fmt::format("{} {}: a share, 0 to 1", axis, value));
    return value;
}

/// SmolLM2-135M as two cores fine-tune it in minutes: one rate, 64 tokens a row.
void pretrained_settings(SftSettings& settings) {
    if (settings.tuning != "lora")
        throw UserError(
            fmt::format("model smollm2 with tuning {}: it is fine-tuned by adapters; give "
                        "-a tuning=lora",
                        settings.tuning));
    settings.model.name = "smollm2";
    settings.steps = 40;
    settings.rates = {1e-3};
    settings.validation_rows = 8;
    settings.test_rows = 24;
    settings.evaluations = 4;
    settings.equal_time = false;
    settings.checkpoint_every = 5;
    settings.bf16 = true;
    settings.threads = 2;
}

std::size_t count(const SampleSpec& spec, const char* axis, std::size_t otherwise,
                  std::int64_t most) {
    if (!spec.axes.contains(axis)) return otherwise;
    return static_cast<std::size_t>(integer_axis(spec, axis, 1, most));
}

}  // namespace

std::string words(SftSettings settings) {
    settings.rates.clear();
    settings.equal_time = false;
    settings.checkpoint_every = 0;
    return drive::to_json(settings).dump();
}

std::optional<double> rate_axis(const SampleSpec& spec) {
    const std::string typed = word_axis(spec, "rate", "grid");
    if (typed == "grid") return std::nullopt;
    double rate = 0;  // the command line gives an axis of words words
    const char* const end = typed.data() + typed.size();
    const auto [stop, error] = std::from_chars(typed.data(), end, rate);
    if (error != std::errc{} || stop != end || !(rate > 0 && rate < 1))
        throw UserError(fmt::format("rate {}: grid, or a number above 0 and below 1", typed));
    return rate;
}

std::string word_axis(const SampleSpec& spec, const char* axis, const std::string& otherwise) {
    const auto found = spec.axes.find(axis);
    return found == spec.axes.end() ? otherwise : to_string(found->second);
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

bool has_equal_time(std::string_view experiment) {
    return experiment.ends_with("/sft_perplexity") || experiment.ends_with("/sft_downstream");
}

nn::DecoderConfig toy_model(const std::string& name) {
    if (name == "llama-tiny") return byte_llama(name, 2, 32, 64);
    if (name == "llama-toy") return byte_llama(name, 4, 64, 192);
    if (name == "llama-1m") return byte_llama(name, 5, 128, 352);
    throw UserError(fmt::format("model {}: there are llama-toy, llama-1m and llama-tiny", name));
}

SftSettings sft_settings(const SampleSpec& spec) {
    SftSettings settings;
    const std::string model = word_axis(spec, "model", "llama-toy");
    settings.tuning = word_axis(spec, "tuning", "full");
    if (model == "smollm2") {
        pretrained_settings(settings);
    } else {
        settings.model = toy_model(model);
    }
    if (model == "llama-tiny") {  // to see that it works, in a second
        settings.base_steps = 30;
        settings.steps = 20;
        settings.rates = {1e-3};
        settings.validation_rows = 16;
        settings.test_rows = 32;
    } else if (!settings.pretrained()) {
        settings.base_steps = 2000;
        settings.steps = 300;
        settings.rates = {3e-4, 1e-3, 3e-3, 1e-2};
        if (settings.tuning == "lora")  // the authors' ratio
            for (double& rate : settings.rates) rate *= 10;
    }
    settings.steps = static_cast<std::int64_t>(
        count(spec, "steps", static_cast<std::size_t>(settings.steps), 1'000'000));
    settings.given = count(spec, "n_val", settings.given, 100'000);
    settings.m = count(spec, "m", settings.m, 1000);
    settings.pool.relevance = share(spec, "relevance", settings.pool.relevance);
    settings.pool.noise = share(spec, "noise", settings.pool.noise);
    if (settings.pool.relevance + settings.pool.noise > 1)
        throw UserError(
            fmt::format("relevance {} and noise {}: shares of one pool, together at "
                        "most 1",
                        settings.pool.relevance, settings.pool.noise));
    if (const auto rate = rate_axis(spec)) settings.rates = {*rate};
    settings.example_mean = word_axis(spec, "loss", "token") == "example";
    settings.rule = word_axis(spec, "rule", "topk");
    settings.as_published = word_axis(spec, "similarity", "corrected") == "as_published";
    settings.head_chooses = word_axis(spec, "head", "all") == "selected";
    settings.cached_target = word_axis(spec, "target", "merged") == "cached";
    if (settings.cached_target && settings.as_published)
        throw UserError(
            "similarity as_published with target cached: the released factor is one of merged "
            "batches");
    settings.backend = word_axis(spec, "backend", "pip");
    return settings;
}

}  // namespace assay::dr_post_training
