// Samples that train: their settings, what is measured of them, and the parts of the module of
// tensors that make them. For those who declare such experiments and those who write the parts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/dr_post_training/policy/partition.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/dr_post_training/rewards/feedback_settings.hpp"
#include "impls/dr_post_training/rewards/reward_settings.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::dr_post_training {

/// What a sample starts from is a function of the seed, and kept for others of its session.
struct OfSession {
    std::uint64_t seed = 1;
    std::filesystem::path shared;  ///< empty: nothing is kept
};
inline Axes<OfSession> of_session() {
    Axes<OfSession> axes;
    axes.given(&OfSession::seed, &SampleSpec::seed);
    axes.given(&OfSession::shared, &SampleSpec::shared);
    return axes;
}

// Fine-tunings (sft_run.cpp).

struct FineTuning : SftAxes, OfSession {
    std::string arm;              ///< of recipes/arms.hpp
    std::filesystem::path state;  ///< for checkpoints of itself; empty: keep none
    /// What is measured besides: the arm trained for as long as plain training takes, or how maps
    /// choose.
    enum class Besides { nothing, equal_time, choices } besides{};
};
inline const tensors::Part<void(const FineTuning&, Recorder&)> fine_tune_sample{
    "dr_post_training/sft"};
void run(const FineTuning& tuning, Recorder& recorder);  ///< the same, within the module

struct SftFound : Metrics {
    using Metrics::Metrics;
    Metric perplexity = exact("perplexity", "per token",
                              "of 256 held-out target rows (smollm2: 24) at the end", lower);
    Metric perplexity_least = exact("perplexity_least", "per token",
                                    "the same at the best of the steps that were evaluated", lower);
    Metric perplexity_at_start = exact("perplexity_at_start", "per token", "before fine-tuning");
    Metric accuracy =
        exact("accuracy", "share",
              "of held-out target rows that greedy decoding answers word for word", higher);
    Metric rate = exact("rate", "", "learning rate that the validation rows chose");
    Metric kept_related =
        exact("kept_related", "share", "of the rows kept that are of the target's task", higher);
    Metric kept_contrary =
        exact("kept_contrary", "share", "of the rows kept that answer it wrongly", lower);
    Metric step_ms = varying(
        "step_ms", "ms",
        "mean of a step: batch, gradients, update; rates of a grid run side by side, one a core",
        lower);
};
struct EqualTimeFound : SftFound {
    using SftFound::SftFound;
    Metric perplexity_equal_time = varying(
        "perplexity_equal_time", "per token",
        "where the arm trains, at the rate it chose, for as long as 300 steps of plain training "
        "take (what it does before its first step included), at most four times as many steps",
        lower);
    Metric accuracy_equal_time =
        varying("accuracy_equal_time", "share", "the same training's", higher);
    Metric step_over_plain =
        varying("step_over_plain", "ratio",
                "a step of the arm over a plain one, 50 of each in turns", lower);
    Metric steps_equal_time = varying("steps_equal_time", "count", "that this makes");
};
struct ChoicesFound : SftFound {
    using SftFound::SftFound;
    Metric mean_score = exact("mean_score", "", "mean magnitude of a map's scores", none, {"map"});
    Metric rank_correlation =
        exact("rank_correlation", "", "of a map's ranking of rows with that of all scores added up",
              none, {"map"});
    Metric jaccard = exact("jaccard", "share", "of a map's rows with those of one choice for all",
                           none, {"map"});
    Metric patterns = exact("patterns", "count", "different selections in a step");
    Metric agreement = exact("agreement", "share",
                             "of rows that a map has in common with the same one a layer on");
};
struct DelegatedFound : SftFound {
    using SftFound::SftFound;
    Metric steps_as =
        exact("steps_as", "count", "steps that choose trained by each fixed arm", none, {"arm"});
};

// Trainings by reward (reward_runs.cpp): GRPO on right answers, PPO on a learnt reward.

struct Rlvr : RewardAxes, OfSession {
    std::string arm;  ///< of rewards/reward_tuning.hpp
};
inline const tensors::Part<void(const Rlvr&, Recorder&)> train_rlvr{"dr_post_training/rlvr"};

struct RlvrFound : Metrics {
    using Metrics::Metrics;
    Metric accuracy =
        exact("accuracy", "share",
              "of 192 different held-out questions answered exactly, greedily, at the end", higher);
    Metric accuracy_best = exact("accuracy_best", "share", "the most of all evaluations", higher);
    Metric accuracy_early =
        exact("accuracy_early", "share", "after 15 % of the rounds, as round 12 of the paper's 80",
              higher);
    Metric accuracy_at_start = exact("accuracy_at_start", "share", "before any round");
    Metric accuracy_mean =
        exact("accuracy_mean", "share",
              "mean of all evaluations: the start, the early one, every fourth round", higher);
    Metric rate = exact("rate", "", "learning rate that the validation questions chose");
    Metric undecided = exact(
        "undecided", "share",
        "of answers whose group has equal rewards, so that they teach nothing but the penalty");
    Metric kept =
        exact("kept", "share", "of the answers of an update that a group learns from, mean");
    Metric drawn_tokens = exact("drawn_tokens", "count", "of answers, the target's included");
    Metric round_ms = varying("round_ms", "ms", "of one round: draws, updates", lower);
};

struct Rlhf : FeedbackAxes, OfSession {
    std::string arm;  ///< of feedback_arms()
};
inline const tensors::Part<void(const Rlhf&, Recorder&)> train_rlhf{"dr_post_training/rlhf"};

struct RlhfFound : Metrics {
    using Metrics::Metrics;
    Metric judged = exact("judged", "share",
                          "of answers to 256 held-out prompts that the judge says offend", lower);
    Metric judged_mean = exact("judged_mean", "share",
                               "the same, mean of all evaluations, the start included", lower);
    Metric judged_at_start = exact("judged_at_start", "share", "the same before any round");
    Metric offends = exact("offends", "share", "of those answers that do offend", lower);
    Metric reward = exact("reward", "", "mean of those answers, by the model of rewards", higher);
    Metric rounds_to_half = exact(
        "rounds_to_half", "rounds",
        "until the judge's share is half of that at the start; one more than there were where it "
        "never was",
        lower);
    Metric letters = exact("letters", "count", "mean of those answers");
    Metric divergence =
        exact("divergence", "nats", "of an answer from the start, in the last round");
    Metric kl = exact("kl", "", "coefficient of the penalty in the last round");
    Metric kept =
        exact("kept", "share", "of answers that a group, or the rollout, learns from, mean");
    Metric drawn_tokens = exact("drawn_tokens", "count", "of answers, the target's included");
    Metric rate = exact("rate", "", "learning rate that the validation prompts chose");
    Metric pairs_right =
        exact("pairs_right", "share", "of unseen, unequal pairs that the rewards order rightly");
    Metric labels_right =
        exact("labels_right", "share", "of unseen texts that the judge labels rightly");
    Metric round_ms = varying("round_ms", "ms", "of one round: draws, judging, updates", lower);
};

// Studies of gradients (bias_exposure_run.cpp, compression_run.cpp), at a model's start.

struct BiasExposure : SftAxes, OfSession {
    std::string arm;         ///< a partition, full, target
    std::int64_t after = 0;  ///< steps of plain training
};
inline const tensors::Part<void(const BiasExposure&, Recorder&)> study_bias_exposure{
    "dr_post_training/bias_exposure"};
void run(const BiasExposure& study, Recorder& recorder);  ///< the same, within the module

struct BiasFound : Metrics {
    using Metrics::Metrics;
    Metric error =
        exact("error", "ratio", "distance to the direction of many target rows, to its length",
              lower, {"n_val"});
    Metric exposure =
        exact("exposure", "ratio",
              "distance to the update that knows the many rows, to their length", lower, {"n_val"});
    Metric cosine =
        exact("cosine", "ratio", "between the update and the direction of many target rows", higher,
              {"n_val"});
    Metric bias = exact("bias", "ratio", "error of the update that knows the many rows", lower);
};

struct CompressedScores : SftAxes, OfSession {
    Partition partition{};
};
inline const tensors::Part<void(const CompressedScores&, Recorder&)> study_compression{
    "dr_post_training/compression"};
void run(const CompressedScores& study, Recorder& recorder);  ///< the same, within the module

}  // namespace assay::dr_post_training
