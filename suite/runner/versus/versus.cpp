#include "suite/runner/versus/versus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "suite/base/sha256.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/measure/environment.hpp"
#include "suite/runner/interruption.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/progression.hpp"
#include "suite/runner/sample/hardware_watch.hpp"
#include "suite/runner/sample/sample_folders.hpp"
#include "suite/runner/sample/slowdown.hpp"
#include "suite/runner/sample/stored_sample.hpp"
#include "suite/runner/versus/versus_plan.hpp"
#include "suite/store/ids.hpp"

namespace assay::runner {
namespace {

class VersusRun {
  public:
    VersusRun(const Registry& registry, const VersusRequest& request, store::Store& store,
              const Listener& listener)
        : registry_(registry),
          request_(request),
          store_(store),
          rule_(stopping_rule(request.decision)),
          plan_(versus_plan(registry, request)),
          control_plan_(control_plan(registry, request, plan_)),
          questions_(build_questions(plan_, request.decision)),
          at_(plan_, listener, {}, 2) {
        if (control_plan_) at_.beside(*control_plan_);
    }

    VersusOutcome run() {
        std::optional<MachineLock> lock;
        const bool on_machine = depends_on_machine(plan_);
        if (on_machine && request_.what.lock) lock.emplace(MachineLock::default_path(), command());
        if (on_machine || control_plan_) watch_.emplace(measure::HardwareMonitor());
        ScratchFolder::remove_abandoned();
        const Interruption interruption;
        begin();
        try {
            run_rounds(interruption);
        } catch (...) {
            outcome_.interrupted = true;
            try {
                finish();
            } catch (const std::exception&) {
            }
            throw;
        }
        finish();
        judge();
        outcome_.taken_s = taken_s_;
        outcome_.saved = at_.saved();
        at_.tell("finished",
                 {{"session", outcome_.new_session}, {"interrupted", outcome_.interrupted}});
        return std::move(outcome_);
    }

  private:
    std::string command() const {
        return request_.what.command.empty() ? "assay versus" : request_.what.command;
    }

    void begin() {
        const measure::Identity machine = measure::identity(measure::read_environment());
        store_.put_machine({machine.fingerprint, machine.description});
        for (const auto& [hash, calibration] : plan_.calibrations)
            store_.put_calibration(calibration);
        fingerprint_ = machine.fingerprint;
        outcome_.old_session = begin_session(request_.old_program, "old");
        outcome_.new_session = begin_session(request_.new_program, "new");
        at_.tell("session", {{"session", outcome_.new_session},
                             {"old_session", outcome_.old_session},
                             {"resumed", !finished_before_.empty()},
                             {"finished_before", finished_before_.size()},
                             {"database", store_.path().string()}});
    }

    std::string begin_session(const ProgramIdentity& program, const char* arm) {
        const std::string& part_of = request_.what.part_of;
        store::Session session;
        session.id = store::new_uuid();
        // Of its own: no run of the same samples goes on with half a comparison.
        session.plan_hash = sha256_hex(fmt::format(
            "versus {} {}", arm,
            part_of.empty()
                ? session.id
                : fmt::format("{} {} {}", part_of, request_.old_program.executable, plan_.hash)));
        if (!part_of.empty())
            if (const auto before = store_.newest_of_plan(session.plan_hash, program.build);
                before && before->machine == fingerprint_)
                return resume_session(before->id);
        session.machine = fingerprint_;
        session.command = command();
        session.build = program.build;
        session.suspects = program.suspects;
        for (const auto& [name, text] : request_.what.suspects) session.suspects[name] = text;
        session.started = store::now_utc();
        session.state = "running";
        session.planned = static_cast<long>(plan_.samples.size());
        store_.begin_session(session);
        return session.id;
    }

    /// What is finished is not run again, and decides as it did.
    std::string resume_session(const std::string& id) {
        store_.resume_session(id);
        for (store::Sample& sample : store_.samples(id))
            if (is_finished(sample.status)) {
                std::pair key{id, identity(sample.spec)};
                finished_before_.insert_or_assign(std::move(key), std::move(sample));
            }
        return id;
    }

    void run_rounds(const Interruption& interruption) {
        for (int round = 0; round < request_.decision.max_rounds; ++round) {
            bool any = false;
            for (BuildQuestion& question : questions_) {
                if (question.end != RoundsEnd::open) continue;
                any = true;
                // Every series has its first round; after that the budget ends within one, too.
                if (round > 0 && budget_left_s() <= 0) break;
                run_pair(question, round, interruption);
                if (interruption.requested()) {
                    outcome_.interrupted = true;
                    return;
                }
            }
            if (!any) return;
            for (const BuildQuestion& question : questions_)
                outcome_.rounds = std::max(outcome_.rounds, question.complete);
            const bool with_control = round == 0 || budget_left_s() > 0;
            if (with_control) run_control(round, interruption);
            for (BuildQuestion& question : questions_) decide(question);
            if (std::none_of(questions_.begin(), questions_.end(),
                             [](const BuildQuestion& each) { return each.end == RoundsEnd::open; }))
                return save_control(with_control ? round + 1 : round);
        }
    }

    double budget_left_s() const { return request_.decision.budget_s - taken_s_; }

    void run_pair(BuildQuestion& question, int round, const Interruption& interruption) {
        const PlannedSample& of_old = *question.rounds.at(static_cast<std::size_t>(round));
        PlannedSample of_new = of_old;
        of_new.spec.scenario = slowed_scenario(of_new.spec.scenario, request_.slowdown);
        const bool old_first = round % 2 == 0;
        for (const bool is_old : {old_first, !old_first}) {
            if (interruption.requested()) return;
            const store::Sample sample =
                run_one(is_old ? of_old : of_new, is_old ? "old" : "new", interruption, of_old);
            (is_old ? question.of_old : question.of_new).add(sample, question.metrics);
        }
        ++question.complete;
    }

    /// Its rounds from this one on need not be waited for.
    void save_control(int round) {
        if (!control_plan_) return;
        for (const PlannedSample& planned : control_plan_->samples)
            if (planned.spec.round >= round) at_.saved(planned);
    }

    void run_control(int round, const Interruption& interruption) {
        if (!control_plan_) return;
        for (const PlannedSample& planned : control_plan_->samples) {
            if (planned.spec.round != round || interruption.requested()) continue;
            ArmRounds values;
            const std::string& metric = planned.experiment->figure.metric;
            values.add(run_one(planned, "control", interruption, planned), {metric});
            outcome_.control_better = planned.experiment->metric(metric)->better;
            for (const auto& [at, by_metric] : values.values())
                outcome_.control.push_back(by_metric.begin()->second);
        }
    }

    /// `counts_as`: the sample of a plan that it is a run of.
    store::Sample run_one(const PlannedSample& planned, const char* arm,
                          const Interruption& interruption, const PlannedSample& counts_as) {
        const bool is_old = std::string_view(arm) == "old";
        const std::string& session = is_old ? outcome_.old_session : outcome_.new_session;
        if (const auto before = finished_before_.find({session, identity(planned.spec)});
            before != finished_before_.end()) {
            at_.passed_over(counts_as, before->second.status);
            taken_s_ += before->second.seconds;
            outcome_.before_s += before->second.seconds;
            return before->second;
        }
        at_.started(counts_as);
        const SampleHome home{store_, session, fingerprint_,
                              depends_on_machine(planned.spec.provenance) ? &*watch_ : nullptr};
        const SampleProgram program{is_old ? request_.old_program.executable
                                           : request_.new_program.executable};
        StoredSample ended = run_stored_sample(
            planned, home, program,
            [&](std::string kind, nlohmann::json body) {
                body["arm"] = arm;
                at_.tell(kind, std::move(body));
            },
            interruption);
        taken_s_ += ended.sample.seconds;
        if (is_finished(ended.sample.status)) at_.finished(counts_as, ended.sample);
        ended.body["arm"] = arm;
        at_.tell("sample_finished", std::move(ended.body));
        return std::move(ended.sample);
    }

    std::vector<Contrast> contrasts(const BuildQuestion& question) const {
        Contrast names;
        names.axes = question.rounds.front()->spec.axes;
        names.variant = question.rounds.front()->spec.variant;
        names.against = "old build";
        return contrasts_of(question.of_old, question.of_new, question.complete,
                            *question.experiment, request_.decision, rule_, names);
    }

    RoundsEnd end_of(const BuildQuestion& question, stopping::Stopping::Next next) const {
        using Next = stopping::Stopping::Next;
        if (next == Next::go_on) return RoundsEnd::open;
        if (next == Next::decided) return RoundsEnd::decided;
        if (question.complete >= request_.decision.max_rounds) return RoundsEnd::rounds;
        return budget_left_s() <= 0 ? RoundsEnd::budget : RoundsEnd::no_pairs;
    }

    void decide(BuildQuestion& question) {
        if (question.end != RoundsEnd::open) return;
        const std::vector<Contrast> now = contrasts(question);
        question.end = end_of(question, next_of(now, question.complete, budget_left_s(), rule_));
        if (question.end == RoundsEnd::open) return;
        for (auto it = question.rounds.begin() + question.complete; it != question.rounds.end();
             ++it)
            for (int run = 0; run < 2; ++run) at_.saved(**it);
        nlohmann::json listed = nlohmann::json::array();
        for (const Contrast& contrast : now) listed.push_back(contrast_json(contrast));
        at_.tell("decided", {{"experiment", question.experiment->id},
                             {"case", to_json(question.rounds.front()->spec.axes)},
                             {"rounds", question.complete},
                             {"contrasts", std::move(listed)}});
    }

    void finish() {
        const char* const state = outcome_.interrupted ? "interrupted" : "finished";
        for (const std::string& session : {outcome_.old_session, outcome_.new_session}) {
            store_.finish_session(session, state);
            StateFolder(store_.path(), session).session_finished();
        }
    }

    void judge() {
        for (const BuildQuestion& question : questions_)
            for (Contrast& contrast : contrasts(question))
                outcome_.contrasts.push_back(std::move(contrast));
        const auto arm = [&](const std::string& session) {
            return std::make_shared<const compare::Arm>(
                compare::arm_of_sessions(registry_, store_, {session}));
        };
        outcome_.old_arm = arm(outcome_.old_session);
        outcome_.new_arm = arm(outcome_.new_session);
        compare::Options options = request_.compare;
        options.margin = request_.decision.margin;
        options.level = request_.decision.level;
        options.all_metrics = true;  // of those that decide none is left out
        // A slowdown is there to be found.
        if (request_.slowdown > 1) options.across.insert("scenario");
        outcome_.rows = versus_rows(compare::compare(*outcome_.old_arm, *outcome_.new_arm, options),
                                    outcome_.contrasts);
        for (compare::Row& row : outcome_.rows) outcome_.row_rounds.push_back(rounds_of(row));
    }

    /// Warns of what the budget left undecided.
    RowRounds rounds_of(compare::Row& row) {
        const auto asked =
            std::find_if(questions_.begin(), questions_.end(), [&](const BuildQuestion& question) {
                const SampleSpec& spec = question.rounds.front()->spec;
                return spec.experiment == row.id.experiment && spec.variant == row.id.variant &&
                       spec.axes == row.id.axes;
            });
        if (asked == questions_.end()) return {};
        if (asked->end == RoundsEnd::budget) {
            outcome_.budget_ended = true;
            if (row.verdict == compare::RowVerdict::ambiguous)
                row.warnings.push_back(fmt::format(
                    "undecided: the budget of {:g} s ended the measuring after {} of "
                    "at most {} rounds; a larger --budget would go on",
                    request_.decision.budget_s, asked->complete, request_.decision.max_rounds));
        }
        return {asked->complete, asked->end};
    }

    const Registry& registry_;
    const VersusRequest& request_;
    store::Store& store_;
    stopping::Stopping rule_;
    Plan plan_;
    std::optional<Plan> control_plan_;
    std::vector<BuildQuestion> questions_;
    Progression at_;
    double taken_s_ = 0;
    std::map<std::pair<std::string, std::string>, store::Sample>
        finished_before_;  ///< by session and identity
    std::string fingerprint_;
    std::optional<HardwareWatch> watch_;
    VersusOutcome outcome_;
};

}  // namespace

VersusOutcome versus(const Registry& registry, const VersusRequest& request, store::Store& store,
                     const Listener& listener) {
    return VersusRun(registry, request, store, listener).run();
}

}  // namespace assay::runner
