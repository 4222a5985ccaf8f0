// Google Benchmark's JSON (its json_reporter.cc; without run_type before version 1.5) to samples.
#include "suite/exchange/benchmark_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "suite/exchange/arriving_rows.hpp"
#include "suite/experiment/error.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"
#include "suite/store/store.hpp"
#include "suite/store/timestamp.hpp"

namespace assay::exchange {
namespace {

using nlohmann::json;

json parse_with_place(std::string_view text, const std::string& source) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        const auto before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const auto newline = before.rfind('\n');
        throw UserError(
            fmt::format("{}:{}:{}: not valid JSON", source, line,
                        newline == before.npos ? before.size() + 1 : before.size() - newline));
    } catch (const json::exception& error) {
        throw UserError(fmt::format("{}: not valid JSON: {}", source, error.what()));
    }
}

std::string word(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

bool is_aggregate(const json& entry, const std::string& name) {
    if (const auto type = word(entry, "run_type"); !type.empty()) return type == "aggregate";
    for (const auto* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
        if (name.ends_with(end)) return true;
    return false;
}

/// Numbers of an entry that describe the run, not its result.
bool describes_run(const std::string& key) {
    for (const auto* known : {"family_index", "per_family_instance_index", "repetitions",
                              "repetition_index", "threads", "iterations"})
        if (key == known) return true;
    return false;
}

/// How many of the unit are a second. 0: unknown.
double per_second(const std::string& unit) {
    if (unit.empty() || unit == "ns") return 1e9;  // the default of that library
    if (unit == "us") return 1e6;
    if (unit == "ms") return 1e3;
    return unit == "s" ? 1 : 0;
}

class BenchmarkResults {
  public:
    BenchmarkResults(std::string_view text, const std::string& source, const RowSink& sink)
        : source_(source), rows_(sink), file_(parse_with_place(text, source)) {
        session_.id = store::derived_uuid("google benchmark " + std::string(text));
    }

    void read() {
        if (!file_.is_object()) refuse("it is no object");
        const auto entries = file_.find("benchmarks");
        if (entries == file_.end() || !entries->is_array()) refuse("no array \"benchmarks\"");
        context();
        std::vector<store::Sample> samples;
        for (const auto& entry : *entries) {
            if (!entry.is_object()) refuse("an entry of \"benchmarks\" is no object");
            const auto name = word(entry, "name");
            if (name.empty()) refuse("a benchmark without a name");
            if (!is_aggregate(entry, name)) samples.push_back(sample(entry, name));
        }
        if (samples.empty()) refuse("no repetitions in it (aggregates are left out)");
        session_.planned = static_cast<long>(samples.size());
        rows_.session(session_);
        for (const auto& sample : samples) rows_.sample(sample, session_.machine);
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw UserError(fmt::format(
            "{}: not Google Benchmark's JSON: {}; write the file with --benchmark_out=FILE "
            "--benchmark_out_format=json",
            source_, what));
    }

    /// What affects speed identifies the machine, as when files are compared directly; the rest are
    /// suspects, the clock too, which changes from run to run.
    void context() {
        const auto found = file_.find("context");
        const json context = found != file_.end() && found->is_object() ? *found : json::object();
        json description = json::object(), suspects = json::object();
        for (const auto* key : {"num_cpus", "caches", "library_build_type"})
            if (context.contains(key)) description[key] = context[key];
        session_.machine = store::derived_uuid("machine " + store::json_text(description));
        if (const auto host = word(context, "host_name"); !host.empty())
            description["hostname"] = host;
        description["imported"] = "google benchmark";
        for (const auto& [key, value] : context.items())
            if (!description.contains(key) && key != "host_name" && key != "date")
                suspects[key] = value;
        rows_.machine(session_.machine, description);
        session_.suspects = suspects;
        session_.command = "assay import " + std::filesystem::path(source_).filename().string();
        session_.started = utc_of(word(context, "date"));
    }

    /// "2026-11-21T02:03:04+01:00" as UTC; the time of the import where the file does not tell.
    static std::string utc_of(const std::string& date) {
        int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, off_h = 0, off_m = 0;
        char sign = '+';
        const int got = std::sscanf(date.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c%2d:%2d", &year, &month,
                                    &day, &hour, &minute, &second, &sign, &off_h, &off_m);
        const std::chrono::year_month_day at{
            std::chrono::year(year), std::chrono::month(static_cast<unsigned>(std::max(0, month))),
            std::chrono::day(static_cast<unsigned>(std::max(0, day)))};
        if (got < 6 || !at.ok() || year < 1970 || year > 2200) return store::now_utc();
        const auto offset = std::chrono::minutes((sign == '-' ? -1 : 1) * (off_h * 60 + off_m));
        return store::utc(std::chrono::sys_days(at) + std::chrono::hours(hour) +
                          std::chrono::minutes(minute) + std::chrono::seconds(second) - offset);
    }

    store::Sample sample(const json& entry, const std::string& name) {
        store::Sample sample;
        sample.session = session_.id;
        sample.started = session_.started;
        sample.spec.experiment = "benchmark/" + name;
        sample.spec.profile = Profile::small;
        sample.spec.provenance = Provenance::measured;
        sample.spec.round = rounds_[name]++;
        sample.id = store::derived_uuid(
            fmt::format("{} {} {}", session_.id, sample.spec.round, sample.spec.experiment));
        if (flag(entry, "error_occurred") || flag(entry, "skipped")) {
            const bool failed = flag(entry, "error_occurred");
            sample.status = failed ? "failed" : "unsupported";
            sample.reason = word(entry, failed ? "error_message" : "skip_message");
            if (sample.reason.empty()) sample.reason = "the benchmark does not say why";
            return sample;
        }
        sample.status = "ok";
        const auto unit = word(entry, "time_unit");
        const double scale = per_second(unit);
        if (scale == 0)
            refuse(
                fmt::format("'{}' has the time_unit '{}', not one of ns, us, ms, s", name, unit));
        for (const auto& [key, value] : entry.items()) {
            if (!value.is_number() || describes_run(key)) continue;
            const bool time = key == "real_time" || key == "cpu_time";
            sample.metrics.push_back({key, {}, value.get<double>() / (time ? scale : 1)});
            rows_.metric_unit({sample.spec.experiment, key, time ? "s" : "",
                               time                           ? Direction::lower
                               : key.ends_with("_per_second") ? Direction::higher
                                                              : Direction::none});
        }
        if (!entry.contains("real_time") || !entry["real_time"].is_number())
            refuse(fmt::format("'{}' has no real_time", name));
        return sample;
    }

    const std::string& source_;
    ArrivingRows rows_;
    json file_;
    store::Session session_;
    std::map<std::string, int> rounds_;
};

}  // namespace

void read_benchmark_results(std::string_view text, const std::string& source, const RowSink& sink) {
    BenchmarkResults(text, source, sink).read();
}

}  // namespace assay::exchange
