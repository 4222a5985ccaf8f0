// One hash of what policies decided in many seeded schedules, for tests with a golden value: it is
// equal on every machine, and another one means that decisions are no longer those that they were.
// Of a decision it takes the event and the actions, not when it was made: a time is a sum of reals,
// whose last bit is a compiler's choice.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/sha256.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"

namespace assay::drive {

/// {"type":…} in a line; decisions of two builds as text, for a diff.
template <class Message>
std::string message_line(const Message& message) {
    return to_message(message).dump() + '\n';
}

template <class P>
std::string decisions_text(const std::vector<Decision<P>>& decisions) {
    std::string text;
    for (const auto& decision : decisions) {
        text += message_line(decision.event);
        for (const auto& action : decision.actions) text += "  " + message_line(action);
    }
    return text;
}

inline std::string outcome_text(const SeedOutcome& outcome) {
    std::string text = (outcome.ok ? "ok" : outcome.why) + '\n' + outcome.says + '\n';
    for (const auto& [name, times] : outcome.counts)
        text += name + ' ' + std::to_string(times) + '\n';
    return text;
}

/// `decided(seed)` is the text of what was decided in the schedule of that seed.
template <class Decided>
void expect_golden_decisions(SeedRange seeds, std::string_view golden, Decided decided) {
    Sha256 all;
    std::string of_each;
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
        const std::string hash = sha256_hex(decided(seed));
        all.update(hash);
        of_each += ((seed - seeds.first) % 20 == 0 ? '\n' : ' ') + hash.substr(0, 4);
    }
    EXPECT_EQ(all.hex(), golden)
        << "Decisions have changed: the policy, what drives it or what a seed stands for is not "
           "what it was. Where that is meant, put the new value into the test and say in the "
           "commit why decisions change. The hashes of the single seeds, to compare with those of "
           "a build that still passes (put any other value into its test):"
        << of_each;
}

}  // namespace assay::drive
