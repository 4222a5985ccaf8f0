#include "suite/gate/nightly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "suite/compare/read_arm.hpp"
#include "suite/gate/baseline.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/level.hpp"
#include "suite/gate/night_circumstances.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/gate/night_session.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/gate/night_warnings.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/reruns.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"

namespace assay::gate {
namespace {

class NightRun {
  public:
    NightRun(const Registry& registry, const NightPlan& plan, const NightRequest& request,
             store::Store& store, const runner::Listener& listener)
        : registry_(registry),
          plan_(plan),
          request_(request),
          store_(store),
          nights_(store),
          programs_(store.path()),
          listener_(listener) {}

    NightOutcome run() {
        store_.put_metric_units(plan_.directions);
        NightSession session = measured_night(registry_, plan_, request_, store_, listener_);
        record_ = std::move(session.record);
        outcome_.interrupted = session.interrupted;
        outcome_.resumed = session.resumed;
        night().warnings = std::move(session.warnings);
        if (outcome_.interrupted) return std::move(outcome_);
        begin_report(session.samples);
        const auto level = baseline_level(store_, nights_, request_.baseline);
        const compare::Arm tonight = compare::arm_of_sessions(registry_, store_, {record_.session});
        std::optional<compare::Arm> baseline;
        if (level) baseline = baseline_arm(registry_, store_, *level);
        fill_rows(tonight, baseline, level);
        if (level && !mixed_ && !rerun(*level)) return std::move(outcome_);
        conclude();
        return std::move(outcome_);
    }

  private:
    Night& night() { return outcome_.night; }

    void begin_report(std::span<const store::Sample> samples) {
        Night& night = outcome_.night;
        night.suite = record_.suite;
        night.id = record_.id;
        night.started = record_.started;
        night.session = record_.session;
        night.machine = record_.machine;
        night.baseline = request_.baseline;
        night.margin = request_.suite.margin;
        night.program_commits = program_commits(samples);
        if (const auto of = store_.session(record_.session); of && of->suspects.is_object()) {
            night.commit = of->suspects.value("commit", "");
            night.host = store::host_of(of->suspects);
            suspects_ = of->suspects;
            mixed_ = of->suspects.contains(store::mixed_mark);
            if (mixed_)
                night.failures.push_back(
                    "samples of two builds: " +
                    of->suspects.value(std::string(store::mixed_mark), "") +
                    "; nothing of this night is judged, and it can be no baseline: run it again");
        }
        for (const store::NightRecord& other : nights_.nights(record_.suite)) {
            if (other.machine != record_.machine || other.finished.empty()) continue;
            if (++night.nights_before > 1) continue;
            last_night_ = other.started;
            warn_of_future(fmt::format("the night of session {:.8}", other.session), other.started);
        }
        warn_of_future("this night", record_.started);
        warn(request_.warnings);
        for (const std::string& sentence : plan_.left_out)
            night.warnings.push_back("left out: " + sentence);
        for (const runner::StandIn& in : plan_.plan.stand_ins)
            night.warnings.push_back(sentence(in));
        SampleLosses losses = sample_losses(samples, plan_.gates);
        warn(losses.warnings);
        failed_ = std::move(losses.failed);
        not_run_ = std::move(losses.not_run);
        seconds_ = std::move(losses.seconds);
    }

    /// One sentence is enough: it is one clock.
    void warn_of_future(const std::string& what, const std::string& started) {
        const std::string words = store::future_words(started);
        if (words.empty() || std::exchange(told_of_future_, true)) return;
        night().warnings.push_back(fmt::format(
            "{} {}; nights stay in the order in which they were recorded", what, words));
    }

    /// What a night of this suite had when its level was accepted.
    static std::set<RowId> rows_of_level(const std::vector<store::RowOfNight>& rows,
                                         const BaselineLevel& level) {
        std::set<RowId> ids;
        for (const store::RowOfNight& of : rows)
            if (of.session == level.session_of(of.row.id)) ids.insert(of.row.id);
        return ids;
    }

    /// Rows that the newest night left undecided since its budget was spent, as its report says.
    std::set<RowId> ended_by_budget(const std::vector<store::RowOfNight>& rows) const {
        std::set<RowId> ids;
        if (rows.empty()) return ids;
        const std::string& newest = rows.back().night;
        std::set<std::string> ended;
        for (const nlohmann::json& row :
             nights_.report(newest).value("rows", nlohmann::json::array()))
            if (row.value("budget_ended", false) && row.contains("id"))
                ended.insert(row["id"].dump());
        for (const store::RowOfNight& of : rows)
            if (of.night == newest && ended.contains(to_json(of.row.id).dump()))
                ids.insert(of.row.id);
        return ids;
    }

    bool was_left_out(const std::string& experiment) const {
        return std::any_of(
            plan_.left_out_experiments.begin(), plan_.left_out_experiments.end(),
            [&](const LeftOut& left_out) { return left_out.experiment == experiment; });
    }

    /// Experiments that could not be planned, and what the level has of them, are not nothing.
    void add_left_out() {
        std::map<std::string, std::pair<std::size_t, std::size_t>> rows;  // all, not muted
        for (const NightRow& row : night().rows) {
            const compare::Row& against = row.against_baseline;
            if (plan_.gates.contains(against.id.series())) continue;
            if (is_not_run(row) && !was_left_out(against.id.experiment)) continue;
            auto& [all, judged] = rows[against.id.experiment];
            ++all;
            if (!row.muted) ++judged;
        }
        for (const auto& [experiment, count] : rows) {
            night().left_out.push_back(experiment);
            if (count.second > 0)
                night().failures.push_back(fmt::format(
                    "{} was left out (a warning says why): {} of the level {} compared with "
                    "nothing",
                    experiment, count.first == 1 ? "1 row" : fmt::format("{} rows", count.first),
                    count.first == 1 ? "is" : "are"));
        }
    }

    void warn(const std::vector<std::string>& sentences) {
        night().warnings.insert(night().warnings.end(), sentences.begin(), sentences.end());
    }

    void fill_rows(const compare::Arm& tonight, const std::optional<compare::Arm>& baseline,
                   const std::optional<BaselineLevel>& level) {
        RowInputs inputs;
        inputs.baseline = baseline ? &*baseline : nullptr;
        inputs.tonight = &tonight;
        inputs.gates = &plan_.gates;
        if (level) kept_ = kept_programs(*level);
        inputs.old_program = level && kept_.contains(level->session);
        inputs.left_out = plan_.left_out_experiments;
        const auto earlier = nights_.rows(record_.suite, record_.machine);
        inputs.past = past_ =
            row_pasts({.rows = earlier,
                       .regressions = nights_.regressions(record_.suite, record_.machine),
                       .level = level ? &*level : nullptr,
                       .places = store_.places(),
                       .tonight = began_,
                       .began = record_.started,
                       .ended_by_budget = ended_by_budget(earlier),
                       .min_apart_h = request_.suite.min_apart_h});
        const std::vector<store::MuteRecord> mutes = nights_.mutes();
        const std::string now = store::now_utc();
        inputs.muted = [&](const RowId& row) { return muting(mutes, row, now) != nullptr; };
        night().rows = night_rows(inputs);
        add_what_samples_say();
        if (level) {
            night().baseline_session = level->session;
            if (const auto of = store_.session(level->session)) {
                warn_of_future(fmt::format("the baseline's session {:.8}", of->id), of->started);
                night().machine_changes = machine_changes(of->suspects, suspects_);
            }
            if (const auto warning = scaling_warning(*baseline, tonight)) warn({*warning});
        }
        add_left_out();
        say_reasons(night());
        judge_by_levels();
        add_failures(night(), failed_);
        for (NightRow& row : night().rows)
            if (const auto* mute = muting(mutes, row.against_baseline.id, now))
                row.mute = mute_words(*mute);
        warn(ended_mute_warnings(night().rows, mutes, now, last_night_));
        warn(unjudged_warnings(night(), level
                                            ? rows_that_left(inputs, rows_of_level(earlier, *level))
                                            : std::vector<RowId>()));
        for (const NightRow& row : night().rows) {
            medians_.push_back(median_tonight(row.against_baseline));
            const auto slower = control_slowdown(row.against_baseline);
            const RowId& id = row.against_baseline.id;
            const auto gate = plan_.gates.find(id.series());
            if (gate != plan_.gates.end() && gate->second.control && slower)
                night().control[id.metric_text()] = *slower;
        }
        if (const auto warning = context_warning(night().rows, request_.baseline))
            warn_once(night(), *warning);
        mark_for_mean(night());
        if (mixed_)
            for (NightRow& row : night().rows) row.candidate = row.rerun_for_mean = false;
    }

    void add_what_samples_say() {
        std::map<RowId, double> rows;
        for (const NightRow& row : night().rows) ++rows[row.against_baseline.id.series()];
        for (NightRow& row : night().rows) {
            const RowId series = row.against_baseline.id.series();
            RowId part = series;
            part.labels = row.against_baseline.id.labels;
            RowId counter = part;
            counter.metric = row.against_baseline.id.metric;
            for (const RowId& said : {counter, part, series})
                if (const auto of = not_run_.find(said); of != not_run_.end())
                    row.not_run = row.not_run.empty() ? of->second : row.not_run;
            if (const auto took = seconds_.find(series); took != seconds_.end())
                row.seconds = took->second / rows[series];
        }
        for (const auto& [series, seconds] : seconds_) night().seconds += seconds;
    }

    void judge_by_levels() {
        if (mixed_) return;
        LevelFindings found =
            judge_levels(night().rows, request_.suite.levels, request_.gpus, names_of(night()));
        night().below_level = std::move(found.below);
        night().levels_reached = found.reached;
        night().failures.insert(night().failures.end(), found.failures.begin(),
                                found.failures.end());
        warn(found.warnings);
    }

    /// Session → the kept program that made it; of the level's sessions, those whose program is
    /// still there and whole.
    std::map<std::string, std::filesystem::path> kept_programs(const BaselineLevel& level) {
        std::set<std::string> sessions = {level.session};
        for (const auto& [row, accepted] : level.rows) sessions.insert(accepted.session);
        programs_.look_again();  // hours of samples ago it may have been another one
        std::map<std::string, std::filesystem::path> programs;
        for (const store::NightRecord& other : nights_.nights("")) {
            if (!sessions.contains(other.session)) continue;
            const auto executable = programs_.executable(other.program);
            if (!executable.empty() && is_whole(executable))
                programs.emplace(other.session, executable);
        }
        return programs;
    }

    /// False is said, too.
    bool is_whole(const std::filesystem::path& executable) {
        const std::string& damage = programs_.damage(executable);
        if (!damage.empty())
            warn_once(night(), "the baseline's program is not run again: " + damage);
        return damage.empty();
    }

    bool rerun(const BaselineLevel& level) {
        programs_.look_again();
        RerunRequest request;
        request.old_program = [&](const NightRow& row) {
            // A launcher's old copy would measure the new code.
            const auto arguments = row.against_baseline.id.axes.find("arguments");
            if (arguments != row.against_baseline.id.axes.end() &&
                is_launcher(assay::to_string(arguments->second)))
                return std::filesystem::path();
            const auto made = kept_.find(level.session_of(row.against_baseline.id));
            return made != kept_.end() && is_whole(made->second) ? made->second
                                                                 : std::filesystem::path();
        };
        request.open_before = [&](const NightRow& row) {
            return past_[row.against_baseline.id].open_before;
        };
        std::map<std::string, std::string> changes;  // by the session of the level
        request.machine_changes = [&](const NightRow& row) {
            const std::string& session = level.session_of(row.against_baseline.id);
            const auto [at, is_new] = changes.try_emplace(session);
            if (const auto of = is_new ? store_.session(session) : std::nullopt)
                at->second = machine_changes_words(machine_changes(of->suspects, suspects_));
            return at->second;
        };
        request.turn = static_cast<std::size_t>(night().nights_before);
        request.budget_s = request_.suite.rerun_budget_s;
        request.rounds = request_.suite.rounds;
        request.command = request_.command;
        request.night = record_.id;
        const RerunOutcome reruns =
            rerun_candidates(registry_, store_, request, night().rows, listener_);
        outcome_.interrupted = reruns.interrupted;
        night().seconds += reruns.seconds;
        warn(reruns.warnings);
        for (NightRow& row : night().rows)
            if (row.budget_ended && row.candidate)
                row.against_baseline.reason +=
                    "; undecided, since the rerun budget was spent before its verdict stood";
        return !reruns.interrupted;
    }

    /// The row's step. What is muted stays as it is: a mute hides it, and ends nothing.
    Step step_of(const NightRow& row, const RowPast& past) const {
        if (outcome_.night.baseline_session.empty() && is_open(past.state))
            return {past.state, std::nullopt, "there is no baseline any more to be slower than"};
        if (row.muted) return {past.state, past.state, is_open(past.state) ? row.mute : ""};
        return after_night(past.state, row.evidence, past.same_before, past.another_night);
    }

    void conclude() {
        std::vector<store::NightRowRecord> rows;
        std::vector<store::RegressionMove> moves;
        for (std::size_t i = 0; i < night().rows.size(); ++i) {
            NightRow& row = night().rows[i];
            compare::Row& against = row.against_baseline;
            row.evidence = mixed_ ? Evidence::none : evidence_of(row);
            row.step = step_of(row, past_[against.id]);
            against.a = against.b = nullptr;
            // A night that was suspicious and stayed undecided is no measure for later ones.
            // Nor is one of two builds.
            const bool open = mixed_ || (row.candidate && row.evidence == Evidence::none);
            rows.push_back({against.id, open ? std::nullopt : medians_[i],
                            std::string(to_string(row.evidence))});
            const Step& step = row.step;
            if (step.to == step.from && !is_open(step.from)) continue;
            const bool anew = step.to == State::candidate && step.from != State::candidate;
            moves.push_back(
                {against.id, step.to ? std::string(to_string(*step.to)) : "", anew, step.why});
        }
        judge(night());
        if (const auto why = ambiguity_warning(night()))
            night().warnings.insert(night().warnings.begin(), *why);
        // The schema has no word for a night without a level; its report does.
        const bool unjudged = night().verdict == NightVerdict::no_baseline;
        record_.verdict = to_string(unjudged ? NightVerdict::clean : night().verdict);
        nights_.finish(record_, nlohmann::json::parse(json_text(night())), rows, moves);
        remove_old_programs();
    }

    /// Kept are those of accepted sessions and that of the newest night of every suite.
    void remove_old_programs() const {
        std::set<std::string> sessions, suites, names;
        for (const store::AcceptedLevel& level : nights_.levels("")) sessions.insert(level.session);
        for (const store::Baseline& baseline : store_.baselines())
            sessions.insert(baseline.session);
        for (const store::NightRecord& other : nights_.nights(""))
            if (suites.insert(other.suite).second || sessions.contains(other.session))
                names.insert(other.program);
        programs_.keep_only(names);
    }

    const Registry& registry_;
    const NightPlan& plan_;
    const NightRequest& request_;
    store::Store& store_;
    store::Nights nights_;
    KeptPrograms programs_;
    const runner::Listener& listener_;
    store::NightRecord record_;
    std::map<RowId, RowPast> past_;
    std::map<RowId, std::string> failed_;   // series of which every sample failed tonight, and why
    std::map<RowId, std::string> not_run_;  // SampleLosses
    std::map<RowId, double> seconds_;       // likewise
    bool told_of_future_ = false;
    nlohmann::json suspects_;  ///< of tonight's session
    std::map<std::string, std::filesystem::path> kept_;
    std::vector<std::optional<double>> medians_;  ///< of tonight, by row
    std::string last_night_;  ///< when the newest finished one of this machine began; empty: none
    /// Of the whole night or, where it goes on, of what is left of it.
    std::string began_ = store::now_utc();
    bool mixed_ = false;  ///< its samples are of two builds
    NightOutcome outcome_;
};

}  // namespace

NightOutcome run_night(const Registry& registry, const NightPlan& plan, const NightRequest& request,
                       store::Store& store, const runner::Listener& listener) {
    return NightRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::gate
