#include "impls/decode/experiments/llama_cpp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "suite/base/datasets.hpp"
#include "suite/base/process.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/environment.hpp"

namespace assay::decode {
namespace {

constexpr const char* built = ".deps/peers/llama-batched-bench-0.3.36-tiles";

std::string printed_by(const LlamaCppRun& run, const char* flash_attention) {
    const std::string threads =
        std::to_string(run.threads > 0 ? run.threads : measure::count_usable_processors());
    std::string batches = std::to_string(run.batch);
    for (int i = 1; i < run.repeats; ++i) batches += ',' + std::to_string(run.batch);
    ProcessCommand command;
    command.arguments = {llama_cpp_program()->string(),
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
                         flash_attention,
                         "--output-format",
                         "jsonl"};
    // Samples are told to let threads sleep that wait; it is measured as it comes, and its threads
    // wait for each other hundreds of times a token.
    command.unset = {"OMP_WAIT_POLICY"};
    command.out = Stream::pipe();
    command.err = Stream::null();
    Process process = Process::spawn(command);
    const std::string printed = read_to_end(process.out);
    if (const ExitStatus end = process.wait(); !end.ok())
        throw SampleError(SampleStatus::failed,
                          fmt::format("llama-batched-bench {}", to_string(end)));
    return printed;
}

}  // namespace

std::optional<std::filesystem::path> llama_cpp_program() {
    const char* const named = std::getenv("ASSAY_LLAMA_BENCH");
    const std::filesystem::path program =
        named ? std::filesystem::path(named) : datasets_dir().parent_path() / built;
    std::error_code ignored;
    if (!std::filesystem::exists(program, ignored)) return std::nullopt;
    return program;
}

std::optional<LlamaCppSpeed> llama_cpp_speed(std::string_view printed) {
    int batches = 0;
    double time_of_token = 0, time_of_prefill = 0;  // of each batch, summed
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, printed.find('\n'));
        printed.remove_prefix(std::min(printed.size(), line.size() + 1));
        const auto json = nlohmann::json::parse(line, nullptr, false);
        const auto speed = [&](const char* name) {
            return json.is_object() && json.contains(name) && json[name].is_number()
                       ? json[name].get<double>()
                       : 0.0;
        };
        const double decoding = speed("speed_tg"), prefill = speed("speed_pp");
        if (decoding <= 0 || prefill <= 0) continue;
        ++batches;
        time_of_token += 1 / decoding;
        time_of_prefill += 1 / prefill;
    }
    if (batches == 0) return std::nullopt;
    return LlamaCppSpeed{batches / time_of_token, batches / time_of_prefill};
}

LlamaCppSpeed run_llama_cpp(const LlamaCppRun& run) {
    std::optional<LlamaCppSpeed> best;
    for (const char* const flash_attention : {"on", "off"}) {
        const auto speed = llama_cpp_speed(printed_by(run, flash_attention));
        if (!speed) continue;
        if (!best) best = speed;
        best->tokens_per_s = std::max(best->tokens_per_s, speed->tokens_per_s);
        best->prefill_tokens_per_s =
            std::max(best->prefill_tokens_per_s, speed->prefill_tokens_per_s);
    }
    if (!best)
        throw SampleError(SampleStatus::failed, "llama-batched-bench printed no line of a batch");
    return *best;
}

}  // namespace assay::decode
