#include "suite/runner/stored_sample.hpp"

#include <fmt/format.h>

#include "suite/runner/collected_sample.hpp"
#include "suite/runner/state_folder.hpp"
#include "suite/store/timestamp.hpp"

namespace assay::runner {
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
