#include "suite/runner/stored_sample.hpp"

#include "suite/runner/collected_sample.hpp"
#include "suite/runner/state_folder.hpp"

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
    store::Sample result = collect_sample(spec, id, tell, interruption, program, watched);
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
