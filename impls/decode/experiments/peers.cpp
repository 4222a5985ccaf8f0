#include "impls/decode/experiments/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "suite/base/datasets.hpp"
#include "suite/base/process.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/environment.hpp"

namespace assay::decode {
namespace {

struct Benchmark {
    const char* variable;  ///< of the environment
    const char* built;     ///< as scripts/peers calls it
    std::vector<std::string> options;
    bool prints_to_err;
};

const Benchmark& benchmark(Peer peer) {
    static const Benchmark llama_cpp{"ASSAY_LLAMA_BENCH",
                                     ".deps/peers/llama-batched-bench-0.3.36-tiles",
                                     {"--output-format", "jsonl"},
                                     false};
    static const Benchmark ik_llama_cpp{
        "ASSAY_IK_LLAMA_BENCH", ".deps/peers/ik-llama-batched-bench-0.1.5", {"-rtr"}, true};
    return peer == Peer::llama_cpp ? llama_cpp : ik_llama_cpp;
}

constexpr const char* quantize_built = ".deps/peers/llama-quantize-0.3.36";

std::optional<std::filesystem::path> program(const char* variable, const char* built) {
    const char* const named = std::getenv(variable);
    std::filesystem::path path =
        named ? std::filesystem::path(named) : datasets_dir().parent_path() / built;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::nullopt;
    return path;
}

std::optional<std::filesystem::path> quantize_program() {
    return program("ASSAY_LLAMA_QUANTIZE", quantize_built);
}

/// What it prints; nothing where it crashes.
std::optional<std::string> printed_by(Peer peer, const PeerRun& run, const char* flash_attention) {
    const Benchmark& asked = benchmark(peer);
    const std::string threads =
        std::to_string(run.threads > 0 ? run.threads : measure::count_usable_processors());
    std::string batches = std::to_string(run.batch);
    for (int i = 1; i < run.repeats; ++i) batches += ',' + std::to_string(run.batch);
    ProcessCommand command;
    command.arguments = {peer_program(peer)->string(),
                         "-m",
                         run.model.string(),
                         "-c",
                         std::to_string(run.batch * (run.prompt + run.tokens)),
                         "-npp",
                         std::to_string(run.prompt),
                         "-ntg",
                         std::to_string(run.tokens),
                         "-npl",
                         batches,
                         "-t",
                         threads,
                         "-tb",
                         threads,
                         "-fa",
                         flash_attention};
    command.arguments.insert(command.arguments.end(), asked.options.begin(), asked.options.end());
    // Samples are told to let threads sleep that wait; it is measured as it comes, and its threads
    // wait for each other hundreds of times a token.
    command.unset = {"OMP_WAIT_POLICY"};
    command.out = asked.prints_to_err ? Stream::null() : Stream::pipe();
    command.err = asked.prints_to_err ? Stream::pipe() : Stream::null();
    Process process = Process::spawn(command);
    std::string printed = read_to_end(asked.prints_to_err ? process.err : process.out);
    const ExitStatus end = process.wait();
    if (end.ok()) return printed;
    if (end.signal != 0) return std::nullopt;
    throw SampleError(SampleStatus::failed, fmt::format("{} {}", to_string(peer), to_string(end)));
}

/// Tokens per second of one batch: prompts, then decoding. Zeros where the line tells of none.
struct LineSpeed {
    double prefill = 0, decoding = 0;
};

LineSpeed of_json(std::string_view line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto speed = [&](const char* name) {
        return json.is_object() && json.contains(name) && json[name].is_number()
                   ? json[name].get<double>()
                   : 0.0;
    };
    return {speed("speed_pp"), speed("speed_tg")};
}

/// "| PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s | T s | S t/s |"
LineSpeed of_row(std::string line) {
    std::replace(line.begin(), line.end(), '|', ' ');
    std::istringstream cells(line);
    std::vector<double> row;
    for (double cell = 0; cells >> cell;) row.push_back(cell);
    if (row.size() != 10 || !cells.eof()) return {};
    return {row[5], row[7]};
}

}  // namespace

std::optional<std::filesystem::path> peer_program(Peer peer) {
    return program(benchmark(peer).variable, benchmark(peer).built);
}

std::optional<std::string> quantize_lacks() {
    if (quantize_program()) return std::nullopt;
    return "llama-quantize is not here; scripts/peers builds it";
}

std::optional<std::string> peers_lack() {
    for (const Peer peer : values_of<Peer>)
        if (!peer_program(peer))
            return fmt::format("the benchmark of {} is not here; scripts/peers builds it",
                               to_string(peer));
    return quantize_lacks();
}

void quantize(const std::filesystem::path& model, nn::TensorType type,
              const std::filesystem::path& out) {
    if (auto lacks = quantize_lacks()) throw SampleError(SampleStatus::unsupported, *lacks);
    ProcessCommand command;
    command.arguments = {
        quantize_program()->string(), "--allow-requantize", "--pure", model.string(), out.string(),
        std::string(to_string(type))};
    command.out = command.err = Stream::null();
    Process process = Process::spawn(command);
    if (const ExitStatus end = process.wait(); !end.ok())
        throw SampleError(SampleStatus::failed, fmt::format("llama-quantize {}", to_string(end)));
}

std::optional<PeerSpeed> peer_speed(std::string_view printed) {
    int batches = 0;
    double time_of_token = 0, time_of_prefill = 0;  // of each batch, summed
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, printed.find('\n'));
        printed.remove_prefix(std::min(printed.size(), line.size() + 1));
        const LineSpeed speed = line.starts_with('|') ? of_row(std::string(line)) : of_json(line);
        if (speed.decoding <= 0 || speed.prefill <= 0) continue;
        ++batches;
        time_of_token += 1 / speed.decoding;
        time_of_prefill += 1 / speed.prefill;
    }
    if (batches == 0) return std::nullopt;
    return PeerSpeed{batches / time_of_token, batches / time_of_prefill};
}

PeerSpeed run_peer(Peer peer, const PeerRun& run) {
    PeerSpeed best;
    for (const char* const flash_attention : {"on", "off"}) {
        const auto printed = printed_by(peer, run, flash_attention);
        if (!printed) {
            ++best.crashes;
            continue;
        }
        const auto speed = peer_speed(*printed);
        if (!speed)
            throw SampleError(SampleStatus::failed,
                              fmt::format("{} printed no line of a batch", to_string(peer)));
        best.tokens_per_s = std::max(best.tokens_per_s, speed->tokens_per_s);
        best.prefill_tokens_per_s =
            std::max(best.prefill_tokens_per_s, speed->prefill_tokens_per_s);
    }
    return best;
}

}  // namespace assay::decode
