// Arms from the store's samples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "suite/base/suggested_command.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/compare/selector.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/measure/environment.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::compare {
namespace {

/// Collects samples into series: one per (series of the store, metric with labels).
class Collector {
  public:
    Collector(const Registry& registry, const store::Store& store)
        : registry_(registry), store_(store) {}

    /// `wanted`: which series of the session, by id; null: all.
    void add(const std::string& session_id, const store::SessionMetrics& session,
             const std::set<std::string>* wanted) {
        ++session_;
        for (const store::MeasuredSample& sample : session.samples) {
            const std::string& id = session.ids[sample.series];
            if (wanted != nullptr && !wanted->contains(id)) continue;
            add(sample, id, session.series[sample.series]);
            if (has_cpu_scaling(sample.context)) scaling_.insert(session_id);
        }
    }

    /// Whether a program that was started in the session said so.
    bool has_scaling(const std::string& session_id) const { return scaling_.contains(session_id); }

    /// In the order in which they came.
    std::vector<Series> finish() {
        std::vector<Series> all;
        for (auto& [id, group] : groups_) {
            if (group.series.empty() && group.failed + group.excluded > 0)
                group.series.push_back(blank(group));
            for (Series& series : group.series) {
                series.failed += group.failed;  // beside those of a part of a sample
                series.excluded = group.excluded;
                series.errors = group.errors;
                series.aggregates_only = group.aggregates_only;
                series.context.insert(group.told.begin(), group.told.end());
                if (group.samples > 0) series.sample_s = group.seconds / group.samples;
                if (!series.deterministic && group.belongs_to_nothing)
                    for (Point& point : series.points) point.pair.clear();
            }
        }
        for (const std::string& id : order_)
            for (Series& series : groups_[id].series) all.push_back(std::move(series));
        return all;
    }

  private:
    struct Group {
        store::SeriesKey key;
        int samples = 0, failed = 0, excluded = 0;
        double seconds = 0;  // of all samples together
        std::vector<std::string> errors;
        std::map<std::string, std::string> told;  // context, by the program that was started
        bool imported_benchmark = false, belongs_to_nothing = false, aggregates_only = false;
        std::vector<Series> series;                     // one per metric
        std::map<store::MetricKey, std::size_t> index;  // metric → series
        std::map<std::pair<std::uint64_t, int>, int> seen;
    };

    void add(const store::MeasuredSample& sample, const std::string& id,
             const store::SeriesKey& key) {
        const auto [at, is_new] = groups_.try_emplace(id);
        Group& group = at->second;
        if (is_new) {
            group.key = key;
            group.imported_benchmark = report::imported_benchmark(store::row_id(key)).has_value();
            order_.push_back(id);
        }
        ++group.samples;
        group.seconds += sample.seconds;
        // A foreign benchmark was asked to run, and skipped itself.
        const bool skipped = sample.status == "unsupported" && group.imported_benchmark;
        if (sample.status == "failed") ++group.failed;
        if (sample.status == "invalid" || skipped) ++group.excluded;
        if (skipped && sample.reason == aggregates_reason)
            group.aggregates_only = true;
        else if (sample.status == "failed" || skipped)
            add_error(group.errors, sample.reason);
        if (sample.status != "ok") return;
        add_context(group, sample.context);
        // The same seed and round of several sessions: what is exact must be equal, so the first
        // pairs with the first; measured values of different days belong to nothing. Nor do the
        // repetitions inside a process of a benchmark that was imported.
        const int times = ++group.seen[{sample.seed, sample.round}];
        if (times > 1 || is_foreign(key)) group.belongs_to_nothing = true;
        const std::string pair =
            fmt::format("seed {} round {}{}", sample.seed, sample.round,
                        times > 1 ? fmt::format(" ({})", times) : std::string());
        for (const store::MetricValue& metric : sample.metrics)
            if (const auto failed = failed_part(group, metric))
                ++series_of(group, *failed).failed;
            else
                series_of(group, metric)
                    .points.push_back({metric.value, pair, sample.id, session_});
    }

    static bool has_cpu_scaling(const nlohmann::json& context) {
        const auto scaling =
            context.is_object() ? context.find("cpu_scaling_enabled") : context.end();
        return scaling != context.end() && *scaling == true;
    }

    /// Of samples that disagree both.
    static void add_context(Group& group, const nlohmann::json& context) {
        if (!context.is_object()) return;
        for (const auto& [key, value] : benchmark_context(context)) {
            const auto [at, is_new] = group.told.try_emplace(key, value);
            if (!is_new &&
                (", " + at->second + ", ").find(", " + value + ", ") == std::string::npos)
                at->second += ", " + value;
        }
    }

    bool is_foreign(const store::SeriesKey& key) const {
        return key.experiment.starts_with(benchmark_prefix) &&
               (key.variant.empty() || registry_.experiment(key.experiment) == nullptr);
    }

    /// Which metric this one tells the failure of; nullopt: it is a value.
    std::optional<store::MetricValue> failed_part(const Group& group,
                                                  const store::MetricValue& metric) const {
        if (metric.name != failed_part_metric || group.imported_benchmark) return std::nullopt;
        const Experiment* experiment = registry_.experiment(group.key.experiment);
        if (!experiment || !experiment->metric(failed_part_metric)) return std::nullopt;
        store::MetricValue part{experiment->figure.metric, metric.labels, 0};
        if (const auto counter = part.labels.find(failed_counter_label);
            counter != part.labels.end()) {
            part.name = assay::to_string(counter->second);
            part.labels.erase(counter);
        }
        return part;
    }

    /// What affects speed. Of an imported benchmark: what its file says of the machine, as when the
    /// file itself is compared.
    std::map<std::string, std::string> machine_context(const Group& group) const {
        const store::SeriesKey& key = group.key;
        if (group.imported_benchmark)
            if (const auto machine = store_.machine(key.hardware);
                machine && machine->description.is_object() &&
                machine->description.value("imported", "csv") != "csv")
                return benchmark_context(machine->description);
        return {{"hardware", key.hardware}, {"calibration", key.calibration}};
    }

    Series& series_of(Group& group, const store::MetricValue& metric) {
        const auto [at, is_new] =
            group.index.emplace(store::MetricKey{metric.name, metric.labels}, group.series.size());
        if (is_new) {
            Series series = blank(group);
            series.name.metric = metric.name;
            series.name.labels = metric.labels;
            declare(group, series, metric.name);
            group.series.push_back(std::move(series));
        }
        return group.series[at->second];
    }

    /// What the registry says of the metric; of what came from elsewhere (an imported benchmark),
    /// what the database was told.
    void declare(const Group& group, Series& series, const std::string& metric) {
        const Experiment* experiment =
            group.imported_benchmark ? nullptr : registry_.experiment(series.name.experiment);
        if (const MetricSpec* spec = experiment ? experiment->metric(metric) : nullptr) {
            series.unit = spec->unit;
            series.better = spec->better;
            series.deterministic = spec->is_deterministic(group.key.provenance);
            return;
        }
        const auto [units, is_new] = units_.try_emplace(series.name.experiment);
        if (is_new) units->second = store_.metric_units(series.name.experiment);
        for (const store::MetricUnit& unit : units->second)
            if (unit.name == metric) {
                series.unit = unit.unit;
                series.better = unit.better;
            }
    }

    Series blank(const Group& group) const {
        const store::SeriesKey& key = group.key;
        Series series;
        series.name = store::row_id(key);
        series.context = machine_context(group);
        if (series.context.contains("hardware")) series.hardware = hardware_of(key.hardware);
        series.context["profile"] = assay::to_string(key.profile);
        series.context["provenance"] = assay::to_string(key.provenance);
        series.context["scenario"] = key.scenario;
        // Results from before inputs were hashed do not tell: unknown, not another one.
        if (!key.data.empty()) series.context["data"] = key.data;
        return series;
    }

    /// Null: nothing is known of it.
    std::shared_ptr<const measure::HardwareFacts> hardware_of(const std::string& machine) const {
        const auto [at, is_new] = hardware_.try_emplace(machine);
        if (!is_new) return at->second;
        if (const auto known = store_.machine(machine))
            at->second = std::make_shared<const measure::HardwareFacts>(
                measure::hardware_facts(known->description));
        return at->second;
    }

    const Registry& registry_;
    const store::Store& store_;
    mutable std::map<std::string, std::shared_ptr<const measure::HardwareFacts>> hardware_;
    std::set<std::string> scaling_;                                // ids of sessions
    std::map<std::string, std::vector<store::MetricUnit>> units_;  // by experiment
    std::map<std::string, Group> groups_;
    std::vector<std::string> order_;
    int session_ = 0;  // how many were added
};

/// What several sessions say about one suspect, joined.
std::map<std::string, std::string> joined_suspects(const std::vector<store::Session>& sessions) {
    std::map<std::string, std::set<std::string>> values;
    for (const store::Session& session : sessions) {
        values["machine"].insert(session.machine);
        values["build"].insert(session.build);
        if (!session.suspects.is_object()) continue;
        for (const auto& [key, value] : session.suspects.items())
            if (key != "warnings")  // told apart from these: ArmSession
                values[key].insert(value.is_string() ? value.get<std::string>() : value.dump());
    }
    std::map<std::string, std::string> joined;
    for (const auto& [key, all] : values) joined[key] = fmt::format("{}", fmt::join(all, ", "));
    return joined;
}

/// What the sessions tell of their circumstances, and what they started.
std::vector<ArmSession> circumstances(const std::vector<store::Session>& sessions,
                                      const Collector& collector) {
    std::vector<ArmSession> all;
    for (const store::Session& session : sessions) {
        ArmSession of{.id = session.id, .started = session.started, .warnings = {}};
        if (session.suspects.is_object())
            if (const auto warnings = session.suspects.find("warnings");
                warnings != session.suspects.end() && warnings->is_string())
                of.warnings = warnings->get<std::string>();
        if (collector.has_scaling(session.id))
            of.warnings +=
                of.warnings.empty() ? scaling_warning : ", " + std::string(scaling_warning);
        of.in_turns = session.command.find(" versus ") != session.command.npos;
        all.push_back(std::move(of));
    }
    return all;
}

/// What is succeeded by newer samples: a series without what may change from run to run.
using Lineage =
    std::tuple<std::string, std::string, Case, Profile, Provenance, std::string, std::string>;

Lineage lineage(const store::SeriesKey& key) {
    return {key.experiment, key.variant,  key.axes,    key.profile,
            key.provenance, key.scenario, key.hardware};
}

bool counts(const store::MeasuredSample& sample) {
    return sample.status == "ok" || sample.status == "failed" || sample.status == "invalid";
}

}  // namespace

Arm arm_of_sessions(const Registry& registry, const store::Store& store,
                    const std::vector<std::string>& ids) {
    const std::set<std::string> wanted(ids.begin(), ids.end());
    std::vector<store::Session> sessions = store.sessions();
    std::erase_if(sessions,
                  [&](const store::Session& session) { return !wanted.contains(session.id); });
    std::reverse(sessions.begin(), sessions.end());
    if (sessions.empty()) throw UserError("no session to compare");
    Collector collector(registry, store);
    for (const store::Session& session : sessions)
        collector.add(session.id, store.session_metrics(session.id), nullptr);
    return {says_of(sessions), collector.finish(), joined_suspects(sessions),
            circumstances(sessions, collector)};
}

Arm arm_of_store(const Registry& registry, const store::Store& store) {
    Collector collector(registry, store);
    std::set<std::string> known;            // series ids looked at, in this or a newer session
    std::map<Lineage, std::string> newest;  // which session has it
    std::vector<store::Session> used;
    for (const store::Session& session : newest_first(store)) {
        const auto ids = store.series_in(session.id);
        if (std::all_of(ids.begin(), ids.end(),
                        [&](const std::string& id) { return known.contains(id); }))
            continue;
        const store::SessionMetrics metrics = store.session_metrics(session.id);
        std::set<std::string> wanted;
        for (const store::MeasuredSample& sample : metrics.samples) {
            if (!counts(sample)) continue;
            const auto [at, is_new] =
                newest.emplace(lineage(metrics.series[sample.series]), session.id);
            known.insert(metrics.ids[sample.series]);
            if (at->second == session.id) wanted.insert(metrics.ids[sample.series]);
        }
        if (wanted.empty()) continue;
        collector.add(session.id, metrics, &wanted);
        used.push_back(session);
    }
    if (used.empty())
        throw UserError(fmt::format("{}: no finished samples in it; {} makes them",
                                    store.path().string(), suggested("run")));
    std::reverse(used.begin(), used.end());
    return {fmt::format("{}, its newest samples ({})", store.path().string(), says_of(used)),
            collector.finish(), joined_suspects(used), circumstances(used, collector)};
}

}  // namespace assay::compare
