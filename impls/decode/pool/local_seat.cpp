#include "impls/decode/pool/local_seat.hpp"

#include <unordered_map>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::decode {

LocalSeat::LocalSeat(Pool& pool, Seat seat, BatchEngine& engine, ExportedStates& exported,
                     int model)
    : pool_(pool), seat_(seat), engine_(engine), exported_(exported) {
    pool_.there(seat_, model, engine_.version(), engine_.limits().max_requests);
}

void LocalSeat::carry_out(const Order& order) {
    std::visit([this](const auto& each) { on(each); }, order);
}

void LocalSeat::on(const Give& give) {
    if (give.seat != seat_ || !pool_.living(seat_, give.attempt)) return;  // cancelled since
    RequestState state = give.handle != 0
                             ? std::move(exported_.states.extract(give.handle).mapped())
                             : pool_.state(give, engine_.limits().model);
    try {
        engine_.resume(state, give.attempt);
        pool_.taken(seat_, give.attempt);
    } catch (const UserError&) {
        pool_.refused(seat_, give.attempt);
    }
}

void LocalSeat::on(const Remove& remove) {
    if (remove.seat != seat_) return;
    engine_.remove(remove.attempt);
    engine_.release(remove.attempt);
}

void LocalSeat::on(const Export& wanted) {
    if (wanted.seat != seat_ || !engine_.has(wanted.attempt)) return;
    const std::uint64_t handle = ++exported_.last;
    exported_.states[handle] = engine_.state_of(wanted.attempt, wanted.with_cache);
    engine_.remove(wanted.attempt);
    pool_.exported(seat_, wanted.attempt, handle);
}

void LocalSeat::on(const Unkeep& unkeep) {
    if (unkeep.seat == seat_) engine_.release(unkeep.kept);
}

void LocalSeat::tell(const StepReport& report) {
    for (const SaidOfRequest& said : by_request(report.tokens, report.ended))
        pool_.made(seat_, said.request, said.tokens, report.waiting, said.ended);
}

std::vector<SaidOfRequest> by_request(std::span<const MadeToken> tokens,
                                      std::span<const EndedRequest> ended) {
    std::vector<SaidOfRequest> all;
    std::unordered_map<RequestId, std::size_t> places;
    const auto of = [&](RequestId request) -> SaidOfRequest& {
        const auto [found, fresh] = places.emplace(request, all.size());
        if (fresh) all.push_back({.request = request});
        return all[found->second];
    };
    for (const MadeToken& token : tokens)
        of(token.request)
            .tokens.push_back({token.id, token.log_probability, token.sampled_log_probability});
    for (const EndedRequest& each : ended) of(each.request).ended = &each;
    return all;
}

}  // namespace assay::decode
