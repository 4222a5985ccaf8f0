#include "impls/decode/service/engine_client.hpp"

#include <fmt/format.h>

#include <utility>

#include "impls/decode/service/engines.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

EngineClient::EngineClient(Engines& all, drive::WorkerId worker, EngineSettings settings, int model)
    : all_(all), worker_(worker), settings_(std::move(settings)), model_(model) {}

void EngineClient::send(const service::ToEngine& message) const {
    all_.driver().send(worker_, message);
}

void EngineClient::command(const service::ToEngine& message) const {
    all_.go_on();
    send(message);
}

void EngineClient::wait_for(const std::function<bool()>& there) const {
    while (!there()) {
        if (lost()) throw EngineLost("an engine is gone: " + how_lost_);
        if (!all_.hear() && !there() && !lost())
            throw std::logic_error(
                fmt::format("engine {} is waited for, and nothing can happen any more", worker_));
    }
}

void EngineClient::wait_until_ready() const {
    wait_for([&] { return ready(); });
}

void EngineClient::pause() {
    if (journal_.paused()) return;
    command(service::Pause{});
    wait_for([&] { return journal_.paused(); });
}

void EngineClient::go_on() {
    journal_.go_on();
    command(service::GoOn{});
}

void EngineClient::load(int version, const std::string& weights) {
    wait_until_ready();
    journal_.begin_to_load();
    command(service::Load{version, weights});
}

void EngineClient::begin_commit(BatchEngine::Cache cache) {
    if (prepared() == 0) throw std::logic_error("no weights were prepared");
    journal_.begin_to_load();
    command(service::Commit{prepared(), cache == BatchEngine::Cache::keep});
}

void EngineClient::commit(BatchEngine::Cache cache) {
    const int wanted = prepared();
    begin_commit(cache);
    // Others that were loaded before it heard of this have taken their place: it refuses.
    wait_for(
        [&] { return version() == wanted || prepared() != wanted || !why_not_loaded().empty(); });
    if (version() == wanted) return;
    if (prepared() != wanted)
        throw UserError(fmt::format("version {} of the weights came in place of version {}",
                                    prepared(), wanted));
    throw UserError("the weights are not used: " + why_not_loaded());
}

void EngineClient::empty_cache() { command(service::EmptyCache{}); }

service::Status EngineClient::status() const {
    const std::int64_t number = ++questions_;
    command(service::AskStatus{number});
    wait_for([&] { return journal_.status() && journal_.status()->number >= number; });
    return *journal_.status();
}

void EngineClient::leave() {
    all_.pool().open(seat(), false);
    command(service::Leave{});
}

void EngineClient::on(const drive::AnyMessage& message) {
    if (lost()) return;
    heard_s_ = all_.driver().now();
    try {
        const auto said = message.to<service::FromEngine>();
        journal_.on(said, all_.pool(), seat());
        all_.said(*this, said);
    } catch (const service::ProtocolError& error) {
        died(error.what());
    } catch (const drive::MessageError& error) {
        died(error.what());
    }
    if (lost()) all_.driver().evict({.worker = worker_, .why = how_lost_});
}

void EngineClient::died(const std::string& how) {
    if (lost()) return;
    how_lost_ = how;
    all_.pool().lost(seat());
}

}  // namespace assay::decode
