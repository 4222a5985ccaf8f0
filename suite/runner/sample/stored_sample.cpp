#include "suite/runner/sample/stored_sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "suite/runner/sample/sample_folders.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {
namespace {

/// Of what cannot be stored; a sample may record thousands of metrics twice.
constexpr std::size_t most_reasons = 3;

/// What cannot be stored is a mistake of the experiment, and no reason to lose the rest.
void demand_storable(store::Sample& sample) {
    const std::set<std::string> all = store::take_out_unstorable(sample);
    if (all.empty()) return;
    std::vector<std::string> why(
        all.begin(), std::next(all.begin(), std::ptrdiff_t(std::min(all.size(), most_reasons))));
    if (all.size() > why.size())
        why.push_back(fmt::format("and {} more of this kind", all.size() - why.size()));
    if (sample.status == to_string(SampleStatus::ok))
        sample.status = to_string(SampleStatus::failed);
    sample.reason += fmt::format("{}{}", sample.reason.empty() ? "" : "; ", fmt::join(why, "; "));
}

}  // namespace

store::Sample collect_sample(SampleSpec spec, const std::string& id,
                             const std::function<void(std::string kind, nlohmann::json body)>& tell,
                             const Interruption& interruption, const SampleProgram& program,
                             const Watched& watched) {
    HardwareWatch* const watch = watched.watch;
    const ScratchFolder scratch;
    spec.scratch = scratch.path().string();
    store::Sample sample;
    sample.id = id;
    sample.spec = spec;
    sample.started = store::now_utc();
    const auto take = [&](Message&& message) {
        if (auto* metric = std::get_if<store::MetricValue>(&message)) {
            sample.metrics.push_back(std::move(*metric));
        } else if (auto* event = std::get_if<store::Event>(&message)) {
            tell("event", {{"sample", id},
                           {"t_s", event->t_s},
                           {"event", event->kind},
                           {"rank", event->rank},
                           {"detail", event->detail}});
            sample.events.push_back(std::move(*event));
        } else if (auto* series = std::get_if<store::TimeSeries>(&message)) {
            sample.series_data.push_back(std::move(*series));
        } else if (auto* table = std::get_if<store::Table>(&message)) {
            sample.tables.push_back(std::move(*table));
        } else if (auto* artifact = std::get_if<store::Artifact>(&message)) {
            sample.artifacts.push_back(std::move(*artifact));
        } else if (auto* progress = std::get_if<Progress>(&message)) {
            tell("progress",
                 {{"sample", id}, {"fraction", progress->fraction}, {"what", progress->what}});
        }
    };
    Look look;
    if (watch != nullptr) {
        look = [watch](double age_s) { return watch->look(age_s); };
        watch->begin();
    }
    const SampleEnd end = run_sample_process(spec, take, interruption, program, look);
    sample.status = to_string(end.status);
    sample.reason = end.reason;
    sample.seconds = end.seconds;
    if (watch != nullptr) {
        watch->end(end.seconds);
        watch->judge(sample, watched.on_gpus);
    }
    demand_storable(sample);
    // Gone by now, or of no use to a replay, which gets its own.
    sample.spec.scratch.clear();
    sample.spec.state.clear();
    sample.spec.shared.clear();
    return sample;
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

}  // namespace

bool depends_on_machine(Provenance provenance) {
    return provenance == Provenance::measured || provenance == Provenance::emulated;
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
    store::Sample result = changed ? not_run(planned, id, *changed)
                                   : collect_sample(spec, id, tell, interruption, program, watched);
    if (!changed) look_at_inputs_again(result, planned.inputs, stamps);
    result.session = home.session;
    home.store.finish_sample(result);
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
