// Criterion.rs' new/sample.json (as 0.5 writes it), below target/criterion: samples of "iters"
// iterations that took "times" nanoseconds together. benchmark.json beside it says what was
// measured; without that file, its folders do.
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// "fib/20" of ".../criterion/fib/20/new/sample.json".
std::string criterion_folder_name(const fs::path& sample) {
    std::string name;
    for (const fs::path& part : sample.parent_path().parent_path())
        name = part == "criterion" ? "" : name + (name.empty() ? "" : "/") + part.string();
    return name.empty() ? "criterion" : name;
}

BenchmarkRepetition criterion_benchmark(const fs::path& sample) {
    const auto beside = bytes_of(sample.parent_path() / "benchmark.json");
    const auto says = nlohmann::json::parse(beside.value_or(""), nullptr, false);
    const std::string group = word(says, "group_id"), function = word(says, "function_id"),
                      value = word(says, "value_str");
    if (group.empty()) return {.name = criterion_folder_name(sample)};
    BenchmarkRepetition made{.name = group + (function.empty() ? "" : '/' + function)};
    if (!value.empty()) take_parameter(made, "value", value);
    return made;
}

}  // namespace

bool is_criterion(const ToolText& file) {
    return member(file.document, "iters").is_array() && member(file.document, "times").is_array();
}

void read_criterion(const ToolText& text, BenchmarkFile& file) {
    const std::vector<double> iterations = numbers(member(text.document, "iters"));
    std::vector<double> times = numbers(member(text.document, "times"));
    if (iterations.size() != times.size() || times.empty())
        throw NotSuchFile(
            fmt::format("{} iterations and {} times", iterations.size(), times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) times[i] /= iterations[i] * 1e9;
    add_repetitions(file, criterion_benchmark(text.source), {"real_time", "s", Direction::lower},
                    times);
}

}  // namespace assay
