// What a caller knows of its requests, and what no engine may say.
#include "impls/decode/service/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::decode::service {
namespace {

using testing::ElementsAre;

RequestState state(std::vector<int> prompt, int max_tokens = 10, std::optional<Links> links = {}) {
    RequestState state;
    state.request.links = std::move(links);
    state.model = "m";
    state.request.prompt = std::move(prompt);
    state.request.max_tokens = max_tokens;
    return state;
}

Journal ready(int version = 1) {
    Journal journal;
    journal.on(Ready{{.model = "m", .vocabulary = 50, .context = 40, .blocks = 8}, version});
    return journal;
}

Made made(RequestId request, std::vector<int> ids, int version = 1,
          std::optional<Finish> end = {}) {
    Made made{.steps = 1, .seconds = 0.5, .waiting = 3, .tokens = {}, .ended = {}};
    for (const int id : ids)
        made.tokens.push_back({request, id, version, -0.25f * static_cast<float>(id),
                               -0.125f * static_cast<float>(id)});
    if (end) made.ended.push_back({request, *end, 0, 0, {}});
    return made;
}

TEST(Journal, KnowsRequestsAsFarAsTheCallerWasToldOfThem) {
    Journal journal = ready();
    const RequestId a = journal.begin(state({1, 2})), b = journal.begin(state({3}));
    journal.on(Taken{a});
    journal.on(Taken{b});
    journal.on(made(a, {7}));
    EXPECT_TRUE(journal.state_of(a).ids.empty());
    StepReport report;
    journal.take(report);
    EXPECT_EQ(report.tokens.size(), 1u);
    EXPECT_EQ(report.seconds, 0.5);
    EXPECT_EQ(report.waiting, 3);
    EXPECT_THAT(journal.state_of(a).ids, ElementsAre(7));
    EXPECT_THAT(journal.state_of(a).log_probabilities, ElementsAre(-1.75f));
    EXPECT_THAT(journal.state_of(a).sampled_log_probabilities, ElementsAre(-0.875f));
    EXPECT_TRUE(journal.state_of(a).admitted);
    journal.on(made(a, {8}, 1, Finish::stop));
    EXPECT_TRUE(journal.has_ended(a));
    EXPECT_THAT(journal.unfinished(), ElementsAre(a, b));  // the caller does not know of the end
    journal.take(report);
    EXPECT_THAT(journal.unfinished(), ElementsAre(b));
    EXPECT_EQ(report.ended.size(), 1u);
    EXPECT_FALSE(journal.has_news());
}

TEST(Journal, KeepsWhatWasFedOfRequestsThatEndedWell) {
    Journal journal = ready();
    const auto ended = [&](Finish why) {
        const RequestId request = journal.begin(state({1, 2}, 10, Links{.keep = true}));
        journal.on(made(request, {7, 8}, 1, why));
        EXPECT_EQ(journal.kept().find(request), nullptr);  // the caller does not know yet
        EXPECT_TRUE(journal.kept().bind());
        StepReport report;
        journal.take(report);
        return request;
    };
    const RequestId failed = ended(Finish::failed);
    EXPECT_EQ(journal.kept().find(failed), nullptr);
    EXPECT_FALSE(journal.release(failed));
    EXPECT_FALSE(journal.kept().bind());
    const RequestId kept = ended(Finish::length);
    ASSERT_NE(journal.kept().find(kept), nullptr);
    EXPECT_THAT(journal.kept().find(kept)->tokens, ElementsAre(1, 2, 7));
    const RequestId linked = journal.begin(
        state({1, 2, 9}, 10, Links{.linked = {{.kept = kept, .first = 0, .count = 2, .at = 0}}}));
    EXPECT_THROW(journal.release(kept), std::logic_error);
    journal.drop(linked);
    EXPECT_TRUE(journal.release(kept));
    EXPECT_EQ(journal.kept().find(kept), nullptr);
}

TEST(Journal, WhatADroppedRequestStillSaysCountsForNothing) {
    Journal journal = ready();
    const RequestId a = journal.begin(state({1}));
    journal.on(made(a, {7}));
    journal.drop(a);
    journal.on(made(a, {8}));
    journal.on(Exported{a, false, "state"});
    EXPECT_FALSE(journal.take_exported());
    StepReport report;
    journal.take(report);
    EXPECT_TRUE(report.tokens.empty());
    EXPECT_TRUE(journal.idle());
    journal.on(Dropped{a});
    EXPECT_THROW(journal.on(made(a, {9})), ProtocolError);
    EXPECT_THROW(journal.on(Dropped{a}), ProtocolError);
}

TEST(Journal, ARequestThatLeavesTakesWhatWasNotGiven) {
    Journal from = ready(), to = ready();
    const RequestId other = from.begin(state({9})), a = from.begin(state({1}));
    from.on(made(a, {7}));
    StepReport report;
    from.take(report);
    from.on(made(a, {8}));
    from.on(made(other, {5}));
    auto [left, waiting] = from.leave(a);
    EXPECT_THAT(left.ids, ElementsAre(7));
    const RequestId there = to.begin(std::move(left), std::move(waiting));
    report.clear();
    to.take(report);
    ASSERT_EQ(report.tokens.size(), 1u);
    EXPECT_EQ(report.tokens[0].request, there);
    EXPECT_EQ(report.tokens[0].id, 8);
    EXPECT_THAT(to.state_of(there).ids, ElementsAre(7, 8));
    report.clear();
    from.take(report);
    ASSERT_EQ(report.tokens.size(), 1u);
    EXPECT_EQ(report.tokens[0].id, 5);
}

TEST(Journal, WeightsAreInUseFromTheirCommitOn) {
    Journal journal = ready(3);
    const RequestId a = journal.begin(state({1}));
    EXPECT_THROW(journal.on(Committed{4, 0}), ProtocolError);
    EXPECT_THROW(journal.on(Loaded{3, 0}), ProtocolError);
    journal.on(Loaded{4, 0.5});
    EXPECT_EQ(journal.prepared(), 4);
    EXPECT_THROW(journal.on(made(a, {7}, 4)), ProtocolError);
    journal.on(made(a, {7}, 3));
    journal.on(Committed{4, 0.01});
    EXPECT_EQ(journal.version(), 4);
    EXPECT_EQ(journal.prepared(), 0);
    EXPECT_THROW(journal.on(made(a, {8}, 3)), ProtocolError);
    journal.on(NotLoaded{5, "no such file"});
    EXPECT_EQ(journal.why_not_loaded(), "no such file");
    journal.begin_to_load();
    EXPECT_EQ(journal.why_not_loaded(), "");
}

TEST(Journal, FindsOutWhatNoEngineSays) {
    Journal early;
    EXPECT_THROW(early.on(Made{}), ProtocolError);
    EXPECT_NO_THROW(early.on(Status{}));

    Journal journal = ready();
    EXPECT_THROW(journal.on(Ready{}), ProtocolError);
    const RequestId a = journal.begin(state({1}, 2));
    EXPECT_THROW(journal.on(made(a + 1, {7})), ProtocolError);
    EXPECT_THROW(journal.on(made(a, {50})), ProtocolError);
    EXPECT_THROW(journal.on(made(a, {-1})), ProtocolError);
    EXPECT_THROW(journal.on(made(a, {1, 2, 3})), ProtocolError);
    const RequestId b = journal.begin(state({1}));
    journal.on(made(b, {7}, 1, Finish::stop));
    EXPECT_THROW(journal.on(made(b, {7})), ProtocolError);
    EXPECT_THROW(journal.on(made(b, {}, 1, Finish::stop)), ProtocolError);
    EXPECT_THROW(journal.on(Refused{journal.begin(state({1})), "why"}), ProtocolError);
}

TEST(Journal, OnlyWhatWasNotLookedAtMayBeRefused) {
    Journal journal = ready();
    const RequestId a = journal.begin(state({1}), {}, Journal::Looked::not_at);
    journal.on(Refused{a, "damaged"});
    EXPECT_EQ(journal.answer_to(a), Journal::Answer::refused);
    EXPECT_FALSE(journal.refused_cache(a));
    journal.begin_again(a);
    EXPECT_EQ(journal.answer_to(a), Journal::Answer::none);
    EXPECT_THROW(journal.on(Refused{a, "damaged"}), ProtocolError);
    journal.on(Taken{a});
    EXPECT_EQ(journal.answer_to(a), Journal::Answer::taken);
}

}  // namespace
}  // namespace assay::decode::service
