#include "impls/plato/live/desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "impls/decode/requests/request_check.hpp"
#include "impls/plato/live/batch_request.hpp"

namespace assay::plato {

/// What is known of a part outside the engines.
struct Desk::Journal {
    PartRequest asked;
    AnsweredPart heard;
    bool started = false, ended = false;
    std::int64_t recomputed = 0;  // prompt tokens

    std::vector<int> known() const {
        std::vector<int> tokens = asked.prompt;
        tokens.insert(tokens.end(), heard.ids.begin(), heard.ids.end());
        return tokens;
    }
};

struct Desk::Session : PartDecoder {
    Session(Desk& of, std::size_t its_number, const QuestionTokens& told)
        : desk(of),
          number(its_number),
          journals(told.nodes.size() + 1),
          answering(told, of.settings_.answer, *this) {}
    void start(PartRequest request) override { desk.take(number, std::move(request)); }

    Desk& desk;
    std::size_t number;
    std::vector<Journal> journals;  // by part
    Answering answering;
    bool begun = false;
};

Desk::Desk(std::span<const QuestionTokens> questions, std::span<const QuestionTokens> told,
           const DeskSettings& settings)
    : questions_(questions),
      settings_(settings),
      placement_(settings.engines + settings.small_engines, settings.blocks),
      seats_(static_cast<std::size_t>(settings.engines + settings.small_engines)) {
    for (int engine = 0; engine < static_cast<int>(seats_.size()); ++engine) {
        placement_.set_model(engine, engine < settings.engines ? 0 : 1);
        placement_.on_lost(engine);
    }
    for (std::size_t i = 0; i < told.size(); ++i)
        sessions_.push_back(std::make_unique<Session>(*this, i, told[i]));
}

Desk::~Desk() = default;

Desk::Journal& Desk::journal(const PartId& part) {
    return sessions_[part.question]->journals[static_cast<std::size_t>(part.part)];
}
const Desk::Journal& Desk::journal(const PartId& part) const {
    return sessions_[part.question]->journals[static_cast<std::size_t>(part.part)];
}

// ---- engines ------------------------------------------------------------------------------------

void Desk::on_there(int engine, decode::RequestEngine& is) {
    seat(engine) = {.engine = &is, .tasks = {}, .kept = {}, .waiting = {}};
    placement_.on_back(engine);
    warm(engine);
}

void Desk::warm(int engine) {
    if (!settings_.answer.warm || settings_.answer.reuse == KvReuse::none) return;
    std::set<std::vector<int>> texts;
    for (const QuestionTokens& question : questions_)
        texts.insert({question.static_plan, question.static_node});
    texts.erase(std::vector<int>());
    for (const std::vector<int>& text : texts) {
        const auto request = seat(engine).engine->submit({.prompt = text, .max_tokens = 1});
        seat(engine).tasks[request] = {.kind = Task::Kind::warming, .part = {}, .warms = text};
        placement_.on_started(engine, text);
    }
}

void Desk::on_lost(int engine) {
    Seat& lost = seat(engine);
    for (const auto& [request, task] : lost.tasks)
        if (task.kind == Task::Kind::part) pending_.push_back(task.part);
    pending_.insert(pending_.end(), lost.waiting.begin(), lost.waiting.end());
    lost.tasks.clear();
    lost.kept.clear();
    lost.waiting.clear();
    placement_.on_lost(engine);
}

void Desk::wipe(int engine) {
    Seat& wiped = seat(engine);
    wiped.engine->empty_cache();
    std::set<PartId> wanted;
    for (const auto& [request, task] : wiped.tasks)
        if (task.kind != Task::Kind::warming)
            for (const PartRequest::Link& link : journal(task.part).asked.links)
                wanted.insert({task.part.question, link.node});
    std::erase_if(wiped.kept, [&](const auto& each) {
        if (wanted.contains(each.first)) return false;
        wiped.engine->release(each.second);
        return true;
    });
    placement_.on_wiped(engine);
    warm(engine);
}

void Desk::take_back(int engine) {
    Seat& from = seat(engine);
    for (const auto& [request, task] : from.tasks) {
        if (task.kind == Task::Kind::part) pending_.push_back(task.part);
        from.engine->remove(request);
        placement_.on_taken_back(engine);
    }
    // Some may have ended without anybody having heard of it.
    for (const auto& [request, task] : from.tasks) from.engine->release(request);
    from.tasks.clear();
    for (const PartId& part : from.waiting) {
        pending_.push_back(part);
        placement_.on_taken_back(engine);
    }
    from.waiting.clear();
}

std::optional<decode::RequestId> Desk::movable(int engine) const {
    for (const auto& [request, task] : seat(engine).tasks) {
        if (task.kind != Task::Kind::part) continue;
        const PartRequest& asked = journal(task.part).asked;
        if (!asked.keep && asked.links.empty() && asked.rotations.empty()) return request;
    }
    return std::nullopt;
}

void Desk::on_moved(int from, decode::RequestId request, int to, decode::RequestId as) {
    const auto moved = seat(from).tasks.extract(request);
    placement_.on_taken_back(from);
    placement_.on_started(to, journal(moved.mapped().part).known());
    seat(to).tasks[as] = moved.mapped();
    ++counts_["resumed"];
}

bool Desk::has_parts(int engine) const {
    const auto& tasks = seat(engine).tasks;
    return std::any_of(tasks.begin(), tasks.end(),
                       [](const auto& each) { return each.second.kind != Task::Kind::warming; });
}

bool Desk::warming(int engine) const {
    const auto& tasks = seat(engine).tasks;
    return std::any_of(tasks.begin(), tasks.end(),
                       [](const auto& each) { return each.second.kind == Task::Kind::warming; });
}

// ---- questions ----------------------------------------------------------------------------------

void Desk::begin(std::size_t question) {
    sessions_[question]->begun = true;
    sessions_[question]->answering.begin();
}

bool Desk::begun(std::size_t question) const { return sessions_[question]->begun; }

bool Desk::done(std::size_t question) const {
    return begun(question) && sessions_[question]->answering.done();
}

bool Desk::all_done() const {
    for (std::size_t question = 0; question < sessions_.size(); ++question)
        if (!done(question)) return false;
    return true;
}

void Desk::let_go(std::size_t question) {
    for (Seat& each : seats_)
        std::erase_if(each.kept, [&](const auto& kept) {
            if (kept.first.question != question) return false;
            each.engine->release(kept.second);
            return true;
        });
}

void Desk::take(std::size_t question, PartRequest request) {
    const PartId part{question, request.part};
    Journal& of = journal(part);
    if (std::exchange(of.started, true)) throw BrokenRule("a part was started twice");
    if (request.part > 0) check_start(question, request.part);
    of.asked = std::move(request);
    pending_.push_back(part);
}

/// By the journals, not by what the controller believes.
void Desk::check_start(std::size_t question, int node) const {
    const PlanRecord& plan = questions_[question].plan;
    const Mode mode = settings_.answer.mode;
    std::int64_t lines = 0;
    const int last = mode == Mode::plato ? node : plan.size();
    for (int line = 1; line <= last; ++line) lines += plan.node(line).line_tokens;
    if (static_cast<std::int64_t>(journal({question, 0}).heard.ids.size()) < lines)
        throw BrokenRule(fmt::format("node {} started before its line was out", node));
    std::vector<std::vector<int>> dependencies;
    for (const NodeRecord& each : plan.nodes) dependencies.push_back(each.dependencies);
    const auto before_each = predecessors(mode, dependencies);
    for (const int before : before_each[static_cast<std::size_t>(node - 1)])
        if (!journal({question, before}).ended)
            throw BrokenRule(fmt::format("node {} started before node {} ended", node, before));
}

void Desk::go_on() {
    begin_nodes();
    for (std::size_t i = 0; i < pending_.size();)
        if (place(pending_[i]))
            pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    for (int engine = 0; engine < static_cast<int>(seats_.size()); ++engine) {
        auto& waiting = seat(engine).waiting;
        for (std::size_t i = 0; i < waiting.size();)
            if (has_what_it_links_to(engine, waiting[i])) {
                start(engine, waiting[i]);
                waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
    }
}

void Desk::begin_nodes() {
    int running = 0, room = 0;
    for (const auto& session : sessions_) running += session->answering.running();
    for (int engine = 0; engine < static_cast<int>(seats_.size()); ++engine)
        if (there(engine)) room += settings_.max_batch;
    for (const auto& session : sessions_) {
        if (!session->begun) continue;
        const int had = session->answering.running();
        session->answering.on_step(std::max(0, room - running));
        running += session->answering.running() - had;
    }
}

int Desk::model_of(const PartId& part) const {
    if (part.part == 0 || settings_.small_engines == 0) return 0;
    return settings_.adaptive.model_of(questions_[part.question].plan.node(part.part).difficulty);
}

/// Where what it links to is kept counts like a prefix that is cached. False: there is no engine.
bool Desk::place(const PartId& part) {
    const Journal& of = journal(part);
    std::vector<std::int64_t> linked;
    for (const Seat& each : seats_) {
        std::int64_t& tokens = linked.emplace_back(0);
        for (const PartRequest::Link& link : of.asked.links)
            if (each.kept.contains({part.question, link.node})) tokens += link.count;
    }
    const std::vector<int> known = of.known();
    const int engine = placement_.choose(known, of.asked.most_reused, model_of(part), linked);
    if (engine < 0) return false;
    if (has_what_it_links_to(engine, part))
        start(engine, part);
    else
        seat(engine).waiting.push_back(part);
    placement_.on_started(engine, known);
    return true;
}

decode::Links Desk::links_of(const Seat& seat, const PartId& part) const {
    const PartRequest& asked = journal(part).asked;
    decode::Links links{.most_reused = asked.most_reused,
                        .keep = asked.keep,
                        .linked = {},
                        .rotations = asked.rotations};
    for (const PartRequest::Link& link : asked.links)
        links.linked.push_back({.kept = seat.kept.at({part.question, link.node}),
                                .first = link.first,
                                .count = link.count,
                                .at = link.at});
    return links;
}

/// Nothing is sampled here: each token was the likeliest, or forced.
decode::RequestState Desk::heard_state(const Journal& of) {
    decode::RequestState state;
    for (std::size_t i = 0; i < of.heard.ids.size(); ++i)
        state.append(of.heard.ids[i], 1, of.heard.log_probabilities[i], 0);
    return state;
}

/// From the tokens that were heard.
void Desk::start(int engine, const PartId& part) {
    const Journal& of = journal(part);
    decode::RequestState state = heard_state(of);
    state.request = decode::as_served(batch_request(of.asked));
    state.request.links = links_of(seat(engine), part);
    if (!state.ids.empty() && settings_.forgets_a_token) state.keep_first(state.ids.size() - 1);
    state.admitted = !of.heard.ids.empty();
    const decode::RequestId request = seat(engine).engine->resume(state);
    seat(engine).tasks[request] = {.kind = Task::Kind::part, .part = part, .warms = {}};
    if (state.admitted) ++counts_["resumed"];
}

/// If not, what lacks is being computed there.
bool Desk::has_what_it_links_to(int engine, const PartId& part) {
    bool all = true;
    for (const PartRequest::Link& link : journal(part).asked.links) {
        const PartId node{part.question, link.node};
        if (seat(engine).kept.contains(node)) continue;
        all = false;
        const auto& tasks = seat(engine).tasks;
        const bool comes = std::any_of(tasks.begin(), tasks.end(), [&](const auto& each) {
            return each.second.kind == Task::Kind::replay && each.second.part == node;
        });
        if (!comes && has_what_it_links_to(engine, node)) replay(engine, node);
    }
    return all;
}

/// A node that ended elsewhere, once more: its tokens are known, and read like a prompt.
void Desk::replay(int engine, const PartId& part) {
    const Journal& of = journal(part);
    decode::RequestState state = heard_state(of);
    state.request = batch_request(of.asked);
    state.request.forced_ids = of.heard.ids;
    state.request = decode::as_served(state.request);
    state.request.links = links_of(seat(engine), part);
    state.keep_first(state.ids.size() - 1);
    const decode::RequestId request = seat(engine).engine->resume(state);
    seat(engine).tasks[request] = {.kind = Task::Kind::replay, .part = part, .warms = {}};
    placement_.on_started(engine, of.known());
    ++counts_["replayed"];
}

// ---- what is heard ------------------------------------------------------------------------------

void Desk::on_token(int engine, decode::RequestId request, int id, double log_probability) {
    const auto found = seat(engine).tasks.find(request);
    if (found == seat(engine).tasks.end())
        throw BrokenRule("a token of a request that nobody made");
    Task& task = found->second;
    if (task.kind == Task::Kind::warming) {
        task.warms.push_back(id);
        return;
    }
    Journal& of = journal(task.part);
    if (task.kind == Task::Kind::replay) {
        // From the same tokens, but read at once and on another engine.
        if (id != of.heard.ids.back() || log_probability != of.heard.log_probabilities.back())
            throw BrokenRule(
                fmt::format("node {} computed once more has another last token", task.part.part));
        return;
    }
    if (of.ended) throw BrokenRule("a part is told of behind its end");
    of.heard.ids.push_back(id);
    of.heard.log_probabilities.push_back(log_probability);
    ++counts_["tokens"];
    try {
        sessions_[task.part.question]->answering.on_token(task.part.part, id);
    } catch (const std::logic_error& error) {
        throw BrokenRule(error.what());
    }
}

void Desk::on_ended(int engine, const decode::EndedRequest& ended) {
    const auto found = seat(engine).tasks.find(ended.request);
    if (found == seat(engine).tasks.end()) throw BrokenRule("an end of a request that nobody made");
    const Task task = found->second;
    seat(engine).tasks.erase(found);
    if (task.kind == Task::Kind::warming) return placement_.on_ended(engine, task.warms);
    Journal& of = journal(task.part);
    placement_.on_ended(engine, of.known());
    if (of.asked.keep) seat(engine).kept[task.part] = ended.request;
    const std::int64_t recomputed =
        static_cast<std::int64_t>(of.asked.prompt.size()) - ended.reused - of.asked.linked_tokens();
    if (task.kind == Task::Kind::replay) {
        of.recomputed += recomputed + static_cast<std::int64_t>(of.heard.ids.size()) - 1;
        return;
    }
    of.recomputed = recomputed;
    of.ended = true;
    ++counts_["parts"];
    try {
        sessions_[task.part.question]->answering.on_ended(task.part.part);
    } catch (const std::logic_error& error) {
        throw BrokenRule(error.what());
    }
}

// ---- what is known ------------------------------------------------------------------------------

std::vector<AnsweredPart> Desk::answer(std::size_t question) const {
    std::vector<AnsweredPart> parts;
    for (const Journal& each : sessions_[question]->journals) {
        if (!each.ended && (parts.empty() || settings_.answer.mode != Mode::ar))
            throw BrokenRule("a part was never answered");
        parts.push_back(each.heard);
    }
    return parts;
}

Desk::PromptTokens Desk::prompt_tokens(std::size_t question, int part) const {
    const Journal& of = journal({question, part});
    return {.all = static_cast<std::int64_t>(of.asked.prompt.size()), .recomputed = of.recomputed};
}

}  // namespace assay::plato
