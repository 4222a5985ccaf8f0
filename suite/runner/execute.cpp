// execute(): the session around the samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/runner/adaptive/adaptive_cases.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/progression.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/hardware_watch.hpp"
#include "suite/runner/sample/sample_folders.hpp"
#include "suite/runner/sample/stored_sample.hpp"
#include "suite/store/ids.hpp"

namespace assay::runner {
namespace {

class SessionRun {
  public:
    SessionRun(const Registry& registry, const Plan& plan, const Request& request,
               store::Store& store, const Listener& listener)
        : registry_(registry), plan_(plan), request_(request), store_(store), at_(plan, listener) {
        if (request.until_decided) adaptive_.emplace(plan, *request.until_decided);
    }

    Outcome run() {
        const auto measured = [](const PlannedSample& s) {
            return depends_on_machine(s.spec.provenance);
        };
        std::optional<MachineLock> lock;
        if (request_.lock && std::any_of(plan_.samples.begin(), plan_.samples.end(), measured))
            lock.emplace(MachineLock::default_path(),
                         request_.command.empty() ? "assay" : request_.command);
        if (std::any_of(plan_.samples.begin(), plan_.samples.end(), measured))
            watch_.emplace(measure::HardwareMonitor());
        ScratchFolder::remove_abandoned();
        const Interruption interruption;
        begin();
        try {
            for (const StateFolder::Removed& removed : StateFolder::remove_abandoned(store_))
                at_.tell(
                    "state_removed",
                    {{"session", removed.session}, {"bytes", removed.bytes}, {"why", removed.why}});
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
        if (adaptive_) outcome_.contrasts = adaptive_->contrasts();
        outcome_.saved = at_.saved();
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
                if (is_finished(sample.status)) {
                    finished_before_.emplace(identity(sample.spec), sample.status);
                    if (adaptive_) adaptive_->add(sample);
                }
        } else {
            store::Session session;
            session.id = outcome_.session = store::new_uuid();
            session.machine = fingerprint_;
            session.command = request_.command;
            session.plan_hash = plan_.hash;
            session.build = build;
            session.suspects = measure::suspects(environment);
            for (const auto& [name, text] : request_.suspects) session.suspects[name] = text;
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
            if (adaptive_ && !is_wanted(planned)) continue;
            if (!interruption.requested()) run_one(planned, interruption);
            if (interruption.requested()) {
                outcome_.interrupted = true;
                return;
            }
        }
    }

    /// Of adaptive rounds.
    bool is_wanted(const PlannedSample& planned) {
        const AdaptiveCases::Turn turn = adaptive_->turn(planned.spec);
        if (turn == AdaptiveCases::Turn::run) return true;
        at_.saved(planned);
        if (turn == AdaptiveCases::Turn::stop) {
            nlohmann::json contrasts = nlohmann::json::array();
            for (const Contrast& contrast : adaptive_->contrasts(planned.spec))
                contrasts.push_back(contrast_json(contrast));
            at_.tell("decided", {{"experiment", planned.spec.experiment},
                                 {"case", to_json(planned.spec.axes)},
                                 {"rounds", planned.spec.round},
                                 {"contrasts", std::move(contrasts)}});
        }
        return false;
    }

    void run_one(const PlannedSample& planned, const Interruption& interruption) {
        const auto tell = [&](std::string kind, nlohmann::json what) {
            at_.tell(std::move(kind), std::move(what));
        };
        at_.started(planned);
        StoredSample ended = run_stored_sample(
            planned, {store_, outcome_.session, fingerprint_, watch_ ? &*watch_ : nullptr}, {},
            tell, interruption);
        if (is_finished(ended.sample.status)) {
            at_.finished(planned, ended.sample);
            if (adaptive_) adaptive_->add(ended.sample);
        }
        at_.tell("sample_finished", std::move(ended.body));
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
    std::optional<HardwareWatch> watch_;  ///< where something depends on the machine
    std::string fingerprint_;
    std::optional<AdaptiveCases> adaptive_;
    std::map<std::string, std::string> finished_before_;  ///< identity → status
};

}  // namespace

Outcome execute(const Registry& registry, const Plan& plan, const Request& request,
                store::Store& store, const Listener& listener) {
    return SessionRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::runner
