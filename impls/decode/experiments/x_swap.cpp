// How long new weights stop an engine.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/random_model_file.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "impls/decode/service/process_engines.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 4, prompt_tokens = 128, context = 768;
constexpr std::size_t steps_before = 60, steps_after = 20;
constexpr double a_while_s = 1;

enum class Way { beside, beside_keep, stopped };
ASSAY_NAMES(Way, beside, beside_keep, stopped)

struct XSwap {
    int weights = 0;  ///< MiB
    Way way{};
    std::uint64_t seed = 0;
    std::filesystem::path scratch;
};

/// 0 where there was none. The mean, since steps are heard of in bursts on a busy machine.
double mean_of(const std::vector<double>& gaps) {
    if (gaps.empty()) return 0;
    return std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
}

class Swap {
  public:
    Swap(std::string file, std::uint64_t seed)
        : file_(std::move(file)),
          jobs_(random_jobs(requests, prompt_tokens, 0, context - prompt_tokens, seed)),
          processes_(engine_role(models_of_files())),
          engine_(processes_.engines.start(
              {.weights = file_, .blocks = blocks_for_all(jobs_, context)})) {
        for (BatchJob& job : jobs_)
            for (int& id : job.request.prompt) id %= RandomModel().vocabulary;
    }

    void run(Way way) {
        for (const BatchJob& job : jobs_) requests_.push_back(pool_.ask({.request = job.request}));
        made_.resize(jobs_.size());
        processes_.engines.hear_requests(
            {.tokens = [this](Number request,
                              std::span<const Token> tokens) { take(request, tokens); },
             .done = {}});
        hear_until([&] { return fewest_tokens() >= steps_before; });
        const double step_s = mean_of(gaps(steps_before / 2));
        const std::size_t first = heard_s_.size() - 1;

        const double begin_s = cluster::monotonic_s();
        if (way == Way::stopped) engine_.pause();
        engine_.load(2, file_);
        hear_until([&] { return engine_.prepared() == 2; });
        load_s = cluster::monotonic_s() - begin_s;
        const auto beside = gaps(heard_s_.size() - 1 - first);
        beside_step_s = mean_of(beside);
        if (!beside.empty())
            beside_pause_s =
                std::max(0.0, *std::max_element(beside.begin(), beside.end()) - step_s);
        const double ready_s = cluster::monotonic_s();
        engine_.begin_commit(way == Way::beside_keep ? BatchEngine::Cache::keep
                                                     : BatchEngine::Cache::recompute);
        hear_until([&] { return engine_.version() == 2; });
        if (way == Way::stopped) engine_.go_on();
        const std::size_t new_ones = fewest_tokens() + steps_after;
        hear_until([&] { return version_heard_ == 2; });
        commit_s = version_heard_s_ - ready_s;
        hear_until([&] { return fewest_tokens() >= new_ones; });
        const auto between = gaps(heard_s_.size() - 1 - first);
        pause_s = std::max(0.0, *std::max_element(between.begin(), between.end()) - step_s);
        if (way != Way::stopped) slowed = beside_step_s / step_s;
        for (const Number request : requests_) pool_.cancel(request);
    }

    /// Whether the same weights without a swap give the same.
    bool same_bits() const {
        std::vector<BatchJob> jobs = jobs_;
        for (std::size_t i = 0; i < jobs.size(); ++i)
            jobs[i].request.max_tokens = static_cast<int>(made_[i].ids.size());
        BatchRunOptions options;
        options.back_ends = back_ends_of(std::make_shared<nn::TensorFile>(file_),
                                         {.blocks = blocks_for_all(jobs, context)});
        return same_tokens(run_batch(jobs, options).answers, made_);
    }

    double pause_s = 0, load_s = 0, commit_s = 0, beside_step_s = 0, beside_pause_s = 0, slowed = 0;

  private:
    void hear_until(const std::function<bool()>& so) {
        while (!so()) {
            if (engine_.lost() && !so())
                throw SampleError(SampleStatus::failed,
                                  "the engine is gone: " + engine_.how_lost());
            if (made_.size() > 0 && pool_.open() == 0)
                throw SampleError(SampleStatus::invalid,
                                  "the requests came to their end before the new weights");
            processes_.engines.hear(a_while_s);
        }
    }
    /// A step's.
    void take(Number request, std::span<const Token> tokens) {
        const std::int64_t step = engine_.steps();
        if (std::exchange(step_heard_, step) != step) heard_s_.push_back(cluster::monotonic_s());
        BatchAnswer& answer = made_[static_cast<std::size_t>(request)];
        for (const Token& token : tokens) {
            answer.ids.push_back(token.id);
            answer.log_probabilities.push_back(token.logprob);
        }
        const int version = pool_.runs(request).back().version;
        if (std::exchange(version_heard_, version) != version) version_heard_s_ = heard_s_.back();
    }
    std::size_t fewest_tokens() const {
        std::size_t fewest = context;
        for (const BatchAnswer& answer : made_) fewest = std::min(fewest, answer.ids.size());
        return fewest;
    }
    /// The last of them, between steps that brought tokens.
    std::vector<double> gaps(std::size_t count) const {
        std::vector<double> gaps;
        for (std::size_t i = heard_s_.size() - count; i < heard_s_.size(); ++i)
            gaps.push_back(heard_s_[i] - heard_s_[i - 1]);
        return gaps;
    }

    std::string file_;
    std::vector<BatchJob> jobs_;
    ProcessEngines processes_;
    EngineClient& engine_;
    Pool& pool_ = processes_.engines.pool();
    std::vector<Number> requests_;
    std::int64_t step_heard_ = -1;
    std::vector<BatchAnswer> made_;  // by request
    std::vector<double> heard_s_;    // when steps' tokens came
    int version_heard_ = 0;          // of the last token
    double version_heard_s_ = 0;     // its first one's
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric pause_s =
        varying("pause_s", "s", "the longest time without a token, less a usual step", lower);
    Metric load_s = varying("load_s", "s", "until the weights could be used", lower);
    Metric commit_s =
        varying("commit_s", "s",
                "from then to the first of their tokens; unless these are kept, keys and values "
                "are computed anew in it",
                lower);
    Metric pause_share = varying("pause_share", "ratio", "pause over load_s", lower);
    Metric loading_pause_s = varying("loading_pause_s", "s",
                                     "the longest time without a token while they are loaded, "
                                     "less a usual step; not stopped",
                                     lower);
    Metric slowed = varying("slowed", "ratio",
                            "a step's time while they are loaded, over before; not stopped", lower);
    Metric weight_bytes = exact("weight_bytes", "bytes", "of the matrices");
    Metric same_bits = exact("same_bits", "bool",
                             "ids and log-probabilities are those without new weights", higher);
};

void run(const XSwap& settings, Recorder& recorder) {
    const std::string file = (settings.scratch / "random.gguf").string();
    const std::uint64_t bytes =
        write_random_model(file, random_model_of(settings.weights, context), settings.seed);
    Swap swap(file, settings.seed);
    swap.run(settings.way);
    const Found found(recorder);
    found.pause_s(swap.pause_s);
    found.load_s(swap.load_s);
    found.commit_s(swap.commit_s);
    found.pause_share(swap.pause_s / swap.load_s);
    if (swap.slowed > 0) {
        found.slowed(swap.slowed);
        found.loading_pause_s(swap.beside_pause_s);
    }
    found.weight_bytes(bytes);
    found.same_bits(swap.same_bits());
}

std::vector<ProfilePlan> profiles() {
    ProfilePlan toy;
    toy.rounds = 5;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"weights", {std::int64_t{16}, std::int64_t{64}}}};
    toy.seconds_per_sample = 8;
    toy.bytes_per_sample = 4096;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes = {};
    small.seconds_per_sample = 20;
    return {toy, small};
}

}  // namespace

Experiment x_swap() {
    Declaration<XSwap> declaration(
        {.id = "decode/x_swap",
         .title = "New weights for an engine that decodes",
         .source = "our own; no paper's",
         .says =
             "An engine in a process of its own decodes 4 requests with prompts of 128 tokens; "
             "then the "
             "same weights come once more from a file, as version 2. beside: they are loaded "
             "beside "
             "decoding and used from between two steps on, keys and values are computed anew; "
             "beside_keep: these are kept; stopped: decoding stops while they are loaded, as where "
             "there is room for one set of weights. The pause is the longest time from tokens to "
             "the "
             "next, less that of a usual step; commit_s and loading_pause_s tell what it is made "
             "of. "
             "LLaMA's shape with random weights in bf16, read from "
             "memory that the file lies in.",
         .metrics = declared<Found>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "pause_s",
                    .x = "weights",
                    .x_title = "weights (MiB)",
                    .y_title = "pause (s)",
                    .log_y = true}});
    declaration.axis("weights", &XSwap::weights, "MiB of them, roughly", {16, 64, 256},
                     between(1, 4096));
    declaration.variants(&XSwap::way);
    declaration.given(&XSwap::seed, &SampleSpec::seed);
    declaration.given(&XSwap::scratch, &SampleSpec::scratch);
    return declaration.runs(run);
}

}  // namespace assay::decode
