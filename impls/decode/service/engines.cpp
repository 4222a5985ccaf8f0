#include "impls/decode/service/engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "impls/decode/pool/local_seat.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

Engines::Engines(drive::Driver& driver, std::string role)
    : driver_(driver), role_(std::move(role)) {
    driver_.listen([this](const drive::DriverEvent& event) { on(event); });
}

Engines::~Engines() { driver_.listen({}); }

EngineClient& Engines::start(const EngineSettings& settings, int model,
                             const std::string& instance) {
    const drive::WorkerId worker =
        driver_.spawn({.role = role_, .instance = instance}, drive::to_json(settings));
    EngineClient& engine = engines_.emplace_back(*this, worker, settings, model);
    by_seat_[engine.seat()] = &engine;
    return engine;
}

EngineClient* Engines::at(Seat seat) {
    const auto found = by_seat_.find(seat);
    return found == by_seat_.end() ? nullptr : found->second;
}

Number Engines::ask(Ask ask) {
    for (const EngineClient& engine : engines_)
        if (engine.ready() && engine.model() == ask.model) {
            check_request(as_served(ask.request), engine.limits());
            break;
        }
    return pool_.ask(std::move(ask));
}

// ---- what happens -------------------------------------------------------------------------------

bool Engines::hear(double most_s) {
    go_on();
    const bool heard = driver_.turn(most_s);
    go_on();
    return heard;
}

bool Engines::hear_until(const std::function<bool()>& so, double most_s) {
    const double end_s = driver_.now() + most_s;
    while (!so()) {
        const double left_s = end_s - driver_.now();
        if (left_s <= 0) return false;
        if (!hear(left_s)) return so();
    }
    return true;
}

void Engines::on(const drive::DriverEvent& event) {
    if (const auto* const said = std::get_if<drive::Said>(&event)) {
        if (EngineClient* const one = at(said->worker)) return one->on(said->message);
    } else if (const auto* const died = std::get_if<drive::Died>(&event)) {
        if (EngineClient* const one = at(died->worker))
            return one->died(driver_.how_ended(died->worker));
    } else if (const auto* const joined = std::get_if<drive::Joined>(&event)) {
        if (at(joined->worker)) return;
    } else if (const auto* const arrived = std::get_if<drive::Arrived>(&event)) {
        if (arrived->id > first_state_transfer) return brought(arrived->id, true);
    } else if (const auto* const broken = std::get_if<drive::Broken>(&event)) {
        if (broken->id > first_state_transfer) return brought(broken->id, false);
    }
    if (others_) others_(event);
}

/// What the journal has looked at.
void Engines::said(EngineClient& engine, const service::FromEngine& message) {
    const Seat seat = engine.seat();
    if (const auto* const ready = std::get_if<service::Ready>(&message)) {
        pool_.there(seat, engine.model(), ready->version, ready->limits.max_requests);
    } else if (const auto* const awaits = std::get_if<service::Awaits>(&message)) {
        bring(engine, awaits->request);
    } else if (const auto* const taken = std::get_if<service::Taken>(&message)) {
        check_not_awaited(taken->request);
        pool_.taken(seat, taken->request);
    } else if (const auto* const refused = std::get_if<service::Refused>(&message)) {
        engine.refusals_.push_back(*refused);
        if (const auto waits = awaiting_.find(refused->request); waits != awaiting_.end())
            done_with(waits->second);
        pool_.refused(seat, refused->request);
    } else if (const auto* const one = std::get_if<service::Made>(&message)) {
        made(engine, *one);
    } else if (const auto* const exported = std::get_if<service::Exported>(&message)) {
        this->exported(engine, *exported);
    } else if (const auto* const committed = std::get_if<service::Committed>(&message)) {
        pool_.version(seat, committed->version);
    }
}

void Engines::made(EngineClient& engine, const service::Made& made) {
    engine.steps_ += made.steps;
    engine.step_s_ += made.seconds;
    for (SaidOfRequest& said : by_request(made.tokens, made.ended)) {
        check_not_awaited(said.request);
        const auto request = pool_.living(engine.seat(), said.request);
        if (!pool_.made(engine.seat(), said.request, said.tokens, made.waiting, said.ended))
            continue;
        if (heard_.tokens && !said.tokens.empty())
            news_.emplace_back(*request, std::move(said.tokens));
    }
}

// ---- states between engines ---------------------------------------------------------------------
//
// One with keys and values stays where it was exported until its next engine awaits it, and goes
// from the one to the other; where that breaks, the tokens that are known go instead.

void Engines::exported(EngineClient& engine, const service::Exported& exported) {
    states_[++last_handle_] = {.text = exported.state,
                               .from = &engine,
                               .exported = exported.request,
                               .bytes = exported.bytes,
                               .to = {}};
    pool_.exported(engine.seat(), exported.request, last_handle_);
}

void Engines::bring(EngineClient& to, Number attempt) {
    const auto waits = awaiting_.find(attempt);
    if (waits == awaiting_.end()) {
        if (!pool_.living(to.seat(), attempt)) return;  // it was removed
        throw service::ProtocolError(fmt::format("it awaits a state of request {}", attempt));
    }
    Between& state = states_.at(waits->second);
    if (std::exchange(state.goes, true))
        throw service::ProtocolError(fmt::format("it awaits request {} twice", attempt));
    if (state.from->lost()) return brought(waits->second, false);
    driver_.start(drive::Transfer{.id = waits->second,
                                  .from = state.from->worker(),
                                  .to = to.worker(),
                                  .object = service::state_object(state.exported),
                                  .bytes = state.bytes});
}

void Engines::check_not_awaited(Number attempt) const {
    if (awaiting_.contains(attempt))
        throw service::ProtocolError(
            fmt::format("it has request {}, whose state has not come yet", attempt));
}

/// Or broken: it may be done with already.
void Engines::brought(std::uint64_t handle, bool whole) {
    const auto found = states_.find(handle);
    if (found == states_.end()) return;
    const Give to = found->second.to;
    done_with(handle);
    if (!pool_.living(to.seat, to.attempt)) return;
    if (whole)
        at(to.seat)->send(service::Came{to.attempt});
    else
        give_tokens(to);
}

void Engines::done_with(std::uint64_t handle) {
    const auto state = states_.extract(handle);
    if (!state) return;
    const Between& done = state.mapped();
    awaiting_.erase(done.to.attempt);
    if (done.bytes > 0 && !done.from->lost()) done.from->send(service::Withdraw{done.exported});
}

// ---- orders -------------------------------------------------------------------------------------

void Engines::go_on() {
    for (;;) {
        // One after the other: whoever is told may turn the driver, and come here again.
        while (!news_.empty()) {
            const auto [request, tokens] = std::move(news_.front());
            news_.pop_front();
            heard_.tokens(request, tokens);
        }
        std::vector<Order> decided;
        pool_.turn(*chooser_, decided);
        std::move(decided.begin(), decided.end(), std::back_inserter(orders_));
        if (orders_.empty()) return;
        while (!orders_.empty()) {
            const Order order = std::move(orders_.front());
            orders_.pop_front();
            carry_out(order);
        }
    }
}

void Engines::carry_out(const Order& order) {
    if (const auto* const give = std::get_if<Give>(&order)) {
        this->give(*give);
    } else if (const auto* const remove = std::get_if<Remove>(&order)) {
        EngineClient& engine = *at(remove->seat);
        engine.journal_.remove(remove->attempt);
        engine.send(service::Drop{remove->attempt});
    } else if (const auto* const wanted = std::get_if<Export>(&order)) {
        at(wanted->seat)->send(service::Export{wanted->attempt, wanted->with_cache});
    } else if (const auto* const discard = std::get_if<Discard>(&order)) {
        done_with(discard->handle);
    } else if (const auto* const unkeep = std::get_if<Unkeep>(&order)) {
        at(unkeep->seat)->send(service::LetGo{unkeep->kept});
    } else if (heard_.done) {
        heard_.done(std::get<Done>(order));
    }
}

void Engines::give(const Give& give) {
    // Whoever was told of an end before it may have cancelled this one.
    if (!pool_.living(give.seat, give.attempt)) return;
    if (give.handle == 0) return give_tokens(give);
    Between& state = states_.at(give.handle);
    service::Take take{give.attempt, std::move(state.text), state.exported, state.bytes};
    if (state.bytes == 0) {
        states_.erase(give.handle);
    } else {
        state.to = give;
        awaiting_[give.attempt] = give.handle;
    }
    at(give.seat)->send(std::move(take));
}

void Engines::give_tokens(const Give& give) {
    EngineClient& engine = *at(give.seat);
    RequestState state = pool_.state(give, engine.settings().options.model);
    if (distort_) distort_(state);
    engine.send(service::Take{give.attempt, service::state_text(to_bytes(state))});
}

}  // namespace assay::decode
