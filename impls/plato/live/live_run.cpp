#include "impls/plato/live/live_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "impls/plato/live/batch_request.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class T>
std::uint32_t crc_of(const std::vector<T>& values, std::uint32_t before) {
    return crc32(std::as_bytes(std::span(values)), before);
}

class Run;

/// A question that is being answered, and its requests.
class Session : private PartDecoder {
  public:
    Session(Run& run, std::size_t number, const QuestionTokens& question,
            const AnswerSettings& settings)
        : run_(run),
          number_(number),
          answering_(question, settings, *this),
          requests_(question.nodes.size() + 1, -1) {
        answer_.nodes.resize(settings.mode == Mode::ar ? 1 : question.nodes.size());
        settings_ = settings;
    }

    void begin() { answering_.begin(); }
    void on_step(int room, double now_s) {
        now_s_ = now_s;
        answering_.on_step(room);
    }
    void on_token(int part, const decode::MadeToken& token, double now_s);
    void on_ended(int part, const decode::EndedRequest& ended, double now_s);
    bool done() const { return answering_.done(); }
    int running() const { return answering_.running(); }
    LiveAnswer finish(double now_s);
    std::size_t number() const { return number_; }
    void release_kept();

  private:
    void start(PartRequest request) override;
    LiveNode* node_of(int part) {
        if (settings_.mode == Mode::ar) return answer_.nodes.data();
        return part == 0 ? nullptr : &answer_.nodes[static_cast<std::size_t>(part - 1)];
    }
    double ready_s(int node) const;

    Run& run_;
    std::size_t number_;
    AnswerSettings settings_;
    Answering answering_;
    std::vector<decode::RequestId> requests_;  // of parts
    std::vector<double> announced_s_;          // [node - 1]
    LiveAnswer answer_;
    double now_s_ = 0;
};

class Run {
  public:
    Run(std::span<const QuestionTokens> questions, std::unique_ptr<decode::BackEnd> back_end,
        const LiveSettings& settings)
        : questions_(questions),
          settings_(settings),
          engine_(std::move(back_end), engine_options(questions, settings)) {}

    LiveRun run() {
        result_.answers.resize(questions_.size());
        std::size_t next = 0;
        while (next < questions_.size() || !sessions_.empty()) {
            if (sessions_.empty()) warm(next);
            start_ = Clock::now();
            stepped_s_ = 0;
            do {
                while (next < questions_.size() &&
                       static_cast<int>(sessions_.size()) < settings_.concurrency)
                    add(next++);
                step();
                end_those_done();
                // Questions one at a time: the next one finds an emptied cache.
            } while (!sessions_.empty() || (settings_.concurrency > 1 && next < questions_.size()));
            result_.seconds += now_s();
            empty();
        }
        result_.answers_crc32 = answers_crc32(result_.answers);
        return std::move(result_);
    }

    decode::RequestId submit(Session& session, const PartRequest& part,
                             const std::vector<decode::RequestId>& requests) {
        const decode::BatchRequest request =
            batch_request(part, [&](int node) { return requests[static_cast<std::size_t>(node)]; });
        const decode::RequestId id = engine_.submit(request);
        owners_[id] = {&session, part.part};
        return id;
    }
    void release(decode::RequestId id) { engine_.release(id); }

  private:
    struct Owner {
        Session* session = nullptr;
        int part = 0;
    };

    static decode::BatchOptions engine_options(std::span<const QuestionTokens> questions,
                                               const LiveSettings& settings) {
        decode::BatchOptions options;
        options.max_batch = settings.max_batch;
        options.chunk = chunk_for(questions, settings.concurrency);
        return options;
    }

    /// The static parts of the questions that come, in an empty cache.
    void warm(std::size_t next) {
        if (!settings_.answer.warm || settings_.answer.reuse == KvReuse::none) return;
        const std::size_t end = settings_.concurrency == 1 ? next + 1 : questions_.size();
        for (std::size_t i = next; i < end; ++i)
            for (const auto* const part : {&questions_[i].static_plan, &questions_[i].static_node})
                if (!part->empty()) engine_.submit({.prompt = *part, .max_tokens = 1});
        decode::StepReport unread;
        while (!engine_.idle()) engine_.step(unread);
    }

    void add(std::size_t number) {
        came_s_.emplace_back(number, now_s());
        sessions_.push_back(
            std::make_unique<Session>(*this, number, questions_[number], settings_.answer));
        sessions_.back()->begin();
    }

    void step() {
        const auto before = Clock::now();
        int running = 0;
        for (const auto& session : sessions_) running += session->running();
        for (const auto& session : sessions_) {
            const int had = session->running();
            session->on_step(settings_.max_batch - running, since_it_came(*session));
            running += session->running() - had;
        }
        result_.controller_s += seconds_since(before);
        const std::int64_t computed = engine_.stats().computed_tokens;
        report_.clear();
        engine_.step(report_);
        if (report_.steps != 1)
            throw std::logic_error("questions are open, and the engine has nothing to do");
        stepped_s_ += report_.seconds;
        const auto after = Clock::now();
        const std::int64_t fed = engine_.stats().computed_tokens - computed;
        note(fed);
        for (const decode::MadeToken& token : report_.tokens) {
            const Owner& owner = owners_.at(token.request);
            owner.session->on_token(owner.part, token, since_it_came(*owner.session));
        }
        for (const decode::EndedRequest& ended : report_.ended) {
            const Owner owner = owners_.at(ended.request);
            owners_.erase(ended.request);
            owner.session->on_ended(owner.part, ended, since_it_came(*owner.session));
        }
        result_.controller_s += seconds_since(after);
    }

    /// Of the tokens fed those that decode were one for each sequence that had begun before.
    void note(std::int64_t fed) {
        const int sequences = static_cast<int>(report_.tokens.size());
        std::int64_t begun = 0;
        for (const decode::MadeToken& token : report_.tokens)
            begun += decoding_.count(token.request);
        for (const decode::MadeToken& token : report_.tokens) decoding_.insert(token.request);
        for (const decode::EndedRequest& ended : report_.ended) decoding_.erase(ended.request);
        result_.steps.push_back(
            {.prefilled = fed - begun, .sequences = sequences, .seconds = report_.seconds});
    }

    void end_those_done() {
        for (auto session = sessions_.begin(); session != sessions_.end();) {
            if (!(*session)->done()) {
                ++session;
                continue;
            }
            const double now_s = since_it_came(**session);
            result_.answers[(*session)->number()] = (*session)->finish(now_s);
            (*session)->release_kept();
            session = sessions_.erase(session);
        }
    }

    void empty() {
        engine_.empty_cache();
        result_.held_blocks = std::max(result_.held_blocks, engine_.stats().held_blocks);
    }

    double now_s() const { return settings_.modelled_time ? stepped_s_ : seconds_since(start_); }

    double since_it_came(const Session& session) const {
        const auto came = std::find_if(came_s_.begin(), came_s_.end(), [&](const auto& each) {
            return each.first == session.number();
        });
        return now_s() - came->second;
    }

    std::span<const QuestionTokens> questions_;
    LiveSettings settings_;
    decode::BatchEngine engine_;
    std::vector<std::unique_ptr<Session>> sessions_;  // in the order in which they came
    std::vector<std::pair<std::size_t, double>> came_s_;
    std::unordered_map<decode::RequestId, Owner> owners_;
    std::set<decode::RequestId> decoding_;
    decode::StepReport report_;
    Clock::time_point start_ = Clock::now();
    double stepped_s_ = 0;  // of the back end's time
    LiveRun result_;
};

void Session::start(PartRequest request) {
    const int part = request.part;
    requests_[static_cast<std::size_t>(part)] = run_.submit(*this, request, requests_);
    LiveNode* const node = node_of(part);
    if (!node) return;
    node->prompt_tokens = static_cast<std::int64_t>(request.prompt.size());
    node->recomputed_tokens = node->prompt_tokens - request.linked_tokens();
    node->start_s = now_s_;
    if (part > 0) node->ready_s = ready_s(part);
}

/// Where predecessors are other nodes' ends, those of the mode.
double Session::ready_s(int node) const {
    const PlanRecord& plan = answering_.question().plan;
    double ready = settings_.mode == Mode::plato ? announced_s_[static_cast<std::size_t>(node - 1)]
                                                 : announced_s_.back();
    std::vector<std::vector<int>> dependencies;
    for (const NodeRecord& each : plan.nodes) dependencies.push_back(each.dependencies);
    const auto before_each = predecessors(settings_.mode, dependencies);
    for (const int before : before_each[static_cast<std::size_t>(node - 1)])
        ready = std::max(ready, answer_.nodes[static_cast<std::size_t>(before - 1)].end_s);
    return ready;
}

void Session::on_token(int part, const decode::MadeToken& token, double now_s) {
    if (LiveNode* const node = node_of(part)) {
        node->ids.push_back(token.id);
        node->log_probabilities.push_back(token.log_probability);
    }
    answering_.on_token(part, token.id);
    if (part > 0 || settings_.mode == Mode::ar) return;
    answer_.plan_log_probabilities.push_back(token.log_probability);
    const PlanRecord& plan = answering_.question().plan;
    std::int64_t lines = 0;
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        lines += plan.nodes[i].line_tokens;
        if (i == announced_s_.size() &&
            lines <= static_cast<std::int64_t>(answering_.tokens(0).size()))
            announced_s_.push_back(now_s);
    }
}

void Session::on_ended(int part, const decode::EndedRequest& ended, double now_s) {
    if (LiveNode* const node = node_of(part)) {
        node->end_s = now_s;
        node->recomputed_tokens -= ended.reused;
    }
    answering_.on_ended(part);
}

LiveAnswer Session::finish(double now_s) {
    answer_.seconds = now_s;
    if (settings_.mode != Mode::ar)
        answer_.plan_tokens = static_cast<std::int64_t>(answering_.tokens(0).size());
    for (const LiveNode& node : answer_.nodes) {
        answer_.answer_tokens += static_cast<std::int64_t>(node.ids.size());
        answer_.prompt_tokens += node.prompt_tokens;
        answer_.recomputed_tokens += node.recomputed_tokens;
    }
    return std::move(answer_);
}

void Session::release_kept() {
    for (const decode::RequestId request : requests_)
        if (request >= 0) run_.release(request);
}

}  // namespace

int blocks_for(std::span<const QuestionTokens> questions, int concurrency) {
    std::vector<std::int64_t> blocks;
    for (const QuestionTokens& question : questions) {
        const TokenNeed need = token_need(question);
        // A block more for each sequence that is not full, and two that a request asks to have.
        const auto sequences = static_cast<std::int64_t>(question.nodes.size()) + 4;
        blocks.push_back(need.all / decode::block_positions + 3 * sequences);
    }
    std::sort(blocks.rbegin(), blocks.rend());
    std::int64_t all = 1;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (i < static_cast<std::size_t>(concurrency)) all += blocks[i];
    return static_cast<int>(std::min<std::int64_t>(all, std::numeric_limits<int>::max()));
}

int chunk_for(std::span<const QuestionTokens> questions, int concurrency) {
    std::int64_t all = 1;
    for (const QuestionTokens& question : questions) all = std::max(all, token_need(question).all);
    return static_cast<int>(
        std::min<std::int64_t>(all * concurrency, std::numeric_limits<int>::max()));
}

static void check_context(std::span<const QuestionTokens> questions, int context) {
    for (const QuestionTokens& question : questions)
        if (const std::int64_t longest = token_need(question).longest; longest > context)
            throw UserError(
                fmt::format("plan \"{}\" has sequences of {} tokens, and the model's context is {}",
                            question.plan.id, longest, context));
}

LiveRun run_live(std::span<const QuestionTokens> questions,
                 std::unique_ptr<decode::BackEnd> back_end, const LiveSettings& settings) {
    const auto asked = as_asked({questions.begin(), questions.end()}, settings.answer.mode);
    check_context(asked, back_end->context());
    return Run(asked, std::move(back_end), settings).run();
}

std::uint32_t answers_crc32(std::span<const LiveAnswer> answers) {
    std::uint32_t crc = 0;
    for (const LiveAnswer& answer : answers)
        for (const LiveNode& node : answer.nodes)
            crc = crc_of(node.log_probabilities, crc_of(node.ids, crc));
    return crc;
}

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
    static const std::array<std::uint32_t, 256> table = [] {
        std::array<std::uint32_t, 256> entries{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t entry = i;
            for (int bit = 0; bit < 8; ++bit)
                entry = (entry & 1) != 0 ? 0xEDB88320U ^ (entry >> 1) : entry >> 1;
            entries[i] = entry;
        }
        return entries;
    }();
    std::uint32_t crc = ~before;
    for (const std::byte byte : bytes)
        crc = table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

}  // namespace assay::plato
