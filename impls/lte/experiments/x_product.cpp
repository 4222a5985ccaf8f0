// Ours, not the paper's: what one gets, quality and speed of the same file.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

Experiment x_product() {
    Experiment experiment = training_experiment(
        "x_product", "Perplexity against tokens per second of one file", "section 5 (ours)");
    experiment.says =
        "Each competitor is trained, written into one file (GGUF, bf16; thresholds of TEAL and "
        "CATS, or LTE's experts and routers), and this file is decoded on the CPU: its perplexity "
        "on held-out text, and the time of a token behind a prompt of that text, in turns with its "
        "own weights with dense networks. TEAL and CATS skip rows of weights as their papers do. "
        "Models trained here fit into a processor's caches; what a file of SmolLM2 takes is at "
        "profile small. With ASSAY_KEEP_MODELS=FOLDER the files stay there, for `assay model "
        "generate` and `eval`.";
    experiment.axes[0].values = {"llama-toy", "smollm2"};
    experiment.axes.push_back(sparsity_axis({0.5, 0.75}));
    experiment.axes.push_back(
        {"steps",
         "training steps of both stages together, three fifths of them stage 1's; unnamed: 200 and "
         "100, the trainings that other figures show too",
         {300},
         true});
    add_recipe_axis(experiment);
    experiment.variants = {"lte", "dense", "cats", "teal"};
    const auto metric = [&](MetricSpec spec) { experiment.metrics.push_back(std::move(spec)); };
    metric({"decoded_perplexity",
            "per token",
            "of held-out text, by the file through the decoder",
            Direction::lower,
            false,
            {}});
    metric({"decoded_gap",
            "nats per token",
            "between the file through the decoder and the model in training (bf16 products): what "
            "rounding its weights to bf16 and other arithmetic change",
            Direction::lower,
            false,
            {}});
    metric({"file_bytes", "B", "of the file", Direction::none, true, {}});
    metric({"latency_s", "s", "per token, median over rounds", Direction::lower, false, {}});
    metric({"tokens_per_s", "1/s", "its inverse", Direction::higher, false, {}});
    metric({"latency_ratio",
            "ratio",
            "over the same weights with dense networks in the same round, median",
            Direction::lower,
            false,
            {}});
    metric({"latency_saved",
            "fraction",
            "of the dense latency, 1 - latency_ratio",
            Direction::higher,
            false,
            {}});
    metric({"bytes_per_token",
            "B",
            "weights and cache read for a token, mean over the timed ones",
            Direction::lower,
            false,
            {}});
    metric(
        {"bound_share",
         "share",
         "of a file that fits no cache (smollm2): time to read a token's bytes at the bandwidth of "
         "a plain read in the same round, over latency, median",
         Direction::higher,
         false,
         {}});
    experiment.profiles = training_profiles({{"model", {"llama-toy"}}, {"steps", {}}}, 3, 15);
    experiment.profiles.pop_back();               // the file is decoded on the CPU
    experiment.profiles[0].side_by_side = false;  // and its speed is measured
    ProfilePlan& small = experiment.profiles[1];
    small.axes = {
        {"model", {"smollm2"}}, {"corpus", {"bible-kjv"}}, {"steps", {60}}};  // as x_smollm2
    small.rounds = 2;  // the fewest that an interval takes
    small.seconds_per_sample = 100;
    fix_recipe(experiment);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "decoded_perplexity",
                         .x = "sparsity",
                         .panels = {"model"},
                         .x_title = "tokens per second",
                         .y_title = "perplexity per token",
                         .drawn_at = "tokens_per_s"};
    experiment.run = tensors::run_of(&TensorFunctions::make_product);
    return experiment;
}

}  // namespace assay::lte
