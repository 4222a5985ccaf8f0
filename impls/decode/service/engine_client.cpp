#include "impls/decode/service/engine_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/decode/service/engines.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

using namespace service;

namespace {

/// With its first `tokens` tokens alone: what was computed of the others is left out.
void cut_to(RequestState& state, std::size_t tokens, std::size_t block_bytes) {
    if (tokens > state.ids.size())
        throw UserError(
            "an engine exported a request with fewer tokens than it had told of; go on with those");
    state.keep_first(tokens);
    const auto known = static_cast<int>(state.request.prompt.size() + tokens);
    if (state.kv_positions < known) return;
    state.kv_positions = known - 1;  // the last is still to be fed
    state.kv.resize(static_cast<std::size_t>(blocks_for(state.kv_positions)) * block_bytes);
}

}  // namespace

EngineClient::EngineClient(Engines& all, drive::WorkerId worker, EngineSettings settings)
    : all_(all), worker_(worker), settings_(std::move(settings)) {}

void EngineClient::send(const ToEngine& message) const { all_.driver().send(worker_, message); }

void EngineClient::wait_for(const std::function<bool()>& there) const {
    while (!there()) {
        if (lost()) throw EngineLost("an engine is gone: " + how_lost_);
        if (!all_.hear() && !there() && !lost())
            throw std::logic_error(
                fmt::format("engine {} is waited for, and nothing can happen any more", worker_));
    }
}

void EngineClient::wait_until_ready() const {
    wait_for([&] { return journal_.limits().has_value(); });
    wait_for([&] { return !lost(); });
}

// ---- requests -----------------------------------------------------------------------------------

RequestId EngineClient::submit(const BatchRequest& request) {
    wait_until_ready();
    RequestState state;
    state.model = settings_.options.model;
    state.request = as_served(request);
    return resume(state);
}

RequestId EngineClient::resume(const RequestState& state) {
    wait_until_ready();
    check_state(state, limits());
    journal_.kept().check(state.request, limits());
    check_room();
    std::vector<std::byte> bytes = to_bytes(state);
    const bool whole = state.kv_positions > 0 && bytes.size() <= most_state_bytes;
    const RequestId request =
        journal_.begin(state, {}, whole ? Journal::Looked::not_at : Journal::Looked::at);
    if (!whole && state.kv_positions > 0) bytes = to_bytes(journal_.state_of(request));
    send(Take{request, state_text(bytes)});
    if (whole) confirm(request, journal_.state_of(request));
    return request;
}

void EngineClient::check_room() const {
    if (journal_.requests() >= static_cast<std::size_t>(limits().max_requests))
        throw full(journal_.requests());
}

EngineClient::Moved EngineClient::confirm(RequestId request, const RequestState& tokens) {
    const std::string text = state_text(to_bytes(tokens));
    const auto refused = [&] {
        return !journal_.has_ended(request) &&
               journal_.answer_to(request) == Journal::Answer::refused;
    };
    wait_for([&] {
        return lost() || journal_.has_ended(request) ||
               journal_.answer_to(request) != Journal::Answer::none;
    });
    Moved moved{.request = request};
    if (lost() || !refused()) return moved;
    moved.recomputes = journal_.refused_cache(request);
    moved.damaged = !moved.recomputes;
    journal_.begin_again(request);
    send(Take{request, text});
    return moved;
}

void EngineClient::release(RequestId kept) {
    if (journal_.release(kept) && !lost()) send(LetGo{kept});
}

void EngineClient::refuse_bound(RequestId request) const {
    if (journal_.state_of(request).request.binds())
        throw UserError("a request that is linked to others, or kept for them, cannot move");
}

bool EngineClient::cancel(RequestId request, StepReport& report) {
    if (journal_.has_ended(request)) {
        take(report);
        return false;
    }
    send(CancelRequest{request});
    wait_for([&] { return journal_.has_ended(request); });
    const std::size_t first = report.ended.size();
    take(report);
    return std::any_of(report.ended.begin() + static_cast<std::ptrdiff_t>(first),
                       report.ended.end(), [&](const EndedRequest& ended) {
                           return ended.request == request && ended.why == Finish::cancelled;
                       });
}

void EngineClient::step(StepReport& report, int) {
    while (!journal_.has_news() && all_.hear(0)) {
    }
    if (!idle() && !journal_.paused()) wait_for([&] { return journal_.has_news(); });
    take(report);
}

RequestState EngineClient::state_of(RequestId request, bool with_cache) const {
    RequestState known = journal_.state_of(request);
    refuse_bound(request);
    if (!with_cache) return known;
    send(Export{request, true, false});
    std::optional<Exported> exported;
    wait_for([&] {
        exported = journal_.take_exported();
        return exported || journal_.has_ended(request);
    });
    if (!exported) return known;  // its end is on its way to the caller
    RequestState state = request_state_from(state_bytes(exported->state));
    cut_to(state, known.ids.size(), limits().block_bytes);
    return state;
}

void EngineClient::remove(RequestId request) {
    if (!lost()) {
        if (!journal_.has_ended(request))
            send(Drop{request});
        else if (journal_.state_of(request).request.binds())
            send(LetGo{request});
    }
    journal_.drop(request);
}

std::optional<EngineClient::Moved> EngineClient::move(RequestId request, EngineClient& to,
                                                      bool with_cache) {
    to.wait_until_ready();
    to.check_room();
    refuse_bound(request);
    if (!journal_.has_ended(request)) send(Export{request, with_cache, true});
    std::optional<Exported> exported;
    wait_for([&] {
        exported = journal_.take_exported();
        return exported || journal_.has_ended(request);
    });
    if (!exported) return std::nullopt;
    auto [state, waiting] = journal_.leave(request);
    RequestState tokens = state;
    for (const MadeToken& token : waiting) {
        tokens.append(token.id, token.version, token.log_probability,
                      token.sampled_log_probability);
        tokens.admitted = true;
    }
    const RequestId there =
        to.journal_.begin(std::move(state), std::move(waiting), Journal::Looked::not_at);
    to.send(Take{there, std::move(exported->state)});
    return to.confirm(there, tokens);
}

void EngineClient::empty_cache() { send(EmptyCache{}); }

// ---- the engine ---------------------------------------------------------------------------------

void EngineClient::pause() {
    if (journal_.paused()) return;
    send(Pause{});
    wait_for([&] { return journal_.paused(); });
}

void EngineClient::go_on() {
    journal_.go_on();
    send(GoOn{});
}

void EngineClient::load(int version, const std::string& weights) {
    wait_until_ready();
    journal_.begin_to_load();
    send(Load{version, weights});
}

void EngineClient::begin_commit(BatchEngine::Cache cache) {
    if (prepared() == 0) throw std::logic_error("no weights were prepared");
    if (journal_.kept().bind())
        throw std::logic_error("weights change while sequences are kept or linked");
    send(Commit{prepared(), cache == BatchEngine::Cache::keep});
}

void EngineClient::commit(BatchEngine::Cache cache) {
    const int wanted = prepared();
    begin_commit(cache);
    // Others that were loaded before it heard of this have taken their place: it refuses.
    wait_for([&] { return version() == wanted || prepared() != wanted; });
    if (version() != wanted)
        throw UserError(fmt::format("version {} of the weights came in place of version {}",
                                    prepared(), wanted));
}

Status EngineClient::status() const {
    const std::int64_t number = ++questions_;
    send(AskStatus{number});
    wait_for([&] { return journal_.status() && journal_.status()->number == number; });
    return *journal_.status();
}

void EngineClient::leave() { send(Leave{}); }

void EngineClient::on(const drive::AnyMessage& message) {
    if (lost()) return;
    heard_s_ = all_.driver().now();
    try {
        journal_.on(message.to<FromEngine>());
    } catch (const ProtocolError& error) {
        died(error.what());
    } catch (const drive::MessageError& error) {
        died(error.what());
    }
    if (lost()) all_.driver().evict({.worker = worker_, .why = how_lost_});
}

void EngineClient::died(const std::string& how) {
    if (!lost()) how_lost_ = how;
}

}  // namespace assay::decode
