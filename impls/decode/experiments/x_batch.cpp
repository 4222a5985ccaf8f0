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
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::decode {
namespace {

constexpr int largest_batch_asked = 512;

/// Smaller batches are run again until they are so many requests: one alone takes half a second.
constexpr int least_requests = 8;

enum class Engines { ours, peers };
ASSAY_NAMES(Engines, ours, peers)
enum class Model { smollm2, random_1b };
ASSAY_NAMES(Model, (smollm2, "smollm2-135m-instruct"), (random_1b, "random-1b"))
enum class Type { q4_0, q4_1, q8_0, best };
ASSAY_NAMES(Type, q4_0, q4_1, q8_0, best)

struct XBatch {
    int batch = 0, threads = 0, prompt = 0, tokens = 0;
    ActivationType activations{};
    Type type{};
    Model model{};
    Engines engines{};
    Profile profile{};
    std::uint64_t seed = 0;
    std::filesystem::path scratch;

    int repeats() const { return std::max(1, least_requests / batch); }
    std::vector<nn::TensorType> types() const {
        switch (type) {
            case Type::q4_0:
                return {nn::TensorType::q4_0};
            case Type::q4_1:
                return {nn::TensorType::q4_1};
            case Type::q8_0:
                return {nn::TensorType::q8_0};
            case Type::best:
                break;
        }
        return {nn::TensorType::q4_0, nn::TensorType::q4_1, nn::TensorType::q8_0};
    }
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric tokens_per_s = varying(
        "tokens_per_s", "1/s", "new tokens of all requests over the time of decoding them", higher);
    Metric prefill_tokens_per_s =
        varying("prefill_tokens_per_s", "1/s", "prompt tokens over their time", higher);
    Metric each_tokens_per_s =
        varying("each_tokens_per_s", "1/s", "tokens_per_s of each engine and type", higher,
                {"engine", "type"});
    Metric each_prefill_tokens_per_s =
        varying("each_prefill_tokens_per_s", "1/s", "prefill_tokens_per_s of each engine and type",
                higher, {"engine", "type"});
    Metric crashes =
        varying("crashes", "count", "kinds of attention, of two, with which an engine crashed",
                lower, {"engine", "type"});
    Metric one_by_one_tokens_per_s = varying(
        "one_by_one_tokens_per_s", "1/s", "new tokens, one request after the other; ours", higher);
    Metric same_bits = exact("same_bits", "bool", "in a batch as one by one; ours", higher);
};

/// TinyLlama's shape (arXiv 2401.02385, Table 1), embeddings tied.
constexpr RandomModel random_1b_model{.layers = 22,
                                      .width = 2048,
                                      .hidden = 5632,
                                      .heads = 32,
                                      .kv_heads = 4,
                                      .head_width = 64,
                                      .vocabulary = 32000};

/// The file that all engines read; what is not there yet is made in the sample's folder.
std::filesystem::path model_file(const XBatch& settings, nn::TensorType type) {
    const bool is_smollm2 = settings.model == Model::smollm2;
    if (is_smollm2 && type == nn::TensorType::q4_1) return smollm2_path();
    const std::filesystem::path file =
        settings.scratch / fmt::format("{}.gguf", nn::to_string(type));
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
    explicit Speeds(const Found& found) : found_(found) {}

    void add(std::string_view engine, nn::TensorType type, const PeerSpeed& speed) {
        const Labels labels{{"engine", std::string(engine)},
                            {"type", std::string(nn::to_string(type))}};
        found_.crashes(speed.crashes, labels);
        if (speed.tokens_per_s <= 0) return;
        found_.each_tokens_per_s(speed.tokens_per_s, labels);
        found_.each_prefill_tokens_per_s(speed.prefill_tokens_per_s, labels);
        tokens_per_s_ = std::max(tokens_per_s_, speed.tokens_per_s);
        prefill_tokens_per_s_ = std::max(prefill_tokens_per_s_, speed.prefill_tokens_per_s);
    }
    /// Throws SampleError where none had a speed.
    void finish() {
        if (tokens_per_s_ <= 0) throw SampleError(SampleStatus::failed, "every peer crashed");
        found_.tokens_per_s(tokens_per_s_);
        found_.prefill_tokens_per_s(prefill_tokens_per_s_);
    }

  private:
    const Found& found_;
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

void run_ours(const XBatch& asked, const Found& found) {
    std::vector<BatchJob> jobs =
        random_jobs(asked.batch, asked.prompt, 0, asked.tokens, asked.seed);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Half of them draw their tokens.
        if (i % 2 == 0) continue;
        jobs[i].request.sampling.temperature = 1;
        jobs[i].request.sampling.seed = asked.seed + i;
    }
    BatchRunOptions options;
    options.engine.prefix = false;
    // All prompts, then all decoding, as llama-batched-bench has it: a step of both is the time of
    // neither.
    options.engine.chunk = asked.batch * asked.prompt;
    const double tokens = static_cast<double>(asked.batch) * (asked.tokens - 1);
    const int repeats = asked.repeats();

    Speeds speeds(found);
    double one_by_one_tokens_per_s = 0;
    bool same_bits = true;
    for (const nn::TensorType type : asked.types()) {
        const auto file = std::make_shared<nn::TensorFile>(model_file(asked, type));
        const BackEndOptions back_end{
            .threads = asked.threads,
            .blocks = blocks_for_all(jobs, nn::read_decoder_config(*file).context),
            .activations = asked.activations};
        options.back_ends = back_ends_of(file, back_end);
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
    found.one_by_one_tokens_per_s(one_by_one_tokens_per_s);
    found.same_bits(same_bits);
}

void run(const XBatch& asked, Recorder& recorder) {
    const Found found(recorder);
    if (asked.engines == Engines::ours) return run_ours(asked, found);
    Speeds speeds(found);
    for (const nn::TensorType type : asked.types()) {
        const PeerRun run{.model = model_file(asked, type),
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

std::optional<std::string> lacks(const XBatch& asked) {
    if (asked.profile == Profile::gpu)
        return "the engine has no back end for GPUs yet: steps of batches run on processors";
    const bool is_smollm2 = asked.model == Model::smollm2;
    if (auto reason = smollm2_lacks(); is_smollm2 && reason) return reason;
    if (asked.engines == Engines::peers) return peers_lack();
    return is_smollm2 && asked.type != Type::q4_1 ? quantize_lacks() : std::nullopt;
}

std::vector<ProfilePlan> profiles() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = rounds_of_verdicts;
    toy.seconds_per_sample = 75;
    toy.axes = {{"batch", {std::int64_t{1}, std::int64_t{16}}},
                {"activations", {"int8"}},
                {"type", {"best"}},
                {"model", {std::string(word_of(Model::smollm2))}},
                {"prompt", {std::int64_t{128}}},
                {"tokens", {std::int64_t{128}}}};
    ProfilePlan small = toy;
    small.axes = {{"prompt", {std::int64_t{128}}}, {"tokens", {std::int64_t{128}}}};
    small.seconds_per_sample = 300;
    small.profile = Profile::small;
    small.rounds = 5;
    small.timeout_s = 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes["batch"] = {std::int64_t{1}, std::int64_t{4}, std::int64_t{16}, std::int64_t{64}};
    gpu.axes["type"] = {"q4_0"};
    return {toy, small, gpu};
}

}  // namespace

Experiment x_batch() {
    Declaration<XBatch> declaration(
        {.id = "decode/x_batch",
         .title = "Many requests beside each other, and one by one",
         .source = "our own; no paper's",
         .says =
             "Random prompts, all at once: as one batch and one by one, whose tokens and "
             "log-probabilities must be the same bits; every second request draws its tokens at "
             "temperature 1. Time of the prompts is that of the same requests with one token each, "
             "and "
             "the rest is decoding. Batches of fewer than eight requests are run again until they "
             "are "
             "eight, and the peers', too. Peers are the benchmarks of batches of llama.cpp and "
             "ik_llama.cpp (-rtr) with the same file, lengths and threads, of each the better of "
             "its "
             "two kinds of attention, one after the other: the faster of them counts. They decode "
             "random tokens and have no equal bits to show. A kind of attention that crashes is "
             "counted "
             "(crashes), and the other's speed stands. Files: SmolLM2 as it is packaged (q4_1) or "
             "made "
             "of that by llama-quantize, every matrix in the one type; or random weights. Keys and "
             "values: fp32 beside exact activations, bf16 beside int8; the peers' are f16.",
         .metrics = declared<Found>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "batch",
                    .panels = {"model", "type"},
                    .x_title = "requests in a batch",
                    .y_title = "new tokens per second"}});
    declaration.axis("batch", &XBatch::batch, "requests", {1, 4, 16, 32},
                     between(1, largest_batch_asked));
    declaration.axis("activations", &XBatch::activations,
                     "what products of ours multiply: all 24 bits, or eight");
    declaration.axis("type", &XBatch::type,
                     "of the weights; best: of the three the fastest, each side its own");
    declaration.axis("model", &XBatch::model,
                     "SmolLM2-135M-Instruct, or random weights in TinyLlama's shape (1.03 "
                     "billion)");
    declaration.axis("threads", &XBatch::threads, "0: all cores", between(0, 1024));
    declaration.axis("prompt", &XBatch::prompt, "tokens of each", {128, 32}, between(1, 4096));
    declaration.axis("tokens", &XBatch::tokens, "new ones of each", {128, 32}, between(2, 4096));
    declaration.variants(&XBatch::engines);
    declaration.given(&XBatch::profile, &SampleSpec::profile);
    declaration.given(&XBatch::seed, &SampleSpec::seed);
    declaration.given(&XBatch::scratch, &SampleSpec::scratch);
    declaration.unsupported(lacks);
    declaration.inputs([](const XBatch& asked) {
        return asked.model == Model::smollm2 ? smollm2_inputs() : std::vector<Input>();
    });
    return declaration.runs(run);
}

}  // namespace assay::decode
