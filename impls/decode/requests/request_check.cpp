#include "impls/decode/requests/request_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/sampling.hpp"
#include "impls/decode/schedule/scheduler.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr int most_preemptions = 1 << 30;  // leaves room to count on

}  // namespace

std::size_t most_tokens(const BatchRequest& request) {
    return request.forced_ids.empty() ? static_cast<std::size_t>(request.max_tokens)
                                      : request.forced_ids.size();
}

BatchRequest as_served(const BatchRequest& request) {
    BatchRequest served = request;
    if (!request.forced_ids.empty()) {
        served.max_tokens = static_cast<int>(most_tokens(request));
        served.stop_ids.clear();
        served.stops.clear();
    }
    return served;
}

void check_request(const BatchRequest& request, const EngineLimits& limits) {
    const int vocabulary = limits.vocabulary, context = limits.context;
    const auto known = [&](const std::vector<int>& ids, const char* what) {
        for (const int id : ids)
            if (id < 0 || id >= vocabulary)
                throw UserError(
                    fmt::format("{} {} is outside the vocabulary of {}", what, id, vocabulary));
    };
    if (request.prompt.empty()) throw UserError("the prompt has no ids; give at least one");
    known(request.prompt, "token id");
    known(request.stop_ids, "stop id");
    known(request.forced_ids, "forced id");
    if (request.prompt.size() > static_cast<std::size_t>(context))
        throw UserError(
            fmt::format("the prompt has {} tokens, more than the context of {}; "
                        "shorten it",
                        request.prompt.size(), context));
    if (!request.stops.empty() && !limits.has_texts)
        throw UserError(
            "texts can stop a request only where the model has a tokenizer; give "
            "stop_ids");
    if (std::find(request.stops.begin(), request.stops.end(), "") != request.stops.end())
        throw UserError("a stop text is empty; every text would end before its first token");
    if (request.max_tokens < 1) throw UserError("max_tokens must be at least 1");
    check(request.sampling);
    const auto& allowed = request.allowed;
    if (!allowed.empty()) {
        if (allowed.size() != (static_cast<std::size_t>(vocabulary) + 63) / 64)
            throw UserError("the mask of allowed tokens has not a bit per id of the vocabulary");
        int any = 0;
        for (int id = 0; id < vocabulary && any == 0; ++id)
            any = static_cast<int>(allowed[static_cast<std::size_t>(id) / 64] >> (id % 64) & 1);
        if (any == 0) throw UserError("the mask allows no token");
    }
    const int least =
        least_blocks(static_cast<int>(request.prompt.size()), request.max_tokens, context);
    if (limits.blocks < least)
        throw UserError(
            fmt::format("the request needs {} blocks of the cache, which has {}; give "
                        "more blocks",
                        least, limits.blocks));
}

void check_state(const RequestState& state, const EngineLimits& limits) {
    if (state.model != limits.model)
        throw UserError(fmt::format("the request is of model '{}', this engine has '{}'",
                                    state.model, limits.model));
    const BatchRequest& request = state.request;
    check_request(request, limits);
    const std::size_t made = state.ids.size();
    const std::size_t tokens = request.prompt.size() + made;
    const auto contradicts = [](const char* why) {
        throw UserError(fmt::format("the state of a request contradicts itself: {}", why));
    };
    if (state.log_probabilities.size() != made || state.sampled_log_probabilities.size() != made ||
        state.versions.size() != made)
        contradicts("its tokens, log-probabilities and versions differ in number");
    if (made >= static_cast<std::size_t>(request.max_tokens) ||
        tokens > static_cast<std::size_t>(limits.context))
        contradicts("it has come to its end");
    if (!request.forced_ids.empty() &&
        (request.forced_ids.size() != static_cast<std::size_t>(request.max_tokens) ||
         !std::equal(state.ids.begin(), state.ids.end(), request.forced_ids.begin())))
        contradicts("its tokens are not those that it was to be given");
    for (const int id : state.ids)
        if (id < 0 || id >= limits.vocabulary) contradicts("the model has no such token");
    if (state.reused < 0 || static_cast<std::size_t>(state.reused) >= request.prompt.size() ||
        state.preemptions < 0 || state.preemptions > most_preemptions)
        contradicts("it was found in the cache, or preempted, as often as cannot be");
    if (state.kv_positions < 0 || static_cast<std::size_t>(state.kv_positions) >= tokens ||
        state.kv.size() !=
            static_cast<std::size_t>(blocks_for(state.kv_positions)) * limits.block_bytes)
        contradicts("its keys and values are not those of its tokens");
    if (request.binds() && state.kv_positions > 0)
        contradicts("keys and values of a request that has links stay where they are");
    // What was computed was scored.
    const std::size_t least =
        request.prompt_log_probabilities
            ? std::min(static_cast<std::size_t>(state.kv_positions), request.prompt.size() - 1)
            : 0;
    if (state.prompt_log_probabilities.size() < least ||
        state.prompt_log_probabilities.size() >= request.prompt.size())
        contradicts("it scores more than its prompt, or less than has been computed");
}

UserError full(std::size_t requests) {
    return UserError(
        fmt::format("the engine has {} requests, as many as it takes; wait until one "
                    "has ended, or raise max_requests",
                    requests));
}

}  // namespace assay::decode
