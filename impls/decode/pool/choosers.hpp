// Simple rules by which a request goes to a seat.
#pragma once

#include <optional>
#include <vector>

#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

/// Where fewest requests are, among the seats that take; then the lowest.
inline std::optional<Seat> fewest_given(std::span<const Place> places, int model) {
    const Place* best = nullptr;
    for (const Place& place : places)
        if (place.takes && place.model == model && (!best || place.given < best->given))
            best = &place;
    return best ? std::optional(best->seat) : std::nullopt;
}

class FewestGiven final : public Chooser {
  public:
    explicit FewestGiven(const Pool& pool) : pool_(pool) {}
    std::optional<Seat> choose(Number request, std::span<const Place> places) override {
        const Ask& ask = pool_.asked(request);
        if (!ask.request.links || ask.request.links->linked.empty())
            return fewest_given(places, ask.model);
        std::vector<Place> fit;
        for (const Place& place : places)
            if (pool_.has_linked(request, place.seat)) fit.push_back(place);
        return fewest_given(fit, ask.model);
    }

  private:
    const Pool& pool_;
};

}  // namespace assay::decode
