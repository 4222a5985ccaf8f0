#include "suite/gate/confirmation.hpp"

#include <chrono>

#include "suite/store/ids.hpp"

namespace assay::gate {
namespace {

Step candidate_after(Evidence evidence, bool another_night) {
    switch (evidence) {
        case Evidence::slower:
            if (!another_night)
                return {State::candidate, State::candidate,
                        "seen again, but too soon to be another night (min_apart_h of the suite)"};
            return {State::candidate, State::confirmed, "seen in a second night"};
        case Evidence::not_again:
            return {State::candidate, std::nullopt, "the reruns of the next night took it back"};
        case Evidence::same:
            return {State::candidate, std::nullopt, "not seen again in the next night"};
        case Evidence::none:
            break;
    }
    return {State::candidate, State::candidate, "waits for a night that can tell"};
}

Step confirmed_after(Evidence evidence, bool same_before) {
    switch (evidence) {
        case Evidence::slower:
            return {State::confirmed, State::confirmed, "still there"};
        case Evidence::not_again:
            return {State::confirmed, State::confirmed,
                    "tonight's reruns took it back; two nights inside the margin end it"};
        case Evidence::same:
            if (same_before)
                return {State::confirmed, State::fixed, "back for two nights in a row"};
            return {State::confirmed, State::confirmed,
                    "back tonight; one more such night and it is fixed"};
        case Evidence::none:
            break;
    }
    return {State::confirmed, State::confirmed, "tonight says nothing about it"};
}

/// accepted and fixed: over, until something new shows.
Step ended_after(State state, Evidence evidence) {
    if (evidence == Evidence::slower)
        return {state, State::candidate,
                state == State::accepted ? "slower than the level that was accepted"
                                         : "slower again after it had been fixed"};
    return {state, state, ""};
}

}  // namespace

bool is_another_night(std::string_view earlier, std::string_view later, double hours) {
    const auto first = store::parse_utc(earlier), second = store::parse_utc(later);
    if (!first || !second) return true;
    using Seconds = std::chrono::duration<double>;
    const auto whole = [](auto at) { return std::chrono::floor<std::chrono::seconds>(at); };
    return Seconds(std::chrono::abs(whole(*second) - whole(*first))).count() >= hours * 3600;
}

Step after_night(std::optional<State> state, Evidence evidence, bool same_before,
                 bool another_night) {
    if (!state) {
        if (evidence == Evidence::slower)
            return {std::nullopt, State::candidate, "first seen tonight"};
        return {};
    }
    switch (*state) {
        case State::candidate:
            return candidate_after(evidence, another_night);
        case State::confirmed:
            return confirmed_after(evidence, same_before);
        case State::accepted:
        case State::fixed:
            return ended_after(*state, evidence);
        case State::ignored:
            break;
    }
    return {State::ignored, State::ignored, "muted"};
}

}  // namespace assay::gate
