// A benchmark tool's file as an arm: a series per benchmark and metric, its repetitions the points.
// Its rows are those that an import of the file gives.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

#include "suite/compare/read_arm.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/ids.hpp"

namespace assay::compare {
namespace {

class FileArm {
  public:
    explicit FileArm(const BenchmarkFile& file) : file_(file) {
        const std::vector<std::string> days = file.days();
        for (std::size_t i = 0; i < days.size(); ++i) {
            const auto& started = file.repetitions[i].started;
            const auto [at, is_new] = sessions_.try_emplace(days[i], started);
            if (!is_new && started && (!at->second || *started < *at->second)) at->second = started;
        }
        for (std::size_t i = 0; i < days.size(); ++i) add(file.repetitions[i], days[i]);
    }

    /// In the order of the file; of what never ran well, one without metric.
    std::vector<Series> finish() {
        std::vector<Series> all;
        for (const std::string& name : order_) {
            Group& group = groups_[name];
            if (group.series.empty()) group.series.push_back(blank(*group.first));
            for (Series& series : group.series) {
                series.failed = group.failed;
                series.excluded = group.skipped;
                series.errors = group.errors;
                series.aggregates_only = group.aggregates_only;
                all.push_back(std::move(series));
            }
        }
        return all;
    }

    std::size_t benchmarks() const { return order_.size(); }

    /// Oldest first; one where all repetitions are of one day.
    std::vector<ArmSession> sessions() const {
        std::vector<ArmSession> all;
        for (const auto& [day, started] : sessions_)
            all.push_back({.id = "",
                           .started = started ? store::utc(*started) : "",
                           .warnings = file_.warnings});
        return all;
    }

  private:
    struct Group {
        const BenchmarkRepetition* first = nullptr;
        int failed = 0, skipped = 0;
        std::vector<std::string> errors;
        bool aggregates_only = false;
        std::vector<Series> series;  // one per metric
        std::map<std::string, std::size_t> index;
    };

    void add(const BenchmarkRepetition& repetition, const std::string& day) {
        const auto [at, is_new] = groups_.try_emplace(repetition.full_name());
        Group& group = at->second;
        if (is_new) {
            order_.push_back(at->first);
            group.first = &repetition;
        }
        if (repetition.status == "failed") ++group.failed;
        if (repetition.status == "unsupported") ++group.skipped;
        if (repetition.reason == aggregates_reason)
            group.aggregates_only = true;
        else
            add_error(group.errors, repetition.reason);
        for (const BenchmarkMetric& metric : repetition.metrics) {
            const auto [place, first] = group.index.emplace(metric.name, group.series.size());
            if (first) {
                Series series = blank(repetition);
                series.name.metric = metric.name;
                series.unit = metric.unit;
                series.better = metric.better;
                group.series.push_back(std::move(series));
            }
            group.series[place->second].points.push_back({metric.value, "", "", number_of(day)});
        }
    }

    /// Of the file's sessions; 0: it has one.
    int number_of(const std::string& day) const {
        if (sessions_.size() == 1) return 0;
        return 1 + static_cast<int>(std::distance(sessions_.begin(), sessions_.find(day)));
    }

    Series blank(const BenchmarkRepetition& repetition) const {
        Series series;
        series.name.experiment = repetition.experiment();
        series.name.axes = repetition.parameters;
        series.name.profile = Profile::small;
        series.name.provenance = Provenance::measured;
        series.context = benchmark_context(file_.machine);
        series.context["profile"] = to_string(*series.name.profile);
        series.context["provenance"] = to_string(*series.name.provenance);
        series.context["scenario"] = "";
        return series;
    }

    const BenchmarkFile& file_;
    std::map<std::string, Group> groups_;
    std::vector<std::string> order_;
    std::map<std::string, std::optional<Moment>> sessions_;  // by day
};

}  // namespace

Arm arm_of_benchmarks(const BenchmarkFile& file, const std::string& source) {
    FileArm read(file);
    Arm arm;
    arm.says = fmt::format("{}, {} benchmark{}", source, read.benchmarks(),
                           read.benchmarks() == 1 ? "" : "s");
    if (!file.date.empty()) arm.says += " of " + file.date;
    const nlohmann::json suspects = file.suspects();
    for (const auto& [key, value] : suspects.items())
        if (key != "warnings")  // told apart from these: ArmSession
            arm.suspects[key] = value.is_string() ? value.get<std::string>() : value.dump();
    arm.sessions = read.sessions();
    arm.series = read.finish();
    return arm;
}

Arm read_google_benchmark(const std::string& text, const std::string& source) {
    return arm_of_benchmarks(read_benchmark_file(text, source, "google-benchmark"), source);
}

}  // namespace assay::compare
