// Seeded schedules of faults on the loader, in virtual time; and that mistakes made on purpose are
// found.
#include <gtest/gtest.h>

#include <map>

#include "impls/foundry/campaign/virtual_schedule.hpp"
#include "impls/foundry/method/loader/loader.hpp"

namespace assay::foundry {
namespace {

TEST(FoundryCampaign, EachRequestIsServedOnceWithACapturesResult) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const drive::SeedOutcome outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "\n" << outcome.says;
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    // What the schedules are there for did happen.
    for (const char* happened :
         {"restarts", "fault.kill", "fault.hang", "fault.slow", "fault.corrupt", "fault.torn",
          "fault.disk_full", "fault.gpu_error", "refused", "unfit", "update", "own", "build",
          "capture", "plain", "nothing"})
        EXPECT_GT(counts[happened], 10) << happened;
}

TEST(FoundryCampaign, AWorkerThatEndsBeforeItJoinsIsReplaced) {
    Loader loader({.mode = Mode::r1, .archives = {"archive"}, .requests = {0}});
    const auto spawned = [&](const Loader::Event& event) {
        std::vector<Loader::Action> actions;
        loader.on(event, 0, actions);
        std::string roles;
        for (const Loader::Action& action : actions)
            if (const auto* spawn = std::get_if<drive::Spawn>(&action)) roles += spawn->role;
        return roles;
    };
    EXPECT_EQ(spawned(drive::Joined{.worker = 0, .role = "saver"}), "");
    EXPECT_EQ(spawned(drive::Died{0}), "saver");
    EXPECT_EQ(spawned(drive::Died{1}), "saver");
    EXPECT_EQ(spawned(drive::Joined{.worker = 2, .role = "saver"}), "");
    EXPECT_EQ(spawned(drive::From<Saved>{2, {}}), "server");
    EXPECT_EQ(spawned(drive::Died{2}), "");  // it has done its work
    EXPECT_EQ(spawned(drive::Died{3}), "server");
    EXPECT_EQ(spawned(drive::Joined{.worker = 4, .role = "server"}), "");
    EXPECT_EQ(spawned(drive::Stalled{4}), "server");
    EXPECT_EQ(spawned(drive::Died{4}), "");  // evicted, and replaced then
    EXPECT_EQ(spawned(drive::Died{5}), "server");
}

TEST(FoundryCampaign, TheSameSeedIsTheSameCourse) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed), run_virtual_schedule(seed)) << seed;
}

TEST(FoundryCampaign, MistakesAreFound) {
    for (const auto& [misdeed, word] : names_of(Misdeed())) {
        if (misdeed == Misdeed::none) continue;
        long found = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            found += !run_virtual_schedule(seed, misdeed).ok;
        EXPECT_GT(found, 3) << word;
    }
}

}  // namespace
}  // namespace assay::foundry
