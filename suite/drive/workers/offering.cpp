#include "suite/drive/workers/offering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "suite/base/error.hpp"

namespace assay::drive {

std::vector<Offer> offers_of(const AvailabilityTrace& trace, const std::string& role) {
    std::vector<Offer> offers;
    std::map<std::string, std::size_t> open;  // of each node that is there
    for (const TraceEvent& event : trace.events) {
        if (event.add) {
            open[event.node] = offers.size();
            offers.push_back({.role = role, .instance = event.node, .from_s = event.t_s});
        } else if (const auto there = open.extract(event.node)) {
            offers[there.mapped()].until_s = event.t_s;
        }
    }
    // A node that is lost at the moment at which it comes was never there.
    std::erase_if(offers, [](const Offer& offer) { return offer.until_s <= offer.from_s; });
    return offers;
}

Offering::Offering(std::vector<Offer> offers, double notice_s, Hooks hooks)
    : offers_(std::move(offers)), notice_s_(notice_s), hooks_(std::move(hooks)) {
    for (const Offer& offer : offers_) {
        if (!(offer.from_s >= 0) || !(offer.until_s > offer.from_s))
            throw UserError(fmt::format("'{}' is offered from {} s until {} s: it must last",
                                        offer.instance, offer.from_s, offer.until_s));
        roles_.insert(offer.role);
    }
    if (!(notice_s >= 0)) throw UserError("the notice of a name's end is at least 0 s long");
    to_come_ = offers_.size();
}

void Offering::begin() {
    for (const Offer& offer : offers_) {
        const auto name = std::pair(offer.role, offer.instance);
        hooks_.at(offer.from_s, [this, name] {
            --to_come_;
            offered_.insert(name);
            hooks_.tell(Offered{name.first, name.second});
        });
        if (std::isinf(offer.until_s)) continue;
        const double told_s = std::max(offer.from_s, offer.until_s - notice_s_);
        hooks_.at(told_s, [this, name, left_s = offer.until_s - told_s] {
            if (left_s > 0) hooks_.tell(Revoked{name.first, name.second, left_s});
        });
        hooks_.at(offer.until_s, [this, name, untold = told_s == offer.until_s] {
            offered_.erase(name);
            if (untold) hooks_.tell(Revoked{name.first, name.second, 0});
            hooks_.taken_away(name.second);
        });
    }
}

bool Offering::can_spawn(const Spawn& spawn) const {
    return !roles_.contains(spawn.role) || offered_.contains({spawn.role, spawn.instance});
}

}  // namespace assay::drive
