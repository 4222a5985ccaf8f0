// Ids and times as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "suite/store/store.hpp"
#include "suite/store/timestamp.hpp"
#include "suite/store/uuid.hpp"

namespace assay::store {
namespace {

TEST(Uuid, IsVersionFourAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) {
        const auto id = new_uuid();
        ASSERT_THAT(id, testing::MatchesRegex(
                            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
        ASSERT_TRUE(seen.insert(id).second);
    }
}

TEST(Uuid, ParentAndChildDrawDifferentOnes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto id = new_uuid();
        _exit(write(ends[1], id.data(), id.size()) == 36 ? 0 : 1);
    }
    const auto ours = new_uuid();
    std::string theirs(36, ' ');
    EXPECT_EQ(read(ends[0], theirs.data(), 36), 36);
    waitpid(child, nullptr, 0);
    EXPECT_NE(ours, theirs);
    close(ends[0]);
    close(ends[1]);
}

TEST(Timestamp, IsUtcWithMilliseconds) {
    using namespace std::chrono;
    EXPECT_EQ(utc(system_clock::time_point(milliseconds(1795226584567))),
              "2026-11-21T02:03:04.567Z");
    EXPECT_EQ(utc(system_clock::time_point(milliseconds(5))), "1970-01-01T00:00:00.005Z");
    EXPECT_THAT(now_utc(), testing::MatchesRegex("20..-..-..T..:..:..[.]...Z"));
}

}  // namespace
}  // namespace assay::store
