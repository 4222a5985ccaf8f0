// A file of Google Benchmark as a session of samples.
#include <fmt/format.h>

#include <filesystem>

#include "suite/base/date.hpp"
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

    /// What a user should know of it.
    std::vector<std::string> read() {
        context();
        std::vector<store::Sample> samples;
        for (const auto& repetition : file_.repetitions()) samples.push_back(sample(repetition));
        session_.planned = static_cast<long>(samples.size());
        rows_.session(session_);
        for (const auto& sample : samples) rows_.sample(sample, session_.machine);
        return std::move(notes_);
    }

  private:
    /// What affects speed identifies the machine, as when files are compared directly; the rest are
    /// suspects, the clock too, which changes from run to run.
    void context() {
        json description = benchmark_machine(file_.context());
        session_.machine = store::derived_uuid("machine " + store::json_text(description));
        if (const auto host = file_.context_word("host_name"); !host.empty())
            description["hostname"] = host;
        description["imported"] = "google benchmark";
        rows_.machine(session_.machine, description);
        session_.suspects = file_.suspects();
        if (const auto warnings = file_.warnings(); !warnings.empty())
            session_.suspects["warnings"] = warnings;
        session_.command = "assay import " + std::filesystem::path(source_).filename().string();
        session_.started = started(file_.context_word("date"));
    }

    /// The file's own date as UTC; the time of the import, with a note, where there is none.
    std::string started(const std::string& date) {
        if (const auto at = read_date(date)) return store::utc(*at);
        notes_.push_back(
            date.empty() ? "the file has no date, the time of the import stands for it"
                         : fmt::format("the date '{}' is not understood, the time of the import "
                                       "stands for it",
                                       date));
        return store::now_utc();
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
    std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> read_benchmark_results(std::string_view text, const std::string& source,
                                                const RowSink& sink) {
    return BenchmarkResults(text, source, sink).read();
}

}  // namespace assay::import_export
