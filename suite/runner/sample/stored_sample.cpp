#include "suite/runner/sample/stored_sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "suite/runner/sample/live_rows.hpp"
#include "suite/runner/sample/sample_folders.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {
namespace {

/// Of what cannot be stored; a sample may record thousands of metrics twice.
constexpr std::size_t most_reasons = 3;

/// What cannot be stored is a mistake of the experiment, and no reason to lose the rest.
void tell_unstorable(store::Sample& sample, const std::set<std::string>& all) {
    if (all.empty()) return;
    std::vector<std::string> why(
        all.begin(), std::next(all.begin(), std::ptrdiff_t(std::min(all.size(), most_reasons))));
    if (all.size() > why.size())
        why.push_back(fmt::format("and {} more of this kind", all.size() - why.size()));
    if (sample.status == to_string(SampleStatus::ok))
        sample.status = to_string(SampleStatus::failed);
    sample.reason += fmt::format("{}{}", sample.reason.empty() ? "" : "; ", fmt::join(why, "; "));
}

using Tell = std::function<void(std::string kind, nlohmann::json body)>;

void tell_message(const Message& message, const std::string& id, const Tell& tell) {
    if (const auto* event = std::get_if<store::Event>(&message))
        tell("event", {{"sample", id},
                       {"t_s", event->t_s},
                       {"event", event->kind},
                       {"rank", event->rank},
                       {"detail", event->detail}});
    else if (const auto* progress = std::get_if<Progress>(&message))
        tell("progress",
             {{"sample", id}, {"fraction", progress->fraction}, {"what", progress->what}});
}

/// Runs it; what it recorded goes through `rows`, and is in the result as far as it is not stored
/// yet.
store::Sample run_sample(SampleSpec spec, const std::string& id, const Tell& tell,
                         const Interruption& interruption, const SampleProgram& program,
                         const Watched& watched, LiveRows& rows, Turn* turn = nullptr) {
    HardwareWatch* const watch = watched.watch;
    const ScratchFolder scratch;
    spec.scratch = scratch.path().string();
    const std::string started = store::now_utc();
    const auto take = [&](Message&& message) {
        tell_message(message, id, tell);
        rows.add(std::move(message));
    };
    double hardware_at_s = std::numeric_limits<double>::infinity();
    if (watch != nullptr) {
        hardware_at_s = 0;
        watch->begin();
    }
    const Look look = [&](double age_s) {
        if (age_s >= hardware_at_s) hardware_at_s = watch->look(age_s);
        return std::min(hardware_at_s, rows.store_due(age_s));
    };
    const SampleEnd end = run_sample_process(spec, take, interruption, program, look, turn);
    store::Sample sample = rows.take_rest();
    sample.spec = std::move(spec);
    sample.started = started;
    sample.status = to_string(end.status);
    sample.reason = end.reason;
    sample.seconds = end.seconds;
    if (watch != nullptr) {
        watch->end(end.seconds);
        watch->judge(sample, watched.on_gpus);
    }
    tell_unstorable(sample, rows.unstorable());
    // Gone by now, or of no use to a replay, which gets its own.
    sample.spec.scratch.clear();
    sample.spec.state.clear();
    sample.spec.shared.clear();
    return sample;
}

}  // namespace

store::Sample collect_sample(SampleSpec spec, const std::string& id, const Tell& tell,
                             const Interruption& interruption, const SampleProgram& program,
                             const Watched& watched) {
    LiveRows rows(nullptr, id);
    return run_sample(std::move(spec), id, tell, interruption, program, watched, rows);
}

store::Sample run_once(const SampleSpec& spec, const Listener& listener) {
    const Interruption interruption;
    const auto tell = [&](std::string kind, nlohmann::json body) {
        listener(Notice{std::move(kind), std::move(body), 0, 0, 1, 0});
    };
    return collect_sample(spec, "", tell, interruption);
}

namespace {

store::SeriesKey series_of(const PlannedSample& planned, const std::string& fingerprint) {
    store::SeriesKey series;
    series.experiment = planned.spec.experiment;
    series.variant = planned.spec.variant;
    series.axes = planned.spec.axes;
    series.profile = planned.spec.profile;
    series.provenance = planned.spec.provenance;
    series.scenario = planned.spec.scenario;
    if (depends_on_machine(planned.spec.provenance)) series.hardware = fingerprint;
    series.calibration = planned.calibration;
    series.data = planned.data;
    return series;
}

nlohmann::json described(const SampleSpec& spec, const std::string& sample) {
    return {{"experiment", spec.experiment},
            {"variant", spec.variant},
            {"case", to_json(spec.axes)},
            {"profile", to_string(spec.profile)},
            {"provenance", to_string(spec.provenance)},
            {"scenario", spec.scenario},
            {"seed", spec.seed},
            {"round", spec.round},
            {"sample", sample}};
}

/// Its series is that of other content.
void exclude(store::Sample& sample, const HashedInput& changed) {
    sample.status = to_string(SampleStatus::invalid);
    const std::string also = sample.reason.empty() ? "" : "; " + sample.reason;
    sample.reason = fmt::format(
        "the input {} {} was changed after the session was planned; start a new one with --fresh{}",
        changed.name, changed.file.string(), also);
}

/// What stands for a sample whose files are others before it began.
store::Sample not_run(const PlannedSample& planned, const std::string& id,
                      const HashedInput& changed) {
    store::Sample sample;
    sample.id = id;
    sample.spec = planned.spec;
    sample.started = store::now_utc();
    exclude(sample, changed);
    return sample;
}

std::vector<std::optional<FileStamp>> stamps_of(const std::vector<HashedInput>& inputs) {
    std::vector<std::optional<FileStamp>> stamps;
    for (const HashedInput& input : inputs) stamps.push_back(stamp_of(input.file));
    return stamps;
}

/// Whatever was written meanwhile: a sample may have read any part of it.
void look_at_inputs_again(store::Sample& sample, const std::vector<HashedInput>& inputs,
                          const std::vector<std::optional<FileStamp>>& before) {
    if (!is_finished(sample.status)) return;
    const auto after = stamps_of(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (after[i] != before[i]) return exclude(sample, inputs[i]);
}

/// Of a sample that is stored, in parts: `metrics` went before the others.
store::Sample with_metrics_only(store::Sample sample, std::vector<store::MetricValue> metrics) {
    std::move(sample.metrics.begin(), sample.metrics.end(), std::back_inserter(metrics));
    sample.metrics = std::move(metrics);
    sample.events.clear();
    sample.series_data.clear();
    sample.tables.clear();
    sample.artifacts.clear();
    sample.hardware.clear();
    return sample;
}

}  // namespace

bool depends_on_machine(Provenance provenance) {
    return provenance == Provenance::measured || provenance == Provenance::emulated;
}

bool depends_on_machine(const Plan& plan) {
    return std::any_of(plan.samples.begin(), plan.samples.end(), [](const PlannedSample& planned) {
        return depends_on_machine(planned.spec.provenance);
    });
}

bool is_finished(const std::string& status) {
    return status != to_string(SampleStatus::running) &&
           status != to_string(SampleStatus::interrupted);
}

StoredSample run_stored_sample(
    const PlannedSample& planned, const SampleHome& home, const SampleProgram& program,
    const std::function<void(std::string kind, nlohmann::json body)>& tell,
    const Interruption& interruption) {
    const std::string id =
        home.store.begin_sample(home.session, planned.spec, series_of(planned, home.fingerprint));
    nlohmann::json body = described(planned.spec, id);
    tell("sample_started", body);
    const StateFolder states(home.store.path(), home.session);
    SampleSpec spec = planned.spec;
    states.assign(spec);
    const Watched watched{depends_on_machine(spec.provenance) ? home.watch : nullptr,
                          planned.on_gpus};
    const auto stamps = stamps_of(planned.inputs);
    const HashedInput* const changed = find_changed(planned.inputs);
    LiveRows rows(&home.store, id);
    store::Sample result =
        changed ? not_run(planned, id, *changed)
                : run_sample(spec, id, tell, interruption, program, watched, rows, home.turn);
    if (!changed) look_at_inputs_again(result, planned.inputs, stamps);
    result.session = home.session;
    home.store.finish_sample(result);
    result = with_metrics_only(std::move(result), rows.take_stored_metrics());
    if (is_finished(result.status)) states.sample_finished(planned.spec);
    body["status"] = result.status;
    body["reason"] = result.reason;
    body["seconds"] = result.seconds;
    body["metrics"] = nlohmann::json::object();
    for (const store::MetricValue& metric : result.metrics)
        body["metrics"][metric_key(metric.name, metric.labels)] = metric.value;
    return {std::move(result), std::move(body)};
}

}  // namespace assay::runner
