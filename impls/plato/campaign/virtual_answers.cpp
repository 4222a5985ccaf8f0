#include "impls/plato/campaign/virtual_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "impls/decode/batch_engine.hpp"
#include "impls/plato/campaign/checked_report.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::plato {
namespace {

struct MakeStep {};  ///< to an engine
struct Ready {};     ///< it is there
ASSAY_MESSAGE(MakeStep, "make_step")
ASSAY_MESSAGE(Ready, "ready")

/// Engines are workers of a driver in virtual time, and seats of a pool; what they are to do is
/// given to them where they are, between steps. Steps begin only when all that happened at a moment
/// was heard.
class Service {
  public:
    explicit Service(const VirtualSetup& setup)
        : setup_(setup),
          asked_(as_asked(setup.questions, setup.answer.mode)),
          told_(as_told(asked_, setup.misdeed)),
          random_(setup.seed),
          driver_({{.name = "", .protocol = [this](drive::Worker& me) { return engine(me); }}},
                  time_, latencies_, {}, recorder_),
          hosts_(static_cast<std::size_t>(setup.engines + setup.small_engines)),
          desk_(pool_, asked_, told_,
                {.answer = setup.answer,
                 .adaptive = setup.adaptive,
                 .max_batch = setup.max_batch,
                 .blocks = setup.blocks}) {
        check_faults(setup.faults);
        driver_.listen([this](const drive::DriverEvent& event) { note(event); });
        for (std::size_t i = 0; i < setup.questions.size(); ++i)
            time_.at(setup.come_s[i], [this, i] { desk_.begin(i); });
        for (const Fault& fault : setup.faults)
            time_.at(*fault.t_s, [this, &fault] { strike(fault); });
        for (Host& host : hosts_) start_engine(host);
    }

    VirtualOutcome run() {
        for (long turns = 0; !desk_.all_done(); ++turns) {
            if (turns > 1000000) throw BrokenRule("it does not come to an end");
            turn();
        }
        outcome_.seconds = driver_.now();
        check_blocks();
        for (std::size_t i = 0; i < setup_.questions.size(); ++i)
            outcome_.parts.push_back(desk_.answer(i));
        outcome_.counts.insert(desk_.counts().begin(), desk_.counts().end());
        return std::move(outcome_);
    }

  private:
    /// An engine's place, which another takes when it is lost.
    struct Host {
        drive::WorkerId worker = -1;
        decode::BatchEngine* engine = nullptr;  // the worker's
        bool ready = false;                     // heard at this moment …
        std::vector<CheckedReport> reports;     // … too
        std::optional<decode::LocalSeat> seat;  // while it is there
        bool busy = false;
        double ends_s = 0;          // its step, if nothing befalls it
        double silent_until_s = 0;  // killed or hanging
    };
    decode::Seat number_of(const Host& host) const {
        return static_cast<decode::Seat>(&host - hosts_.data());
    }
    bool is_small(const Host& host) const { return number_of(host) >= setup_.engines; }
    Host& host_of(drive::WorkerId worker) { return *owners_[static_cast<std::size_t>(worker)]; }
    bool silent(const Host& host) const { return host.silent_until_s > driver_.now(); }
    bool awaited(const Host& host) const {
        return host.seat && silent(host) && desk_.has_parts(number_of(host));
    }

    // ---- engines -------------------------------------------------------------------------------

    void start_engine(Host& host) {
        host.worker = driver_.spawn({});
        owners_.push_back(&host);
    }

    drive::Protocol engine(drive::Worker& me) {
        Host& host = host_of(me.id());
        decode::BatchEngine engine(std::make_unique<decode::ModelledBackEnd>(
                                       decode::ModelledSettings{.vocabulary = setup_.vocabulary,
                                                                .context = setup_.context,
                                                                .blocks = setup_.blocks,
                                                                .weights = is_small(host) ? 2U : 1U,
                                                                .cost = setup_.cost,
                                                                .checks = setup_.checks}),
                                   {.max_batch = setup_.max_batch, .chunk = 512});
        host.engine = &engine;
        me.say(Ready{});
        std::int64_t computed = 0;
        while (co_await me.receive()) {
            decode::StepReport step;
            engine.step(step);
            if (step.steps == 0) throw BrokenRule("an engine with requests has nothing to do");
            const std::int64_t all = engine.stats().computed_tokens;
            outcome_.computed_tokens += all - std::exchange(computed, all);
            const double seconds = step.seconds * (is_small(host) ? setup_.small_factor : 1);
            host.ends_s = driver_.now() + seconds;
            CheckedReport report = CheckedReport::of(step);
            if (!step.tokens.empty()) damage(report, me);
            co_await me.work(seconds);
            me.say(std::move(report));
        }
    }
    /// One bit, however often it was struck since its last report.
    void damage(CheckedReport& report, drive::Worker& me) {
        if (!me.struck(FaultKind::corrupt)) return;
        while (me.struck(FaultKind::corrupt)) {
        }
        report.flip(random_());
        ++outcome_.counts["damaged_reports"];
    }

    void lose(Host& host) {
        host.busy = false;
        if (!host.seat) return;
        host.seat.reset();
        pool_.lost(number_of(host));
        desk_.look();
    }
    void give_up(Host& host) {
        ++outcome_.counts["given_up"];
        lose(host);
        if (setup_.misdeed != Misdeed::hears_the_lost && setup_.misdeed != Misdeed::keeps_a_part)
            driver_.evict({.worker = host.worker, .why = "it is silent"});
    }
    /// At the end of a silence.
    void come_back(Host& host) {
        if (host.seat || silent(host)) return;
        if (!driver_.alive(host.worker))
            start_engine(host);
        else if (setup_.misdeed == Misdeed::keeps_a_part)
            host.ready = true;
    }

    // ---- time ----------------------------------------------------------------------------------

    void turn() {
        if (!driver_.turn()) throw BrokenRule("all wait for ever");
        hear_all();
        for (Host& host : hosts_) go_on(host);
        for (Host& host : hosts_)
            if (awaited(host) && driver_.now() >= host.ends_s + setup_.patience_s) give_up(host);
        carry_out();
        desk_.go_on();
        carry_out();
        for (Host& host : hosts_) begin_step(host);
        hear_all();
        for (const Host& host : hosts_)
            if (awaited(host)) time_.at(host.ends_s + setup_.patience_s, [] {});
    }
    /// The rest of this moment.
    void hear_all() {
        while (driver_.turn(0)) {
        }
    }
    void note(const drive::DriverEvent& event) {
        if (const auto* const said = std::get_if<drive::Said>(&event)) {
            Host& host = host_of(said->worker);
            if (said->message.is<Ready>())
                host.ready = true;
            else
                host.reports.push_back(said->message.to<CheckedReport>());
        }
        if (const auto* const died = std::get_if<drive::Died>(&event))
            if (const std::string& how = driver_.how_ended(died->worker);
                how != "killed" && how != "evicted")
                throw BrokenRule("an engine ended by itself: " + how);
    }

    void go_on(Host& host) {
        for (const CheckedReport& report : std::exchange(host.reports, {})) {
            host.busy = false;
            hear(host, report);
        }
        if (!std::exchange(host.ready, false)) return;
        host.seat.emplace(pool_, number_of(host), *host.engine, exported_, is_small(host) ? 1 : 0);
    }
    void begin_step(Host& host) {
        if (host.busy || !host.seat || silent(host) || host.engine->idle()) return;
        host.busy = true;
        driver_.send(host.worker, MakeStep{});
    }

    void hear(const Host& host, const CheckedReport& report) {
        const decode::Seat seat = number_of(host);
        if (!report.whole() && setup_.misdeed != Misdeed::believes_corruption) {
            ++outcome_.counts["refused"];
            return desk_.take_back(seat);
        }
        for (const ReportedToken& said : report.tokens()) {
            const auto request = pool_.living(seat, said.request);
            if (!request) throw BrokenRule("a token of a request that is not there");
            const decode::EndedRequest ended{.request = said.request};
            pool_.made(seat, said.request, {&said.token, 1}, 0, said.ended != 0 ? &ended : nullptr);
            desk_.on_tokens(*request, {&said.token, 1});
        }
    }

    // ---- orders --------------------------------------------------------------------------------

    void carry_out() {
        for (std::vector<decode::Order> orders;; orders.clear()) {
            pool_.turn(desk_, orders);
            if (orders.empty()) return;
            for (const decode::Order& order : orders) carry_out(order);
        }
    }
    void carry_out(const decode::Order& order) {
        if (const auto* const done = std::get_if<decode::Done>(&order)) return desk_.on_done(*done);
        if (const auto* const give = std::get_if<decode::Give>(&order);
            give && give->from > 0 && setup_.misdeed == Misdeed::forgets_a_token)
            return give_too_little(*give);
        for (Host& host : hosts_)
            if (host.seat) host.seat->carry_out(order);
    }
    void give_too_little(const decode::Give& give) {
        decode::RequestState state = pool_.state(give, "");
        state.keep_first(give.from - 1);
        hosts_[static_cast<std::size_t>(give.seat)].engine->resume(state, give.attempt);
        pool_.taken(give.seat, give.attempt);
    }

    // ---- faults --------------------------------------------------------------------------------

    void strike(Fault fault) {
        Host& host = hosts_[static_cast<std::size_t>(*fault.rank) % hosts_.size()];
        // One that hangs already cannot hang, and who is gone has nothing else to lose.
        const bool strikes = fault.kind == FaultKind::kill   ? true
                             : fault.kind == FaultKind::hang ? !silent(host)
                             : fault.kind == FaultKind::wipe ? host.seat.has_value()
                                                             : driver_.alive(host.worker);
        if (!strikes) return;
        ++outcome_.counts[fmt::format("fault.{}", to_string(fault.kind))];
        fault.rank = host.worker;
        if (fault.kind == FaultKind::kill || fault.kind == FaultKind::hang)
            silence(host, fault);
        else if (fault.kind == FaultKind::wipe)
            return wipe(host);
        else if (fault.kind == FaultKind::corrupt)
            fault.target.clear();  // of what it says, which it does itself
        driver_.strike(fault);
    }
    void wipe(const Host& host) {
        host.engine->empty_cache();
        desk_.wipe(number_of(host));
    }
    void silence(Host& host, Fault& fault) {
        if (!fault.for_s) fault.for_s = setup_.restart_s;
        if (!host.busy && !silent(host)) host.ends_s = driver_.now();
        host.silent_until_s = std::max(host.silent_until_s, driver_.now() + *fault.for_s);
        time_.at(host.silent_until_s, [this, &host] { come_back(host); });
        if (fault.kind == FaultKind::kill) lose(host);  // which is noticed at once
    }

    void check_blocks() {
        // Those that only warm one may not have ended.
        for (const decode::Place& place : pool_.places()) desk_.take_back(place.seat);
        carry_out();
        for (Host& host : hosts_) {
            if (!host.seat) continue;  // not heard of again
            host.engine->empty_cache();
            if (const int held = host.engine->stats().held_blocks; held != 0)
                throw BrokenRule(fmt::format("{} blocks are left", held));
        }
    }

    const VirtualSetup& setup_;
    std::vector<QuestionTokens> asked_;
    std::vector<QuestionTokens> told_;  // the questions that controllers know
    std::mt19937_64 random_;
    drive::EventQueue time_;
    /// A hang ends by itself; who is silent for too long is given up here.
    drive::ConstantLatencies latencies_{0, 0, 0, drive::SimulatedWorld::forever};
    MemoryRecorder recorder_;
    drive::VirtualCluster driver_;
    std::vector<Host> hosts_;
    std::vector<Host*> owners_;  // of each worker
    decode::Pool pool_;
    decode::ExportedStates exported_;  // none: nothing moves
    Desk desk_;
    VirtualOutcome outcome_;
};

}  // namespace

VirtualOutcome answer_virtually(const VirtualSetup& setup) { return Service(setup).run(); }

}  // namespace assay::plato
