#include "impls/plato/live/desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/plato/live/batch_request.hpp"

namespace assay::plato {

using decode::Ask;
using decode::Number;
using decode::Place;
using decode::Seat;
using decode::Token;

struct Desk::Session : PartDecoder {
    Session(Desk& of, std::size_t its_number, const QuestionTokens& told)
        : desk(of),
          number(its_number),
          parts(told.nodes.size() + 1),
          answering(told, of.settings_.answer, *this) {}
    void start(PartRequest request) override { desk.ask_part({number, request.part}, request); }

    Desk& desk;
    std::size_t number;
    std::vector<Part> parts;
    Answering answering;
    bool begun = false;
};

Desk::Desk(decode::Pool& pool, std::span<const QuestionTokens> questions,
           std::span<const QuestionTokens> told, const DeskSettings& settings)
    : pool_(pool), questions_(questions), settings_(settings), placement_(settings.blocks) {
    for (std::size_t i = 0; i < told.size(); ++i)
        sessions_.push_back(std::make_unique<Session>(*this, i, told[i]));
}

Desk::~Desk() = default;

Desk::Part& Desk::part(const PartId& id) {
    return sessions_[id.question]->parts[static_cast<std::size_t>(id.part)];
}
const Desk::Part& Desk::part(const PartId& id) const {
    return sessions_[id.question]->parts[static_cast<std::size_t>(id.part)];
}

template <class Do>
void Desk::each_part(Do&& act) {
    for (const auto& session : sessions_)
        for (Part& part : session->parts) act(part);
}

/// Prompt, and what is known behind it.
std::vector<int> Desk::tokens_of(Number request) const {
    std::vector<int> tokens = pool_.asked(request).request.prompt;
    for (const Token& token : pool_.tokens(request)) tokens.push_back(token.id);
    return tokens;
}

Number Desk::ask(Ask ask) {
    ++open_;
    return pool_.ask(std::move(ask));
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

void Desk::go_on() {
    look();
    int running = 0;
    for (const auto& session : sessions_) running += session->answering.running();
    const int room = settings_.max_batch * static_cast<int>(seats_.size());
    for (const auto& session : sessions_) {
        if (!session->begun) continue;
        const int had = session->answering.running();
        session->answering.on_step(std::max(0, room - running));
        running += session->answering.running() - had;
    }
}

void Desk::ask_part(const PartId& id, const PartRequest& request) {
    Part& of = part(id);
    if (of.number >= 0) throw BrokenRule("a part was started twice");
    if (id.part > 0) check_start(id.question, id.part);
    const auto kept = [&](int node) { return part({id.question, node}).number; };
    const int model =
        id.part == 0
            ? 0
            : settings_.adaptive.model_of(questions_[id.question].plan.node(id.part).difficulty);
    of.recomputed = static_cast<std::int64_t>(request.prompt.size()) - request.linked_tokens();
    of.number = ask({.request = batch_request(request, kept), .model = model});
    parts_[of.number] = id;
}

/// By what the pool knows, not by what the controller believes.
void Desk::check_start(std::size_t question, int node) const {
    const PlanRecord& plan = questions_[question].plan;
    const Mode mode = settings_.answer.mode;
    std::size_t lines = 0;
    const int last = mode == Mode::plato ? node : plan.size();
    for (int line = 1; line <= last; ++line)
        lines += static_cast<std::size_t>(plan.node(line).line_tokens);
    if (pool_.tokens(part({question, 0}).number).size() < lines)
        throw BrokenRule(fmt::format("node {} started before its line was out", node));
    std::vector<std::vector<int>> dependencies;
    for (const NodeRecord& each : plan.nodes) dependencies.push_back(each.dependencies);
    const auto before_each = predecessors(mode, dependencies);
    for (const int before : before_each[static_cast<std::size_t>(node - 1)])
        if (const Number number = part({question, before}).number;
            number < 0 || !pool_.over(number))
            throw BrokenRule(fmt::format("node {} started before node {} ended", node, before));
}

// ---- seats --------------------------------------------------------------------------------------

void Desk::look() {
    const auto gone = [&](Seat seat) {
        return std::none_of(pool_.places().begin(), pool_.places().end(),
                            [&](const Place& place) { return place.seat == seat; });
    };
    std::erase_if(seats_, [&](Seat seat) {
        if (!gone(seat)) return false;
        placement_.clear(seat);
        each_part([&](Part& part) {
            if (part.waits_at == seat) part.waits_at.reset();
        });
        return true;
    });
    for (const Place& place : pool_.places()) {
        if (std::find(seats_.begin(), seats_.end(), place.seat) != seats_.end()) continue;
        seats_.push_back(place.seat);
        warm(place);
    }
}

void Desk::warm(const Place& place) {
    if (!settings_.answer.warm || settings_.answer.reuse == KvReuse::none) return;
    std::set<std::vector<int>> texts;
    for (const QuestionTokens& question : questions_)
        texts.insert({question.static_plan, question.static_node});
    texts.erase(std::vector<int>());
    for (const std::vector<int>& text : texts)
        ask_extra({.request = {.prompt = text, .max_tokens = 1},
                   .model = place.model,
                   .only = place.seat},
                  text);
}

/// Where it waits counts as where it is, and what is linked and kept there like a prefix.
std::optional<Seat> Desk::best_seat(Number request, const std::vector<int>& tokens,
                                    std::span<const Place> places) {
    const decode::BatchRequest& asked = pool_.asked(request).request;
    std::vector<Place> seats(places.begin(), places.end());
    std::vector<std::int64_t> linked;
    for (Place& seat : seats) {
        each_part([&](const Part& part) { seat.given += part.waits_at == seat.seat ? 1 : 0; });
        std::int64_t& kept = linked.emplace_back(0);
        for (const decode::LinkedTokens& link : asked.links->linked)
            if (pool_.kept(link.kept, seat.seat)) kept += link.count;
    }
    return placement_.choose({.tokens = tokens,
                              .model = pool_.asked(request).model,
                              .most_reused = asked.most_reused(),
                              .linked = linked},
                             seats);
}

std::optional<Seat> Desk::choose(Number request, std::span<const Place> places) {
    look();
    // First what ended is heard of, and what can go nowhere else is there: both count.
    if (pool_.open() != open_ || std::any_of(extras_.begin(), extras_.end(),
                                             [&](Number extra) { return !pool_.seat(extra); }))
        return std::nullopt;
    Part& of = part(parts_.at(request));
    const std::vector<int> tokens = tokens_of(request);
    const bool fresh = !of.waits_at;
    if (fresh) of.waits_at = best_seat(request, tokens, places);
    if (!of.waits_at) return std::nullopt;
    const Seat seat = *of.waits_at;
    const bool has_all = has_what_it_links_to(seat, request);
    if (fresh) placement_.add(seat, tokens);
    const bool takes = std::any_of(places.begin(), places.end(), [&](const Place& place) {
        return place.seat == seat && place.takes;
    });
    if (!has_all || !takes) return std::nullopt;
    of.waits_at.reset();
    if (!pool_.tokens(request).empty()) ++counts_["resumed"];
    return seat;
}

/// If not, what lacks is being computed there.
bool Desk::has_what_it_links_to(Seat seat, Number request) {
    bool all = true;
    for (const decode::LinkedTokens& link : pool_.asked(request).request.links->linked) {
        if (pool_.kept(link.kept, seat)) continue;
        all = false;
        const bool comes = std::any_of(extras_.begin(), extras_.end(), [&](Number extra) {
            const Ask& ask = pool_.asked(extra);
            return ask.copy_of == link.kept && ask.only == seat;
        });
        if (!comes && has_what_it_links_to(seat, link.kept)) replay(seat, link.kept);
    }
    return all;
}

/// A node that ended elsewhere, once more: its tokens are known, and read like a prompt.
void Desk::replay(Seat seat, Number node) {
    Ask again = pool_.asked(node);
    again.only = seat;
    again.copy_of = node;
    again.request.forced_ids.clear();
    for (const Token& token : again.tokens) again.request.forced_ids.push_back(token.id);
    again.tokens.pop_back();
    ask_extra(std::move(again), tokens_of(node));
    ++counts_["replayed"];
}

/// What is asked of one seat alone, which then has these tokens.
void Desk::ask_extra(Ask asked, const std::vector<int>& tokens) {
    placement_.add(*asked.only, tokens);
    extras_.insert(ask(std::move(asked)));
}

void Desk::wipe(Seat seat) {
    std::set<Number> wanted;
    for (const Number request : pool_.with(seat))
        if (const auto& links = pool_.asked(request).request.links)
            for (const decode::LinkedTokens& link : links->linked) wanted.insert(link.kept);
    each_part([&](const Part& part) {
        if (part.number >= 0 && !wanted.contains(part.number)) pool_.release(part.number, seat);
    });
    placement_.clear(seat);
    std::erase(seats_, seat);  // as if it were new
    look();
}

void Desk::take_back(Seat seat) {
    for (const Number request : pool_.with(seat))
        if (extras_.contains(request))
            pool_.cancel(request);
        else
            pool_.take_back(request);
    each_part([&](Part& part) {
        if (part.waits_at == seat) part.waits_at.reset();
    });
}

bool Desk::has_parts(Seat seat) const {
    const std::vector<Number> requests = pool_.with(seat);
    return std::any_of(requests.begin(), requests.end(), [&](Number each) { return !warms(each); });
}

bool Desk::warming() const {
    return std::any_of(extras_.begin(), extras_.end(), [&](Number each) { return warms(each); });
}

bool Desk::warms(Number request) const {
    return extras_.contains(request) && pool_.asked(request).copy_of < 0;
}

// ---- what is heard ------------------------------------------------------------------------------

void Desk::on_tokens(Number request, std::span<const Token> tokens) {
    const auto found = parts_.find(request);
    if (found == parts_.end()) return;
    counts_["tokens"] += static_cast<long>(tokens.size());
    Answering& answering = sessions_[found->second.question]->answering;
    try {
        for (const Token& token : tokens) answering.on_token(found->second.part, token.id);
    } catch (const std::logic_error& error) {
        throw BrokenRule(error.what());
    }
}

void Desk::on_done(const decode::Done& done) {
    --open_;
    const bool extra = extras_.erase(done.request) > 0;
    using How = decode::Done::How;
    if (extra && (done.how == How::cancelled || done.how == How::dropped)) return;
    if (done.how != How::ended || done.end.why != decode::Finish::length)
        throw BrokenRule("a part ended before it had its tokens");
    std::vector<int> fed = tokens_of(done.request);
    fed.pop_back();  // the last of them was never
    placement_.add(pool_.runs(done.request).back().seat, fed);
    if (!extra)
        on_part(parts_.at(done.request), done);
    else if (pool_.asked(done.request).copy_of >= 0)
        on_replay(done);
}

void Desk::on_part(const PartId& id, const decode::Done& done) {
    part(id).recomputed -= done.end.reused;
    ++counts_["parts"];
    Session& session = *sessions_[id.question];
    try {
        session.answering.on_ended(id.part);
    } catch (const std::logic_error& error) {
        throw BrokenRule(error.what());
    }
    if (!session.answering.done()) return;
    for (const Part& each : session.parts)
        if (each.number >= 0) pool_.release(each.number);
}

void Desk::on_replay(const decode::Done& done) {
    const Ask& asked = pool_.asked(done.request);
    const PartId& id = parts_.at(asked.copy_of);
    // From the same tokens, but read at once and on another engine.
    if (pool_.tokens(asked.copy_of).back() != asked.tokens.back())
        throw BrokenRule(fmt::format("node {} computed once more has another last token", id.part));
    std::int64_t linked = 0;
    for (const decode::LinkedTokens& link : asked.request.links->linked) linked += link.count;
    part(id).recomputed +=
        static_cast<std::int64_t>(asked.request.prompt.size() + asked.tokens.size()) - 1 -
        done.end.reused - linked;
}

// ---- what is known ------------------------------------------------------------------------------

std::vector<AnsweredPart> Desk::answer(std::size_t question) const {
    std::vector<AnsweredPart> parts;
    for (const Part& each : sessions_[question]->parts) {
        const bool asked = parts.empty() || settings_.answer.mode != Mode::ar;
        AnsweredPart& answered = parts.emplace_back();
        if (!asked) continue;
        if (each.number < 0 || !pool_.over(each.number))
            throw BrokenRule("a part was never answered");
        for (const Token& token : pool_.tokens(each.number)) {
            answered.ids.push_back(token.id);
            answered.log_probabilities.push_back(static_cast<double>(token.logprob));
        }
    }
    return parts;
}

Desk::PromptTokens Desk::prompt_tokens(std::size_t question, int number) const {
    const Part& of = part({question, number});
    return {.all = static_cast<std::int64_t>(pool_.asked(of.number).request.prompt.size()),
            .recomputed = of.recomputed};
}

}  // namespace assay::plato
