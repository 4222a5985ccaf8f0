#include "impls/decode/service/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::decode::service {

// ---- what the caller does -----------------------------------------------------------------------

RequestId Journal::begin(RequestState state, std::vector<MadeToken> waiting, Looked looked) {
    const RequestId request = ++last_;
    Known& known = requests_[request];
    known.looked = looked;
    known.heard = state.ids.size() + waiting.size();
    known.state = std::move(state);
    known.state.forget_cache();
    kept_.begin(known.state.request);
    for (MadeToken& token : waiting) {
        token.request = request;
        inbox_.tokens.push_back(token);
    }
    return request;
}

void Journal::begin_again(RequestId request) {
    requests_.at(request).looked = Looked::at;
    requests_.at(request).answer = Answer::none;
}

Journal::Left Journal::leave(RequestId request) {
    Left left{std::move(requests_.at(request).state), {}};
    kept_.end(left.state.request);
    for (const MadeToken& token : inbox_.tokens)
        if (token.request == request) left.waiting.push_back(token);
    std::erase_if(inbox_.tokens, [&](const MadeToken& token) { return token.request == request; });
    std::erase_if(inbox_.ended, [&](const EndedRequest& end) { return end.request == request; });
    requests_.erase(request);
    return left;
}

void Journal::drop(RequestId request) {
    const bool ended = has_ended(request);
    leave(request);
    if (!ended) dropped_.insert(request);
}

/// As the engine does: all that was fed, which the last token was not.
void Journal::keep(const Known& known, const EndedRequest& ended) {
    const BatchRequest& request = known.state.request;
    kept_.end(request);
    const bool well =
        ended.why == Finish::stop || ended.why == Finish::length || ended.why == Finish::context;
    if (!well || !request.links || !request.links->keep) return;
    std::vector<int> tokens = request.prompt;
    tokens.insert(tokens.end(), known.state.ids.begin(), known.state.ids.end());
    tokens.pop_back();
    kept_.keep(ended.request, tokens, request.links->rotations);
}

void Journal::take(StepReport& report) {
    for (const MadeToken& token : inbox_.tokens) {
        RequestState& state = requests_.at(token.request).state;
        state.append(token.id, token.version, token.log_probability, token.sampled_log_probability);
        state.admitted = true;
    }
    for (const EndedRequest& ended : inbox_.ended) {
        keep(requests_.at(ended.request), ended);
        requests_.erase(ended.request);
    }
    report.steps += inbox_.steps;
    report.seconds += inbox_.seconds;
    report.waiting = waiting_;
    report.tokens.insert(report.tokens.end(), inbox_.tokens.begin(), inbox_.tokens.end());
    report.ended.insert(report.ended.end(), std::make_move_iterator(inbox_.ended.begin()),
                        std::make_move_iterator(inbox_.ended.end()));
    inbox_.clear();
}

// ---- what is known ------------------------------------------------------------------------------

std::vector<RequestId> Journal::unfinished() const {
    std::vector<RequestId> requests;
    for (const auto& [request, known] : requests_) requests.push_back(request);
    return requests;
}

bool Journal::has_ended(RequestId request) const {
    const auto found = requests_.find(request);
    return found == requests_.end() || found->second.ended;
}

std::optional<Exported> Journal::take_exported() { return std::exchange(exported_, {}); }

// ---- what the engine says -----------------------------------------------------------------------

void Journal::on(const FromEngine& message) {
    if (!limits_ && !std::holds_alternative<Ready>(message) &&
        !std::holds_alternative<Status>(message) && !std::holds_alternative<Paused>(message) &&
        !std::holds_alternative<NotLoaded>(message))
        throw ProtocolError("it spoke of its work before it was ready");
    std::visit([&](const auto& one) { handle(one); }, message);
}

/// Null: the caller does not care any more.
Journal::Known* Journal::find(RequestId request, const char* what) {
    const auto found = requests_.find(request);
    if (found != requests_.end() && !found->second.ended) return &found->second;
    if (found == requests_.end() && dropped_.contains(request)) return nullptr;
    throw ProtocolError(fmt::format("{} of request {}, which it does not have", what, request));
}

void Journal::handle(Ready ready) {
    if (limits_) throw ProtocolError("it was ready twice");
    limits_ = std::move(ready.limits);
    version_ = ready.version;
}

void Journal::handle(const Taken& taken) {
    if (Known* const known = find(taken.request, "it says to have taken the state"))
        known->answer = Answer::taken;
}

void Journal::handle(const Refused& refused) {
    Known* const known = find(refused.request, "it refuses the state");
    if (known == nullptr) return;
    if (known->looked == Looked::at)
        throw ProtocolError("it refuses a request that fits it: " + refused.why);
    known->answer = Answer::refused;
    known->refused_cache = refused.cache;
}

void Journal::handle(Made made) {
    for (const MadeToken& token : made.tokens) {
        Known* const known = find(token.request, "a token");
        if (token.version != version_)
            throw ProtocolError(fmt::format("a token of version {}, where {} is committed",
                                            token.version, version_));
        if (token.id < 0 || token.id >= limits_->vocabulary)
            throw ProtocolError(fmt::format("token {}, where the vocabulary has {}", token.id,
                                            limits_->vocabulary));
        if (known == nullptr) continue;
        if (++known->heard > static_cast<std::size_t>(known->state.request.max_tokens))
            throw ProtocolError(fmt::format("more than the {} tokens of request {}",
                                            known->state.request.max_tokens, token.request));
        inbox_.tokens.push_back(token);
    }
    for (EndedRequest& ended : made.ended) {
        Known* const known = find(ended.request, "an end");
        if (known == nullptr) continue;
        known->ended = true;
        inbox_.ended.push_back(std::move(ended));
    }
    waiting_ = made.waiting;
    inbox_.steps += std::max(0, made.steps);
    inbox_.seconds += made.seconds;
}

void Journal::handle(const Dropped& dropped) {
    if (dropped_.erase(dropped.request) == 0)
        throw ProtocolError(
            fmt::format("it dropped request {}, which it was not told to", dropped.request));
}

void Journal::handle(Exported exported) {
    if (find(exported.request, "the state") != nullptr) exported_ = std::move(exported);
}

void Journal::handle(const Loaded& loaded) {
    if (loaded.version <= version_)
        throw ProtocolError(fmt::format("it loaded version {} after {}", loaded.version, version_));
    prepared_ = loaded.version;
    why_not_loaded_.clear();
}

void Journal::handle(const NotLoaded& not_loaded) { why_not_loaded_ = not_loaded.why; }

void Journal::handle(const Committed& committed) {
    if (committed.version != prepared_)
        throw ProtocolError(fmt::format("it committed version {}, where {} was loaded",
                                        committed.version, prepared_));
    version_ = committed.version;
    prepared_ = 0;
}

}  // namespace assay::decode::service
