// What befalls a scheduled service: faults, which are the driver's, moves and publications.
#include <utility>

#include "impls/decode/campaign/scheduled_service.hpp"

namespace assay::decode {

/// One that has something to do, if there is one.
ScheduledService::Host* ScheduledService::one_of_the_live() {
    std::vector<Host*> live, busy;
    for (Host& host : hosts_) {
        if (host.gone || host.given_up || !host.engine->ready()) continue;
        live.push_back(&host);
        if (!engines_.pool().with(host.engine->seat()).empty()) busy.push_back(&host);
    }
    const std::vector<Host*>& from = busy.empty() ? live : busy;
    return from.empty() ? nullptr : from[below(from.size())];
}

void ScheduledService::make(Trouble trouble) {
    Host* const host = one_of_the_live();
    if (host == nullptr) {  // until one is there
        const double later_s = now_s() + bounds_.horizon_s / 16;
        troubles_.emplace(later_s, trouble);
        return wake_at(later_s);
    }
    switch (trouble) {
        case Trouble::kill:
            return strike(*host, {.kind = FaultKind::kill});
        case Trouble::hang:  // some come back before it is known
            return strike(*host,
                          {.kind = FaultKind::hang,
                           .for_s = bounds_.most_hang_s / 16 + seconds(bounds_.most_hang_s)});
        case Trouble::slow: {
            Fault fault{.kind = FaultKind::slow, .factor = 1.5 + seconds(6)};
            if (below(2) == 0) fault.for_s = bounds_.horizon_s / 8 + seconds(bounds_.horizon_s);
            return strike(*host, fault);
        }
        case Trouble::nan:
            return strike(*host, {.kind = FaultKind::nan});
        case Trouble::wipe:
            return strike(*host, {.kind = FaultKind::wipe});
        case Trouble::publish:
            if (keeps_) {
                for (const Number request : std::exchange(kept_, {}))
                    engines_.pool().release(request);
                return;
            }
            ++published_;
            ++counts_["published"];
            // While some have the new weights and some have not.
            troubles_.emplace(now_s() + bounds_.most_load_s / 2, Trouble::move);
            return wake_at(now_s() + bounds_.most_load_s / 2);
        case Trouble::corrupt:
            strike(*host, {.kind = FaultKind::corrupt, .target = "tensor"});
            [[fallthrough]];
        case Trouble::move:
            return move(*host);
    }
}

void ScheduledService::strike(const Host& host, Fault fault) {
    fault.rank = host.engine->worker();
    driver_.strike(fault);
}

void ScheduledService::move(Host& from) {
    Pool& pool = engines_.pool();
    std::vector<Host*> others;
    for (Host& host : hosts_)
        if (&host != &from && !host.gone && !host.given_up && host.engine->ready() &&
            host.engine->version() >= from.engine->version())
            others.push_back(&host);
    const std::vector<Number> has = pool.with(from.engine->seat());
    if (others.empty() || has.empty() || from.committing) return;
    Host& to = *others[below(others.size())];
    const Number request = has[below(has.size())];
    if (pool.bound(request)) return;  // it stays
    // Between other weights always: it is to be refused.
    const bool with_cache = below(2) == 0 || to.engine->version() != from.engine->version();
    pool.move(request, to.engine->seat(), with_cache);
    to.asked_s = now_s();
    ++counts_[with_cache ? "moved_with_cache" : "moved"];
    if (misdeed_ != Misdeed::believes_corruption) return;
    engines_.distort([this](RequestState& state) {  // goes on as if what was damaged had been right
        if (!state.ids.empty())
            state.ids.back() = (state.ids.back() + 1) % bounds_.model.vocabulary;
    });
}

}  // namespace assay::decode
