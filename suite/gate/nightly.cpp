#include "suite/gate/nightly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "suite/compare/read_arm.hpp"
#include "suite/gate/baseline.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/gate/night_wording.hpp"
#include "suite/gate/reruns.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/timestamp.hpp"
#include "suite/store/uuid.hpp"

namespace assay::gate {
namespace {

/// A night interrupted longer ago than this begins anew: its first half is of another day.
constexpr std::chrono::hours longest_pause{24};

const store::MuteRecord* muting(const std::vector<store::MuteRecord>& mutes, const RowId& row,
                                const std::string& now) {
    for (const store::MuteRecord& mute : mutes)
        if (store::holds(mute, now) && gate::mutes(mute, row)) return &mute;
    return nullptr;
}

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
        record_.suite = request_.suite.name;
        record_.machine = measure::identity(measure::read_environment()).fingerprint;
        for (const SuiteBenchmark& benchmark : request_.suite.benchmarks)
            benchmarks_.push_back(benchmark.program);
        programs_now_ = programs_text(benchmarks_);
        record_.program = keep_program();
        if (!find_measured_night()) {
            tell_why_none_goes_on();
            measure_night();
            if (outcome_.interrupted) return std::move(outcome_);
            mark_mixed_builds();
        }
        begin_report();
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

    std::string keep_program() {
        try {
            return programs_.keep(benchmarks_);
        } catch (const UserError& error) {
            night().warnings.emplace_back(error.what());
            return {};
        }
    }

    std::string oldest_to_resume() const {
        return store::utc(std::chrono::system_clock::now() - longest_pause);
    }

    /// Whether the session was begun with the programs of now.
    bool is_of_these_programs(const store::Session& session) const {
        return session.build == measure::build_id() &&
               session.suspects.value(programs_suspect, "") == programs_now_;
    }

    /// Half a night of other programs is none to go on with; who started it expects that, though.
    void tell_why_none_goes_on() {
        if (request_.fresh) return;
        for (const store::NightRecord& other : nights_.nights(record_.suite)) {
            if (other.machine != record_.machine) continue;
            const auto of = store_.session(other.session);
            if (!other.finished.empty() || !of || of->started < oldest_to_resume() ||
                of->plan_hash != plan_.plan.hash || is_of_these_programs(*of))
                return;
            tell(fmt::format(
                "the night that was interrupted on {:.16} (session {:.8}) does not go on: since "
                "then {}; this is a new night",
                of->started, of->id,
                programs_changed(of->suspects.value(programs_suspect, ""), programs_now_)));
            return;
        }
    }

    /// At once, and in the reports.
    void tell(const std::string& sentence) {
        night().warnings.push_back(sentence);
        if (!listener_) return;
        runner::Notice note;
        note.kind = "note";
        note.body["says"] = sentence;
        listener_(note);
    }

    /// A program that is built anew while the night runs.
    void mark_mixed_builds() {
        std::optional<std::string> mixed = mixed_builds(samples_);
        if (!mixed)
            if (const std::string at_the_end = programs_at_the_end(); at_the_end != programs_now_)
                mixed = "while it ran, " + programs_changed(programs_now_, at_the_end);
        if (mixed) store_.add_suspect(record_.session, store::mixed_mark, *mixed);
    }

    std::string programs_at_the_end() const {
        try {
            return programs_text(benchmarks_);
        } catch (const UserError&) {
            return {};  // one is being written
        }
    }

    /// A night whose samples are all there and which was interrupted later.
    bool find_measured_night() {
        if (request_.fresh) return false;
        for (const store::NightRecord& other : nights_.nights(record_.suite)) {
            if (!other.finished.empty() || other.machine != record_.machine) continue;
            const auto of = store_.session(other.session);
            if (!of || of->state != "finished" || of->plan_hash != plan_.plan.hash ||
                !is_of_these_programs(*of) || of->started < oldest_to_resume())
                continue;
            record_ = other;
            outcome_.resumed = true;
            samples_ = store_.samples(record_.session);
            return true;
        }
        return false;
    }

    void measure_night() {
        runner::Request request;
        request.command = request_.command;
        request.lock = request_.lock;
        request.suspects = request_.suspects;
        request.suspects[programs_suspect] = programs_now_;
        const auto unfinished = store_.newest_unfinished(plan_.plan.hash, measure::build_id());
        request.fresh =
            request_.fresh || (unfinished && (unfinished->started < oldest_to_resume() ||
                                              !is_of_these_programs(*unfinished)));
        const auto listen = [&](const runner::Notice& notice) {
            if (notice.kind == "session") begin_night(notice.body.at("session"));
            if (listener_) listener_(notice);
        };
        runner::Outcome measured = runner::execute(registry_, plan_.plan, request, store_, listen);
        outcome_.interrupted = measured.interrupted;
        outcome_.resumed = measured.resumed;
        samples_ = std::move(measured.samples);
    }

    void begin_night(const std::string& session_id) {
        record_.id = store::new_uuid();
        record_.session = session_id;
        record_.started = store::now_utc();
        record_.id = nights_.begin(record_);
        if (const auto of = store_.session(session_id)) record_.started = of->started;
    }

    void begin_report() {
        Night& night = outcome_.night;
        night.suite = record_.suite;
        night.id = record_.id;
        night.started = record_.started;
        night.session = record_.session;
        night.machine = record_.machine;
        night.margin = request_.suite.margin;
        if (const auto of = store_.session(record_.session); of && of->suspects.is_object()) {
            night.commit = of->suspects.value("commit", "");
            mixed_ = of->suspects.contains(store::mixed_mark);
            if (mixed_)
                night.failures.push_back(
                    "samples of two builds: " +
                    of->suspects.value(std::string(store::mixed_mark), "") +
                    "; nothing of this night is judged, and it can be no baseline: run it again");
        }
        for (const store::NightRecord& other : nights_.nights(record_.suite))
            if (other.machine == record_.machine && !other.finished.empty()) ++night.nights_before;
        night.warnings.insert(night.warnings.end(), request_.warnings.begin(),
                              request_.warnings.end());
        for (const std::string& sentence : plan_.left_out)
            night.warnings.push_back("left out: " + sentence);
        count_samples();
    }

    /// What did not run: as a whole a failure of the night, in part a warning.
    void count_samples() {
        struct Counts {
            int all = 0, failed = 0, invalid = 0;
            std::string reason;
        };
        std::map<RowId, Counts> by_series;
        std::vector<RowId> ids;
        for (const auto& [series, gate] : plan_.gates) ids.push_back(series);
        const report::RowNames names(ids);
        std::set<std::string> unsupported;
        for (const store::Sample& sample : samples_) {
            const RowId id = series_of(sample.spec);
            Counts& counts = by_series[id];
            ++counts.all;
            if (sample.status == "failed") ++counts.failed, counts.reason = sample.reason;
            if (sample.status == "invalid") ++counts.invalid, counts.reason = sample.reason;
            if (sample.status == "unsupported")
                unsupported.insert(fmt::format("{}: {}", names.of(id).text(), sample.reason));
        }
        for (const auto& [id, counts] : by_series) {
            const std::string series = names.of(id).text();
            if (counts.failed == counts.all)
                failed_[id] = fmt::format("{}: {}", series, counts.reason);
            else if (counts.failed > 0)
                night().warnings.push_back(fmt::format("{}: {} of {} samples failed: {}", series,
                                                       counts.failed, counts.all, counts.reason));
            if (counts.invalid > 0)
                night().warnings.push_back(fmt::format("{}: {} of {} samples were excluded: {}",
                                                       series, counts.invalid, counts.all,
                                                       counts.reason));
        }
        for (const std::string& sentence : unsupported)
            night().warnings.push_back("not supported here: " + sentence);
    }

    /// Earlier nights of each row, since its level was accepted.
    std::map<RowId, RowPast> past(const std::optional<BaselineLevel>& level) const {
        std::map<RowId, RowPast> past;
        for (const store::RowOfNight& of : nights_.rows(record_.suite, record_.machine)) {
            RowPast& row = past[of.row.id];
            const Evidence evidence = parse_evidence(of.row.evidence).value_or(Evidence::none);
            row.same_before = evidence == Evidence::same;
            std::string since = level ? level->since : "";
            if (level)
                if (const auto own = level->rows.find(of.row.id); own != level->rows.end())
                    since = own->second.since;
            if (of.started >= since && evidence != Evidence::slower && of.row.median)
                row.medians.push_back(*of.row.median);
        }
        for (const store::RegressionRecord& record :
             nights_.regressions(record_.suite, record_.machine))
            past[record.row].state = parse_state(record.state);
        return past;
    }

    void fill_rows(const compare::Arm& tonight, const std::optional<compare::Arm>& baseline,
                   const std::optional<BaselineLevel>& level) {
        RowInputs inputs;
        inputs.baseline = baseline ? &*baseline : nullptr;
        inputs.tonight = &tonight;
        inputs.gates = &plan_.gates;
        if (level) kept_ = kept_programs(*level);
        inputs.old_program = level && kept_.contains(level->session);
        inputs.past = past_ = past(level);
        const std::vector<store::MuteRecord> mutes = nights_.mutes();
        const std::string now = store::now_utc();
        inputs.muted = [&](const RowId& row) { return muting(mutes, row, now) != nullptr; };
        night().rows = night_rows(inputs);
        tell_failures();
        if (level) night().baseline_session = level->session;
        for (NightRow& row : night().rows)
            if (const auto* mute = muting(mutes, row.against_baseline.id, now))
                row.mute = mute_words(*mute);
        warn_of_mutes_that_ran_out(mutes, now);
        warn_of_what_nobody_judges(level.has_value());
        for (const NightRow& row : night().rows) {
            medians_.push_back(median_tonight(row.against_baseline));
            const auto slower = control_slowdown(row.against_baseline);
            const RowId& id = row.against_baseline.id;
            if (plan_.gates.at(id.series()).control && slower)
                night().control[id.metric_text()] = *slower;
        }
        if (const auto warning = context_warning(night().rows, request_.baseline))
            warn_once(*warning);
        mark_for_mean(night());
        if (mixed_)
            for (NightRow& row : night().rows) row.candidate = row.rerun_for_mean = false;
    }

    /// Once: in the first night that judges its rows again.
    void warn_of_mutes_that_ran_out(const std::vector<store::MuteRecord>& mutes,
                                    const std::string& now) {
        std::string last;
        for (const store::NightRecord& other : nights_.nights(record_.suite))
            if (other.machine == record_.machine && !other.finished.empty())
                last = std::max(last, other.started);
        for (const store::MuteRecord& mute : mutes) {
            if (store::holds(mute, now) || mute.until < last) continue;
            const auto again =
                std::count_if(night().rows.begin(), night().rows.end(), [&](const NightRow& row) {
                    return !row.muted && gate::mutes(mute, row.against_baseline.id);
                });
            if (again > 0)
                night().warnings.push_back(fmt::format(
                    "'{}' is no longer muted ({}): {} judged again", mute.pattern, mute_words(mute),
                    again == 1 ? "1 row is" : fmt::format("{} rows are", again)));
        }
    }

    /// A night can be green since nothing was looked at.
    void warn_of_what_nobody_judges(bool has_level) {
        auto& warnings = night().warnings;
        if (!has_level) {
            if (night().nights_before > 0)
                warnings.push_back(fmt::format(
                    "this is night {} of '{}' and none was accepted as its level: nothing has been "
                    "judged so far; `assay baseline accept {}`",
                    night().nights_before + 1, record_.suite, request_.baseline));
            return;
        }
        for (std::string& sentence : unmatched_warnings(night().rows, request_.baseline))
            warnings.push_back(std::move(sentence));
        std::set<RowId> here;
        for (const NightRow& row : night().rows) here.insert(row.against_baseline.id);
        std::vector<RowId> gone;
        for (const store::RegressionRecord& record :
             nights_.regressions(record_.suite, record_.machine)) {
            const auto state = parse_state(record.state);
            if ((state == State::candidate || state == State::confirmed) &&
                !here.contains(record.row))
                gone.push_back(record.row);
        }
        if (!gone.empty())
            warnings.push_back(fmt::format(
                "still open, but of rows that neither this suite nor its baseline has any more: "
                "{}; `assay baseline accept {}` ends that",
                few_names(gone), request_.baseline));
    }

    /// What failed as a whole makes the night an error, unless it failed in the baseline, too: then
    /// it is nothing new, and a warning keeps it in sight. The other rows keep their verdicts.
    void tell_failures() {
        const report::RowNames names = names_of(night());
        std::set<RowId> before, now;  // of series that failed as a whole
        for (const NightRow& row : night().rows) {
            const compare::Row& against = row.against_baseline;
            const bool is_old = against.verdict == compare::Verdict::failed_before;
            // Without a baseline, too: nobody should take such a night for the level unaware.
            const bool is_first = against.reason_code == compare::Reason::only_in_b &&
                                  against.b->points.empty() && against.b->failed > 0;
            if (!is_old && !is_first && against.verdict != compare::Verdict::failed) continue;
            if (failed_.contains(against.id.series())) {
                (is_old ? before : now).insert(against.id.series());
                continue;
            }
            const std::string sentence = fmt::format(
                "{}: {}", names.of(against.id).text(),
                is_first ? fmt::format("failed in {} samples", against.b->failed) : against.reason);
            if (is_old)
                warn_once("failed before too: " + sentence);
            else
                night().failures.push_back(sentence);
        }
        for (const auto& [series, sentence] : failed_)
            if (before.contains(series) && !now.contains(series))
                warn_once("failed before too: " + sentence);
            else
                night().failures.push_back(sentence);
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
        if (!damage.empty()) warn_once("the baseline's program is not run again: " + damage);
        return damage.empty();
    }

    void warn_once(const std::string& sentence) {
        auto& warnings = night().warnings;
        if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
            warnings.push_back(sentence);
    }

    bool rerun(const BaselineLevel& level) {
        programs_.look_again();
        RerunRequest request;
        request.old_program = [&](const NightRow& row) {
            const auto own = level.rows.find(row.against_baseline.id);
            const auto made =
                kept_.find(own == level.rows.end() ? level.session : own->second.session);
            return made != kept_.end() && is_whole(made->second) ? made->second
                                                                 : std::filesystem::path();
        };
        request.budget_s = request_.suite.rerun_budget_s;
        request.rounds = request_.suite.rounds;
        request.lock = request_.lock;
        request.command = request_.command;
        const RerunOutcome reruns =
            rerun_candidates(registry_, store_, request, night().rows, listener_);
        outcome_.interrupted = reruns.interrupted;
        night().warnings.insert(night().warnings.end(), reruns.warnings.begin(),
                                reruns.warnings.end());
        return !reruns.interrupted;
    }

    /// The row's step; a mute comes before what the night says.
    static Step step_of(const NightRow& row, const RowPast& past) {
        const bool open = past.state == State::candidate || past.state == State::confirmed;
        if (row.muted && open) return {past.state, State::ignored, row.mute};
        if (row.muted) return {past.state, past.state, ""};
        // The mute ran out or was taken back: the row begins anew.
        const bool unmuted = past.state == State::ignored && !row.muted;
        return after_night(unmuted ? std::nullopt : past.state, row.evidence, past.same_before);
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
            const bool stays_open = step.from == State::candidate || step.from == State::confirmed;
            if (step.to == step.from && !stays_open) continue;
            const bool anew = step.to == State::candidate && step.from != State::candidate;
            moves.push_back(
                {against.id, step.to ? std::string(to_string(*step.to)) : "", anew, step.why});
        }
        judge(night());
        record_.verdict = verdict_word(night().verdict);
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
    std::vector<store::Sample> samples_;
    std::map<RowId, RowPast> past_;
    std::map<RowId, std::string> failed_;  // series of which every sample failed tonight, and why
    std::map<std::string, std::filesystem::path> kept_;
    std::vector<std::optional<double>> medians_;  ///< of tonight, by row
    std::vector<std::filesystem::path> benchmarks_;
    std::string programs_now_;  ///< programs_text() when the night began
    bool mixed_ = false;        ///< its samples are of two builds
    NightOutcome outcome_;
};

}  // namespace

NightOutcome run_night(const Registry& registry, const NightPlan& plan, const NightRequest& request,
                       store::Store& store, const runner::Listener& listener) {
    return NightRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::gate
