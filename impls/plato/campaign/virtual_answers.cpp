#include "impls/plato/campaign/virtual_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "impls/decode/batch_engine.hpp"
#include "impls/plato/live/batch_request.hpp"
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
          told_(setup.questions),
          faults_(setup.faults),
          placement_(setup.engines + setup.small_engines) {
        if (setup.misdeed == Misdeed::starts_early)
            for (QuestionTokens& question : told_)
                for (NodeRecord& node : question.plan.nodes) node.dependencies.clear();
        std::stable_sort(faults_.begin(), faults_.end(),
                         [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
        hosts_.resize(static_cast<std::size_t>(setup.engines + setup.small_engines));
        for (int engine = setup.engines; engine < setup.engines + setup.small_engines; ++engine) {
            placement_.set_model(engine, 1);
            hosts_[static_cast<std::size_t>(engine)].slowness = setup.small_factor;
        }
        for (Host& host : hosts_) start_engine(host);
        for (Host& host : hosts_) warm(host);
        for (std::size_t i = 0; i < setup.questions.size(); ++i)
            sessions_.push_back(std::make_unique<Session>(*this, i));
    }

    VirtualOutcome run() {
        for (long turns = 0; !all_done(); ++turns) {
            if (turns > 1000000) throw BrokenRule("it does not come to an end");
            turn();
        }
        outcome_.seconds = now_s_;
        check_blocks();
        for (const auto& session : sessions_) {
            auto& parts = outcome_.parts.emplace_back();
            for (Journal& journal : session->journals) parts.push_back(std::move(journal.heard));
        }
        return std::move(outcome_);
    }

  private:
    /// What is known of a part outside the engines.
    struct Journal {
        decode::BatchRequest request;
        VirtualOutcome::Part heard;
        int most_reused = 0;
        bool started = false, ended = false;
    };
    struct PartId {
        std::size_t question = 0;
        int part = 0;
    };

    class Session : public PartDecoder {
      public:
        Session(Service& service, std::size_t number)
            : journals(service.told_[number].nodes.size() + 1),
              service_(service),
              number_(number),
              answering(service.told_[number], service.setup_.answer, *this) {}

        void start(PartRequest request) override { service_.take(number_, std::move(request)); }

        std::vector<Journal> journals;  // by part
        bool begun = false;

      private:
        Service& service_;
        std::size_t number_;

      public:
        Answering answering;
    };

    struct Host {
        std::unique_ptr<decode::BatchEngine> engine;
        std::map<decode::RequestId, PartId> parts;
        std::map<decode::RequestId, std::vector<int>> warming;  // static parts being computed
        std::vector<Report> reports;                            // of the step under way
        bool busy = false;
        double ready_s = 0;         // when that ends
        double silent_until_s = 0;  // killed or hanging
        bool dead = false;
        bool given_up = false;
        double slowness = 1;
        std::int64_t computed = 0;  // tokens, by this engine
        std::optional<std::uint64_t> corrupts;
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
    }
    /// Static parts are computed first, and again where they are lost: else a node would never go
    /// to an engine that lacks them.
    void warm(Host& host) {
        if (!setup_.answer.warm || setup_.answer.reuse == KvReuse::none) return;
        std::set<std::vector<int>> texts;
        for (const QuestionTokens& question : setup_.questions)
            texts.insert({question.static_plan, question.static_node});
        texts.erase(std::vector<int>());
        for (const std::vector<int>& text : texts) {
            host.warming[host.engine->submit({.prompt = text, .max_tokens = 1})] = text;
            placement_.on_started(number_of(host), text);
        }
    }
    int number_of(const Host& host) const { return static_cast<int>(&host - hosts_.data()); }
    bool silent(const Host& host) const { return host.silent_until_s > now_s_; }
    bool all_done() const {
        return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& session) {
            return session->begun && session->answering.done();
        });
    }

    // ---- time

    void turn() {
        double next = faults_.empty() ? never : faults_.front().at_s;
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            if (!sessions_[i]->begun) next = std::min(next, setup_.come_s[i]);
        for (const Host& host : hosts_) {
            if (silent(host)) next = std::min(next, host.silent_until_s);
            if (silent(host) && !host.given_up && !host.parts.empty())
                next = std::min(next, host.ready_s + setup_.patience_s);
            if (host.busy && !silent(host)) next = std::min(next, host.ready_s);
        }
        if (next == never) throw BrokenRule("everybody waits for ever");
        now_s_ = std::max(now_s_, next);
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            if (!sessions_[i]->begun && setup_.come_s[i] <= now_s_) {
                sessions_[i]->begun = true;
                sessions_[i]->answering.begin();
            }
        while (!faults_.empty() && faults_.front().at_s <= now_s_) {
            const VirtualFault fault = faults_.front();
            faults_.erase(faults_.begin());
            strike(fault);
        }
        for (Host& host : hosts_) go_on(host);
        for (Host& host : hosts_)
            if (silent(host) && !host.given_up && !host.parts.empty() &&
                now_s_ >= host.ready_s + setup_.patience_s)
                give_up(host);
        begin_nodes();
        dispatch();
        for (Host& host : hosts_) begin_step(host);
    }

    void go_on(Host& host) {
        if (silent(host)) return;
        if (host.dead) {
            host.dead = false;
            start_engine(host);
            come_back(host);
            warm(host);
        }
        if (host.busy && host.ready_s <= now_s_) {
            host.busy = false;
            for (const Report& report : std::exchange(host.reports, {})) hear(host, report);
        }
        if (host.given_up && !host.busy) {
            // It is there again, and is told that nobody waits for it.
            if (setup_.misdeed != Misdeed::keeps_a_part)
                for (const auto request : host.engine->unfinished()) host.engine->remove(request);
            host.parts.clear();
            host.engine->empty_cache();
            come_back(host);
            warm(host);
        }
    }
    void come_back(Host& host) {
        host.given_up = false;
        placement_.on_back(number_of(host));
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
        auto& bytes = host.reports.back().bytes;
        const std::uint64_t bit = *std::exchange(host.corrupts, std::nullopt) % (bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        ++outcome_.counts["damaged_reports"];
    }
    static std::int64_t computed_of(Host& host) {
        const std::int64_t all = host.engine->stats().computed_tokens;
        return all - std::exchange(host.computed, all);
    }

    // ---- what is heard

    void hear(Host& host, const Report& report) {
        if (host.given_up && setup_.misdeed != Misdeed::hears_the_lost) return;
        if (!report.whole() && setup_.misdeed != Misdeed::believes_corruption) {
            ++outcome_.counts["refused"];
            take_back_all(host);
            return;
        }
        for (const Report::Token& token : report.tokens()) {
            if (const auto text = host.warming.find(token.request); text != host.warming.end()) {
                std::vector<int> tokens = text->second;
                tokens.push_back(token.id);
                placement_.on_ended(number_of(host), tokens);
                host.warming.erase(text);
                continue;
            }
            const auto found = host.parts.find(token.request);
            if (found == host.parts.end())
                throw BrokenRule("a token of a request that nobody made");
            const PartId part = found->second;
            Session& session = *sessions_[part.question];
            Journal& journal = session.journals[static_cast<std::size_t>(part.part)];
            if (journal.ended) throw BrokenRule("a part is told of behind its end");
            journal.heard.ids.push_back(token.id);
            journal.heard.log_probabilities.push_back(token.log_probability);
            tell(session, part.part, token.id);
            ++outcome_.counts["tokens"];
            if (token.ended == 0) continue;
            journal.ended = true;
            ++outcome_.counts["parts"];
            host.parts.erase(found);
            std::vector<int> tokens = journal.request.prompt;
            tokens.insert(tokens.end(), journal.heard.ids.begin(), journal.heard.ids.end());
            placement_.on_ended(number_of(host), tokens);
            end(session, part.part);
        }
    }
    static void tell(Session& session, int part, int id) {
        try {
            session.answering.on_token(part, id);
        } catch (const std::logic_error& error) {
            throw BrokenRule(error.what());
        }
    }
    void end(Session& session, int part) {
        try {
            session.answering.on_ended(part);
        } catch (const std::logic_error& error) {
            throw BrokenRule(error.what());
        }
    }

    // ---- who does what

    void take(std::size_t question, PartRequest request) {
        Session& session = *sessions_[question];
        Journal& journal = session.journals[static_cast<std::size_t>(request.part)];
        if (std::exchange(journal.started, true)) throw BrokenRule("a part was started twice");
        if (request.part > 0) check_start(session, setup_.questions[question], request.part);
        journal.request = batch_request(request);
        journal.most_reused = request.most_reused;
        pending_.push_back({question, request.part});
    }

    /// By the journals, not by what the controller believes.
    void check_start(const Session& session, const QuestionTokens& question, int node) const {
        const PlanRecord& plan = question.plan;
        std::int64_t lines = 0;
        const int last = setup_.answer.mode == Mode::plato ? node : plan.size();
        for (int line = 1; line <= last; ++line) lines += plan.node(line).line_tokens;
        if (static_cast<std::int64_t>(session.journals[0].heard.ids.size()) < lines)
            throw BrokenRule(fmt::format("node {} started before its line was out", node));
        std::vector<std::vector<int>> dependencies;
        for (const NodeRecord& each : plan.nodes) dependencies.push_back(each.dependencies);
        const auto before_each = predecessors(setup_.answer.mode, dependencies);
        for (const int before : before_each[static_cast<std::size_t>(node - 1)])
            if (!session.journals[static_cast<std::size_t>(before)].ended)
                throw BrokenRule(fmt::format("node {} started before node {} ended", node, before));
    }

    void begin_nodes() {
        int running = 0, room = 0;
        for (const auto& session : sessions_) running += session->answering.running();
        for (const Host& host : hosts_)
            if (placement_.usable(number_of(host))) room += setup_.max_batch;
        for (const auto& session : sessions_) {
            if (!session->begun) continue;
            const int had = session->answering.running();
            session->answering.on_step(std::max(0, room - running));
            running += session->answering.running() - had;
        }
    }

    void dispatch() {
        std::vector<PartId> left;
        for (const PartId part : std::exchange(pending_, {})) {
            const Journal& journal =
                sessions_[part.question]->journals[static_cast<std::size_t>(part.part)];
            std::vector<int> known = journal.request.prompt;
            known.insert(known.end(), journal.heard.ids.begin(), journal.heard.ids.end());
            const int engine = placement_.choose(known, journal.most_reused > 0, model_of(part));
            if (engine < 0) {
                left.push_back(part);
                continue;
            }
            Host& host = hosts_[static_cast<std::size_t>(engine)];
            host.parts[give(*host.engine, journal)] = part;
            placement_.on_started(engine, known);
        }
        pending_.insert(pending_.end(), left.begin(), left.end());
    }
    int model_of(const PartId& part) const {
        if (part.part == 0 || setup_.small_engines == 0) return 0;
        return setup_.adaptive.model_of(
            setup_.questions[part.question].plan.node(part.part).difficulty);
    }
    decode::RequestId give(decode::BatchEngine& engine, const Journal& journal) {
        if (journal.heard.ids.empty()) {
            decode::Links links;
            links.most_reused = journal.most_reused;
            return engine.submit(journal.request, links);
        }
        ++outcome_.counts["resumed"];
        decode::RequestState state;
        state.request = journal.request;
        if (!state.request.forced_ids.empty())
            state.request.max_tokens = static_cast<int>(state.request.forced_ids.size());
        state.ids = journal.heard.ids;
        state.log_probabilities = journal.heard.log_probabilities;
        if (setup_.misdeed == Misdeed::forgets_a_token) {
            state.ids.pop_back();
            state.log_probabilities.pop_back();
        }
        state.versions.assign(state.ids.size(), 1);
        state.admitted = true;
        return engine.resume(state);
    }

    /// Its parts are to be done by somebody.
    void take_back_all(Host& host) {
        for (const auto& [request, part] : host.parts) {
            pending_.push_back(part);
            host.engine->remove(request);
            placement_.on_taken_back(number_of(host));
        }
        host.parts.clear();
        for (const auto& [request, text] : host.warming) {
            host.engine->remove(request);
            placement_.on_taken_back(number_of(host));
        }
        host.warming.clear();
    }
    void give_up(Host& host) {
        ++outcome_.counts["given_up"];
        lose(host);
    }
    void lose(Host& host) {
        host.given_up = true;
        for (const auto& [request, part] : host.parts) pending_.push_back(part);
        // An engine that only hangs still has them; they are remembered until it is told.
        if (host.dead || setup_.misdeed != Misdeed::hears_the_lost) host.parts.clear();
        host.warming.clear();
        placement_.on_lost(number_of(host));
    }

    // ---- faults

    void strike(const VirtualFault& fault) {
        Host& host = hosts_[static_cast<std::size_t>(fault.engine) % hosts_.size()];
        ++outcome_.counts[fmt::format("fault.{}", to_string(fault.kind))];
        switch (fault.kind) {
            case FaultKind::kill:
                host.dead = true;
                host.busy = false;
                host.reports.clear();
                host.silent_until_s = std::max(host.silent_until_s, now_s_ + fault.for_s);
                // A process that is gone is noticed at once.
                if (!host.given_up) lose(host);
                host.slowness = number_of(host) < setup_.engines ? 1 : setup_.small_factor;
                host.corrupts.reset();
                return;
            case FaultKind::hang:
                if (silent(host)) return;
                if (!host.busy) host.ready_s = now_s_;
                host.silent_until_s = now_s_ + fault.for_s;
                return;
            case FaultKind::slow:
                host.slowness = fault.factor;
                return;
            case FaultKind::corrupt:
                host.corrupts = fault.bit;
                return;
            case FaultKind::wipe:
                if (host.dead) return;
                host.engine->empty_cache();
                placement_.on_wiped(number_of(host));
                if (!host.given_up) warm(host);
                return;
        }
    }

    void check_blocks() {
        for (Host& host : hosts_) {
            if (host.dead || host.given_up) continue;  // not heard of again
            for (const auto& [request, text] : host.warming) host.engine->remove(request);
            host.engine->empty_cache();
            if (const int held = host.engine->stats().held_blocks; held != 0)
                throw BrokenRule(fmt::format("{} blocks are left", held));
        }
        for (const auto& session : sessions_)
            for (std::size_t part = 0; part < session->journals.size(); ++part)
                if (!session->journals[part].ended && (part == 0 || setup_.answer.mode != Mode::ar))
                    throw BrokenRule("a part was never answered");
    }

    const VirtualSetup& setup_;
    std::vector<QuestionTokens> told_;  // the questions that controllers know
    std::vector<VirtualFault> faults_;
    Placement placement_;
    std::vector<Host> hosts_;
    std::vector<std::unique_ptr<Session>> sessions_;
    std::vector<PartId> pending_;  // to be given to an engine
    double now_s_ = 0;
    VirtualOutcome outcome_;
};

}  // namespace

std::string_view to_string(FaultKind kind) {
    switch (kind) {
        case FaultKind::kill:
            return "kill";
        case FaultKind::hang:
            return "hang";
        case FaultKind::slow:
            return "slow";
        case FaultKind::corrupt:
            return "corrupt";
        case FaultKind::wipe:
            return "wipe";
    }
    return "";
}

VirtualOutcome answer_virtually(const VirtualSetup& setup) { return Service(setup).run(); }

}  // namespace assay::plato
