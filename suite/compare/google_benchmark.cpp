// Google Benchmark's JSON, as --benchmark_out writes it (docs/user_guide.md of that project and its
// json_reporter.cc; versions from 1.4 on, which wrote no run_type before 1.5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/compare/read_arm.hpp"
#include "suite/experiment/error.hpp"

namespace assay::compare {
namespace {

using nlohmann::json;

/// Line and column, both from 1, of a byte of the text, from 1 as well.
std::string place(const std::string& text, std::size_t byte) {
    const std::size_t before = std::min(text.size(), byte > 0 ? byte - 1 : 0);
    const std::string_view read = std::string_view(text).substr(0, before);
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    const auto newline = read.rfind('\n');
    const auto column = newline == read.npos ? before + 1 : before - newline;
    return fmt::format("{}:{}", line, column);
}

json parsed(const std::string& text, const std::string& source) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        // The library's own text repeats the place, after which it says what is wrong.
        const std::string_view says = error.what();
        const auto colon = says.rfind(": ");
        throw UserError(fmt::format("{}:{}: not valid JSON: {}", source, place(text, error.byte),
                                    colon == says.npos ? says : says.substr(colon + 2)));
    } catch (const json::exception& error) {
        throw UserError(fmt::format("{}: not valid JSON: {}", source, error.what()));
    }
}

[[noreturn]] void refuse(const std::string& source, const std::string& what) {
    throw UserError(
        fmt::format("{}: not Google Benchmark's JSON: {}; write the file with "
                    "--benchmark_out=FILE --benchmark_out_format=json",
                    source, what));
}

std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

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
void read_context(const json& file, std::map<std::string, std::string>& context,
                  std::map<std::string, std::string>& suspects) {
    const auto found = file.find("context");
    if (found == file.end() || !found->is_object()) return;
    constexpr std::array ignored{"date", "load_avg", "json_schema_version"};
    for (const auto& [key, value] : found->items()) {
        if (std::find(ignored.begin(), ignored.end(), key) != ignored.end()) continue;
        if (key == "caches")
            context[key] = caches_text(value);
        else if (key == "num_cpus" || key == "library_build_type")
            context[key] = dumped(value);
        else
            suspects[key] = dumped(value);
    }
}

/// How many of the unit are a second. 0: unknown.
double per_second(const std::string& unit) {
    if (unit.empty() || unit == "ns") return 1e9;  // the default of that library
    if (unit == "us") return 1e6;
    if (unit == "ms") return 1e3;
    return unit == "s" ? 1 : 0;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

bool is_aggregate(const json& entry, const std::string& name) {
    const std::string type = text_of(entry, "run_type");
    if (!type.empty()) return type == "aggregate";
    return ends_with_any(name, {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"});
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

void add_entry(Series& series, const json& entry, const std::string& source) {
    if (flag_of(entry, "error_occurred")) {
        ++series.failed;
        return;
    }
    if (flag_of(entry, "skipped")) {
        ++series.excluded;
        return;
    }
    const auto time = entry.find("real_time");
    if (time == entry.end() || !time->is_number())
        refuse(source, fmt::format("'{}' has no real_time", series.name.variant));
    const std::string unit = text_of(entry, "time_unit");
    const double scale = per_second(unit);
    if (scale == 0)
        refuse(source, fmt::format("'{}' has the time_unit '{}', not one of ns, us, ms, s",
                                   series.name.variant, unit));
    series.points.push_back({time->get<double>() / scale, "", ""});
}

}  // namespace

Arm read_google_benchmark(const std::string& text, const std::string& source) {
    const json file = parsed(text, source);
    if (!file.is_object()) refuse(source, "no object");
    const auto entries = file.find("benchmarks");
    if (entries == file.end() || !entries->is_array()) refuse(source, "no array \"benchmarks\"");

    Arm arm;
    std::map<std::string, std::string> context;
    read_context(file, context, arm.suspects);
    std::map<std::string, std::size_t> index;
    int aggregates = 0;
    for (const json& entry : *entries) {
        if (!entry.is_object()) refuse(source, "an entry of \"benchmarks\" is no object");
        const std::string name = text_of(entry, "name");
        if (name.empty()) refuse(source, "a benchmark without a name");
        if (is_aggregate(entry, name))
            ++aggregates;
        else
            add_entry(series_named(arm, index, name, context), entry, source);
    }
    if (arm.series.empty() && aggregates > 0)
        throw UserError(fmt::format(
            "{}: holds aggregates (means, medians) only, and comparing needs the repetitions; run "
            "the benchmark again without --benchmark_report_aggregates_only",
            source));
    if (arm.series.empty()) refuse(source, "no benchmark in it");
    arm.says = fmt::format("{}, {} benchmark{} of {}", source, arm.series.size(),
                           arm.series.size() == 1 ? "" : "s",
                           text_of(file.value("context", json::object()), "date"));
    if (arm.says.ends_with(" of ")) arm.says.resize(arm.says.size() - 4);
    return arm;
}

}  // namespace assay::compare
