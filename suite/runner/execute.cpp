// execute(): the session around the samples.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "suite/base/sha256.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/runner/adaptive/adaptive_cases.hpp"
#include "suite/runner/adaptive/precise_cases.hpp"
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
        if (request.until_decided)
            adaptive_ = std::make_unique<AdaptiveCases>(plan, *request.until_decided);
        else if (request.until_precise && !request.rounds)
            adaptive_ = std::make_unique<PreciseCases>(plan, *request.until_precise);
    }

    Outcome run() {
        std::optional<MachineLock> lock;
        if (request_.lock && depends_on_machine(plan_))
            lock.emplace(MachineLock::default_path(),
                         request_.command.empty() ? "assay" : request_.command);
        if (depends_on_machine(plan_)) watch_.emplace(measure::HardwareMonitor());
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
        processors_ = measure::computing_threads(environment);
        store_.put_machine({machine.fingerprint, machine.description});
        // Before the first series that names them, so that none ever lacks its own.
        for (const auto& [hash, calibration] : plan_.calibrations)
            store_.put_calibration(calibration);
        fingerprint_ = machine.fingerprint;
        const std::string build = measure::build_id();
        const bool is_part = !request_.part_of.empty();
        const std::string plan_hash =
            is_part ? sha256_hex(request_.part_of + ' ' + plan_.hash) : plan_.hash;
        std::optional<store::Session> unfinished;
        if (is_part)
            unfinished = store_.newest_of_plan(plan_hash, build);
        else if (!request_.fresh)
            unfinished = store_.newest_unfinished(plan_hash, build);
        if (unfinished && unfinished->machine == fingerprint_) {
            outcome_.session = unfinished->id;
            outcome_.resumed = true;
            store_.resume_session(unfinished->id);
            for (const store::Sample& sample : store_.samples(unfinished->id))
                if (is_finished(sample.status)) {
                    finished_before_.emplace(identity(sample.spec), sample.status);
                    outcome_.seconds_before += sample.seconds;
                    if (adaptive_) adaptive_->add(sample);
                }
        } else {
            store::Session session;
            session.id = outcome_.session = store::new_uuid();
            session.machine = fingerprint_;
            session.command = request_.command;
            session.plan_hash = plan_hash;
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
        std::span<const PlannedSample> left = plan_.samples;
        while (!left.empty() && !interruption.requested()) {
            const std::size_t together = request_.until_decided ? 0 : indifferent_at_front(left);
            if (together > 0)
                run_side_by_side(left.first(together), interruption);
            else
                run_unless_done(left.front(), interruption, nullptr);
            left = left.subspan(std::max<std::size_t>(together, 1));
        }
        outcome_.interrupted = interruption.requested();
    }

    /// Samples that are the same however busy the machine is, so that they need not have it alone.
    static std::size_t indifferent_at_front(std::span<const PlannedSample> samples) {
        const auto other =
            std::find_if_not(samples.begin(), samples.end(), [](const auto& planned) {
                return planned.spec.provenance == Provenance::simulated || planned.side_by_side;
            });
        return static_cast<std::size_t>(other - samples.begin());
    }

    /// A process each, and a thread that listens to it; what they do here they do in turns. Where
    /// one throws, the others finish the sample that they are at.
    void run_side_by_side(std::span<const PlannedSample> samples,
                          const Interruption& interruption) {
        const int jobs = std::clamp(request_.jobs > 0 ? request_.jobs : processors_, 1,
                                    static_cast<int>(samples.size()));
        if (jobs == 1) {  // alone after all
            for (const PlannedSample& planned : samples)
                if (!interruption.requested()) run_unless_done(planned, interruption, nullptr);
            return;
        }
        at_.at_once(jobs);
        Turn turn;
        std::exception_ptr failed;
        std::size_t next = 0;
        const auto run_some = [&] {
            const std::scoped_lock mine(turn);
            while (next < samples.size() && !failed && !interruption.requested()) {
                try {
                    run_unless_done(samples[next++], interruption, &turn);
                } catch (...) {
                    if (!failed) failed = std::current_exception();
                }
            }
        };
        {
            std::vector<std::jthread> others;
            for (int job = 1; job < jobs; ++job) others.emplace_back(run_some);
            run_some();
        }
        at_.at_once(1);
        if (failed) std::rethrow_exception(failed);
    }

    void run_unless_done(const PlannedSample& planned, const Interruption& interruption,
                         Turn* turn) {
        if (const auto it = finished_before_.find(identity(planned.spec));
            it != finished_before_.end())
            return at_.passed_over(planned, it->second);
        if (adaptive_ && !is_wanted(planned)) return;
        run_one(planned, interruption, turn);
    }

    /// Of adaptive rounds.
    bool is_wanted(const PlannedSample& planned) {
        const CaseRounds::Turn turn = adaptive_->turn(planned.spec);
        if (turn == CaseRounds::Turn::run) return true;
        at_.saved(planned);
        if (turn == CaseRounds::Turn::skip) return false;
        const std::vector<Contrast> found = adaptive_->contrasts(planned.spec);
        if (!found.empty()) {
            nlohmann::json contrasts = nlohmann::json::array();
            for (const Contrast& contrast : found) contrasts.push_back(contrast_json(contrast));
            at_.tell("decided", {{"experiment", planned.spec.experiment},
                                 {"case", to_json(planned.spec.axes)},
                                 {"rounds", planned.spec.round},
                                 {"contrasts", std::move(contrasts)}});
        }
        return false;
    }

    void run_one(const PlannedSample& planned, const Interruption& interruption, Turn* turn) {
        const auto tell = [&](std::string kind, nlohmann::json what) {
            at_.tell(std::move(kind), std::move(what));
        };
        at_.started(planned);
        // One watch sees one sample; and how fast the machine is says nothing of one beside others.
        HardwareWatch* const watch = watch_ && turn == nullptr ? &*watch_ : nullptr;
        StoredSample ended = run_stored_sample(
            planned, {store_, outcome_.session, fingerprint_, watch, turn}, {}, tell, interruption);
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
    int processors_ = 1;  ///< that can compute at once
    std::unique_ptr<CaseRounds> adaptive_;
    std::map<std::string, std::string> finished_before_;  ///< identity → status
};

}  // namespace

Outcome execute(const Registry& registry, const Plan& plan, const Request& request,
                store::Store& store, const Listener& listener) {
    return SessionRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::runner
