// Google Benchmark's JSON, as --benchmark_out writes it (docs/user_guide.md of that project and its
// json_reporter.cc; versions 1.4 to 1.9; before 1.5 it wrote no run_type).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

using nlohmann::json;

/// An element of "benchmarks".
struct GoogleEntry {
    std::string name;
    json fields;
    /// Of keys that came before: a user's counter may be called as a field of the file is, and is
    /// written after it.
    std::map<std::string, double> repeated;

    std::string word(const char* key) const;  ///< "" where there is none
    bool flag(const char* key) const;
    std::int64_t index(const char* key) const;  ///< -1 where there is none
    bool is_aggregate() const;
    /// Of the benchmark that it is a repetition or an aggregate of.
    std::string benchmark() const;
};

/// As `assay doctor` judges a machine: more disturbs measured numbers visibly.
constexpr double most_load_per_core = 0.5;

/// Of the context what affects speed and so tells machines apart.
constexpr std::array machine_keys{"num_cpus", "caches", "library_build_type"};

/// Numbers of an entry that describe the run, not its result.
constexpr std::array run_keys{"family_index", "per_family_instance_index",
                              "repetitions",  "repetition_index",
                              "threads",      "iterations"};

template <std::size_t N>
bool is_among(const std::array<const char*, N>& keys, std::string_view key) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* each) { return key == each; });
}

std::optional<double> counter_value(const json& value) {
    return value.is_string() ? std::nullopt : number(value);
}

/// A parser of the whole file that keeps the first of fields of one name and notes the numbers of
/// the others, by the entry of "benchmarks" that has them.
class GoogleFileParser {
  public:
    json parsed(const std::string& text, const std::string& source) {
        try {
            return parse_json(text, [this](int depth, json::parse_event_t event, json& value) {
                return keep(depth, event, value);
            });
        } catch (const JsonError& error) {
            throw UserError(
                fmt::format("{}:{}:{}: {}", source, error.line, error.column, error.what()));
        }
    }

    std::map<std::string, double> repeated(std::size_t entry) const {
        const auto found = repeated_.find(entry);
        return found == repeated_.end() ? std::map<std::string, double>() : found->second;
    }

  private:
    static constexpr int of_file = 1, of_entry = 3;  // depths of keys

    bool keep(int depth, json::parse_event_t event, const json& value) {
        using Event = json::parse_event_t;
        if (event == Event::object_start) {
            keys_[depth + 1].clear();
            if (in_entries_ && depth == of_entry - 1) ++entries_;
        } else if (event == Event::key) {
            key_ = value.get<std::string>();
            again_ = !keys_[depth].insert(key_).second;
            if (depth == of_file) in_entries_ = key_ == "benchmarks";
            if (in_entries_ && depth == of_entry) return !again_;
            if (again_) throw JsonRefusal{fmt::format("the key {} is given twice", key_)};
        } else if (in_entries_ && event == Event::value && again_) {
            // The code of an odd number is inside an array.
            if (const auto found = counter_value(depth == of_entry ? value : json::array({value})))
                repeated_[entries_ - 1].emplace(key_, *found);
            again_ = false;
        }
        return true;
    }

    bool in_entries_ = false, again_ = false;
    std::size_t entries_ = 0;
    std::string key_;
    std::map<int, std::set<std::string>> keys_;  // of the objects around, by their depth
    std::map<std::size_t, std::map<std::string, double>> repeated_;
};

std::string GoogleEntry::word(const char* key) const { return assay::word(fields, key); }

bool GoogleEntry::flag(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_boolean() && found->get<bool>();
}

std::int64_t GoogleEntry::index(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

bool GoogleEntry::is_aggregate() const {
    if (const std::string type = word("run_type"); !type.empty()) return type == "aggregate";
    for (const auto* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
        if (name.ends_with(end)) return true;
    return false;
}

std::string GoogleEntry::benchmark() const {
    if (!is_aggregate()) return name;
    const std::string told = word("run_name");  // old files tell only "BM_copy_mean"
    return told.empty() ? name.substr(0, name.rfind('_')) : told;
}

/// Tells benchmarks of one name apart: by their place in the program, which files tell since 1.6;
/// of older ones by repetitions that come again.
class GoogleNames {
  public:
    explicit GoogleNames(const std::vector<GoogleEntry>& entries) {
        for (const GoogleEntry& entry : entries) {
            std::vector<Place>& known = places_[entry.benchmark()];
            of_entries_.push_back(place_of(entry));
            if (std::find(known.begin(), known.end(), of_entries_.back()) == known.end())
                known.push_back(of_entries_.back());
        }
    }

    std::string of(const GoogleEntry& entry, std::size_t number) const {
        const std::vector<Place>& known = places_.at(entry.benchmark());
        if (known.size() == 1) return entry.benchmark();
        const auto at = std::find(known.begin(), known.end(), of_entries_[number]);
        return fmt::format("{} ({} of {})", entry.benchmark(), at - known.begin() + 1,
                           known.size());
    }

  private:
    using Place = std::pair<std::int64_t, std::int64_t>;

    Place place_of(const GoogleEntry& entry) {
        if (const auto family = entry.index("family_index"); family >= 0)
            return {family, entry.index("per_family_instance_index")};
        const auto repetition = entry.index("repetition_index");
        if (entry.is_aggregate() || repetition < 0) return {0, -1};
        return {seen_[{entry.name, repetition}]++, -1};
    }

    std::map<std::string, std::vector<Place>> places_;
    std::vector<Place> of_entries_;
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> seen_;
};

double units_per_second(const GoogleEntry& entry) {
    const std::string unit = entry.word("time_unit");
    if (unit.empty() || unit == "ns") return 1e9;  // the default of that library
    if (unit == "us") return 1e6;
    if (unit == "ms") return 1e3;
    if (unit == "s") return 1;
    throw NotSuchFile(
        fmt::format("'{}' has the time_unit '{}', not one of ns, us, ms, s", entry.name, unit));
}

/// real_time and cpu_time in seconds, then the counters in name order, those that end in
/// "_per_second" higher is better. A counter of the name of one of the file's own fields is
/// "counter:NAME".
std::vector<BenchmarkMetric> google_metrics(const GoogleEntry& entry) {
    std::vector<BenchmarkMetric> all;
    const auto number_of = [](const json& value) {  // null: what JSON writers make of NaN
        return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : counter_value(value);
    };
    const auto add_time = [&](const char* key) {
        const auto found = entry.fields.find(key);
        const auto time = found == entry.fields.end() ? std::nullopt : number_of(*found);
        if (time)
            all.push_back({key, "s", benchmark_direction(key), *time / units_per_second(entry)});
        return time.has_value();
    };
    if (!add_time("real_time")) throw NotSuchFile(fmt::format("'{}' has no real_time", entry.name));
    add_time("cpu_time");
    for (const auto& [key, value] : entry.fields.items())
        if (const auto counter = number_of(value);
            counter && key != "real_time" && key != "cpu_time" && !is_among(run_keys, key))
            all.push_back({key, "", benchmark_direction(key), *counter});
    for (const auto& [name, value] : entry.repeated)
        all.push_back({"counter:" + name, "", benchmark_direction("counter:" + name), value});
    return all;
}

BenchmarkRepetition google_repetition(const std::string& name, const GoogleEntry& entry) {
    BenchmarkRepetition made{.name = name};
    const bool failed = entry.flag("error_occurred");
    if (!failed && !entry.flag("skipped")) {
        made.metrics = google_metrics(entry);
        return made;
    }
    made.status = failed ? "failed" : "unsupported";
    made.reason = entry.word(failed ? "error_message" : "skip_message");
    if (made.reason.empty()) made.reason = "the benchmark does not say why";
    return made;
}

std::vector<GoogleEntry> google_entries(const ToolText& text, json& context) {
    GoogleFileParser parser;
    json file = parser.parsed(with_odd_numbers_coded(text.text, ":"), text.source);
    if (!file.is_object()) throw NotSuchFile("it is no object");
    const auto listed = file.find("benchmarks");
    if (listed == file.end() || !listed->is_array()) throw NotSuchFile("no array \"benchmarks\"");
    if (member(file, "context").is_object()) context = member(file, "context");
    std::vector<GoogleEntry> entries;
    for (json& fields : *listed) {
        if (!fields.is_object()) throw NotSuchFile("an entry of \"benchmarks\" is no object");
        const std::string name = word(fields, "name");
        if (name.empty()) throw NotSuchFile("a benchmark without a name");
        entries.push_back({name, std::move(fields), parser.repeated(entries.size())});
    }
    return entries;
}

/// Several benchmarks of one name are "BM_copy (1 of 2)" and so on, in the order of the file: none
/// is taken for another, and none for the only one that another file has. A benchmark of which the
/// file has only aggregates, beside others, follows as one that is not supported.
void add_google_repetitions(const std::vector<GoogleEntry>& entries, const std::string& source,
                            BenchmarkFile& file) {
    const GoogleNames names(entries);
    std::set<std::string> aggregated, repeated;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const GoogleEntry& entry = entries[i];
        const std::string name = names.of(entry, i);
        if (!entry.is_aggregate()) {
            repeated.insert(name);
            file.repetitions.push_back(google_repetition(name, entry));
            continue;
        }
        // A mean is of a benchmark; a complexity is of a family of them.
        const std::string kind = entry.word("aggregate_name");
        if (kind == "mean" || (kind.empty() && entry.name.ends_with("_mean")))
            aggregated.insert(name);
    }
    const bool any_ran = std::any_of(file.repetitions.begin(), file.repetitions.end(),
                                     [](const auto& made) { return !made.metrics.empty(); });
    if (!any_ran && !aggregated.empty())
        throw UserError(fmt::format(
            "{}: holds aggregates (means, medians) only, and comparing needs the repetitions; run "
            "the benchmark again without --benchmark_report_aggregates_only "
            "(--benchmark_display_aggregates_only is harmless: it shortens the screen, not the "
            "file)",
            source));
    for (const std::string& name : aggregated)
        if (!repeated.contains(name))
            file.repetitions.push_back(
                {.name = name, .status = "unsupported", .reason = std::string(aggregates_reason)});
}

/// What the context says of a machine that was not quiet.
std::string google_warnings(const json& context) {
    std::string names;
    const json& load = first_of(context, "load_avg");
    const double cores = number(member(context, "num_cpus")).value_or(0);
    if (load.is_number() && cores > 0 && load.get<double>() / cores > most_load_per_core)
        names = "load";
    if (member(context, "cpu_scaling_enabled") == true)
        names += names.empty() ? "cpu scaling" : ", cpu scaling";
    return names;
}

}  // namespace

bool is_google_benchmark(const ToolText& file) {
    const json& listed = member(file.document, "benchmarks");
    return listed.is_array() && (listed.empty() || !word(listed.front(), "name").empty() ||
                                 member(file.document, "context").is_object());
}

void read_google_benchmark(const ToolText& text, BenchmarkFile& file) {
    json context = json::object();
    const std::vector<GoogleEntry> entries = google_entries(text, context);
    add_google_repetitions(entries, text.source, file);
    file.date = word(context, "date");
    file.warnings = google_warnings(context);
    for (const auto& [key, value] : context.items())
        if (is_among(machine_keys, key))
            file.machine[key] = value;
        else if (key != "date" && key != "load_avg" && key != "json_schema_version")
            file.context[key] = value;
}

}  // namespace assay
