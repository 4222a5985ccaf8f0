// hyperfine's --export-json (as 1.15 and 1.19 write it): "results" has an entry per command, with
// the wall-clock times of its runs in seconds, their exit codes (null: killed by a signal) and, in
// newer versions, their memory. User and system time are means over the runs, and left out.
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

void add_hyperfine_runs(const nlohmann::json& entry, BenchmarkFile& file) {
    const std::vector<double> times = numbers(member(entry, "times")),
                              memory = numbers(member(entry, "memory_usage_byte"));
    const auto& codes = elements(member(entry, "exit_codes"));
    BenchmarkRepetition of{.name = word(entry, "command")};
    take_parameters(of, member(entry, "parameters"));
    if (times.empty()) throw NotSuchFile(fmt::format("'{}' has no times", of.name));
    for (std::size_t i = 0; i < times.size(); ++i) {
        BenchmarkRepetition run = of;
        if (i < codes.size() && codes[i] != 0) {
            run.status = "failed";
            run.reason = codes[i].is_null() ? "killed by a signal" : "exit code " + codes[i].dump();
        } else {
            run.metrics.push_back({"real_time", "s", Direction::lower, times[i]});
            if (i < memory.size())
                run.metrics.push_back({"memory_usage", "B", Direction::lower, memory[i]});
        }
        file.repetitions.push_back(std::move(run));
    }
}

}  // namespace

bool is_hyperfine(const ToolText& file) {
    return member(first_of(file.document, "results"), "command").is_string();
}

void read_hyperfine(const ToolText& text, BenchmarkFile& file) {
    for (const nlohmann::json& entry : elements(member(text.document, "results")))
        add_hyperfine_runs(entry, file);
}

}  // namespace assay
