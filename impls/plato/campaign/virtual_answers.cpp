#include "impls/plato/campaign/virtual_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "impls/decode/batch_engine.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "impls/plato/live/live_run.hpp"

namespace assay::plato {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// What an engine reports of a step, as it travels: every token and end, and a checksum behind.
struct Report {
    struct Token {
        std::int64_t request;
        double log_probability;
        std::int32_t id;
        std::int32_t ended;  // with this token
    };
    std::vector<std::byte> bytes;

    explicit Report(const decode::StepReport& step) {
        for (const decode::MadeToken& token : step.tokens) {
            const bool ended =
                std::any_of(step.ended.begin(), step.ended.end(),
                            [&](const auto& each) { return each.request == token.request; });
            append(Token{token.request, token.log_probability, token.id, ended ? 1 : 0});
        }
        append(crc32(bytes));
    }
    bool whole() const {
        std::uint32_t sum = 0;
        const std::size_t content = bytes.size() - sizeof sum;
        std::memcpy(&sum, bytes.data() + content, sizeof sum);
        return sum == crc32(std::span(bytes).first(content));
    }
    std::vector<Token> tokens() const {
        std::vector<Token> tokens(bytes.size() / sizeof(Token));
        std::memcpy(tokens.data(), bytes.data(), tokens.size() * sizeof(Token));
        return tokens;
    }

  private:
    template <class T>
    void append(const T& value) {
        const auto view = std::as_bytes(std::span(&value, 1));
        bytes.insert(bytes.end(), view.begin(), view.end());
    }
};

class Service {
  public:
    explicit Service(const VirtualSetup& setup)
        : setup_(setup),
          asked_(as_asked(setup.questions, setup.answer.mode)),
          told_(as_told(asked_, setup.misdeed)),
          faults_(setup.faults),
          random_(setup.seed),
          hosts_(static_cast<std::size_t>(setup.engines + setup.small_engines)),
          desk_(asked_, told_,
                {.answer = setup.answer,
                 .engines = setup.engines,
                 .adaptive = setup.adaptive,
                 .small_engines = setup.small_engines,
                 .max_batch = setup.max_batch,
                 .forgets_a_token = setup.misdeed == Misdeed::forgets_a_token}) {
        check_faults(faults_);
        sort_by_time(faults_);
        for (Host& host : hosts_) {
            host.slowness = usual_slowness(host);
            start_engine(host);
        }
    }

    VirtualOutcome run() {
        for (long turns = 0; !desk_.all_done(); ++turns) {
            if (turns > 1000000) throw BrokenRule("it does not come to an end");
            turn();
        }
        outcome_.seconds = now_s_;
        check_blocks();
        for (std::size_t i = 0; i < setup_.questions.size(); ++i)
            outcome_.parts.push_back(desk_.answer(i));
        outcome_.counts.insert(desk_.counts().begin(), desk_.counts().end());
        return std::move(outcome_);
    }

  private:
    struct Host {
        std::unique_ptr<decode::BatchEngine> engine;
        std::vector<Report> reports;  // of the step under way
        bool busy = false;
        double ready_s = 0;         // when that ends
        double silent_until_s = 0;  // killed or hanging
        bool dead = false;
        bool given_up = false;
        double slowness = 1;
        std::int64_t computed = 0;  // tokens, by this engine
        bool corrupts = false;
    };

    void start_engine(Host& host) {
        host.computed = 0;
        host.engine = std::make_unique<decode::BatchEngine>(
            std::make_unique<decode::ModelledBackEnd>(
                decode::ModelledSettings{.vocabulary = setup_.vocabulary,
                                         .context = setup_.context,
                                         .blocks = setup_.blocks,
                                         .weights = number_of(host) < setup_.engines ? 1U : 2U,
                                         .cost = setup_.cost,
                                         .checks = setup_.checks}),
            decode::BatchOptions{.max_batch = setup_.max_batch, .chunk = 512});
        come_back(host);
    }
    void come_back(Host& host) {
        host.given_up = false;
        desk_.on_there(number_of(host), *host.engine);
    }
    int number_of(const Host& host) const { return static_cast<int>(&host - hosts_.data()); }
    double usual_slowness(const Host& host) const {
        return number_of(host) < setup_.engines ? 1 : setup_.small_factor;
    }
    bool silent(const Host& host) const { return host.silent_until_s > now_s_; }
    bool awaited(const Host& host) const {
        return silent(host) && !host.given_up && desk_.has_parts(number_of(host));
    }

    // ---- time

    void turn() {
        double next = faults_.empty() ? never : *faults_.front().t_s;
        for (std::size_t i = 0; i < setup_.questions.size(); ++i)
            if (!desk_.begun(i)) next = std::min(next, setup_.come_s[i]);
        for (const Host& host : hosts_) {
            if (silent(host)) next = std::min(next, host.silent_until_s);
            if (awaited(host)) next = std::min(next, host.ready_s + setup_.patience_s);
            if (host.busy && !silent(host)) next = std::min(next, host.ready_s);
        }
        if (next == never) throw BrokenRule("everybody waits for ever");
        now_s_ = std::max(now_s_, next);
        for (std::size_t i = 0; i < setup_.questions.size(); ++i)
            if (!desk_.begun(i) && setup_.come_s[i] <= now_s_) desk_.begin(i);
        while (!faults_.empty() && *faults_.front().t_s <= now_s_) {
            const Fault fault = faults_.front();
            faults_.erase(faults_.begin());
            strike(fault);
        }
        for (Host& host : hosts_) go_on(host);
        for (Host& host : hosts_)
            if (awaited(host) && now_s_ >= host.ready_s + setup_.patience_s) {
                ++outcome_.counts["given_up"];
                lose(host);
            }
        for (std::size_t i = 0; i < setup_.questions.size(); ++i)
            if (desk_.done(i)) desk_.let_go(i);
        desk_.go_on();
        for (Host& host : hosts_) begin_step(host);
    }

    void go_on(Host& host) {
        if (silent(host)) return;
        if (std::exchange(host.dead, false)) start_engine(host);
        if (host.busy && host.ready_s <= now_s_) {
            host.busy = false;
            for (const Report& report : std::exchange(host.reports, {})) hear(host, report);
        }
        if (host.given_up && !host.busy) {
            // It is there again, and is told that nobody waits for it.
            if (setup_.misdeed != Misdeed::keeps_a_part) forget_all(*host.engine);
            host.engine->empty_cache();
            come_back(host);
        }
    }

    static void forget_all(decode::BatchEngine& engine) {
        for (const auto request : engine.unfinished()) engine.remove(request);
        for (const auto request : engine.kept()) engine.release(request);
    }

    void begin_step(Host& host) {
        if (host.busy || silent(host) || host.given_up || host.engine->idle()) return;
        decode::StepReport step;
        host.engine->step(step);
        if (step.steps == 0) throw BrokenRule("an engine with requests has nothing to do");
        outcome_.computed_tokens += computed_of(host);
        host.busy = true;
        host.ready_s = now_s_ + step.seconds * host.slowness;
        host.reports.emplace_back(step);
        if (!host.corrupts || step.tokens.empty()) return;
        host.corrupts = false;
        auto& bytes = host.reports.back().bytes;
        const std::uint64_t bit = random_() % (bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        ++outcome_.counts["damaged_reports"];
    }
    static std::int64_t computed_of(Host& host) {
        const std::int64_t all = host.engine->stats().computed_tokens;
        return all - std::exchange(host.computed, all);
    }

    void hear(Host& host, const Report& report) {
        if (host.given_up && setup_.misdeed != Misdeed::hears_the_lost) return;
        const int engine = number_of(host);
        if (!report.whole() && setup_.misdeed != Misdeed::believes_corruption) {
            ++outcome_.counts["refused"];
            return desk_.take_back(engine);
        }
        for (const Report::Token& token : report.tokens()) {
            desk_.on_token(engine, token.request, token.id, token.log_probability);
            if (token.ended != 0) desk_.on_ended(engine, {.request = token.request});
        }
    }

    void lose(Host& host) {
        host.given_up = true;
        // An engine that only hangs still has its parts; they are remembered until it is told.
        desk_.on_lost(number_of(host), !host.dead && setup_.misdeed == Misdeed::hears_the_lost);
    }

    // ---- faults

    void strike(const Fault& fault) {
        Host& host = hosts_[static_cast<std::size_t>(*fault.rank) % hosts_.size()];
        // One that hangs already cannot hang, and who is gone has no cache.
        const bool strikes = fault.kind == FaultKind::hang   ? !silent(host)
                             : fault.kind == FaultKind::wipe ? !host.dead
                             : fault.kind == FaultKind::slow ? fault.factor > 1
                                                             : true;
        if (strikes) ++outcome_.counts[fmt::format("fault.{}", to_string(fault.kind))];
        const double for_s = fault.for_s.value_or(setup_.restart_s);
        switch (fault.kind) {
            case FaultKind::kill:
                host.dead = true;
                host.busy = false;
                host.reports.clear();
                host.silent_until_s = std::max(host.silent_until_s, now_s_ + for_s);
                // A process that is gone is noticed at once.
                if (!host.given_up) lose(host);
                host.slowness = usual_slowness(host);
                host.corrupts = false;
                return;
            case FaultKind::hang:
                if (silent(host)) return;
                if (!host.busy) host.ready_s = now_s_;
                host.silent_until_s = now_s_ + for_s;
                return;
            case FaultKind::slow:
                host.slowness = usual_slowness(host) * fault.factor;
                if (fault.for_s) strike_later(faults_, end_of_slowness(fault, now_s_));
                return;
            case FaultKind::corrupt:
                host.corrupts = true;
                return;
            default:  // wipe
                if (host.dead) return;
                if (host.given_up)
                    host.engine->empty_cache();
                else
                    desk_.wipe(number_of(host));
        }
    }

    void check_blocks() {
        for (std::size_t i = 0; i < setup_.questions.size(); ++i) desk_.let_go(i);
        for (Host& host : hosts_) {
            if (host.dead || host.given_up) continue;  // not heard of again
            // Those that only warm it may not have ended.
            desk_.take_back(number_of(host));
            host.engine->empty_cache();
            if (const int held = host.engine->stats().held_blocks; held != 0)
                throw BrokenRule(fmt::format("{} blocks are left", held));
        }
    }

    const VirtualSetup& setup_;
    std::vector<QuestionTokens> asked_;
    std::vector<QuestionTokens> told_;  // the questions that controllers know
    std::vector<Fault> faults_;
    std::mt19937_64 random_;
    std::vector<Host> hosts_;
    Desk desk_;
    double now_s_ = 0;
    VirtualOutcome outcome_;
};

}  // namespace

VirtualOutcome answer_virtually(const VirtualSetup& setup) { return Service(setup).run(); }

}  // namespace assay::plato
