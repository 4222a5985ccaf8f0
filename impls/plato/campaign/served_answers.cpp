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
          desk_(engines_.pool(), asked_, told_,
                {.answer = setup.answer,
                 .adaptive = setup.adaptive,
                 .max_batch = setup.engine.options.max_batch,
                 .blocks = setup.engine.blocks}),
          seconds_(setup.questions.size(), 0) {
        check_faults(setup.faults);
        engines_.listen([this](const drive::DriverEvent& event) {
            if (const auto* const timer = std::get_if<drive::Timer>(&event))
                due_.push_back(timer->id);
        });
        engines_.place_by(desk_);
        engines_.hear_requests(
            {.tokens = [this](decode::Number request,
                              std::span<const decode::Token> tokens) { hear(request, tokens); },
             .done = [this](const decode::Done& done) { hear(done); }});
        if (setup.misdeed == Misdeed::forgets_a_token)
            engines_.distort([](decode::RequestState& state) {
                if (!state.ids.empty()) state.keep_first(state.ids.size() - 1);
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
        get_warm();
        for (EngineClient* const engine : hosts_) check_the_end(*engine);
        outcome_.late_s = driver_.worst_late_s();
        for (std::size_t i = 0; i < count; ++i) outcome_.answers.push_back(answer(i));
        for (const auto& [what, number] : desk_.counts()) outcome_.counts[what] += number;
        return std::move(outcome_);
    }

  private:
    /// An engine's place, which another takes when it is lost.
    using Host = EngineClient*;

    // ---- engines -------------------------------------------------------------------------------

    bool is_small(const Host& host) const { return &host - hosts_.data() >= setup_.engines; }
    void start_engine(Host& host) {
        decode::EngineSettings settings = setup_.engine;
        if (is_small(host)) settings.weights = setup_.small_weights;
        host = &engines_.start(settings, is_small(host) ? 1 : 0);
    }

    /// All are there, and warm: time begins.
    void get_ready() {
        const auto ready = [](Host host) { return host->ready(); };
        while (desk_.warming() || !std::all_of(hosts_.begin(), hosts_.end(), ready))
            if (!hear())
                throw SampleError(SampleStatus::failed,
                                  "an engine cannot start: it is not ready in time");
        getting_ready_ = false;
        for (std::size_t i = 0; i < setup_.faults.size(); ++i)
            driver_.start(drive::StartTimer{i, *setup_.faults[i].t_s});
    }
    void get_warm() {
        while (desk_.warming())
            if (!hear()) throw BrokenRule("an engine does not get warm");
    }
    void wipe(Host host) {
        host->empty_cache();
        desk_.wipe(host->seat());
    }
    void empty_caches() {
        for (Host host : hosts_)
            if (host->ready()) wipe(host);
        get_warm();
    }

    // ---- time ----------------------------------------------------------------------------------

    void answer_all_of(std::size_t next, std::size_t end) {
        const double begun_s = driver_.now();
        std::vector<std::size_t> open;
        for (std::size_t i = next; i < end; ++i) {
            desk_.begin(i);
            open.push_back(i);
        }
        do {
            turn();
            if (driver_.now() - begun_s > longest_s) throw BrokenRule("it does not come to an end");
            std::erase_if(open, [&](std::size_t i) {
                if (!desk_.done(i)) return false;
                seconds_[i] = driver_.now() - begun_s;
                return true;
            });
        } while (!open.empty());
        outcome_.seconds += driver_.now() - begun_s;
    }

    void turn() {
        if (!hear()) throw BrokenRule("it does not come to an end");
        for (const std::uint64_t number : std::exchange(due_, {})) strike(number);
    }

    /// What happens next, and all that has by then. False: nothing did.
    bool hear() {
        if (!engines_.hear(longest_s)) return false;
        while (engines_.hear(0)) {
        }
        for (Host& host : hosts_)
            if (host->lost()) replace(host);
        look_at_corruption();
        desk_.go_on();
        return true;
    }
    void hear(decode::Number request, std::span<const decode::Token> tokens) {
        if (corruption_ && corruption_->is_believed(request, engines_.pool()))
            throw BrokenRule("a damaged state was not refused");
        desk_.on_tokens(request, tokens);
    }
    void hear(const decode::Done& done) {
        if (done.end.why == decode::Finish::failed)  // an engine says what makes no sense
            for (const Host host : hosts_)
                if (!host->refusals().empty()) throw UserError(host->refusals().back().why);
        desk_.on_done(done);
    }
    void replace(Host& host) {
        const std::string& how = host->how_lost();
        if (getting_ready_)
            throw SampleError(SampleStatus::failed, "an engine cannot start: " + how);
        const bool killed = how == "signal 9" || how == "killed";
        if (!killed && how != "frozen" && !how.starts_with("heartbeat lost"))
            throw BrokenRule("an engine ended by itself: " + how);
        ++outcome_.counts[killed ? "killed" : "given_up"];
        start_engine(host);
    }

    // ---- faults --------------------------------------------------------------------------------

    void strike(std::uint64_t number) {
        Fault fault = setup_.faults[number];
        Host& host = hosts_[static_cast<std::size_t>(*fault.rank) % hosts_.size()];
        // An engine that is still loading has nothing to lose.
        if (!host->ready()) return try_again(number);
        fault.rank = host->worker();
        if (fault.kind == FaultKind::corrupt) return corrupt(host, fault, number);
        if (fault.kind == FaultKind::wipe)
            wipe(host);
        else
            driver_.strike(fault);
        count(fault.kind);
    }
    void count(FaultKind kind) { ++outcome_.counts[fmt::format("fault.{}", to_string(kind))]; }
    void try_again(std::uint64_t number) {
        if (!desk_.all_done()) driver_.start(drive::StartTimer{number, a_moment_s});
    }

    /// A part's state, damaged on its way to another engine, which refuses it; one at a time.
    struct Corruption {
        std::uint64_t number = 0;  // of the fault
        decode::Number part = -1;
        Host from = nullptr, to = nullptr;
        std::size_t refusals = 0;  // before

        bool is_refused() const { return to->refusals().size() > refusals; }
        /// Its tokens come of it.
        bool is_believed(decode::Number request, const decode::Pool& pool) const {
            return request == part && !is_refused() && !from->lost() &&
                   pool.runs(request).back().seat == to->seat();
        }
    };

    void corrupt(const Host& from, Fault fault, std::uint64_t number) {
        decode::Pool& pool = engines_.pool();
        const auto to = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) {
            return host != from && host->ready() && host->model() == from->model();
        });
        const std::vector<decode::Number> parts = pool.with(from->seat());
        const auto part = std::find_if(parts.begin(), parts.end(), [&](decode::Number each) {
            return !pool.bound(each) && !pool.asked(each).only;
        });
        if (corruption_ || to == hosts_.end() || part == parts.end()) return try_again(number);
        fault.target = "tensor";
        driver_.strike(fault);
        pool.move(*part, (*to)->seat(), false);
        corruption_ = {number, *part, from, *to, (*to)->refusals().size()};
    }
    /// It was refused; or its end crossed it, or an engine is gone.
    void look_at_corruption() {
        if (!corruption_) return;
        const Corruption& is = *corruption_;
        const bool over = is.from->lost() || is.to->lost() || engines_.pool().over(is.part);
        if (is.is_refused()) {
            count(FaultKind::corrupt);
            ++outcome_.counts["refused"];
            ++outcome_.counts["resumed"];
        } else if (over) {
            try_again(is.number);
        } else {
            return;
        }
        corruption_.reset();
    }

    // ---- what must have become of it -----------------------------------------------------------

    /// One that hangs may be lost on the way.
    void check_the_end(EngineClient& engine) {
        if (!engine.ready()) return;
        try {
            engine.empty_cache();
            const decode::EngineStats stats = engine.status().stats;
            if (stats.waiting + stats.running > 0)
                throw BrokenRule("an engine has parts that were answered");
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
    std::optional<Corruption> corruption_;
    bool getting_ready_ = true;
    ServedOutcome outcome_;
};

}  // namespace

ServedOutcome answer_on_processes(const ServedSetup& setup) { return Served(setup).run(); }

}  // namespace assay::plato
