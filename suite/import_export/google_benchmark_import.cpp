// A file of Google Benchmark as a session of samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"

namespace assay::import_export {
namespace {

using nlohmann::json;

class BenchmarkResults {
  public:
    BenchmarkResults(std::string_view text, const std::string& source, const RowSink& sink)
        : source_(source), rows_(sink), file_(text, source) {
        session_.id = store::derived_uuid("google benchmark " + std::string(text));
    }

    void read() {
        context();
        std::vector<store::Sample> samples;
        for (const auto& repetition : file_.repetitions()) samples.push_back(sample(repetition));
        session_.planned = static_cast<long>(samples.size());
        rows_.session(session_);
        for (const auto& sample : samples) rows_.sample(sample, session_.machine);
    }

  private:
    /// What affects speed identifies the machine, as when files are compared directly; the rest are
    /// suspects, the clock too, which changes from run to run.
    void context() {
        const json& context = file_.context();
        json description = json::object();
        for (const auto& [key, text] : benchmark_context(context))
            description[key] = context.at(key);
        session_.machine = store::derived_uuid("machine " + store::json_text(description));
        if (const auto host = file_.context_word("host_name"); !host.empty())
            description["hostname"] = host;
        description["imported"] = "google benchmark";
        rows_.machine(session_.machine, description);
        session_.suspects = file_.suspects();
        if (const auto warnings = file_.warnings(); !warnings.empty())
            session_.suspects["warnings"] = warnings;
        session_.command = "assay import " + std::filesystem::path(source_).filename().string();
        session_.started = utc_of(file_.context_word("date"));
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

    store::Sample sample(const GoogleBenchmarkFile::Repetition& repetition) {
        store::Sample sample;
        sample.session = session_.id;
        sample.started = session_.started;
        sample.spec.experiment = repetition.experiment;
        sample.spec.profile = Profile::small;
        sample.spec.provenance = Provenance::measured;
        sample.spec.round = repetition.round;
        sample.id = store::derived_uuid(
            fmt::format("{} {} {}", session_.id, sample.spec.round, sample.spec.experiment));
        sample.status = repetition.status;
        sample.reason = repetition.reason;
        for (const auto& metric : repetition.metrics) {
            sample.metrics.push_back({metric.name, {}, metric.value});
            rows_.metric_unit({repetition.experiment, metric.name, metric.unit, metric.better});
        }
        return sample;
    }

    const std::string& source_;
    ArrivingRows rows_;
    GoogleBenchmarkFile file_;
    store::Session session_;
};

}  // namespace

void read_benchmark_results(std::string_view text, const std::string& source, const RowSink& sink) {
    BenchmarkResults(text, source, sink).read();
}

}  // namespace assay::import_export
