// Two measured runs do not share a machine.
#include "suite/runner/machine_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/base/process.hpp"
#include "tests/base/processes.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::runner {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MachineLock, SecondHolderIsRefusedAndToldWhoTheFirstIs) {
    const assay::testing::TemporaryFolder folder;
    const auto file = folder / "lock";
    EXPECT_FALSE(MachineLock::holder(file));
    {
        const MachineLock lock(file, "assay run lazarus/x_live");
        EXPECT_EQ(MachineLock::holder(file),
                  "process " + std::to_string(::getpid()) + ": assay run lazarus/x_live");
        try {
            const MachineLock second(file, "another");
            FAIL() << "two holders";
        } catch (const UserError& error) {
            EXPECT_THAT(error.what(),
                        AllOf(HasSubstr("assay run lazarus/x_live"),
                              HasSubstr(std::to_string(::getpid())), HasSubstr("--no-lock")));
        }
    }
    EXPECT_FALSE(MachineLock::holder(file));
    const MachineLock again(file, "later");
}

TEST(MachineLock, IsWaitedForAndNoLongerThanAsked) {
    const assay::testing::TemporaryFolder folder;
    const auto file = folder / "lock";
    std::optional<MachineLock> first(std::in_place, file, "assay run lazarus/x_live");
    std::vector<double> waited;
    LockWait wait;
    wait.most_s = 0.3;
    wait.look_s = 0.1;
    wait.tell = [&](double waited_s, const std::string& holder) {
        EXPECT_THAT(holder, HasSubstr("assay run lazarus/x_live"));
        waited.push_back(waited_s);
        if (waited.size() == 5) first.reset();
    };
    EXPECT_THROW(MachineLock(file, "short of time", wait), UserError);
    EXPECT_EQ(waited.size(), 3u);
    wait.most_s = 60;
    const MachineLock second(file, "patient", wait);
    EXPECT_EQ(waited.size(), 5u);
    EXPECT_THAT(MachineLock::holder(file).value(), HasSubstr("patient"));
}

TEST(MachineLock, DiesWithItsProcess) {
    const assay::testing::TemporaryFolder folder;
    const auto file = folder / "lock";
    Process victim = Process::forked([&] {
        const MachineLock lock(file, "victim");
        while (true) ::pause();
        return 0;
    });
    ASSERT_TRUE(assay::testing::eventually([&] { return MachineLock::holder(file).has_value(); }));
    EXPECT_THROW(MachineLock(file, "too early"), UserError);
    victim.kill(SIGKILL);
    EXPECT_EQ(victim.wait().signal, SIGKILL);
    EXPECT_NO_THROW(MachineLock(file, "next"));
}

TEST(MachineLock, FolderThatIsNotThereIsASentence) {
    EXPECT_THROW(MachineLock("/nonexistent/lock", "x"), UserError);
}

}  // namespace
}  // namespace assay::runner
