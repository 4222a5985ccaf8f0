#include "impls/plato/campaign/served_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "impls/decode/service/engine_client.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::plato {
namespace {

using cluster::Seconds;
using decode::EngineClient;
using decode::EngineLost;

constexpr double longest_s = 600;
constexpr double a_moment_s = 0.02;

class Served {
  public:
    explicit Served(const ServedSetup& setup)
        : setup_(setup),
          asked_(as_asked(setup.questions, setup.answer.mode)),
          told_(as_told(asked_, setup.misdeed)),
          faults_(setup.faults),
          random_(setup.seed),
          processes_(cluster::make_fork_server(decode::engine_worker(setup.make)),
                     {.heartbeat_timeout = Seconds(setup.patience_s)}),
          hosts_(static_cast<std::size_t>(setup.engines + setup.small_engines)),
          desk_(asked_, told_,
                {.answer = setup.answer,
                 .engines = setup.engines,
                 .adaptive = setup.adaptive,
                 .small_engines = setup.small_engines,
                 .max_batch = setup.engine.options.max_batch,
                 .forgets_a_token = setup.misdeed == Misdeed::forgets_a_token}),
          seconds_(setup.questions.size(), 0) {
        check_faults(faults_);
        sort_by_time(faults_);
        for (Host& host : hosts_) start_engine(host);
    }

    ServedOutcome run() {
        get_ready();
        const std::size_t count = setup_.questions.size();
        for (std::size_t next = 0; next < count;) {
            const std::size_t end = setup_.in_turn ? next + 1 : count;
            if (next > 0) empty_caches();
            const double begun_s = now_s();
            for (std::size_t i = next; i < end; ++i) desk_.begin(i);
            std::vector<std::size_t> open;
            for (std::size_t i = next; i < end; ++i) open.push_back(i);
            while (!open.empty()) {
                turn();
                std::erase_if(open, [&](std::size_t i) {
                    if (!desk_.done(i)) return false;
                    seconds_[i] = now_s() - begun_s;
                    desk_.let_go(i);
                    return true;
                });
            }
            outcome_.seconds += now_s() - begun_s;
            next = end;
        }
        wait_while_warming();
        for (Host& host : hosts_) check_the_end(*host.engine);
        for (std::size_t i = 0; i < count; ++i) outcome_.answers.push_back(answer(i));
        for (const auto& [what, number] : desk_.counts()) outcome_.counts[what] += number;
        return std::move(outcome_);
    }

  private:
    struct Host {
        EngineClient* engine = nullptr;
        bool there = false;  // the desk was told
    };
    int number_of(const Host& host) const { return static_cast<int>(&host - hosts_.data()); }
    double now_s() { return processes_.supervisor().now_s() - start_s_; }

    // ---- engines -------------------------------------------------------------------------------

    void start_engine(Host& host) {
        decode::EngineSettings settings = setup_.engine;
        if (number_of(host) >= setup_.engines) settings.weights = setup_.small_weights;
        host.engine = &processes_.start(settings);
        host.there = false;
    }

    /// All are there, and warm: time begins.
    void get_ready() {
        start_s_ = processes_.supervisor().now_s();
        const auto warm = [&] {
            return std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
                return host.there && !desk_.warming(number_of(host));
            });
        };
        while (!warm()) {
            if (now_s() > longest_s)
                throw SampleError(SampleStatus::failed,
                                  "an engine cannot start: it is not ready in time");
            hear();
        }
        getting_ready_ = false;
        start_s_ = processes_.supervisor().now_s();
    }
    void empty_caches() {
        for (Host& host : hosts_)
            if (host.there) carry_on([&] { desk_.wipe(number_of(host)); });
        wait_while_warming();
    }
    void wait_while_warming() {
        const auto warms = [&] {
            return std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
                return host.there && desk_.warming(number_of(host));
            });
        };
        const double begun_s = now_s();
        while (warms()) {
            if (now_s() - begun_s > longest_s) throw BrokenRule("an engine does not get warm");
            hear();
        }
    }

    /// An engine that is lost in the middle is taken notice of when it is heard next.
    template <class What>
    static void carry_on(const What& what) {
        try {
            what();
        } catch (const EngineLost&) {
        }
    }

    // ---- time ----------------------------------------------------------------------------------

    void turn() {
        if (now_s() > longest_s) throw BrokenRule("it does not come to an end");
        double wait_s = a_moment_s;
        if (!faults_.empty()) wait_s = std::min(wait_s, *faults_.front().t_s - now_s());
        hear(wait_s);
        while (!faults_.empty() && *faults_.front().t_s <= now_s()) {
            const Fault fault = faults_.front();
            faults_.erase(faults_.begin());
            strike(fault);
        }
        try {
            desk_.go_on();
        } catch (const EngineLost&) {
        }
    }

    void hear(double wait_s = a_moment_s) {
        if (processes_.hear(Seconds(std::max(0.0, wait_s))))
            while (processes_.hear(Seconds(0))) {
            }
        for (Host& host : hosts_) {
            take(host);
            if (host.engine->lost()) replace(host);
            if (host.there || !host.engine->ready()) continue;
            host.there = true;
            carry_on([&] { desk_.on_there(number_of(host), *host.engine); });
        }
    }
    void take(Host& host) {
        decode::StepReport report;
        host.engine->take(report);
        for (const decode::MadeToken& token : report.tokens)
            desk_.on_token(number_of(host), token.request, token.id, token.log_probability);
        for (const decode::EndedRequest& ended : report.ended) {
            if (ended.why != decode::Finish::length)
                throw BrokenRule("a part ended before it had its tokens");
            desk_.on_ended(number_of(host), ended);
        }
    }
    void replace(Host& host) {
        const std::string& how = host.engine->how_lost();
        if (getting_ready_)
            throw SampleError(SampleStatus::failed, "an engine cannot start: " + how);
        if (how != "signal 9" && !how.starts_with("heartbeat lost"))
            throw BrokenRule("an engine ended by itself: " + how);
        ++outcome_.counts[how == "signal 9" ? "killed" : "given_up"];
        if (host.there) desk_.on_lost(number_of(host));
        start_engine(host);
    }

    // ---- faults --------------------------------------------------------------------------------

    void strike(Fault fault) {
        Host& host = hosts_[static_cast<std::size_t>(*fault.rank) % hosts_.size()];
        // An engine that is still loading has nothing to lose, and a part must be there to move.
        if (!host.there || (fault.kind == FaultKind::corrupt && !moves(host))) {
            if (desk_.all_done()) return;
            fault.t_s = now_s() + a_moment_s;
            return strike_later(faults_, fault);
        }
        if (fault.kind != FaultKind::corrupt && (fault.kind != FaultKind::slow || fault.factor > 1))
            count(fault.kind);
        cluster::Supervisor& supervisor = processes_.supervisor();
        const cluster::WorkerId worker = host.engine->worker();
        std::optional<Seconds> lasts;
        if (fault.for_s) lasts = Seconds(*fault.for_s);
        switch (fault.kind) {
            case FaultKind::kill:
                return supervisor.kill(worker);
            case FaultKind::hang:
                return supervisor.hang(worker, lasts);
            case FaultKind::slow:
                return slow(host, fault);
            case FaultKind::corrupt:
                return corrupt(host, fault);
            default:
                return carry_on([&] { desk_.wipe(number_of(host)); });
        }
    }
    void count(FaultKind kind) { ++outcome_.counts[fmt::format("fault.{}", to_string(kind))]; }
    /// Where steps end by a model of a device, in its time.
    void slow(Host& host, const Fault& fault) {
        std::optional<Seconds> lasts;
        if (fault.for_s) lasts = Seconds(*fault.for_s);
        if (!setup_.engine.pace) {
            processes_.supervisor().slow(host.engine->worker(), 1 / fault.factor, lasts);
            return;
        }
        host.engine->slow(fault.factor);
        if (fault.for_s) strike_later(faults_, end_of_slowness(fault, now_s()));
    }
    Host* another(const Host& than) {
        for (Host& host : hosts_)
            if (&host != &than && host.there && !host.engine->lost() &&
                (number_of(host) < setup_.engines) == (number_of(than) < setup_.engines))
                return &host;
        return nullptr;
    }
    bool moves(const Host& host) {
        return desk_.movable(number_of(host)) && another(host) != nullptr;
    }

    /// A part's state, damaged on its way to another engine, which refuses it.
    void corrupt(Host& from, Fault fault) {
        Host& to = *another(from);
        const decode::RequestId request = *desk_.movable(number_of(from));
        try {
            from.engine->strike(decode::service::Strike::corrupt,
                                static_cast<std::int64_t>(random_() % (1U << 30)));
            const auto moved = from.engine->move(request, *to.engine, false);
            if (!moved) {  // its end is about to be heard
                fault.t_s = now_s() + a_moment_s;
                return strike_later(faults_, fault);
            }
            count(FaultKind::corrupt);
            desk_.on_moved(number_of(from), request, number_of(to), moved->request);
            if (to.engine->lost()) return;
            if (!moved->damaged) throw BrokenRule("a damaged state was not refused");
            ++outcome_.counts["refused"];
        } catch (const EngineLost&) {
            // It is still the lost one's.
        }
    }

    // ---- what must have become of it -----------------------------------------------------------

    /// One that hangs may be lost on the way.
    void check_the_end(EngineClient& engine) {
        if (!engine.ready()) return;
        try {
            engine.empty_cache();
            const decode::service::Status status = engine.status();
            if (!engine.idle()) throw BrokenRule("an engine has parts that were answered");
            if (status.stats.held_blocks != 0)
                throw BrokenRule(fmt::format("{} blocks are left", status.stats.held_blocks));
            outcome_.computed_tokens += status.stats.computed_tokens;
            outcome_.held_blocks = std::max(outcome_.held_blocks, status.stats.held_blocks);
            outcome_.late_s += status.late_s;
            engine.leave();
            if (!processes_.hear_until([&] { return engine.lost(); }, Seconds(longest_s)))
                throw BrokenRule("an engine does not leave");
        } catch (const EngineLost&) {
        }
    }

    ServedOutcome::Answer answer(std::size_t question) const {
        ServedOutcome::Answer answer{.parts = desk_.answer(question),
                                     .seconds = seconds_[question]};
        const bool planned = setup_.answer.mode != Mode::ar;
        for (std::size_t part = planned ? 1 : 0; part < (planned ? answer.parts.size() : 1);
             ++part) {
            const auto tokens = desk_.prompt_tokens(question, static_cast<int>(part));
            answer.prompt_tokens += tokens.all;
            answer.recomputed_tokens += tokens.recomputed;
        }
        return answer;
    }

    const ServedSetup& setup_;
    std::vector<QuestionTokens> asked_;
    std::vector<QuestionTokens> told_;  // the questions that controllers know
    std::vector<Fault> faults_;
    std::mt19937_64 random_;
    decode::EngineProcesses processes_;
    std::vector<Host> hosts_;
    Desk desk_;
    std::vector<double> seconds_;  // of each question
    double start_s_ = 0;
    bool getting_ready_ = true;
    ServedOutcome outcome_;
};

}  // namespace

ServedOutcome answer_on_processes(const ServedSetup& setup) { return Served(setup).run(); }

}  // namespace assay::plato
