#include "suite/import_export/google_benchmark_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "suite/base/error.hpp"

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

/// Line and column, both from 1, of a byte of the text, from 1 as well.
std::string place(std::string_view text, std::size_t byte) {
    const std::string_view read = text.substr(0, byte > 0 ? byte - 1 : 0);
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    const auto newline = read.rfind('\n');
    return fmt::format("{}:{}", line,
                       newline == read.npos ? read.size() + 1 : read.size() - newline);
}

/// That library writes NaN and Infinity as values, which JSON has not (a counter of zeros has the
/// coefficient of variation NaN, in the midst of a file that is good else). Both become null.
std::string without_odd_numbers(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false, after_colon = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (!quoted && after_colon) {
            const std::size_t sign = c == '-' ? 1 : 0;
            std::size_t odd = 0;
            for (const std::string_view word : {"NaN", "Infinity"})
                if (text.substr(at + sign).starts_with(word)) odd = sign + word.size();
            if (odd > 0) {
                out += "null";
                at += odd;
                continue;
            }
        }
        if (c == '\\' && quoted && at + 1 < text.size()) out += text[at++];
        if (c == '"') quoted = !quoted;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') after_colon = c == ':';
        out += text[at++];
    }
    return out;
}

/// A parser of the whole file that keeps the first of fields of one name and notes the numbers of
/// the others, by the entry of "benchmarks" that has them.
class FileParser {
  public:
    json parsed(const std::string& text, const std::string& source) {
        try {
            return json::parse(text, [this](int depth, json::parse_event_t event, json& value) {
                return keep(depth, event, value);
            });
        } catch (const json::parse_error& error) {
            // The library's own text repeats the place, after which it says what is wrong.
            const std::string_view says = error.what();
            const auto colon = says.rfind(": ");
            throw UserError(fmt::format("{}:{}: not valid JSON: {}", source,
                                        place(text, error.byte),
                                        colon == says.npos ? says : says.substr(colon + 2)));
        } catch (const json::exception& error) {
            throw UserError(fmt::format("{}: not valid JSON: {}", source, error.what()));
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
        if (event == Event::key && depth == of_file) {
            in_entries_ = value == "benchmarks";
            entries_ = 0;
        } else if (in_entries_ && event == Event::object_start && depth == of_entry - 1) {
            repeated_.erase(entries_++);  // of a first "benchmarks", which the second replaces
            seen_.clear();
        } else if (in_entries_ && event == Event::key && depth == of_entry) {
            key_ = value.get<std::string>();
            again_ = !seen_.insert(key_).second;
            return !again_;
        } else if (in_entries_ && event == Event::value && depth == of_entry && again_) {
            if (value.is_number()) repeated_[entries_ - 1].emplace(key_, value.get<double>());
            again_ = false;
        }
        return true;
    }

    bool in_entries_ = false, again_ = false;
    std::size_t entries_ = 0;
    std::string key_;
    std::set<std::string> seen_;
    std::map<std::size_t, std::map<std::string, double>> repeated_;
};

std::string word_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
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

/// Of the benchmark that an aggregate is of; old files tell only "BM_copy_mean".
std::string run_name(const std::string& name, const std::string& told) {
    return told.empty() ? name.substr(0, name.rfind('_')) : told;
}

bool is_aggregate(const std::string& name, const std::string& run_type) {
    if (!run_type.empty()) return run_type == "aggregate";
    for (const auto* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
        if (name.ends_with(end)) return true;
    return false;
}

}  // namespace

std::string GoogleBenchmarkFile::Entry::word(const char* key) const { return word_of(fields, key); }

bool GoogleBenchmarkFile::Entry::flag(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_boolean() && found->get<bool>();
}

GoogleBenchmarkFile::GoogleBenchmarkFile(std::string_view text, std::string source)
    : source_(std::move(source)), context_(json::object()) {
    FileParser parser;
    json file = parser.parsed(without_odd_numbers(text), source_);
    if (!file.is_object()) refuse("it is no object");
    const auto entries = file.find("benchmarks");
    if (entries == file.end() || !entries->is_array()) refuse("no array \"benchmarks\"");
    if (const auto context = file.find("context"); context != file.end() && context->is_object())
        context_ = std::move(*context);
    std::set<std::string> aggregated;
    std::map<std::string, int> rounds;
    for (std::size_t i = 0; i < entries->size(); ++i) {
        json& fields = entries->at(i);
        if (!fields.is_object()) refuse("an entry of \"benchmarks\" is no object");
        const Entry entry{word_of(fields, "name"), std::move(fields), parser.repeated(i)};
        if (entry.name.empty()) refuse("a benchmark without a name");
        if (is_aggregate(entry.name, entry.word("run_type"))) {
            // A mean is of a benchmark; a complexity is of a family of them.
            const std::string kind = entry.word("aggregate_name");
            if (kind == "mean" || (kind.empty() && entry.name.ends_with("_mean")))
                aggregated.insert(run_name(entry.name, entry.word("run_name")));
            continue;
        }
        repetitions_.push_back(repetition(entry));
        repetitions_.back().round = rounds[entry.name]++;
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
    if (made.metrics.front().value > 0) return made;
    made.metrics.clear();
    made.status = "failed";
    made.reason = "a time that is not above zero";
    return made;
}

std::vector<GoogleBenchmarkFile::Metric> GoogleBenchmarkFile::metrics(const Entry& entry) const {
    std::vector<Metric> all;
    const auto add_time = [&](const char* key) {
        const auto time = entry.fields.find(key);
        if (time == entry.fields.end() || !time->is_number()) return false;
        all.push_back(
            {key, "s", benchmark_direction(key), time->get<double>() / per_second(entry)});
        return true;
    };
    if (!add_time("real_time")) refuse(fmt::format("'{}' has no real_time", entry.name));
    add_time("cpu_time");
    for (const auto& [key, value] : entry.fields.items())
        if (value.is_number() && key != "real_time" && key != "cpu_time" &&
            !is_among(run_keys, key))
            all.push_back({key, "", benchmark_direction(key), value.get<double>()});
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

bool is_benchmark_time(std::string_view experiment, std::string_view metric) {
    return experiment.starts_with(benchmark_prefix) &&
           (metric == "real_time" || metric == "cpu_time");
}

Direction benchmark_direction(std::string_view metric) {
    if (metric == "real_time" || metric == "cpu_time") return Direction::lower;
    return metric.ends_with("_per_second") ? Direction::higher : Direction::none;
}

std::map<std::string, std::string> benchmark_context(const json& description) {
    std::map<std::string, std::string> context;
    for (const char* key : context_keys)
        if (const auto value = description.find(key); value != description.end())
            context[key] = key == std::string_view("caches") ? caches_text(*value) : dumped(*value);
    return context;
}

}  // namespace assay
