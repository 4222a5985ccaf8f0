// Ours, not the paper's: what one gets, quality and speed of the same file.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment x_product() {
    Declaration<XProduct> x_product(
        {.id = "lte/x_product",
         .title = "Perplexity against tokens per second of one file",
         .source = "arXiv 2402.06126v4, section 5 (ours)",
         .says =
             "Each competitor is trained, written into one file (GGUF, bf16; thresholds of TEAL "
             "and CATS, or LTE's experts and routers), and this file is decoded on the CPU: its "
             "perplexity on held-out text, and the time of a token behind a prompt of that text, "
             "in turns with its own weights with dense networks. TEAL and CATS skip rows of "
             "weights as their papers do. Models trained here fit into a processor's caches; what "
             "a file of SmolLM2 takes is at profile small. With ASSAY_KEEP_MODELS=FOLDER the files "
             "stay there, for `assay model generate` and `eval`.",
         .metrics = declared<XProductFound>(),
         .profiles = training_profiles({{"model", {"llama-toy"}}, {"steps", {}}}, 3, 15),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "decoded_perplexity",
                    .x = "sparsity",
                    .panels = {"model"},
                    .x_title = "tokens per second",
                    .y_title = "perplexity per token",
                    .drawn_at = "tokens_per_s"}});
    std::vector<ProfilePlan>& profiles = x_product.rest.profiles;
    profiles.pop_back();               // the file is decoded on the CPU
    profiles[0].side_by_side = false;  // and its speed is measured
    ProfilePlan& small = profiles[1];
    small.axes = {
        {"model", {"smollm2"}}, {"corpus", {"bible-kjv"}}, {"steps", {60}}};  // as x_smollm2
    small.rounds = 2;  // the fewest that an interval takes
    small.seconds_per_sample = 100;
    add_training(x_product, {"llama-toy", "smollm2"});
    x_product.part(sparsity_axis({0.5, 0.75}));
    x_product.part(
        steps_axis("training steps of both stages together, three fifths of them stage 1's; "
                   "unnamed: 200 and 100, the trainings that other figures show too",
                   300));
    add_recipe(x_product);
    x_product.given(&XProduct::scratch, &SampleSpec::scratch);
    x_product.variants(&Training::competitor,
                       {Competitor::lte, Competitor::dense, Competitor::cats, Competitor::teal});
    return x_product.runs(make_product);
}

}  // namespace assay::lte
