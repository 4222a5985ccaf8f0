// Every move that exists: five states and none, four kinds of evidence, two memories.
#include <gtest/gtest.h>

#include <vector>

#include "suite/gate/confirmation.hpp"

namespace assay::gate {
namespace {

using enum Evidence;
const std::optional<State> nothing;
const std::vector<std::optional<State>> all_states = {
    nothing, State::candidate, State::confirmed, State::accepted, State::fixed, State::ignored};
const std::vector<Evidence> all_evidence = {none, slower, not_again, same};

struct Move {
    std::optional<State> from;
    Evidence evidence;
    std::optional<State> to, to_when_same_before;
};

// Written out in full, from the text of issue and header rather than from the code.
const std::vector<Move> moves = {
    {nothing, none, nothing, nothing},
    {nothing, slower, State::candidate, State::candidate},
    {nothing, not_again, nothing, nothing},
    {nothing, same, nothing, nothing},
    {State::candidate, none, State::candidate, State::candidate},
    {State::candidate, slower, State::confirmed, State::confirmed},
    {State::candidate, not_again, nothing, nothing},
    {State::candidate, same, nothing, nothing},
    {State::confirmed, none, State::confirmed, State::confirmed},
    {State::confirmed, slower, State::confirmed, State::confirmed},
    {State::confirmed, not_again, State::confirmed, State::confirmed},
    {State::confirmed, same, State::confirmed, State::fixed},
    {State::accepted, none, State::accepted, State::accepted},
    {State::accepted, slower, State::candidate, State::candidate},
    {State::accepted, not_again, State::accepted, State::accepted},
    {State::accepted, same, State::accepted, State::accepted},
    {State::fixed, none, State::fixed, State::fixed},
    {State::fixed, slower, State::candidate, State::candidate},
    {State::fixed, not_again, State::fixed, State::fixed},
    {State::fixed, same, State::fixed, State::fixed},
    {State::ignored, none, State::ignored, State::ignored},
    {State::ignored, slower, State::ignored, State::ignored},
    {State::ignored, not_again, State::ignored, State::ignored},
    {State::ignored, same, State::ignored, State::ignored},
};

std::string words(const std::optional<State>& state) {
    return state ? std::string(to_string(*state)) : "nothing";
}

TEST(Lifecycle, EveryMove) {
    ASSERT_EQ(moves.size(), all_states.size() * all_evidence.size());
    for (const Move& move : moves)
        for (const bool same_before : {false, true}) {
            const Step step = after_night(move.from, move.evidence, same_before);
            EXPECT_EQ(step.from, move.from);
            EXPECT_EQ(words(step.to), words(same_before ? move.to_when_same_before : move.to))
                << "from " << words(move.from) << " by evidence " << static_cast<int>(move.evidence)
                << " same before " << same_before;
        }
}

TEST(Lifecycle, EveryChangeSaysWhy) {
    for (const auto& state : all_states)
        for (const Evidence evidence : all_evidence)
            for (const bool same_before : {false, true}) {
                const Step step = after_night(state, evidence, same_before);
                if (step.to != step.from) {
                    EXPECT_FALSE(step.why.empty()) << words(state) << static_cast<int>(evidence);
                }
            }
}

/// Follows nights from nothing.
std::optional<State> after(const std::vector<Evidence>& nights) {
    std::optional<State> state;
    bool same_before = false;
    for (const Evidence evidence : nights) {
        state = after_night(state, evidence, same_before).to;
        same_before = evidence == same;
    }
    return state;
}

TEST(Lifecycle, OneNightAloneNeverConfirms) {
    // All sequences of up to six nights: confirmed needs two nights of `slower` with nothing that
    // takes it back between them.
    for (int length = 1; length <= 6; ++length)
        for (int code = 0; code < 1 << (2 * length); ++code) {
            std::vector<Evidence> nights;
            for (int i = 0; i < length; ++i)
                nights.push_back(all_evidence[static_cast<std::size_t>(code >> (2 * i) & 3)]);
            int in_a_row = 0;
            bool could = false;
            for (const Evidence evidence : nights) {
                if (evidence == slower) ++in_a_row;
                if (evidence == same || evidence == not_again) in_a_row = 0;
                could = could || in_a_row >= 2;
            }
            if (!could) {
                ASSERT_NE(after(nights), State::confirmed) << code;
            }
        }
}

TEST(Lifecycle, LivesAsEngineersTellIt) {
    EXPECT_EQ(after({slower, slower}), State::confirmed);
    EXPECT_EQ(after({slower, none, slower}), State::confirmed);  // a night off does not absolve
    EXPECT_EQ(after({slower, same, slower}), State::candidate);
    EXPECT_EQ(after({slower, slower, same}), State::confirmed);
    EXPECT_EQ(after({slower, slower, same, same}), State::fixed);
    EXPECT_EQ(after({slower, slower, same, slower, same}), State::confirmed);
    EXPECT_EQ(after({slower, slower, same, same, slower}), State::candidate);
}

TEST(Lifecycle, TheNightOfTheCandidateCannotConfirmIt) {
    for (const auto& state : all_states)
        for (const Evidence evidence : all_evidence)
            for (const bool same_before : {false, true}) {
                const Step again = after_night(state, evidence, same_before, false);
                const Step other = after_night(state, evidence, same_before, true);
                if (state == State::candidate && evidence == slower) {
                    EXPECT_EQ(again.to, State::candidate);
                    EXPECT_NE(again.why.find("min_apart_h"), std::string::npos);
                } else {
                    EXPECT_EQ(again.to, other.to) << words(state) << static_cast<int>(evidence);
                }
            }
}

TEST(Lifecycle, RunsOfOneNightBeginLittleApart) {
    const char* const first = "2026-12-31T22:03:04.567Z";
    EXPECT_FALSE(is_another_night(first, first, 4));
    EXPECT_FALSE(is_another_night(first, "2027-01-01T02:03:03.000Z", 4));
    EXPECT_TRUE(is_another_night(first, "2027-01-01T02:03:04.000Z", 4));
    EXPECT_TRUE(is_another_night(first, "2027-01-01T22:00:00.000Z", 20));
    EXPECT_TRUE(is_another_night(first, first, 0)) << "every run is a night of its own";
    const char* const set_back = "2026-12-20T22:03:04.567Z";
    EXPECT_TRUE(is_another_night(first, set_back, 4)) << "the clock was set back";
    EXPECT_TRUE(is_another_night(first, set_back, 0));
    EXPECT_FALSE(is_another_night(first, "2026-12-31T21:00:00.000Z", 4));
    EXPECT_TRUE(is_another_night("", first, 4)) << "not known when";
    EXPECT_TRUE(is_another_night(first, "2027-13-01T02:03:04.000Z", 4));
}

TEST(Lifecycle, NamesGoBothWays) {
    for (const auto& state : all_states)
        if (state) {
            EXPECT_EQ(of_word<State>(to_string(*state)), state);
        }
    EXPECT_EQ(of_word<State>("Confirmed"), std::nullopt);
    EXPECT_EQ(of_word<State>(""), std::nullopt);
}

}  // namespace
}  // namespace assay::gate
