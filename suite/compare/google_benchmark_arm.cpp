// A file of Google Benchmark as an arm: a series per benchmark and metric, its repetitions the
// points. Its rows are those that an import of the file gives.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "suite/base/date.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/store/ids.hpp"

namespace assay::compare {
namespace {

class FileArm {
  public:
    explicit FileArm(const GoogleBenchmarkFile& file) : file_(file) {
        for (const auto& repetition : file.repetitions()) add(repetition);
    }

    /// In the order of the file; of what never ran well, one without metric.
    std::vector<Series> finish() {
        std::vector<Series> all;
        for (const std::string& experiment : order_) {
            Group& group = groups_[experiment];
            if (group.series.empty()) group.series.push_back(blank(experiment));
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

  private:
    struct Group {
        int failed = 0, skipped = 0;
        std::vector<std::string> errors;
        bool aggregates_only = false;
        std::vector<Series> series;  // one per metric
        std::map<std::string, std::size_t> index;
    };

    void add(const GoogleBenchmarkFile::Repetition& repetition) {
        const auto [at, is_new] = groups_.try_emplace(repetition.experiment);
        if (is_new) order_.push_back(repetition.experiment);
        Group& group = at->second;
        if (repetition.status == "failed") ++group.failed;
        if (repetition.status == "unsupported") ++group.skipped;
        if (repetition.reason == aggregates_reason)
            group.aggregates_only = true;
        else
            add_error(group.errors, repetition.reason);
        for (const auto& metric : repetition.metrics) {
            const auto [place, first] = group.index.emplace(metric.name, group.series.size());
            if (first) {
                Series series = blank(repetition.experiment);
                series.name.metric = metric.name;
                series.unit = metric.unit;
                series.better = metric.better;
                group.series.push_back(std::move(series));
            }
            group.series[place->second].points.push_back({metric.value, "", ""});
        }
    }

    Series blank(const std::string& experiment) const {
        Series series;
        series.name.experiment = experiment;
        series.name.profile = Profile::small;
        series.name.provenance = Provenance::measured;
        series.context = benchmark_context(file_.context());
        series.context["profile"] = to_string(*series.name.profile);
        series.context["provenance"] = to_string(*series.name.provenance);
        series.context["scenario"] = "";
        return series;
    }

    const GoogleBenchmarkFile& file_;
    std::map<std::string, Group> groups_;
    std::vector<std::string> order_;
};

}  // namespace

Arm read_google_benchmark(const std::string& text, const std::string& source) {
    const GoogleBenchmarkFile file(text, source);
    FileArm read(file);
    Arm arm;
    arm.says = fmt::format("{}, {} benchmark{}", source, read.benchmarks(),
                           read.benchmarks() == 1 ? "" : "s");
    const std::string date = file.context_word("date");
    if (!date.empty()) arm.says += " of " + date;
    const nlohmann::json suspects = file.suspects();
    for (const auto& [key, value] : suspects.items())
        arm.suspects[key] = value.is_string() ? value.get<std::string>() : value.dump();
    const auto at = read_date(date);
    arm.sessions = {{.id = "", .started = at ? store::utc(*at) : "", .warnings = file.warnings()}};
    arm.series = read.finish();
    return arm;
}

}  // namespace assay::compare
