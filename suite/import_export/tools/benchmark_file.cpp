#include "suite/import_export/tools/benchmark_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "suite/base/date.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// A results file that a tool writes.
struct KnownFormat {
    std::string_view name;       ///< as --from calls it
    std::string_view title;      ///< "hyperfine's JSON"
    std::string_view made_with;  ///< the tool's options that write one
    bool (*recognises)(const ToolText&);
    void (*read)(const ToolText&, BenchmarkFile&);
    std::vector<BenchmarkMetric> metrics{};
    /// Which file of a folder it is, by the end of its path; empty: it writes no folders.
    std::string_view in_folders{};
};

constexpr Direction lower = Direction::lower, higher = Direction::higher;

/// Throughputs and latencies.
std::vector<BenchmarkMetric> vllm_known_metrics() {
    std::vector<BenchmarkMetric> all;
    for (const char* rate : {"request", "output", "total_token"})
        all.push_back({std::string(rate) + "_throughput", "1/s", higher});
    for (const char* of : {"mean", "median", "p99"})
        for (const char* latency : {"ttft", "tpot", "itl", "e2el"})
            all.push_back({fmt::format("{}_{}_ms", of, latency), "ms", lower});
    return all;
}

const std::vector<KnownFormat>& formats() {
    // Google Benchmark's last: files of other tools have its keys, too.
    static const std::vector<KnownFormat> all = {
        {"nvbench",
         "nvbench's JSON",
         "--json FILE, or --jsonbin FILE",
         is_nvbench,
         read_nvbench,
         {{"gpu_time", "s", lower},
          {"mean_gpu_time", "s", lower},
          {"bytes_per_second", "B/s", higher},
          {"items_per_second", "1/s", higher}}},
        {"pytest-benchmark",
         "pytest-benchmark's JSON",
         "--benchmark-json=FILE",
         is_pytest_benchmark,
         read_pytest_benchmark,
         {{"mean_time", "s", lower}}},
        {"hyperfine",
         "hyperfine's JSON",
         "--export-json FILE",
         is_hyperfine,
         read_hyperfine,
         {{"memory_usage", "B", lower}}},
        {"nccl-tests",
         "nccl-tests' JSON",
         "-J FILE",
         is_nccl_tests,
         read_nccl_tests,
         {{"alg_bw", "GB/s", higher}, {"bus_bw", "GB/s", higher}}},
        {"llama-bench",
         "llama-bench's JSON",
         "-o json, or -o jsonl",
         is_llama_bench,
         read_llama_bench,
         {{"tokens_per_second", "1/s", higher}}},
        {"vllm", "vLLM's serving benchmark", "vllm bench serve --save-result", is_vllm, read_vllm,
         vllm_known_metrics()},
        {"criterion",
         "Criterion's sample.json",
         "cargo bench, below target/criterion",
         is_criterion,
         read_criterion,
         {},
         "/new/sample.json"},
        {"reframe",
         "ReFrame's performance log",
         "reframe -r, below perflogs",
         is_reframe,
         read_reframe,
         {},
         ".log"},
        {"google-benchmark", "Google Benchmark's JSON",
         "--benchmark_out=FILE --benchmark_out_format=json", is_google_benchmark,
         read_google_benchmark}};
    return all;
}

std::string known_formats() {
    std::vector<std::string> all;
    for (const KnownFormat& format : formats())
        all.push_back(fmt::format("{} ({})", format.name, format.made_with));
    return fmt::format("{}", fmt::join(all, ", "));
}

const KnownFormat& format_called(std::string_view name) {
    for (const KnownFormat& format : formats())
        if (format.name == name) return format;
    throw UserError(fmt::format("no format is called '{}'; there are {}", name, known_formats()));
}

bool looks_like_json(std::string_view text) {
    const auto at = text.find_first_not_of(" \t\r\n");
    return at != text.npos && (text[at] == '{' || text[at] == '[');
}

ToolText tool_text(std::string_view text, const std::string& source) {
    return {text, source, looks_like_json(text) ? parse_tool_json(text, source) : nlohmann::json()};
}

const KnownFormat* recognised(const ToolText& text) {
    for (const KnownFormat& format : formats())
        if (format.recognises(text)) return &format;
    return nullptr;
}

/// "FILE:3:12" of a text in it; "FILE" where it is written otherwise.
std::string place_of(const ToolText& text, const std::string& found) {
    const auto at = text.text.find(found);
    if (at == text.text.npos) return text.source;
    const std::string_view before = text.text.substr(0, at);
    const auto newline = before.rfind('\n');
    return fmt::format("{}:{}:{}", text.source, 1 + std::count(before.begin(), before.end(), '\n'),
                       newline == before.npos ? at + 1 : at - newline);
}

/// UserError for a date that there is not.
std::optional<Moment> moment_of(const ToolText& text, const std::string& date) {
    if (const std::string why = impossible_date(date); !why.empty())
        throw UserError(fmt::format("{}: the date '{}': {}", place_of(text, date), date, why));
    return read_date(date);
}

/// What has no number to judge by has failed.
void judge_repetition(BenchmarkRepetition& made) {
    if (made.status != "ok") return;
    if (made.metrics.empty()) {
        made.status = "failed";
        if (made.reason.empty()) made.reason = "the file has no value of it";
        return;
    }
    made.reason.clear();
    const BenchmarkMetric& first = made.metrics.front();
    const bool finite = std::isfinite(first.value);
    if (first.unit != "s" || (finite && first.value > 0)) return;
    made.status = "failed";
    made.reason = finite ? "a time that is not above zero"
                         : fmt::format("its {} is {}", first.name, odd_number_word(first.value));
    made.metrics.clear();
}

/// All values of a metric in the unit of the first.
void unite_units(BenchmarkFile& file, const std::string& source) {
    std::map<std::pair<std::string, std::string>, std::string> units;
    for (BenchmarkRepetition& made : file.repetitions)
        for (BenchmarkMetric& metric : made.metrics) {
            const std::string& unit =
                units.try_emplace({made.name, metric.name}, metric.unit).first->second;
            if (unit == metric.unit) continue;
            const auto factor = unit_factor(metric.unit, unit);
            if (!factor)
                throw UserError(fmt::format("{}: '{}' of {} is in '{}' here and in '{}' there",
                                            source, metric.name, made.name, unit, metric.unit));
            metric.value *= *factor;
            metric.unit = unit;
        }
}

UserError not_such(const KnownFormat& format, const std::string& source, std::string_view what) {
    return UserError(fmt::format("{}: not {}: {}; write the file with {}", source, format.title,
                                 what, format.made_with));
}

BenchmarkFile read_as(const KnownFormat& format, const ToolText& text) {
    BenchmarkFile file;
    file.tool = format.name;
    file.text = text.text;
    try {
        format.read(text, file);
    } catch (const NotSuchFile& error) {
        throw not_such(format, text.source, error.what());
    }
    if (file.repetitions.empty())
        throw not_such(format, text.source, "no repetitions of a benchmark in it");
    std::map<std::string, int> rounds;
    file.started = moment_of(text, file.date);
    for (BenchmarkRepetition& made : file.repetitions) {
        if (made.name.empty()) throw not_such(format, text.source, "a benchmark without a name");
        judge_repetition(made);
        made.round = rounds[made.full_name()]++;
        made.started = made.date.empty() ? file.started : moment_of(text, made.date);
    }
    unite_units(file, text.source);
    return file;
}

void append(BenchmarkFile& all, BenchmarkFile&& more) {
    if (all.repetitions.empty()) {
        all = std::move(more);
        return;
    }
    all.text += more.text;
    std::move(more.repetitions.begin(), more.repetitions.end(),
              std::back_inserter(all.repetitions));
}

}  // namespace

std::string BenchmarkRepetition::experiment() const { return std::string(benchmark_prefix) + name; }

std::string BenchmarkRepetition::full_name() const {
    return parameters.empty() ? name : name + ' ' + to_string(parameters);
}

nlohmann::json BenchmarkFile::suspects() const {
    nlohmann::json all = context;
    if (!commit.empty()) all["commit"] = commit;
    if (!warnings.empty()) all["warnings"] = warnings;
    return all;
}

std::vector<std::string> BenchmarkFile::days() const {
    std::set<Moment> moments;
    for (const BenchmarkRepetition& each : repetitions)
        if (each.started) moments.insert(*each.started);
    const std::map<Moment, std::string> named = session_days(moments);
    std::set<std::string> different;
    for (const auto& [at, day] : named) different.insert(day);
    std::vector<std::string> all;
    for (const BenchmarkRepetition& each : repetitions)
        all.push_back(different.size() > 1 && each.started ? named.at(*each.started) : "");
    return all;
}

bool is_launcher(std::string_view arguments) {
    const auto at = arguments.find(format_word);
    if (at == arguments.npos) return arguments.find(results_word) != arguments.npos;
    const std::string_view name = arguments.substr(at + format_word.size());
    for (const char* itself : {"google-benchmark", "nvbench", "nccl-tests", "llama-bench"})
        if (name.starts_with(std::string(itself) + '}')) return false;
    return true;
}

std::vector<BenchmarkMetric> known_metrics(std::string_view format) {
    return format_called(format).metrics;
}

bool looks_like_benchmark_file(std::string_view beginning) {
    beginning = without_byte_order_mark(beginning);
    return looks_like_json(beginning) || is_reframe({beginning, {}, {}});
}

BenchmarkFile read_benchmark_file(std::string_view text, const std::string& source,
                                  std::string_view format) {
    text = without_byte_order_mark(text);
    // Google Benchmark's is read with rules of its own.
    if (format == "google-benchmark") return read_as(format_called(format), {text, source, {}});
    const ToolText file = tool_text(text, source);
    const KnownFormat* const known = format.empty() ? recognised(file) : &format_called(format);
    if (known == nullptr)
        throw UserError(fmt::format("{}: no results that are read; those of these tools are: {}",
                                    source, known_formats()));
    if (!known->recognises(file)) throw not_such(*known, source, "it has not what such a file has");
    return read_as(*known, file);
}

BenchmarkFile read_benchmark_folder(const fs::path& folder, std::string_view format) {
    std::vector<std::pair<fs::path, const KnownFormat*>> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        for (const KnownFormat& known : formats())
            if (entry.is_regular_file() && !known.in_folders.empty() &&
                (format.empty() || format == known.name) &&
                entry.path().string().ends_with(known.in_folders))
                found.emplace_back(entry.path(), &known);
    std::sort(found.begin(), found.end());
    BenchmarkFile all;
    for (const auto& [path, known] : found) {
        const std::string text = bytes_of(path).value_or("");
        const ToolText file = tool_text(text, path.string());
        if (known->recognises(file)) append(all, read_as(*known, file));
    }
    if (all.repetitions.empty())
        throw UserError(
            fmt::format("{} is a folder, and none of Criterion's or ReFrame's; name a file in it",
                        folder.string()));
    return all;
}

}  // namespace assay
