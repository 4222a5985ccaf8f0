// A file of a benchmark tool as sessions of samples.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"

namespace assay::import_export {
namespace {

using nlohmann::json;

/// The words by which databases know a format.
std::string words_of_tool(const std::string& format) {
    return format == "google-benchmark" ? "google benchmark" : format;
}

class BenchmarkResults {
  public:
    BenchmarkResults(const BenchmarkFile& file, const std::string& source, const RowSink& sink)
        : file_(file), source_(source), rows_(sink) {}

    /// What a user should know of it.
    std::vector<std::string> read(const std::string& machine) {
        describe_machine(machine);
        const std::vector<std::string> days = file_.days();
        std::map<std::string, store::Session> sessions;  // by day
        std::vector<store::Sample> samples;
        for (std::size_t i = 0; i < days.size(); ++i) {
            const auto [session, is_new] = sessions.try_emplace(days[i]);
            if (is_new) session->second = session_of(days[i]);
            samples.push_back(sample(file_.repetitions[i], session->second.id));
            const std::string& started = samples.back().started;
            std::string& first = session->second.started;
            if (first.empty() || started < first) first = started;
            ++session->second.planned;
        }
        for (const auto& [day, session] : sessions) rows_.session(session);
        for (const store::Sample& each : samples) rows_.sample(each, machine_);
        notes_.insert(notes_.end(), file_.notes.begin(), file_.notes.end());
        if (sessions.size() > 1)
            notes_.push_back(
                fmt::format("results of {} days are as many sessions", sessions.size()));
        return std::move(notes_);
    }

  private:
    /// What affects speed identifies the machine, as when files are compared directly; the rest are
    /// suspects, the clock too, which changes from run to run.
    void describe_machine(const std::string& name) {
        json description = file_.machine;
        if (!name.empty()) description["machine"] = name;
        if (description.empty() && file_.tool != "google-benchmark")
            notes_.emplace_back(
                "the file does not tell its machine, so all such files count as of one; --machine "
                "NAME tells machines apart");
        machine_ = store::derived_uuid("machine " + store::json_text(description));
        description["imported"] = words_of_tool(file_.tool);
        rows_.machine(machine_, description);
        suspects_ = file_.suspects();
        if (!name.empty()) suspects_["host_name"] = name;
    }

    store::Session session_of(const std::string& day) const {
        store::Session session;
        session.id = store::derived_uuid(fmt::format("{} {}{}", words_of_tool(file_.tool),
                                                     file_.text, day.empty() ? "" : '\n' + day));
        session.machine = machine_;
        session.suspects = suspects_;
        session.command = "assay import " + std::filesystem::path(source_).filename().string();
        return session;
    }

    /// The date of the file as UTC; with a note, when the file was written, or now.
    std::string started(const BenchmarkRepetition& repetition) {
        if (repetition.started) return store::utc(*repetition.started);
        if (!otherwise_.empty()) return otherwise_;
        const std::string& date = repetition.date.empty() ? file_.date : repetition.date;
        const std::string why = date.empty() ? "the file has no date"
                                             : fmt::format("the date '{}' is not understood", date);
        std::error_code none;
        const auto written = std::filesystem::last_write_time(source_, none);
        otherwise_ = none ? store::now_utc()
                          : store::utc(std::chrono::time_point_cast<Moment::duration>(
                                std::chrono::file_clock::to_sys(written)));
        notes_.push_back(fmt::format("{}, the time {} stands for it", why,
                                     none ? "of the import" : "when it was last written"));
        return otherwise_;
    }

    store::Sample sample(const BenchmarkRepetition& repetition, const std::string& session) {
        store::Sample sample;
        sample.session = session;
        sample.started = started(repetition);
        sample.spec.experiment = repetition.experiment();
        sample.spec.axes = repetition.parameters;
        sample.spec.profile = Profile::small;
        sample.spec.provenance = Provenance::measured;
        sample.spec.round = repetition.round;
        sample.id = store::derived_uuid(fmt::format("{} {} {}{}", session, repetition.round,
                                                    benchmark_prefix, repetition.full_name()));
        sample.status = repetition.status;
        sample.reason = repetition.reason;
        for (const BenchmarkMetric& metric : repetition.metrics) {
            sample.metrics.push_back({metric.name, {}, metric.value});
            rows_.metric_unit({sample.spec.experiment, metric.name, metric.unit, metric.better});
        }
        return sample;
    }

    const BenchmarkFile& file_;
    const std::string& source_;
    ArrivingRows rows_;
    std::string machine_, otherwise_;  // otherwise: the time of what has no date
    json suspects_;
    std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> add_benchmark_file(const BenchmarkFile& file, const std::string& source,
                                            const RowSink& sink, const std::string& machine) {
    return BenchmarkResults(file, source, sink).read(machine);
}

std::vector<std::string> read_benchmark_results(std::string_view text, const std::string& source,
                                                const RowSink& sink) {
    return add_benchmark_file(read_benchmark_file(text, source), source, sink);
}

}  // namespace assay::import_export
