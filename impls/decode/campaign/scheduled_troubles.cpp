// What befalls a scheduled service: faults, which are the driver's, moves and publications.
#include <iterator>

#include "impls/decode/campaign/scheduled_service.hpp"

namespace assay::decode {

/// One that has something to do, if there is one.
ScheduledService::Host* ScheduledService::one_of_the_live() {
    std::vector<Host*> live, busy;
    for (Host& host : hosts_) {
        if (host.gone || host.given_up || !host.engine->ready()) continue;
        live.push_back(&host);
        if (!host.requests.empty()) busy.push_back(&host);
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
            if (keeps_) return release_kept(*host);
            ++published_;
            ++counts_["published"];
            // While some have the new weights and some have not.
            troubles_.emplace(now_s() + bounds_.most_load_s / 2, Trouble::move);
            return wake_at(now_s() + bounds_.most_load_s / 2);
        case Trouble::corrupt:
            strike(*host, {.kind = FaultKind::corrupt, .target = "tensor"});
            ++host->corrupts;
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
    hear(from);
    std::vector<Host*> others;
    for (Host& host : hosts_)
        if (&host != &from && !host.gone && !host.given_up && host.engine->ready() &&
            host.engine->version() >= from.engine->version())
            others.push_back(&host);
    if (others.empty() || from.requests.empty() || from.committing) return;
    Host& to = *others[below(others.size())];
    auto chosen = from.requests.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(below(from.requests.size())));
    const auto [id, number] = *chosen;
    if (requests_.all[number].request.binds()) return;  // it stays
    // Between other weights always: it is to be refused.
    const bool with_cache = below(2) == 0 || to.engine->version() != from.engine->version();
    try {
        const auto moved = from.engine->move(id, *to.engine, with_cache);
        if (!moved) return;  // its end is about to be heard
        from.requests.erase(id);
        to.requests[moved->request] = number;
        to.asked_s = now_s();
        const bool corrupt = from.corrupts > 0;
        if (corrupt) --from.corrupts;
        if (to.engine->lost()) return;
        if (moved->damaged != corrupt)
            throw BrokenRule{corrupt ? "a damaged state was not refused"
                                     : "a state that is whole was refused"};
        if (moved->recomputes && equal_weights_)
            throw BrokenRule{"keys and values of equal weights were refused"};
        ++counts_[corrupt             ? "refused"
                  : moved->recomputes ? "recomputed"
                  : with_cache        ? "moved_with_cache"
                                      : "moved"];
        if (corrupt && misdeed_ == Misdeed::believes_corruption)
            believe_corruption(to, moved->request, number);
    } catch (const EngineLost&) {
        // It is still the lost one's.
    }
}

/// Goes on as if what was damaged had been right.
void ScheduledService::believe_corruption(Host& host, RequestId id, std::size_t number) {
    RequestState wrong = requests_.all[number].state;
    if (wrong.ids.empty()) return;
    wrong.ids.back() = (wrong.ids.back() + 1) % bounds_.model.vocabulary;
    host.engine->remove(id);
    host.requests.erase(id);
    host.requests[host.engine->resume(wrong)] = number;
}

}  // namespace assay::decode
