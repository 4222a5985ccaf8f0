// llama-bench's -o json and -o jsonl (as build 5163 of llama.cpp writes them): an object per test,
// with its repetitions in nanoseconds (samples_ns) and tokens per second (samples_ts).
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

/// "pp512", "tg128", "pp512+tg128": prompt processing and token generation.
std::string llama_test_name(const nlohmann::json& test) {
    const double prompt = number(member(test, "n_prompt")).value_or(0),
                 generated = number(member(test, "n_gen")).value_or(0);
    std::string name = prompt > 0 ? fmt::format("pp{}", prompt) : "";
    if (generated > 0) name += fmt::format("{}tg{}", name.empty() ? "" : "+", generated);
    return name.empty() ? "llama-bench" : name;
}

}  // namespace

bool is_llama_bench(const ToolText& file) {
    const auto tests = one_or_more(file.document);
    return !tests.empty() && !member(tests.front(), "avg_ts").is_null() &&
           !member(tests.front(), "n_gen").is_null();
}

void read_llama_bench(const ToolText& text, BenchmarkFile& file) {
    for (const nlohmann::json& test : one_or_more(text.document)) {
        BenchmarkRepetition made{.name = llama_test_name(test), .date = word(test, "test_time")};
        take_parameters(made, test,
                        {"model_type", "n_depth", "n_batch", "n_ubatch", "n_threads",
                         "n_gpu_layers", "type_k", "type_v", "split_mode", "flash_attn"});
        const std::vector<double> ns = numbers(member(test, "samples_ns")),
                                  rates = numbers(member(test, "samples_ts"));
        if (rates.empty() || ns.size() != rates.size())
            throw NotSuchFile(fmt::format("'{}' has no samples", made.name));
        for (std::size_t i = 0; i < rates.size(); ++i) {
            made.metrics = {{"tokens_per_second", "1/s", Direction::higher, rates[i]},
                            {"real_time", "s", Direction::lower, ns[i] * 1e-9}};
            file.repetitions.push_back(made);
        }
        copy_members(file.machine, test, {"cpu_info", "gpu_info", "backends"});
        copy_members(file.context, test, {"model_filename", "build_number"});
        file.commit = word(test, "build_commit");
    }
}

}  // namespace assay
