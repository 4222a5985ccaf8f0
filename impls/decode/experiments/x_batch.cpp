// Many requests beside each other and one by one: equal bits, and how much faster; and the same by
// other engines.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/peers.hpp"
#include "impls/decode/experiments/random_model_file.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int largest_batch_asked = 512;

/// Smaller batches are run again until they are so many requests: one alone takes half a second.
constexpr int least_requests = 8;

constexpr const char *smollm2 = "smollm2-135m-instruct", *random_1b = "random-1b", *best = "best";
constexpr nn::TensorType all_types[] = {nn::TensorType::q4_0, nn::TensorType::q4_1,
                                        nn::TensorType::q8_0};

/// TinyLlama's shape (arXiv 2401.02385, Table 1), embeddings tied.
constexpr RandomModel random_1b_model{.layers = 22,
                                      .width = 2048,
                                      .hidden = 5632,
                                      .heads = 32,
                                      .kv_heads = 4,
                                      .head_width = 64,
                                      .vocabulary = 32000};

std::string word_of(const SampleSpec& spec, const char* axis) {
    return assay::to_string(spec.axes.at(axis));
}

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

std::vector<nn::TensorType> types_of(const SampleSpec& spec) {
    const std::string asked = word_of(spec, "type");
    std::vector<nn::TensorType> types;
    for (const nn::TensorType type : all_types)
        if (asked == best || asked == nn::to_string(type)) types.push_back(type);
    return types;
}

/// The file that all engines read; what is not there yet is made in the sample's folder.
std::filesystem::path model_file(const SampleSpec& spec, nn::TensorType type) {
    const bool is_smollm2 = word_of(spec, "model") == smollm2;
    if (is_smollm2 && type == nn::TensorType::q4_1) return smollm2_path();
    const std::filesystem::path file =
        std::filesystem::path(spec.scratch) / fmt::format("{}.gguf", nn::to_string(type));
    if (is_smollm2) {
        quantize(smollm2_path(), type, file);
    } else {
        RandomModel model = random_1b_model;
        model.type = type;
        write_random_model(file, model, /*seed=*/1);
    }
    return file;
}

/// Of several engines and types: each is recorded, the fastest counts.
class Speeds {
  public:
    explicit Speeds(Recorder& recorder) : recorder_(recorder) {}

    void add(std::string_view engine, nn::TensorType type, const PeerSpeed& speed) {
        const Labels labels{{"engine", std::string(engine)},
                            {"type", std::string(nn::to_string(type))}};
        recorder_.metric("crashes", speed.crashes, labels);
        if (speed.tokens_per_s <= 0) return;
        recorder_.metric("each_tokens_per_s", speed.tokens_per_s, labels);
        recorder_.metric("each_prefill_tokens_per_s", speed.prefill_tokens_per_s, labels);
        tokens_per_s_ = std::max(tokens_per_s_, speed.tokens_per_s);
        prefill_tokens_per_s_ = std::max(prefill_tokens_per_s_, speed.prefill_tokens_per_s);
    }
    /// Throws SampleError where none had a speed.
    void finish() {
        if (tokens_per_s_ <= 0) throw SampleError(SampleStatus::failed, "every peer crashed");
        recorder_.metric("tokens_per_s", tokens_per_s_);
        recorder_.metric("prefill_tokens_per_s", prefill_tokens_per_s_);
    }

  private:
    Recorder& recorder_;
    double tokens_per_s_ = 0, prefill_tokens_per_s_ = 0;
};

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
    std::vector<BatchJob> jobs = random_jobs(asked.batch, asked.prompt, 0, asked.tokens, spec.seed);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Half of them draw their tokens.
        if (i % 2 == 0) continue;
        jobs[i].request.sampling.temperature = 1;
        jobs[i].request.sampling.seed = spec.seed + i;
    }
    BatchRunOptions options;
    options.engine.prefix = false;
    // All prompts, then all decoding, as llama-batched-bench has it: a step of both is the time of
    // neither.
    options.engine.chunk = asked.batch * asked.prompt;
    const double tokens = static_cast<double>(asked.batch) * (asked.tokens - 1);
    const int repeats = asked.repeats();

    Speeds speeds(recorder);
    double one_by_one_tokens_per_s = 0;
    bool same_bits = true;
    for (const nn::TensorType type : types_of(spec)) {
        const auto file = std::make_shared<nn::TensorFile>(model_file(spec, type));
        const BackEndOptions back_end{
            .threads = asked.threads,
            .blocks = blocks_for_all(jobs, nn::read_decoder_config(*file).context),
            .activations = word_of(spec, "activations") == "int8" ? ActivationType::int8
                                                                  : ActivationType::exact};
        options.make_back_end = [file, make = back_ends_of(*file, back_end)] { return make(); };
        options.engine.max_batch = asked.batch;
        const Times together = times_of(jobs, options, repeats);
        speeds.add(
            "ours", type,
            {repeats * tokens / together.decoding_s(),
             static_cast<double>(repeats) * asked.batch * asked.prompt / together.prompts_s});

        options.engine.max_batch = 1;
        const Times one_by_one = times_of(jobs, options, 1);
        one_by_one_tokens_per_s =
            std::max(one_by_one_tokens_per_s, tokens / one_by_one.decoding_s());
        same_bits = same_bits && same_tokens(together.run, one_by_one.run);
    }
    speeds.finish();
    recorder.metric("one_by_one_tokens_per_s", one_by_one_tokens_per_s);
    recorder.metric("same_bits", same_bits ? 1 : 0);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (spec.variant == "ours") return run_ours(spec, recorder);
    const Lengths asked = lengths_of(spec);
    Speeds speeds(recorder);
    for (const nn::TensorType type : types_of(spec)) {
        const PeerRun run{.model = model_file(spec, type),
                          .batch = asked.batch,
                          .threads = asked.threads,
                          .prompt = asked.prompt,
                          .tokens = asked.tokens,
                          .repeats = asked.repeats()};
        for (const Peer peer : values_of<Peer>)
            speeds.add(to_string(peer), type, run_peer(peer, run));
    }
    speeds.finish();
}

}  // namespace

Experiment x_batch() {
    Experiment experiment;
    experiment.id = "decode/x_batch";
    experiment.title = "Many requests beside each other, and one by one";
    experiment.source = "our own; no paper's";
    experiment.says =
        "Random prompts, all at once: as one batch and one by one, whose tokens and "
        "log-probabilities must be the same bits; every second request draws its tokens at "
        "temperature 1. Time of the prompts is that of the same requests with one token each, and "
        "the rest is decoding. Batches of fewer than eight requests are run again until they are "
        "eight, and the peers', too. Peers are the benchmarks of batches of llama.cpp and "
        "ik_llama.cpp (-rtr) with the same file, lengths and threads, of each the better of its "
        "two kinds of attention, one after the other: the faster of them counts. They decode "
        "random tokens and have no equal bits to show. A kind of attention that crashes is counted "
        "(crashes), and the other's speed stands. Files: SmolLM2 as it is packaged (q4_1) or made "
        "of that by llama-quantize, every matrix in the one type; or random weights. Keys and "
        "values: fp32 beside exact activations, bf16 beside int8; the peers' are f16.";
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {
        {"batch", "requests", {whole(1), whole(4), whole(16), whole(32)}, true},
        {"activations",
         "what products of ours multiply: all 24 bits, or eight",
         {"exact", "int8"},
         false},
        {"type",
         "of the weights; best: of the three the fastest, each side its own",
         {"q4_0", "q4_1", "q8_0", best},
         false},
        {"model",
         "SmolLM2-135M-Instruct, or random weights in TinyLlama's shape (1.03 billion)",
         {smollm2, random_1b},
         false},
        {"threads", "0: all cores", {whole(0)}, true},
        {"prompt", "tokens of each", {whole(128), whole(32)}, true},
        {"tokens", "new ones of each", {whole(128), whole(32)}, true}};
    experiment.variants = {"ours", "peers"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens of all requests over the time of decoding them",
         Direction::higher},
        {"prefill_tokens_per_s", "1/s", "prompt tokens over their time", Direction::higher},
        {.name = "each_tokens_per_s",
         .unit = "1/s",
         .says = "tokens_per_s of each engine and type",
         .better = Direction::higher,
         .labels = {"engine", "type"}},
        {.name = "each_prefill_tokens_per_s",
         .unit = "1/s",
         .says = "prefill_tokens_per_s of each engine and type",
         .better = Direction::higher,
         .labels = {"engine", "type"}},
        {.name = "crashes",
         .unit = "count",
         .says = "kinds of attention, of two, with which an engine crashed",
         .better = Direction::lower,
         .labels = {"engine", "type"}},
        {"one_by_one_tokens_per_s", "1/s", "new tokens, one request after the other; ours",
         Direction::higher},
        {"same_bits", "bool", "in a batch as one by one; ours", Direction::higher, true}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = rounds_of_verdicts;
    toy.seconds_per_sample = 75;
    toy.axes = {{"batch", {whole(1), whole(16)}},
                {"activations", {"int8"}},
                {"type", {best}},
                {"model", {smollm2}},
                {"prompt", {whole(128)}},
                {"tokens", {whole(128)}}};
    ProfilePlan small = toy;
    small.axes = {{"prompt", {whole(128)}}, {"tokens", {whole(128)}}};
    small.seconds_per_sample = 300;
    small.profile = Profile::small;
    small.rounds = 5;
    small.timeout_s = 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes["batch"] = {whole(1), whole(4), whole(16), whole(64)};
    gpu.axes["type"] = {"q4_0"};
    experiment.profiles = {toy, small, gpu};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "tokens_per_s",
                         .x = "batch",
                         .panels = {"model", "type"},
                         .x_title = "requests in a batch",
                         .y_title = "new tokens per second"};
    experiment.unsupported = [](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile == Profile::gpu)
            return "the engine has no back end for GPUs yet: steps of batches run on processors";
        const bool is_smollm2 = word_of(spec, "model") == smollm2;
        if (auto lacks = smollm2_lacks(); is_smollm2 && lacks) return lacks;
        if (spec.variant == "peers") return peers_lack();
        return is_smollm2 && word_of(spec, "type") != "q4_1" ? quantize_lacks() : std::nullopt;
    };
    experiment.inputs = [](const SampleSpec& spec) {
        return word_of(spec, "model") == smollm2 ? smollm2_inputs() : std::vector<Input>();
    };
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
