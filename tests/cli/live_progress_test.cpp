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

}  // namespace
}  // namespace assay::cli
