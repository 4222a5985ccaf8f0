#include "impls/decode/campaign/heard_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

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

void HeardRequests::hear(const Done& done, std::size_t number, const Pool& pool,
                         std::map<std::string, long>& counts) {
    HeardRequest& request = all[number];
    if (++request.answers > 1) throw BrokenRule{"a request was answered twice"};
    if (done.how == Done::How::cancelled || done.how == Done::How::dropped)
        throw BrokenRule{"a request was given up"};
    request.finish = done.end.why;
    int version = 0;
    for (const Run& run : pool.runs(done.request)) {
        if (run.version < version) throw BrokenRule{"the version of a request's tokens went back"};
        version = run.version;
    }
    const std::span<const Token> tokens = pool.tokens(done.request);
    request.state =
        pool.state({.request = done.request, .from = tokens.size()}, request.state.model);
    counts["tokens"] += static_cast<long>(tokens.size());
    counts["preemptions"] += done.end.preemptions;
    counts["reused"] += done.end.reused;
    ++answered_;
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
