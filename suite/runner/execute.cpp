// execute(): the session around the samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/runner/collected_sample.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/plan_hash.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/scratch_folder.hpp"
#include "suite/runner/state_folder.hpp"

namespace assay::runner {
namespace {

/// Numbers that depend on the machine: they need it alone, and carry its fingerprint.
bool depends_on_machine(Provenance provenance) {
    return provenance == Provenance::measured || provenance == Provenance::emulated;
}

nlohmann::json described(const SampleSpec& spec) {
    return {{"experiment", spec.experiment},
            {"variant", spec.variant},
            {"case", to_json(spec.axes)},
            {"profile", to_string(spec.profile)},
            {"provenance", to_string(spec.provenance)},
            {"scenario", spec.scenario},
            {"seed", spec.seed},
            {"round", spec.round}};
}

/// Counts samples and estimates what is left: the plan's estimates, corrected by how wrong they
/// were, per sample, in this call.
class Progression {
  public:
    Progression(const Plan& plan, const Listener& listener)
        : planned_(static_cast<long>(plan.samples.size())),
          left_s_(plan.seconds),
          tell_(listener) {}

    void passed_over(const PlannedSample& sample, const std::string& status) {
        count(status);
        left_s_ -= sample.seconds;
    }
    void finished(const PlannedSample& sample, const store::Sample& result) {
        count(result.status);
        left_s_ -= sample.seconds;
        ++measured_;
        estimated_s_ += sample.seconds;
        taken_s_ += result.seconds;
    }
    void tell(std::string kind, nlohmann::json body) const {
        if (!tell_) return;
        // Short samples exceed their estimate by the start of a process: an error that adds, and
        // does not grow with the estimate.
        const double excess_s =
            measured_ > 0 ? (taken_s_ - estimated_s_) / static_cast<double>(measured_) : 0;
        const double remaining = static_cast<double>(planned_ - done_);
        const double eta_s = remaining == 0 ? 0 : std::max(0.0, left_s_ + excess_s * remaining);
        tell_(Notice{std::move(kind), std::move(body), done_, failed_, planned_, eta_s});
    }

  private:
    void count(const std::string& status) {
        ++done_;
        if (status == to_string(SampleStatus::failed)) ++failed_;
    }

    long planned_, done_ = 0, failed_ = 0, measured_ = 0;
    double left_s_, estimated_s_ = 0, taken_s_ = 0;
    const Listener& tell_;
};

/// A finished sample will not get better by being run again in the same session; an interrupted one
/// has not been run.
bool is_finished(const std::string& status) {
    return status != to_string(SampleStatus::running) &&
           status != to_string(SampleStatus::interrupted);
}

class SessionRun {
  public:
    SessionRun(const Registry& registry, const Plan& plan, const Request& request,
               store::Store& store, const Listener& listener)
        : registry_(registry), plan_(plan), request_(request), store_(store), at_(plan, listener) {}

    Outcome run() {
        const auto measured = [](const PlannedSample& s) {
            return depends_on_machine(s.spec.provenance);
        };
        std::optional<MachineLock> lock;
        if (request_.lock && std::any_of(plan_.samples.begin(), plan_.samples.end(), measured))
            lock.emplace(MachineLock::default_path(),
                         request_.command.empty() ? "assay" : request_.command);
        ScratchFolder::remove_abandoned();
        StateFolder::remove_abandoned(store_);
        const Interruption interruption;
        begin();
        try {
            run_samples(interruption);
            if (!outcome_.interrupted) judge();
        } catch (...) {
            // What is finished is stored; say that the session may be resumed, if that can be
            // stored.
            try {
                store_.finish_session(outcome_.session, "interrupted");
            } catch (const std::exception&) {
            }
            throw;
        }
        store_.finish_session(outcome_.session, outcome_.interrupted ? "interrupted" : "finished");
        if (!outcome_.interrupted) StateFolder(store_.path(), outcome_.session).session_finished();
        outcome_.samples = in_plan_order(store_.samples(outcome_.session));
        at_.tell("finished",
                 {{"session", outcome_.session}, {"interrupted", outcome_.interrupted}});
        return std::move(outcome_);
    }

  private:
    void begin() {
        const measure::Environment environment = measure::read_environment();
        const measure::Identity machine = measure::identity(environment);
        store_.put_machine({machine.fingerprint, machine.description});
        // Before the first series that names them, so that none ever lacks its own.
        for (const auto& [hash, calibration] : plan_.calibrations)
            store_.put_calibration(calibration);
        fingerprint_ = machine.fingerprint;
        const std::string build = measure::build_id();
        std::optional<store::Session> unfinished;
        if (!request_.fresh) unfinished = store_.newest_unfinished(plan_.hash, build);
        if (unfinished && unfinished->machine == fingerprint_) {
            outcome_.session = unfinished->id;
            outcome_.resumed = true;
            store_.resume_session(unfinished->id);
            for (const store::Sample& sample : store_.samples(unfinished->id))
                if (is_finished(sample.status))
                    finished_before_.emplace(identity(sample.spec), sample.status);
        } else {
            store::Session session;
            session.id = outcome_.session = store::new_uuid();
            session.machine = fingerprint_;
            session.command = request_.command;
            session.plan_hash = plan_.hash;
            session.build = build;
            session.suspects = measure::suspects(environment);
            session.started = store::now_utc();
            session.state = "running";
            session.planned = static_cast<long>(plan_.samples.size());
            store_.begin_session(session);
        }
        at_.tell("session", {{"session", outcome_.session},
                             {"resumed", outcome_.resumed},
                             {"finished_before", finished_before_.size()},
                             {"database", store_.path().string()}});
    }

    void run_samples(const Interruption& interruption) {
        for (const PlannedSample& planned : plan_.samples) {
            if (const auto it = finished_before_.find(identity(planned.spec));
                it != finished_before_.end()) {
                at_.passed_over(planned, it->second);
                continue;
            }
            if (!interruption.requested()) run_one(planned, interruption);
            if (interruption.requested()) {
                outcome_.interrupted = true;
                return;
            }
        }
    }

    void run_one(const PlannedSample& planned, const Interruption& interruption) {
        store::SeriesKey series;
        series.experiment = planned.spec.experiment;
        series.variant = planned.spec.variant;
        series.axes = planned.spec.axes;
        series.profile = planned.spec.profile;
        series.provenance = planned.spec.provenance;
        series.scenario = planned.spec.scenario;
        if (depends_on_machine(planned.spec.provenance)) series.hardware = fingerprint_;
        series.calibration = planned.calibration;
        const std::string id = store_.begin_sample(outcome_.session, planned.spec, series);
        nlohmann::json body = described(planned.spec);
        body["sample"] = id;
        at_.tell("sample_started", body);
        const auto tell = [&](std::string kind, nlohmann::json what) {
            at_.tell(std::move(kind), std::move(what));
        };
        const StateFolder states(store_.path(), outcome_.session);
        SampleSpec spec = planned.spec;
        states.assign(spec);
        store::Sample result = collect_sample(spec, id, tell, interruption);
        result.session = outcome_.session;
        store_.finish_sample(result);
        if (is_finished(result.status)) states.sample_finished(planned.spec);
        if (is_finished(result.status)) at_.finished(planned, result);
        body["status"] = result.status;
        body["reason"] = result.reason;
        body["seconds"] = result.seconds;
        body["metrics"] = nlohmann::json::object();
        for (const store::MetricValue& metric : result.metrics)
            body["metrics"][metric_key(metric.name, metric.labels)] = metric.value;
        at_.tell("sample_finished", std::move(body));
    }

    void judge() {
        std::vector<const Experiment*> experiments;
        for (const PlannedSample& sample : plan_.samples)
            if (std::find(experiments.begin(), experiments.end(), sample.experiment) ==
                experiments.end())
                experiments.push_back(sample.experiment);
        outcome_.claims = check_claims(registry_, store_, experiments, outcome_.session);
        store_.put_claim_checks(outcome_.session, outcome_.claims);
        for (const ClaimCheck& checked : outcome_.claims)
            if (const Claim* claim = registry_.claim(checked.claim))
                at_.tell("claim", to_json(*claim, checked));
    }

    /// One row per planned sample: an interrupted one gives way to its repetition.
    std::vector<store::Sample> in_plan_order(std::vector<store::Sample> rows) const {
        std::map<std::string, store::Sample> newest;
        for (store::Sample& row : rows) {
            std::string key = identity(row.spec);
            const auto it = newest.find(key);
            if (it == newest.end())
                newest.emplace(std::move(key), std::move(row));
            else if (!is_finished(it->second.status))
                it->second = std::move(row);
        }
        std::vector<store::Sample> ordered;
        for (const PlannedSample& planned : plan_.samples)
            if (const auto it = newest.find(identity(planned.spec)); it != newest.end())
                ordered.push_back(std::move(it->second));
        return ordered;
    }

    const Registry& registry_;
    const Plan& plan_;
    const Request& request_;
    store::Store& store_;
    Progression at_;
    Outcome outcome_;
    std::string fingerprint_;
    std::map<std::string, std::string> finished_before_;  ///< identity → status
};

}  // namespace

Outcome execute(const Registry& registry, const Plan& plan, const Request& request,
                store::Store& store, const Listener& listener) {
    return SessionRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::runner
