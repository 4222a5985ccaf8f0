// vLLM's serving benchmark, `vllm bench serve --save-result` and --append-result (after
// vllm/benchmarks/serve.py, commit 009e6d4a): an object per run, one in a file or one a line, with
// throughputs per second and latencies in milliseconds. With a failed request, a run has failed.
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

/// "3 of 100 requests failed: the first error"; "": none did.
std::string vllm_failure(const nlohmann::json& run) {
    const auto asked = number(member(run, "num_prompts")), done = number(member(run, "completed"));
    // Older versions do not count those that failed.
    const double missing = asked && done ? *asked - *done : 0;
    const double failed = number(member(run, "failed")).value_or(missing);
    if (!(failed > 0)) return {};
    const std::string why = fmt::format("{} of {} requests failed", failed, asked.value_or(failed));
    for (const nlohmann::json& error : elements(member(run, "errors")))
        if (error.is_string() && error != "") return why + ": " + error.get<std::string>();
    return why;
}

/// Rates, and means, medians and percentiles of latencies; a spread has no direction.
std::vector<BenchmarkMetric> vllm_metrics(const nlohmann::json& run) {
    std::vector<BenchmarkMetric> metrics;
    for (const auto& [key, value] : run.items()) {
        const auto found = number(value);
        if (found && (key.ends_with("_throughput") || key == "request_goodput"))
            metrics.push_back({key, "1/s", Direction::higher, *found});
        if (found && key.ends_with("_ms"))
            metrics.push_back(
                {key, "ms", key.starts_with("std_") ? Direction::none : Direction::lower, *found});
    }
    return metrics;
}

}  // namespace

bool is_vllm(const ToolText& file) {
    const auto runs = one_or_more(file.document);
    return !runs.empty() && !member(runs.front(), "request_throughput").is_null() &&
           !member(runs.front(), "completed").is_null();
}

void read_vllm(const ToolText& text, BenchmarkFile& file) {
    for (const nlohmann::json& run : one_or_more(text.document)) {
        BenchmarkRepetition made{
            .name = "vllm bench serve", .reason = vllm_failure(run), .date = word(run, "date")};
        take_parameters(made, run,
                        {"model_id", "backend", "label", "num_prompts", "request_rate",
                         "burstiness", "max_concurrency"});
        made.status = made.reason.empty() ? "ok" : "failed";
        if (made.status == "ok") made.metrics = vllm_metrics(run);
        file.repetitions.push_back(std::move(made));
    }
}

}  // namespace assay
