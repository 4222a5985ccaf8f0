// What is measured on gradients of a toy model without training it by them: bias and exposure of
// partitions (specification, sections 1.2 and 6.1), scores between projections.
#include "impls/dr_post_training/experiments/training_experiments.hpp"

namespace assay::dr_post_training {
namespace {

Axes<SftAxes> study_axes() {
    Axes<SftAxes> axes;
    axes.axis("model", &SftAxes::model,
              "llama-toy: 0.2 M, llama-1m: 1 M parameters, on bytes, trained here; llama-tiny: to "
              "see that it works",
              {"llama-toy", "llama-1m", "llama-tiny"});
    axes.part(pool_axes("share of the pool that answers the target's questions wrongly"),
              &SftAxes::pool);
    axes.check([](const SftAxes& sft) { sft_settings(sft); });
    return axes;
}

ProfilePlan toy_of_study(double seconds, std::map<std::string, std::vector<Value>> axes) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = std::move(axes);
    toy.rounds = 8;
    toy.seconds_per_sample = seconds;
    toy.timeout_s = 3600;
    return toy;
}

}  // namespace

Experiment bias_exposure() {
    Declaration<BiasExposure> study(
        {.id = "dr_post_training/bias_exposure",
         .title = "Bias of each partition, and its exposure to few target rows",
         .source =
             "arXiv 2605.07063v1, the table of bias and exposure, of which only the name is known",
         .says =
             "The update that a partition makes of 8 general rows when the target's direction is "
             "the mean of n_val rows, against the mean of 1024 other rows of the target: error is "
             "their distance as a share of the latter's length, means over 32 batches. Bias is the "
             "error of the update that knows the many rows; exposure the distance from that one to "
             "the one that knows few. A finer partition should have less bias and more exposure. "
             "On the model that fine-tunings start from, or after so many plain steps.",
         .metrics = declared<BiasFound>(),
         .profiles = {toy_of_study(
             6, {{"model", {"llama-toy"}}, {"relevance", {0.05, 0.2, 0.5}}, {"rule", {}}})},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "error",
                    .x = "n_val",
                    .panels = {"relevance", "after"},
                    .x_title = "target rows",
                    .y_title = "distance to the target's direction, of its length"}});
    study.part(study_axes());
    study.axis("rule", &BiasExposure::rule, "by which groups choose rows",
               {SetKind::topk, SetKind::greedy, SetKind::exact});
    study.axis("after", &BiasExposure::after, "steps of plain training before", {0, 100},
               between(0, 100'000));
    study.variants(&BiasExposure::arm, {"full", "global", "block", "sublayer", "layer", "target"});
    study.part(of_session());
    return study.runs(study_bias_exposure);
}

Experiment compression() {
    Declaration<CompressedScores> study(
        {.id = "dr_post_training/compression",
         .title = "Scores between random projections, against exact ones",
         .source =
             "arXiv 2605.07063v1, compressed scoring (its repository's settings: 64 x 64 numbers)",
         .says =
             "Rows' scores in every linear map of the model that fine-tunings start from, exact "
             "and between Gaussian projections of its inputs and outputs, on 12 batches of 8 "
             "general rows and one target row, two draws of projections: how alike both rank the "
             "rows, and how many of the 4 kept they have in common. Maps are 64 to 352 wide here, "
             "those of Llama-3.2-1B 2048 to 8192.",
         .metrics = {{"rank_correlation",
                      "",
                      "of exact and compressed scores, mean",
                      Direction::higher,
                      true,
                      {"numbers"}},
                     {"kept_alike",
                      "share",
                      "of the rows kept by exact scores that compressed ones keep",
                      Direction::higher,
                      true,
                      {"numbers"}}},
         .profiles = {toy_of_study(20, {{"model", {"llama-toy", "llama-1m"}}})},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "rank_correlation",
                    .x = "numbers",
                    .panels = {"model"},
                    .x_title = "numbers of a compressed gradient",
                    .y_title = "rank correlation with exact scores"}});
    study.part(study_axes());
    study.axis("m", &CompressedScores::m, "target rows of a step", between(1, 1000));
    study.variants(&CompressedScores::partition, {Partition::layer, Partition::global});
    study.part(of_session());
    return study.runs(study_compression);
}

}  // namespace assay::dr_post_training
