#include "suite/import_export/google_benchmark_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay {

/// An element of "benchmarks".
struct GoogleBenchmarkFile::Entry {
    std::string name;
    nlohmann::json fields;
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

namespace {

using nlohmann::json;

/// As `assay doctor` judges a machine: more disturbs measured numbers visibly.
constexpr double most_load_per_core = 0.5;

constexpr std::array context_keys{"num_cpus", "caches", "library_build_type"};

/// Numbers of an entry that describe the run, not its result.
constexpr std::array run_keys{"family_index", "per_family_instance_index",
                              "repetitions",  "repetition_index",
                              "threads",      "iterations"};

template <std::size_t N>
bool is_among(const std::array<const char*, N>& keys, std::string_view key) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* each) { return key == each; });
}

/// NaN and the infinities, which JSON has not and that library writes as values (before 1.5 as the
/// C library does): a counter of zeros has the coefficient of variation NaN, in the midst of a file
/// that is good else. Each becomes an array of one number, `code`, which is as long as the word at
/// least, so that places in the text stay what they are; that library writes no other array there.
struct OddNumber {
    std::string_view word;
    int code;
    double value;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr OddNumber odd_numbers[] = {{"NaN", 1, not_a_number},    {"nan", 1, not_a_number},
                                     {"-NaN", 1, not_a_number},   {"-nan", 1, not_a_number},
                                     {"Infinity", 2, infinity},   {"inf", 2, infinity},
                                     {"-Infinity", 3, -infinity}, {"-inf", 3, -infinity}};

std::string with_odd_numbers_coded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false, value_follows = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (!quoted && value_follows)
            if (const auto odd = std::find_if(
                    std::begin(odd_numbers), std::end(odd_numbers),
                    [&](const OddNumber& each) { return text.substr(at).starts_with(each.word); });
                odd != std::end(odd_numbers)) {
                out += fmt::format("{:<{}}", fmt::format("[{}]", odd->code), odd->word.size());
                at += odd->word.size();
                value_follows = false;
                continue;
            }
        if (c == '\\' && quoted && at + 1 < text.size()) out += text[at++];
        if (c == '"') quoted = !quoted;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') value_follows = c == ':';
        out += text[at++];
    }
    return out;
}

std::optional<double> number_of(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_array() && value.size() == 1)
        for (const OddNumber& odd : odd_numbers)
            if (value.front() == odd.code) return odd.value;
    return std::nullopt;
}

std::string dumped(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A parser of the whole file that keeps the first of fields of one name and notes the numbers of
/// the others, by the entry of "benchmarks" that has them.
class FileParser {
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
            if (again_) throw JsonRefusal{fmt::format("the key {} is given twice", dumped(value))};
        } else if (in_entries_ && event == Event::value && again_) {
            // The code of an odd number is inside an array.
            if (const auto number = number_of(depth == of_entry ? value : json::array({value})))
                repeated_[entries_ - 1].emplace(key_, *number);
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

std::string word_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
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

}  // namespace

std::string GoogleBenchmarkFile::Entry::word(const char* key) const { return word_of(fields, key); }

bool GoogleBenchmarkFile::Entry::flag(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_boolean() && found->get<bool>();
}

std::int64_t GoogleBenchmarkFile::Entry::index(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

bool GoogleBenchmarkFile::Entry::is_aggregate() const {
    if (const std::string type = word("run_type"); !type.empty()) return type == "aggregate";
    for (const auto* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
        if (name.ends_with(end)) return true;
    return false;
}

std::string GoogleBenchmarkFile::Entry::benchmark() const {
    if (!is_aggregate()) return name;
    const std::string told = word("run_name");  // old files tell only "BM_copy_mean"
    return told.empty() ? name.substr(0, name.rfind('_')) : told;
}

/// Tells benchmarks of one name apart: by their place in the program, which files tell since 1.6;
/// of older ones by repetitions that come again.
class GoogleBenchmarkFile::Names {
  public:
    explicit Names(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            std::vector<Place>& known = places_[entry.benchmark()];
            of_entries_.push_back(place_of(entry));
            if (std::find(known.begin(), known.end(), of_entries_.back()) == known.end())
                known.push_back(of_entries_.back());
        }
    }

    std::string of(const Entry& entry, std::size_t number) const {
        const std::vector<Place>& known = places_.at(entry.benchmark());
        if (known.size() == 1) return entry.benchmark();
        const auto at = std::find(known.begin(), known.end(), of_entries_[number]);
        return fmt::format("{} ({} of {})", entry.benchmark(), at - known.begin() + 1,
                           known.size());
    }

  private:
    using Place = std::pair<std::int64_t, std::int64_t>;

    Place place_of(const Entry& entry) {
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

GoogleBenchmarkFile::GoogleBenchmarkFile(std::string_view text, std::string source)
    : source_(std::move(source)), context_(json::object()) {
    FileParser parser;
    json file = parser.parsed(with_odd_numbers_coded(text), source_);
    if (!file.is_object()) refuse("it is no object");
    const auto listed = file.find("benchmarks");
    if (listed == file.end() || !listed->is_array()) refuse("no array \"benchmarks\"");
    if (const auto context = file.find("context"); context != file.end() && context->is_object())
        context_ = std::move(*context);
    std::vector<Entry> entries;
    for (json& fields : *listed) {
        if (!fields.is_object()) refuse("an entry of \"benchmarks\" is no object");
        const std::string name = word_of(fields, "name");
        if (name.empty()) refuse("a benchmark without a name");
        entries.push_back({name, std::move(fields), parser.repeated(entries.size())});
    }
    take(entries);
}

void GoogleBenchmarkFile::take(const std::vector<Entry>& entries) {
    const Names names(entries);
    std::set<std::string> aggregated;
    std::map<std::string, int> rounds;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        const std::string name = names.of(entry, i);
        if (entry.is_aggregate()) {
            // A mean is of a benchmark; a complexity is of a family of them.
            const std::string kind = entry.word("aggregate_name");
            if (kind == "mean" || (kind.empty() && entry.name.ends_with("_mean")))
                aggregated.insert(name);
            continue;
        }
        Repetition made = repetition(entry);
        made.experiment = std::string(benchmark_prefix) + name;
        made.round = rounds[name]++;
        repetitions_.push_back(std::move(made));
    }
    const bool any_ran =
        std::any_of(repetitions_.begin(), repetitions_.end(),
                    [](const Repetition& repetition) { return repetition.status == "ok"; });
    if (!any_ran && !aggregated.empty())
        throw UserError(fmt::format(
            "{}: holds aggregates (means, medians) only, and comparing needs the repetitions; run "
            "the benchmark again without --benchmark_report_aggregates_only "
            "(--benchmark_display_aggregates_only is harmless: it shortens the screen, not the "
            "file)",
            source_));
    for (const std::string& name : aggregated)
        if (!rounds.contains(name))
            repetitions_.push_back({.experiment = std::string(benchmark_prefix) + name,
                                    .round = 0,
                                    .status = "unsupported",
                                    .reason = std::string(aggregates_reason),
                                    .metrics = {}});
    if (repetitions_.empty()) refuse("no repetitions of a benchmark in it");
}

std::string GoogleBenchmarkFile::context_word(const char* key) const {
    return word_of(context_, key);
}

json GoogleBenchmarkFile::suspects() const {
    constexpr std::array ignored{"date", "load_avg", "json_schema_version"};
    json suspects = json::object();
    for (const auto& [key, value] : context_.items())
        if (!is_among(context_keys, key) && !is_among(ignored, key)) suspects[key] = value;
    return suspects;
}

std::string GoogleBenchmarkFile::warnings() const {
    std::string names;
    const auto load = context_.find("load_avg"), cores = context_.find("num_cpus");
    if (load != context_.end() && load->is_array() && !load->empty() && load->front().is_number() &&
        cores != context_.end() && cores->is_number() && cores->get<double>() > 0 &&
        load->front().get<double>() / cores->get<double>() > most_load_per_core)
        names = "load";
    const auto scaling = context_.find("cpu_scaling_enabled");
    if (scaling != context_.end() && scaling->is_boolean() && scaling->get<bool>())
        names += names.empty() ? "cpu scaling" : ", cpu scaling";
    return names;
}

double GoogleBenchmarkFile::per_second(const Entry& entry) const {
    const std::string unit = entry.word("time_unit");
    if (unit.empty() || unit == "ns") return 1e9;  // the default of that library
    if (unit == "us") return 1e6;
    if (unit == "ms") return 1e3;
    if (unit == "s") return 1;
    refuse(fmt::format("'{}' has the time_unit '{}', not one of ns, us, ms, s", entry.name, unit));
}

GoogleBenchmarkFile::Repetition GoogleBenchmarkFile::repetition(const Entry& entry) const {
    Repetition made;
    made.experiment = std::string(benchmark_prefix) + entry.name;
    const bool failed = entry.flag("error_occurred");
    if (failed || entry.flag("skipped")) {
        made.status = failed ? "failed" : "unsupported";
        made.reason = entry.word(failed ? "error_message" : "skip_message");
        if (made.reason.empty()) made.reason = "the benchmark does not say why";
        return made;
    }
    made.metrics = metrics(entry);
    made.status = "ok";
    const double real_time_s = made.metrics.front().value;
    if (real_time_s > 0 && std::isfinite(real_time_s)) return made;
    made.metrics.clear();
    made.status = "failed";
    made.reason = std::isfinite(real_time_s)
                      ? "a time that is not above zero"
                      : fmt::format("its real_time is {}", odd_number_word(real_time_s));
    return made;
}

std::vector<GoogleBenchmarkFile::Metric> GoogleBenchmarkFile::metrics(const Entry& entry) const {
    std::vector<Metric> all;
    const auto add_time = [&](const char* key) {
        const auto field = entry.fields.find(key);
        const auto time = field == entry.fields.end() ? std::nullopt : number_of(*field);
        if (time) all.push_back({key, "s", benchmark_direction(key), *time / per_second(entry)});
        return time.has_value();
    };
    if (!add_time("real_time")) refuse(fmt::format("'{}' has no real_time", entry.name));
    add_time("cpu_time");
    for (const auto& [key, value] : entry.fields.items())
        if (const auto number = number_of(value);
            number && key != "real_time" && key != "cpu_time" && !is_among(run_keys, key))
            all.push_back({key, "", benchmark_direction(key), *number});
    for (const auto& [name, value] : entry.repeated)
        all.push_back({"counter:" + name, "", benchmark_direction("counter:" + name), value});
    return all;
}

void GoogleBenchmarkFile::refuse(const std::string& what) const {
    throw UserError(
        fmt::format("{}: not Google Benchmark's JSON: {}; write the file with "
                    "--benchmark_out=FILE --benchmark_out_format=json",
                    source_, what));
}

std::string_view odd_number_word(double value) {
    return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::string program_name(std::string_view name) {
    const auto open = name.rfind(" (");
    if (open == name.npos || !name.ends_with(')')) return std::string(name);
    const std::string_view numbers = name.substr(open + 2, name.size() - open - 3);
    const auto of = numbers.find(" of ");
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    const bool numbered =
        of != numbers.npos && is_number(numbers.substr(0, of)) && is_number(numbers.substr(of + 4));
    return std::string(numbered ? name.substr(0, open) : name);
}

bool is_benchmark_time(std::string_view experiment, std::string_view metric) {
    return experiment.starts_with(benchmark_prefix) &&
           (metric == "real_time" || metric == "cpu_time");
}

Direction benchmark_direction(std::string_view metric) {
    if (metric == "real_time" || metric == "cpu_time") return Direction::lower;
    return metric.ends_with("_per_second") ? Direction::higher : Direction::none;
}

json benchmark_machine(const json& context) {
    json machine = json::object();
    for (const char* key : context_keys)
        if (const auto value = context.find(key); value != context.end()) machine[key] = *value;
    return machine;
}

std::map<std::string, std::string> benchmark_context(const json& description) {
    std::map<std::string, std::string> context;
    const json machine = benchmark_machine(description);
    for (const auto& [key, value] : machine.items()) {
        const std::string text = key == "caches" ? caches_text(value) : dumped(value);
        if (!text.empty() && value != 0 && !value.is_null()) context[key] = text;
    }
    return context;
}

}  // namespace assay
