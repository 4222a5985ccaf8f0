// Savers and servers as processes on the fake driver: what is restored decodes what was captured,
// and what cannot be restored is said and captured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/live/course.hpp"
#include "impls/foundry/live/live_schedule.hpp"
#include "suite/base/file_descriptor.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class FoundryLive : public testing::Test {
  protected:
    FoundryLive() : folder_(fs::path(testing::TempDir()) / fmt::format("foundry.{}", ::getpid())) {
        fs::create_directories(folder_);
        course_.engine.driver = fake_driver().string();
        course_.engine.region.base = 0x2f0000000000;  // sanitizers have the default one themselves
        course_.engine.step.most_rows = 8;
        course_.engine.step.split_from = 5;
        course_.engine.step.programmatic_from = 3;
        course_.engine.batches = {1, 2, 3, 4, 5, 6, 7, 8};
        course_.loader.archives = {archive().string()};
        for (const std::size_t graph : {0, 1, 0, 4, 5, 7, 4, 2, 3, 6})
            course_.loader.requests.push_back(graph);
    }
    ~FoundryLive() override { fs::remove_all(folder_); }

    fs::path archive() const { return folder_ / "archive"; }
    LiveOutcome run(Mode mode, bool saves = false) {
        course_.loader.mode = mode;
        course_.saves = saves;
        LiveOutcome outcome = run_live(course_, recorder_);
        EXPECT_TRUE(outcome.ok) << outcome.why;
        for (std::size_t request = 0; request < outcome.results.size(); ++request)
            EXPECT_EQ(outcome.results[request],
                      reference_result(course_.engine, static_cast<int>(request),
                                       course_.engine.batches[course_.loader.requests[request]]))
                << to_string(mode) << " " << request;
        return outcome;
    }

    fs::path folder_;
    LiveCourse course_;
    MemoryRecorder recorder_;
};

TEST_F(FoundryLive, EachWayDecodesWhatTheReferenceDoes) {
    run(Mode::r1, true);
    for (const auto& [mode, word] : names_of(Mode())) {
        const LiveOutcome outcome = run(mode);
        const bool captures = mode == Mode::capture || mode == Mode::lazy_capture ||
                              mode == Mode::dedup || mode == Mode::relocate;
        if (mode != Mode::relocate) {
            EXPECT_THAT(outcome.troubles, IsEmpty()) << word;
        }
        EXPECT_EQ(outcome.makes.contains(Make::capture), captures) << word;
        EXPECT_EQ(outcome.makes.contains(Make::update), shares(mode)) << word;
    }
}

TEST_F(FoundryLive, WhatCannotBeRestoredIsSaidAndCaptured) {
    run(Mode::r3_lazy, true);
    const auto refused = [&](const std::string& words) {
        const LiveOutcome outcome = run(Mode::r3_lazy);
        EXPECT_THAT(outcome.troubles, Contains(HasSubstr(words)));
        EXPECT_TRUE(outcome.makes.contains(Make::capture));
    };
    course_.environment = {{"ASSAY_FAKE_DRIVER", R"({"multiprocessors": 114})"}};
    refused("sm_count differs");
    course_.environment = {{"ASSAY_FAKE_DRIVER", R"({"driver_version": 12080})"}};
    refused("driver differs");
    course_.environment = {{"ASSAY_FAKE_DRIVER", R"({"reserve_elsewhere": 1})"}};
    refused("is taken in this process");
    course_.environment = {};
    course_.engine.after_bytes = 1;
    refused("allocated otherwise than when it was saved");
    course_.engine.after_bytes = 0;
    course_.engine.batches = {8, 7, 6, 5, 4, 3, 2, 1};
    refused("its batch sizes are");
    course_.engine.batches = {1, 2, 3, 4, 5, 6, 7, 8};
    course_.engine.before_bytes = 3 << 20;  // start-up may differ
    EXPECT_THAT(run(Mode::r3_lazy).troubles, IsEmpty());
    std::fstream(archive() / "deltas.bin", std::ios::in | std::ios::out).seekp(100).put('x');
    refused("SHA-256");
    fs::remove_all(archive());
    refused("cannot be read: No such file or directory");
}

TEST(FoundryLiveCampaign, TwentySchedulesServeEachRequestOnce) {
    long struck = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const fs::path scratch =
            fs::path(testing::TempDir()) / fmt::format("foundry.{}.{}", ::getpid(), seed);
        fs::create_directories(scratch);
        const drive::SeedOutcome outcome = run_live_schedule(seed, scratch);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "\n" << outcome.says;
        if (outcome.counts.contains("fault.struck")) struck += outcome.counts.at("fault.struck");
        if (outcome.counts.contains("refused")) refused += outcome.counts.at("refused");
        fs::remove_all(scratch);
    }
    EXPECT_GT(struck, 3);
    EXPECT_GT(refused, 3);
}

/// An engine in this process, on a fake driver that is as new.
class FoundryEngine : public FoundryLive {
  protected:
    FoundryEngine() : driver_(open_driver(fake_driver())), fake_(*driver_) {
        course_.engine.batches = {1, 2, 5};
        course_.engine.step.layers = 1;
        course_.engine.region.size = std::uint64_t{4} << 30;
    }
    /// Every graph is served by the ways that are left when one fails, as a loader does. False: the
    /// engine ended, as its process would.
    bool serves(Engine& engine, Mode mode) {
        std::string why = engine.open({mode, {archive().string()}});
        for (int tries = 0; !why.empty() && tries < 3; ++tries)
            why = engine.open({mode = Mode::capture, {}});
        if (!why.empty()) return false;
        Executables executables(mode, engine.group_of());
        for (const auto& [graph, make] : executables.before_ready())
            engine.make({graph, make}).empty() ? executables.made(graph, make)
                                               : executables.failed(graph, make);
        for (const std::size_t graph : {0, 1, 2, 1, 0}) {
            for (;;) {
                const Make make = executables.next(graph);
                const bool is_made = make == Make::nothing || make == Make::plain ||
                                     engine.make({graph, make}).empty();
                const auto result =
                    is_made ? engine.decode(7, graph, make == Make::plain) : Engine::NoResult{};
                if (const auto* tokens = std::get_if<std::uint64_t>(&result)) {
                    executables.made(graph, make);
                    EXPECT_EQ(*tokens,
                              reference_result(course_.engine, 7, course_.engine.batches[graph]));
                    break;
                }
                if (make == Make::plain) return false;
                executables.failed(graph, make);
            }
        }
        return true;
    }
    /// The engine and all of its life; false where it ended early.
    bool lives(Mode mode) {
        try {
            const auto engine = make_live_engine(course_.engine);
            return serves(*engine, mode);
        } catch (const DriverError&) {
            return false;
        }
    }

    std::shared_ptr<const Driver> driver_;
    fake::FakeControl fake_;
};

TEST_F(FoundryEngine, LeavesNothingInTheDriver) {
    fake_.reset();
    ASSERT_EQ(make_live_engine(course_.engine)->save(archive().string()), "");
    EXPECT_EQ(fake_.count("live"), 0);
    for (const auto& [mode, word] : names_of(Mode())) {
        if (mode == Mode::relocate) continue;  // ends its context
        fake_.reset();
        EXPECT_TRUE(lives(mode)) << word;
        EXPECT_EQ(fake_.count("live"), 0) << word;
    }
}

TEST_F(FoundryEngine, WhicheverCallFailsTokensAreRightAndNothingIsLeft) {
    fake_.reset();
    ASSERT_EQ(make_live_engine(course_.engine)->save(archive().string()), "");
#define ASSAY_NAME(name) #name,
    constexpr const char* calls[] = {ASSAY_DRIVER_CALLS(ASSAY_NAME)};
#undef ASSAY_NAME
    int failed = 0, survived = 0;
    for (const Mode mode : {Mode::r1, Mode::r2, Mode::r3_eager, Mode::dedup}) {
        fake_.reset();
        ASSERT_TRUE(lives(mode));
        std::map<std::string, std::int64_t> counts;
        for (const char* call : calls) counts[call] = fake_.count(call);
        for (const auto& [call, count] : counts) {
            // What gives back cannot be done again.
            if (call.find("Destroy") != call.npos || call.find("Release") != call.npos ||
                call.find("Free") != call.npos || call.find("Unmap") != call.npos ||
                call.find("Unload") != call.npos)
                continue;
            for (const std::int64_t nth : {std::int64_t{1}, count / 2, count}) {
                if (nth < 1 || nth > count) continue;
                fake_.reset();
                fake_.fail(call, nth, CUDA_ERROR_OUT_OF_MEMORY);
                survived += lives(mode);
                ++failed;
                EXPECT_EQ(fake_.count("live"), 0) << to_string(mode) << " " << call << " " << nth;
            }
        }
    }
    EXPECT_GT(survived, failed / 2);
}

}  // namespace
}  // namespace assay::foundry
