#include "impls/decode/campaign/heard_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "impls/decode/requests/request_check.hpp"

namespace assay::decode {
namespace {

int random_id(const RequestDraw& draw, std::mt19937_64& random) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(draw.vocabulary));
}

}  // namespace

void HeardRequests::begin(const RequestDraw& draw, std::mt19937_64& random) {
    beginning_.resize(1 + random() % 30);
    for (int& id : beginning_) id = random_id(draw, random);
    all.resize(draw.fewest + random() % draw.more);
    pending.resize(all.size());
    std::iota(pending.begin(), pending.end(), std::size_t{0});
}

void HeardRequests::draw_one(const RequestDraw& draw, std::mt19937_64& random,
                             HeardRequest& each) const {
    BatchRequest& request = each.request;
    const auto alike = static_cast<std::ptrdiff_t>(random() % (beginning_.size() + 1));
    request.prompt.assign(beginning_.begin(), beginning_.begin() + alike);
    for (std::uint64_t n = 1 + random() % 9; n > 0; --n)
        request.prompt.push_back(random_id(draw, random));
    request.max_tokens = static_cast<int>(draw.fewest_tokens + random() % draw.more_tokens);
    if (random() % 2 == 0) request.sampling = {1, 0, 1, random() % 5};
    if (random() % draw.one_stops_of == 0) request.stop_ids = {random_id(draw, random)};
    if (draw.one_stops_by_text_of > 0 && random() % draw.one_stops_by_text_of == 0)  // two tokens
        request.stops = {fmt::format("{} {}", random() % 10, random() % 10)};
    if (draw.one_is_kept_of > 0 && random() % draw.one_is_kept_of == 0)
        request.links = Links{.keep = true};
    if (draw.priorities && random() % 4 == 0) request.priority = static_cast<int>(random() % 3);
    each.state.model = draw.model;
    each.state.request = request;
}

int HeardRequests::least_blocks(int context) const {
    int least = 1;
    for (const HeardRequest& each : all)
        least = std::max(least, decode::least_blocks(static_cast<int>(each.request.prompt.size()),
                                                     each.request.max_tokens, context));
    return least;
}

void HeardRequests::hear(const StepReport& report, std::map<RequestId, std::size_t>& of_engine,
                         std::map<std::string, long>& counts) {
    for (const MadeToken& token : report.tokens) {
        const std::size_t number = of_engine.at(token.request);
        RequestState& state = all[number].state;
        if (all[number].answers > 0) throw BrokenRule{"a token came behind the answer"};
        if (is_ahead_of(number, token.version))
            throw BrokenRule{"the version of a request's tokens went back"};
        state.append(token.id, token.version, token.log_probability, token.sampled_log_probability);
        state.admitted = true;
    }
    counts["tokens"] += static_cast<long>(report.tokens.size());
    for (const EndedRequest& ended : report.ended) {
        HeardRequest& request = all[of_engine.at(ended.request)];
        if (++request.answers > 1) throw BrokenRule{"a request was answered twice"};
        request.finish = ended.why;
        counts["preemptions"] += ended.preemptions;
        counts["reused"] += ended.reused;
        of_engine.erase(ended.request);
        ++answered_;
    }
}

RequestId HeardRequests::give(RequestEngine& engine, std::size_t number, Misdeed misdeed) const {
    const HeardRequest& request = all[number];
    if (request.state.ids.empty()) return engine.submit(request.request);
    RequestState state = request.state;
    if (misdeed == Misdeed::forgets_a_token) {
        state.keep_first(state.ids.size() - 1);
    }
    return engine.resume(state);
}

void HeardRequests::check_answers(std::map<std::string, long>& counts) const {
    long failed = 0, starved = 0, by_text = 0;
    for (const HeardRequest& request : all) {
        if (request.answers != 1)
            throw BrokenRule{fmt::format("a request has {} answers", request.answers)};
        failed += request.finish == Finish::failed;
        starved += request.finish == Finish::no_blocks;
        by_text += request.finish == Finish::stop && !request.request.stops.empty();
    }
    if (failed > counts["fault.nan"]) throw BrokenRule{"more requests failed than were struck"};
    counts["failed"] = failed;
    counts["no_blocks"] = starved;
    counts["stopped_by_text"] = by_text;
    counts["requests"] = static_cast<long>(all.size());
}

void check_end(const HeardRequest& request, std::optional<Finish> end) {
    const bool short_of_its_end =
        request.finish == Finish::failed || request.finish == Finish::no_blocks;
    if (short_of_its_end ? end.has_value() : end != request.finish)
        throw BrokenRule{fmt::format("a request ended as '{}' after {} tokens",
                                     to_string(request.finish), request.state.ids.size())};
}

}  // namespace assay::decode
