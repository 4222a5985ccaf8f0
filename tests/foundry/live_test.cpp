// Savers and servers as processes on the fake driver: what is restored decodes what was captured,
// and what cannot be restored is said and captured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "impls/foundry/live/course.hpp"
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
        if (mode != Mode::relocate) EXPECT_THAT(outcome.troubles, IsEmpty()) << word;
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

}  // namespace
}  // namespace assay::foundry
