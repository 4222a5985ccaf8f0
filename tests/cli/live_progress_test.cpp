// What a run tells while it goes on: samples that run at the same time are told apart.
#include "suite/cli/terminal/live_progress.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

json described(const std::string& sample, int seed) {
    return {{"experiment", "dummy/sum"},
            {"variant", "a"},
            {"case", {{"n", 3}}},
            {"scenario", ""},
            {"seed", seed},
            {"sample", sample}};
}

runner::Notice notice(std::string kind, json body, long done) {
    return {std::move(kind), std::move(body), done, 0, 2, 0, 0};
}

runner::Notice finished(const std::string& sample, int seed, const char* status, long done) {
    json body = described(sample, seed);
    body.update({{"status", status}, {"reason", "lost"}, {"seconds", 2.0}});
    return notice("sample_finished", std::move(body), done);
}

TEST(LiveProgress, NamesTheSampleThatEndedNotTheOneThatBeganLast) {
    testing::internal::CaptureStderr();
    {
        LiveProgress progress(0);
        progress.on(notice("sample_started", described("first", 1), 0));
        progress.on(notice("sample_started", described("second", 2), 0));
        progress.on(finished("first", 1, "failed", 1));
        progress.on(finished("second", 2, "ok", 2));
    }
    const std::string told = testing::internal::GetCapturedStderr();
    const auto failed = told.find("seed 1: failed"), ok = told.find("seed 2: ok");
    EXPECT_NE(failed, std::string::npos) << told;
    EXPECT_NE(ok, std::string::npos) << told;
}

TEST(LiveProgress, ShowsTheCaseOfWhichTheNewestCame) {
    testing::internal::CaptureStderr();
    {
        LiveProgress progress(200);
        progress.on(notice("sample_started", described("first", 1), 0));
        progress.on(notice("sample_started", described("second", 2), 0));
        progress.on(
            notice("progress", {{"sample", "first"}, {"fraction", 0.25}, {"what", "step 5"}}, 0));
    }
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("seed 1 | 25 % step 5"), std::string::npos) << told;
}

TEST(LiveProgress, SaysOfManyRowsHowManyAreWhich) {
    const auto told = [](int rows) {
        json contrasts = json::array();
        for (int i = 0; i < rows; ++i)
            contrasts.push_back({{"variant", "p"},
                                 {"metric", "m" + std::to_string(i)},
                                 {"verdict", i < 2 ? "same" : "slower"}});
        testing::internal::CaptureStderr();
        LiveProgress(0).on(notice("decided",
                                  {{"experiment", "dummy/sum"},
                                   {"case", {{"n", 3}}},
                                   {"rounds", 7},
                                   {"contrasts", contrasts}},
                                  0));
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(told(3), "dummy/sum n=3 after 7 rounds: p m0 same, p m1 same, p m2 slower\n");
    EXPECT_EQ(told(1000), "dummy/sum n=3 after 7 rounds: 1000 rows: 2 same, 998 slower\n");
}

}  // namespace
}  // namespace assay::cli
