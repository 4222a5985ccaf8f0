// Many requests beside each other and one by one: equal bits, and how much faster.
#include <algorithm>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/llama_cpp.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int largest_batch_asked = 512;

/// Smaller batches are run again until they are so many requests: one alone takes half a second.
constexpr int least_requests = 8;

struct Lengths {
    int batch, threads, prompt, tokens;

    int repeats() const { return std::max(1, least_requests / batch); }
};

Lengths lengths_of(const SampleSpec& spec) {
    return {static_cast<int>(integer_axis(spec, "batch")),
            static_cast<int>(integer_axis(spec, "threads")),
            static_cast<int>(integer_axis(spec, "prompt")),
            static_cast<int>(integer_axis(spec, "tokens"))};
}

/// Seconds of a run, and of the prompts with one token each, together `repeats` times.
struct Times {
    double all_s = 0, prompts_s = 0;
    BatchRun run;  ///< the last
    double decoding_s() const { return all_s - prompts_s; }
};

Times times_of(const std::vector<BatchJob>& jobs, const BatchRunOptions& options, int repeats) {
    std::vector<BatchJob> prompts = jobs;
    for (BatchJob& job : prompts) job.request.max_tokens = 1;
    Times times;
    for (int i = 0; i < repeats; ++i) {
        times.run = run_batch(jobs, options);
        times.all_s += times.run.seconds;
        times.prompts_s += run_batch(prompts, options).seconds;
    }
    return times;
}

void run_ours(const SampleSpec& spec, Recorder& recorder) {
    const Lengths asked = lengths_of(spec);
    const SmolLm2 model;
    std::vector<BatchJob> jobs = random_jobs(asked.batch, asked.prompt, 0, asked.tokens, spec.seed);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Half of them draw their tokens.
        if (i % 2 == 0) continue;
        jobs[i].request.sampling.temperature = 1;
        jobs[i].request.sampling.seed = spec.seed + i;
    }
    BatchRunOptions options;
    options.make_back_end =
        model.back_ends({.threads = asked.threads,
                         .blocks = blocks_for_all(jobs, model.config().context),
                         .activations = assay::to_string(spec.axes.at("activations")) == "int8"
                                            ? ActivationType::int8
                                            : ActivationType::exact});
    options.engine.prefix = false;
    // All prompts, then all decoding, as llama-batched-bench has it: a step of both is the time of
    // neither.
    options.engine.chunk = asked.batch * asked.prompt;
    const double tokens = static_cast<double>(asked.batch) * (asked.tokens - 1);

    options.engine.max_batch = asked.batch;
    const int repeats = asked.repeats();
    const Times together = times_of(jobs, options, repeats);
    recorder.metric("tokens_per_s", repeats * tokens / together.decoding_s());
    recorder.metric("prefill_tokens_per_s",
                    static_cast<double>(repeats) * asked.batch * asked.prompt / together.prompts_s);

    options.engine.max_batch = 1;
    const Times one_by_one = times_of(jobs, options, 1);
    recorder.metric("one_by_one_tokens_per_s", tokens / one_by_one.decoding_s());
    recorder.metric("same_bits", same_tokens(together.run, one_by_one.run) ? 1 : 0);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (spec.variant == "ours") return run_ours(spec, recorder);
    const Lengths asked = lengths_of(spec);
    const LlamaCppSpeed speed = run_llama_cpp({.model = smollm2_path(),
                                               .batch = asked.batch,
                                               .threads = asked.threads,
                                               .prompt = asked.prompt,
                                               .tokens = asked.tokens,
                                               .repeats = asked.repeats()});
    recorder.metric("tokens_per_s", speed.tokens_per_s);
    recorder.metric("prefill_tokens_per_s", speed.prefill_tokens_per_s);
}

}  // namespace

Experiment x_batch() {
    Experiment experiment;
    experiment.id = "decode/x_batch";
    experiment.title = "Many requests beside each other, and one by one";
    experiment.source = "our own; no paper's";
    experiment.says =
        "Requests to SmolLM2-135M-Instruct (Q4_1), random prompts, all at once: as one batch and "
        "one by one, whose tokens and log-probabilities must be the same bits; every second "
        "request draws its tokens at temperature 1. Time of the prompts is that of the same "
        "requests with one token each, and the rest is decoding. Batches of fewer than eight "
        "requests are run again until they are eight, and llama.cpp's, too. llama_cpp is "
        "llama-batched-bench on the same file with the same lengths and threads, the better of "
        "its two kinds of attention; it decodes random tokens and has no equal bits to show. "
        "Keys and values: fp32 beside exact activations, bf16 beside int8; llama.cpp's are f16.";
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {
        {"batch", "requests", {whole(1), whole(4), whole(16), whole(32)}, true},
        {"activations", "what products multiply: all 24 bits, or eight", {"exact", "int8"}, false},
        {"threads", "0: all cores", {whole(0)}, true},
        {"prompt", "tokens of each", {whole(128)}, true},
        {"tokens", "new ones of each", {whole(128)}, true}};
    experiment.variants = {"ours", "llama_cpp"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens of all requests over the time of decoding them",
         Direction::higher},
        {"prefill_tokens_per_s", "1/s", "prompt tokens over their time", Direction::higher},
        {"one_by_one_tokens_per_s", "1/s", "new tokens, one request after the other; ours",
         Direction::higher},
        {"same_bits", "bool", "in a batch as one by one; ours", Direction::higher, true}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = rounds_of_verdicts;
    toy.seconds_per_sample = 60;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.rounds = 5;
    small.timeout_s = 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"batch", {whole(1), whole(4), whole(16), whole(64)}}};
    experiment.profiles = {toy, small, gpu};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "tokens_per_s",
                         .x = "batch",
                         .panels = {},
                         .x_title = "requests in a batch",
                         .y_title = "new tokens per second"};
    experiment.unsupported = [](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile == Profile::gpu)
            return "the engine has no back end for GPUs yet: steps of batches run on processors";
        if (auto lacks = smollm2_lacks()) return lacks;
        if (spec.variant == "llama_cpp" && !llama_cpp_program())
            return "llama-batched-bench is not here; scripts/peers builds it";
        return std::nullopt;
    };
    experiment.inputs = [](const SampleSpec&) { return smollm2_inputs(); };
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "batch", 1, largest_batch_asked);
        integer_axis(spec, "threads", 0, 1024);
        integer_axis(spec, "prompt", 1, 4096);
        integer_axis(spec, "tokens", 2, 4096);
    };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
