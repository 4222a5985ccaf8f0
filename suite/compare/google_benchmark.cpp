// A file of Google Benchmark as an arm: one series per benchmark, its repetitions the points.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "suite/compare/read_arm.hpp"
#include "suite/experiment/error.hpp"
#include "suite/formats/google_benchmark_file.hpp"

namespace assay::compare {
namespace {

using nlohmann::json;

std::string dumped(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string caches_text(const json& caches) {
    std::string all;
    for (const json& cache : caches) {
        if (!cache.is_object()) continue;
        const auto part = [&](const char* key) {
            return cache.contains(key) ? dumped(cache[key]) : std::string("?");
        };
        all += fmt::format("{}L{} {} {} B shared by {}", all.empty() ? "" : ", ", part("level"),
                           part("type"), part("size"), part("num_sharing"));
    }
    return all;
}

/// What can change results; time and load are left out, everything else is a suspect.
void read_context(const json& all, std::map<std::string, std::string>& context,
                  std::map<std::string, std::string>& suspects) {
    constexpr std::array ignored{"date", "load_avg", "json_schema_version"};
    for (const auto& [key, value] : all.items()) {
        if (std::find(ignored.begin(), ignored.end(), key) != ignored.end()) continue;
        if (key == "caches")
            context[key] = caches_text(value);
        else if (key == "num_cpus" || key == "library_build_type")
            context[key] = dumped(value);
        else
            suspects[key] = dumped(value);
    }
}

/// The series of a benchmark, made when it comes first.
Series& series_named(Arm& arm, std::map<std::string, std::size_t>& index, const std::string& name,
                     const std::map<std::string, std::string>& context) {
    const auto [at, is_new] = index.emplace(name, arm.series.size());
    if (is_new) {
        Series series;
        series.name.variant = name;
        series.name.metric = "real_time";
        series.unit = "s";
        series.better = Direction::lower;
        series.context = context;
        arm.series.push_back(std::move(series));
    }
    return arm.series[at->second];
}

void add(Series& series, const GoogleBenchmarkFile& file,
         const GoogleBenchmarkFile::Entry& repetition) {
    if (!file.failure(repetition).empty())
        ++series.failed;
    else if (repetition.flag("skipped"))
        ++series.excluded;
    else
        series.points.push_back({file.real_time_s(repetition), "", ""});
}

}  // namespace

Arm read_google_benchmark(const std::string& text, const std::string& source) {
    const GoogleBenchmarkFile file(text, source);
    if (file.repetitions().empty() && file.has_aggregates())
        throw UserError(fmt::format(
            "{}: holds aggregates (means, medians) only, and comparing needs the repetitions; run "
            "the benchmark again without --benchmark_report_aggregates_only",
            source));
    if (file.repetitions().empty()) file.refuse("no benchmark in it");

    Arm arm;
    std::map<std::string, std::string> context;
    read_context(file.context(), context, arm.suspects);
    std::map<std::string, std::size_t> index;
    for (const auto& repetition : file.repetitions())
        add(series_named(arm, index, repetition.name, context), file, repetition);
    arm.says = fmt::format("{}, {} benchmark{}", source, arm.series.size(),
                           arm.series.size() == 1 ? "" : "s");
    if (const auto date = file.context_word("date"); !date.empty()) arm.says += " of " + date;
    return arm;
}

}  // namespace assay::compare
