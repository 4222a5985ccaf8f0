#include "impls/plato/campaign/served_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "impls/decode/service/process_engines.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

using decode::EngineClient;
using decode::EngineLost;

constexpr double longest_s = 600;    // without anything happening, and of a question
constexpr double a_moment_s = 0.02;  // until what could not strike is tried again

drive::ProcessOptions options_of(const ServedSetup& setup) {
    drive::ProcessOptions options;
    options.supervisor.heartbeat_timeout = cluster::Seconds(setup.patience_s);
    if (setup.engine.pace) {
        options.pace = drive::Pace::steady;
        options.patience_s = setup.patience_s;
    }
    return options;
}

class Served {
  public:
    explicit Served(const ServedSetup& setup)
        : setup_(setup),
          asked_(as_asked(setup.questions, setup.answer.mode)),
          told_(as_told(asked_, setup.misdeed)),
          processes_(decode::engine_role(setup.model), options_of(setup)),
          hosts_(static_cast<std::size_t>(setup.engines + setup.small_engines)),
          desk_(asked_, told_,
                {.answer = setup.answer,
                 .engines = setup.engines,
                 .adaptive = setup.adaptive,
                 .small_engines = setup.small_engines,
                 .max_batch = setup.engine.options.max_batch,
                 .blocks = setup.engine.blocks,
                 .forgets_a_token = setup.misdeed == Misdeed::forgets_a_token}),
          seconds_(setup.questions.size(), 0) {
        check_faults(setup.faults);
        engines_.listen([this](const drive::DriverEvent& event) {
            if (const auto* const timer = std::get_if<drive::Timer>(&event))
                due_.push_back(timer->id);
        });
        for (Host& host : hosts_) start_engine(host);
    }

    ServedOutcome run() {
        get_ready();
        const std::size_t count = setup_.questions.size();
        for (std::size_t next = 0; next < count;) {
            const std::size_t end = setup_.in_turn ? next + 1 : count;
            if (next > 0) empty_caches();
            answer_all_of(next, end);
            next = end;
        }
        while (any_warms())
            if (!hear()) throw BrokenRule("an engine does not get warm");
        for (Host& host : hosts_) check_the_end(*host.engine);
        outcome_.late_s = driver_.worst_late_s();
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

    // ---- engines -------------------------------------------------------------------------------

    void start_engine(Host& host) {
        decode::EngineSettings settings = setup_.engine;
        if (number_of(host) >= setup_.engines) settings.weights = setup_.small_weights;
        host.engine = &engines_.start(settings);
        host.there = false;
    }

    /// All are there, and warm: time begins.
    void get_ready() {
        const auto there = [](const Host& host) { return host.there; };
        while (any_warms() || !std::all_of(hosts_.begin(), hosts_.end(), there))
            if (!hear())
                throw SampleError(SampleStatus::failed,
                                  "an engine cannot start: it is not ready in time");
        getting_ready_ = false;
        for (std::size_t i = 0; i < setup_.faults.size(); ++i)
            driver_.start(drive::StartTimer{i, *setup_.faults[i].t_s});
    }
    bool any_warms() const {
        return std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
            return host.there && desk_.warming(number_of(host));
        });
    }
    void empty_caches() {
        for (Host& host : hosts_)
            if (host.there) desk_.wipe(number_of(host));
        while (any_warms())
            if (!hear()) throw BrokenRule("an engine does not get warm");
    }

    // ---- time ----------------------------------------------------------------------------------

    void answer_all_of(std::size_t next, std::size_t end) {
        const double begun_s = driver_.now();
        std::vector<std::size_t> open;
        for (std::size_t i = next; i < end; ++i) {
            desk_.begin(i);
            open.push_back(i);
        }
        desk_.go_on();
        do {
            turn();
            if (driver_.now() - begun_s > longest_s) throw BrokenRule("it does not come to an end");
            std::erase_if(open, [&](std::size_t i) {
                if (!desk_.done(i)) return false;
                seconds_[i] = driver_.now() - begun_s;
                desk_.let_go(i);
                return true;
            });
        } while (!open.empty());
        outcome_.seconds += driver_.now() - begun_s;
    }

    void turn() {
        if (!hear()) throw BrokenRule("it does not come to an end");
        for (const std::uint64_t number : std::exchange(due_, {})) {
            strike(number);
            take_all();
        }
        desk_.go_on();
    }

    /// What happens next, and all that has by then. False: nothing did.
    bool hear() {
        if (!engines_.hear(longest_s)) return false;
        while (engines_.hear(0)) {
        }
        take_all();
        return true;
    }
    void take_all() {
        for (Host& host : hosts_) {
            take(host);
            if (host.engine->lost()) replace(host);
            if (host.there || !host.engine->ready()) continue;
            host.there = true;
            desk_.on_there(number_of(host), *host.engine);
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
        const bool killed = how == "signal 9" || how == "killed";
        if (!killed && how != "frozen" && !how.starts_with("heartbeat lost"))
            throw BrokenRule("an engine ended by itself: " + how);
        ++outcome_.counts[killed ? "killed" : "given_up"];
        if (host.there) desk_.on_lost(number_of(host));
        start_engine(host);
    }

    // ---- faults --------------------------------------------------------------------------------

    void strike(std::uint64_t number) {
        Fault fault = setup_.faults[number];
        Host& host = hosts_[static_cast<std::size_t>(*fault.rank) % hosts_.size()];
        fault.rank = host.engine->worker();
        // An engine that is still loading has nothing to lose.
        bool strikes = host.there;
        if (strikes && fault.kind == FaultKind::corrupt)
            strikes = corrupt(host, fault);
        else if (strikes && fault.kind == FaultKind::wipe)
            desk_.wipe(number_of(host));
        else if (strikes)
            driver_.strike(fault);
        if (strikes)
            ++outcome_.counts[fmt::format("fault.{}", to_string(fault.kind))];
        else if (!desk_.all_done())
            driver_.start(drive::StartTimer{number, a_moment_s});
    }
    Host* another(const Host& than) {
        for (Host& host : hosts_)
            if (&host != &than && host.there &&
                (number_of(host) < setup_.engines) == (number_of(than) < setup_.engines))
                return &host;
        return nullptr;
    }

    /// A part's state, damaged on its way to another engine, which refuses it. False: there is no
    /// part that moves.
    bool corrupt(Host& from, Fault fault) {
        Host* const to = another(from);
        const auto request = desk_.movable(number_of(from));
        if (to == nullptr || !request) return false;
        fault.target = "tensor";
        try {
            driver_.strike(fault);
            const auto moved = from.engine->move(*request, *to->engine, false);
            if (!moved) return false;  // its end is about to be heard
            desk_.on_moved(number_of(from), *request, number_of(*to), moved->request);
            if (to->engine->lost()) return true;
            if (!moved->damaged) throw BrokenRule("a damaged state was not refused");
            ++outcome_.counts["refused"];
        } catch (const EngineLost&) {
            return false;  // it is still the lost one's
        }
        return true;
    }

    // ---- what must have become of it -----------------------------------------------------------

    /// One that hangs may be lost on the way.
    void check_the_end(EngineClient& engine) {
        if (!engine.ready()) return;
        try {
            engine.empty_cache();
            const decode::EngineStats stats = engine.stats();
            if (!engine.idle()) throw BrokenRule("an engine has parts that were answered");
            if (stats.held_blocks != 0)
                throw BrokenRule(fmt::format("{} blocks are left", stats.held_blocks));
            outcome_.computed_tokens += stats.computed_tokens;
            outcome_.held_blocks = std::max(outcome_.held_blocks, stats.held_blocks);
            engine.leave();
            if (!engines_.hear_until([&] { return engine.lost(); }, longest_s))
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
    decode::ProcessEngines processes_;
    decode::Engines& engines_ = processes_.engines;
    drive::Driver& driver_ = processes_.driver;
    std::vector<Host> hosts_;
    Desk desk_;
    std::vector<std::uint64_t> due_;  // numbers of faults
    std::vector<double> seconds_;     // of each question
    bool getting_ready_ = true;
    ServedOutcome outcome_;
};

}  // namespace

ServedOutcome answer_on_processes(const ServedSetup& setup) { return Served(setup).run(); }

}  // namespace assay::plato
