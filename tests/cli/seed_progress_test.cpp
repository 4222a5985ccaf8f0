// How far a campaign has come: how often that is told, and in which words.
#include <gtest/gtest.h>

#include "suite/cli/terminal/seed_progress.hpp"

namespace assay::cli {
namespace {

std::string shown(int width, double every_s, int times) {
    testing::internal::CaptureStderr();
    {
        SeedProgress progress(width);
        for (int i = 1; i <= times; ++i)
            progress.on({.what = "virtual ds",
                         .done = static_cast<std::uint64_t>(i),
                         .all = 100,
                         .failed = 2,
                         .taken_s = i * every_s});
    }
    return testing::internal::GetCapturedStderr();
}

TEST(SeedProgress, SaysHowLongItWillTake) {
    const SeedProgress::State state{
        .what = "virtual ds", .done = 4000, .all = 10'000, .failed = 1, .taken_s = 8};
    EXPECT_EQ(SeedProgress::line(state), "[4000/10000, 1 failed, 12 s left] virtual ds");
    EXPECT_EQ(SeedProgress::line({.what = "live", .done = 0, .all = 20, .failed = 0, .taken_s = 3}),
              "[0/20, 0 failed] live");
}

TEST(SeedProgress, IsALineNowAndThenWhereNobodyWatches) {
    EXPECT_EQ(shown(0, 3, 9),  // 27 s
              "[4/100, 2 failed, 5 min left] virtual ds\n"
              "[8/100, 2 failed, 5 min left] virtual ds\n");
    EXPECT_EQ(shown(0, 0.01, 100), "") << "over in a second";
}

TEST(SeedProgress, IsWrittenOverOnATerminalAndKeepsToItsColumns) {
    const std::string text = shown(24, 0.2, 2);
    EXPECT_EQ(text, "\r\x1b[K[1/100, 2 failed, 20 s \r\x1b[K[2/100, 2 failed, 20 s \r\x1b[K");
}

}  // namespace
}  // namespace assay::cli
