#include "impls/decode/service/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::decode::service {

void Journal::on(const FromEngine& message, const Pool& pool, Seat seat) {
    if (!limits_ && !std::holds_alternative<Ready>(message) &&
        !std::holds_alternative<Status>(message) && !std::holds_alternative<Paused>(message) &&
        !std::holds_alternative<NotLoaded>(message))
        throw ProtocolError("it spoke of its work before it was ready");
    pool_ = &pool;
    seat_ = seat;
    std::visit([&](const auto& one) { check(one); }, message);
}

/// False: it was removed, and what is said of it counts for nothing.
bool Journal::lives(Number attempt, const char* what) const {
    if (pool_->living(seat_, attempt)) return true;
    if (removed_.contains(attempt)) return false;
    throw ProtocolError(fmt::format("{} of request {}, which it does not have", what, attempt));
}

void Journal::check(const Ready& ready) {
    if (limits_) throw ProtocolError("it was ready twice");
    limits_ = ready.limits;
    version_ = ready.version;
}

void Journal::check(const Awaits& awaits) { lives(awaits.request, "it awaits the state"); }

void Journal::check(const Taken& taken) { lives(taken.request, "it says to have taken the state"); }

void Journal::check(const Refused& refused) { lives(refused.request, "it refuses the state"); }

void Journal::check(const Made& made) {
    struct Known {  // of a living attempt, with what this message says
        const BatchRequest* request;
        std::size_t most, tokens;
        int last;  // its last token
    };
    std::map<Number, Known> known;
    const auto of = [&](Number attempt) -> Known& {
        const auto found = known.find(attempt);
        if (found != known.end()) return found->second;
        const Number number = *pool_->living(seat_, attempt);
        const BatchRequest& request = pool_->asked(number).request;
        const std::span<const Token> tokens = pool_->tokens(number);
        const int last = tokens.empty() ? -1 : tokens.back().id;
        return known.emplace(attempt, Known{&request, most_tokens(request), tokens.size(), last})
            .first->second;
    };
    for (const MadeToken& token : made.tokens) {
        if (token.version != version_)
            throw ProtocolError(fmt::format("a token of version {}, where {} is committed",
                                            token.version, version_));
        if (token.id < 0 || token.id >= limits_->vocabulary)
            throw ProtocolError(fmt::format("token {}, where the vocabulary has {}", token.id,
                                            limits_->vocabulary));
        if (!lives(token.request, "a token")) continue;
        Known& said = of(token.request);
        said.last = token.id;
        if (++said.tokens > said.most)
            throw ProtocolError(
                fmt::format("more than the {} tokens of request {}", said.most, token.request));
    }
    std::set<Number> ended;
    for (const EndedRequest& each : made.ended) {
        if (!lives(each.request, "an end")) continue;
        if (!ended.insert(each.request).second)
            throw ProtocolError(fmt::format("two ends of request {}", each.request));
        const Known& said = of(each.request);
        const bool by_id =
            std::ranges::find(said.request->stop_ids, said.last) != said.request->stop_ids.end();
        if ((each.why == Finish::length && said.tokens != said.most) ||
            (each.why == Finish::context && said.tokens == 0) ||
            (each.why == Finish::stop && !by_id && said.request->stops.empty()) ||
            each.why == Finish::cancelled)
            throw ProtocolError(fmt::format("an end of request {} by \"{}\" after {} tokens",
                                            each.request, to_string(each.why), said.tokens));
    }
}

void Journal::check(const Dropped& dropped) {
    if (removed_.erase(dropped.request) == 0)
        throw ProtocolError(
            fmt::format("it dropped request {}, which it was not told to", dropped.request));
}

void Journal::check(const Exported& exported) {
    if (lives(exported.request, "the state") &&
        !pool_->moves(*pool_->living(seat_, exported.request)))
        throw ProtocolError(
            fmt::format("the state of request {}, which it was not asked for", exported.request));
    if (exported.bytes > most_state_bytes(*limits_))
        throw ProtocolError(fmt::format("a state of {} bytes", exported.bytes));
}

void Journal::check(const Loaded& loaded) {
    if (loaded.version <= version_)
        throw ProtocolError(fmt::format("it loaded version {} after {}", loaded.version, version_));
    prepared_ = loaded.version;
    why_not_loaded_.clear();
}

void Journal::check(const Committed& committed) {
    if (prepared_ == 0 || committed.version != prepared_)
        throw ProtocolError(fmt::format("it committed version {}, where {} was loaded",
                                        committed.version, prepared_));
    version_ = committed.version;
    prepared_ = 0;
}

}  // namespace assay::decode::service
