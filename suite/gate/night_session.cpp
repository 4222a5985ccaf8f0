#include "suite/gate/night_session.hpp"

#include <fmt/format.h>

#include <chrono>

#include "suite/base/error.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/store/ids.hpp"

namespace assay::gate {
namespace {

/// A night interrupted longer ago than this begins anew: its first half is of another day.
constexpr std::chrono::hours longest_pause{24};

class SessionRun {
  public:
    SessionRun(const Registry& registry, const NightPlan& plan, const NightRequest& request,
               store::Store& store, const runner::Listener& listener)
        : registry_(registry),
          plan_(plan),
          request_(request),
          store_(store),
          nights_(store),
          programs_(store.path()),
          listener_(listener) {}

    NightSession run() {
        night_.record.suite = request_.suite.name;
        night_.record.machine = measure::identity(measure::read_environment()).fingerprint;
        for (const SuiteBenchmark& benchmark : request_.suite.benchmarks)
            benchmarks_.push_back(benchmark.program);
        programs_now_ = programs_text(benchmarks_);
        night_.record.program = keep_program();
        if (find_measured_night()) return std::move(night_);
        tell_why_none_goes_on();
        measure_night();
        if (!night_.interrupted) {
            mark_mixed_builds();
            keep_commits();
        }
        return std::move(night_);
    }

  private:
    std::string keep_program() {
        try {
            return programs_.keep(benchmarks_);
        } catch (const UserError& error) {
            night_.warnings.emplace_back(error.what());
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
        for (const store::NightRecord& other : nights_.nights(night_.record.suite)) {
            if (other.machine != night_.record.machine) continue;
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
        night_.warnings.push_back(sentence);
        if (!listener_) return;
        runner::Notice note;
        note.kind = "note";
        note.body["says"] = sentence;
        listener_(note);
    }

    /// Beside this program's own: a history names them where a row changed.
    void keep_commits() {
        for (const auto& [program, commit] : program_commits(night_.samples))
            store_.add_suspect(night_.record.session, "commit of " + program, commit);
    }

    /// A program that is built anew while the night runs.
    void mark_mixed_builds() {
        std::optional<std::string> mixed = mixed_builds(night_.samples);
        if (!mixed)
            if (const std::string at_the_end = programs_at_the_end(); at_the_end != programs_now_)
                mixed = "while it ran, " + programs_changed(programs_now_, at_the_end);
        if (mixed) store_.add_suspect(night_.record.session, store::mixed_mark, *mixed);
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
        for (const store::NightRecord& other : nights_.nights(night_.record.suite)) {
            if (!other.finished.empty() || other.machine != night_.record.machine) continue;
            const auto of = store_.session(other.session);
            if (!of || of->state != "finished" || of->plan_hash != plan_.plan.hash ||
                !is_of_these_programs(*of) || of->started < oldest_to_resume())
                continue;
            night_.record = other;
            night_.resumed = true;
            night_.samples = store_.samples(night_.record.session);
            return true;
        }
        return false;
    }

    void measure_night() {
        runner::Request request;
        request.command = request_.command;
        request.lock = false;
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
        night_.interrupted = measured.interrupted;
        night_.resumed = measured.resumed;
        night_.samples = std::move(measured.samples);
    }

    void begin_night(const std::string& session_id) {
        night_.record.id = store::new_uuid();
        night_.record.session = session_id;
        night_.record.started = store::now_utc();
        night_.record.id = nights_.begin(night_.record);
        if (const auto of = store_.session(session_id)) night_.record.started = of->started;
    }

    const Registry& registry_;
    const NightPlan& plan_;
    const NightRequest& request_;
    store::Store& store_;
    store::Nights nights_;
    KeptPrograms programs_;
    const runner::Listener& listener_;
    std::vector<std::filesystem::path> benchmarks_;
    std::string programs_now_;  ///< programs_text() when the night began
    NightSession night_;
};

}  // namespace

NightSession measured_night(const Registry& registry, const NightPlan& plan,
                            const NightRequest& request, store::Store& store,
                            const runner::Listener& listener) {
    return SessionRun(registry, plan, request, store, listener).run();
}

}  // namespace assay::gate
