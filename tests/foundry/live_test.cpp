// Savers and servers as processes on the fake driver: what is restored decodes what was captured,
// and what cannot be restored is said and captured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/live/damage.hpp"
#include "impls/foundry/live/live_schedule.hpp"
#include "suite/base/error.hpp"
#include "suite/base/file_descriptor.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
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
    course_.devices = {R"({"multiprocessors": 114})"};
    refused("sm_count differs");
    course_.devices = {R"({"driver_version": 12080})"};
    refused("driver differs");
    course_.devices = {R"({"reserve_elsewhere": 1})"};
    refused("is taken in this process");
    course_.devices = {};
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

TEST_F(FoundryLive, ServersTakeTheArchiveOfTheirGpuAndDriver) {
    const std::string h200 = archive().string(), h100 = (folder_ / "h100").string(),
                      older = (folder_ / "older").string();
    const std::map<std::string, std::string> types{
        {h200, "{}"},
        {h100, R"({"device_name": "another GPU", "multiprocessors": 114})"},
        {older, R"({"driver_version": 12080})"}};
    for (const auto& [file, device] : types) {
        course_.loader.archives = {file};
        course_.devices = {device};
        run(Mode::r3_eager, true);
    }
    course_.loader.archives = {h200, h100, older};
    for (const auto& [file, device] : types) {
        course_.devices = {device};
        const LiveOutcome outcome = run(Mode::r3_eager);
        EXPECT_THAT(outcome.troubles, IsEmpty()) << device;
        EXPECT_FALSE(outcome.makes.contains(Make::capture)) << device;
    }
    course_.loader.servers = 3;
    course_.devices = {types.at(h200), types.at(h100), types.at(older)};
    EXPECT_THAT(run(Mode::r1).troubles, IsEmpty());
    course_.loader.servers = 1;
    course_.loader.archives = {h200, older};
    course_.devices = {types.at(h100)};
    EXPECT_THAT(run(Mode::r1).troubles,
                ElementsAre(AllOf(HasSubstr(h200 + ": it was saved on another machine: gpu_chip"),
                                  HasSubstr(older + ": it was saved on another machine"))));
}

TEST_F(FoundryLive, WhatIsDamagedIsRefusedByNameAndCaptured) {
    const auto refused = [&](const std::string& fault, bool saves, const std::string& name) {
        course_.faults = parse_fault_plan(fault);
        const LiveOutcome outcome = run(Mode::r3_lazy, saves);
        EXPECT_EQ(outcome.faults_struck, 1) << fault;
        EXPECT_THAT(outcome.troubles, Contains(HasSubstr(name)));
        EXPECT_TRUE(outcome.makes.contains(Make::capture));
        EXPECT_FALSE(outcome.makes.contains(Make::build));
        EXPECT_EQ(broken_rule(course_, outcome, true), "");
        return outcome;
    };
    const LiveOutcome torn =
        refused("torn:role=saver,rank=0@step=0", true, archive().string() + "/");
    EXPECT_THAT(broken_rule(course_, torn, false), HasSubstr("is not whole"));
    fs::remove_all(archive());
    refused("disk_full:role=saver,rank=0@step=0", true, "no space");
    EXPECT_FALSE(fs::exists(archive()));
    // What the server reads is another file than what the saver wrote, which stays whole.
    ASSERT_EQ(make_live_engine(course_.engine)->save(archive().string()), "");
    course_.faults = parse_fault_plan("corrupt:role=server,rank=0,target=tensor@step=0");
    const LiveOutcome corrupt = run(Mode::r3_lazy);
    EXPECT_THAT(corrupt.troubles, ElementsAre(HasSubstr(archive().string() + ".of-")));
    EXPECT_FALSE(corrupt.makes.contains(Make::build));
    EXPECT_EQ(broken_rule(course_, corrupt, false), "");
}

TEST_F(FoundryLive, AnErrorOfTheGpuEndsItsProcessAlone) {
    for (const auto& [role, step] : {std::pair("saver", 0), {"server", 0}, {"server", 4}}) {
        fs::remove_all(archive());
        course_.faults =
            parse_fault_plan(fmt::format("gpu_error:role={},rank=0@step={}", role, step));
        recorder_ = {};
        const LiveOutcome outcome = run(Mode::r3_lazy, true);
        EXPECT_EQ(outcome.restarts, 1) << role;
        EXPECT_FALSE(outcome.makes.contains(Make::capture)) << role;
        std::vector<std::string> ends;
        for (const auto& event : recorder_.events)
            if (event.kind == "death") ends.push_back(event.detail.at("how"));
        EXPECT_THAT(ends, ElementsAre(HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE"))) << role;
    }
    course_.engine.driver = "libcuda-of-a-real-gpu.so";
    EXPECT_THROW(run_live(course_, recorder_), NotSupportedHere);
}

TEST_F(FoundryLive, WhereUpdatesEndInAHangLaterServersDoWithout) {
    run(Mode::r1, true);
    const auto later = [&](Mode mode, int update, const char* watchdog) {
        course_.devices = {
            fmt::format(R"({{"hang_at_update": {}, "watchdog": {}}})", update, watchdog)};
        const LiveOutcome outcome = run(mode);
        EXPECT_GT(outcome.restarts, 0);
        EXPECT_TRUE(outcome.makes.contains(mode == Mode::r1 ? Make::own : Make::capture));
        return outcome.troubles;
    };
    EXPECT_THAT(later(Mode::dedup, 1, "1"), ElementsAre("servers die behind updates"));
    EXPECT_THAT(later(Mode::dedup, 3, "1"), ElementsAre("servers die behind updates"));
    EXPECT_THAT(later(Mode::r1, 3, "1"), Contains("servers die behind updates"));
    course_.progress_s = 2;
    EXPECT_THAT(later(Mode::r1, 1, "0"), Contains("a worker hangs"));
    EXPECT_THAT(later(Mode::dedup, 3, "0"), Contains("a worker hangs"));
}

TEST_F(FoundryLive, NothingUnfinishedIsLeft) {
    const fs::path unfinished = folder_ / ".archive.assay-part";
    for (const bool saves : {true, false}) {
        fs::create_directories(unfinished / "images.bin");
        const LiveOutcome outcome = run(Mode::r1, saves);
        EXPECT_FALSE(fs::exists(unfinished));
        EXPECT_EQ(broken_rule(course_, outcome, false), "");
    }
}

TEST_F(FoundryLive, EachBrokenRuleIsSeen) {
    const LiveOutcome right = run(Mode::r3_lazy, true);
    EXPECT_EQ(broken_rule(course_, right, false), "");
    LiveOutcome wrong = right;
    wrong.ok = false;
    EXPECT_THAT(broken_rule(course_, wrong, false), HasSubstr("did not come to its end"));
    wrong = right;
    wrong.results[3] = 1;
    EXPECT_THAT(broken_rule(course_, wrong, false), HasSubstr("request 3 has other tokens"));
    wrong.results[3].reset();
    EXPECT_THAT(broken_rule(course_, wrong, false), HasSubstr("request 3"));
    fs::create_directories(folder_ / ".archive.assay-part");
    EXPECT_THAT(broken_rule(course_, right, false), HasSubstr("assay-part is left behind"));
    fs::remove_all(folder_ / ".archive.assay-part");
    flip_bit(archive() / "deltas.bin", 100, 3);
    EXPECT_THAT(broken_rule(course_, right, false), HasSubstr("archive is not whole"));
    EXPECT_THAT(broken_rule(course_, right, true), HasSubstr("graphs were restored"));
    wrong = right;
    wrong.makes = {{Make::capture, 3}};
    EXPECT_THAT(broken_rule(course_, wrong, true), HasSubstr("it was not said"));
    wrong.troubles = {archive().string() + "/deltas.bin: damaged"};
    EXPECT_EQ(broken_rule(course_, wrong, true), "");
}

TEST(FoundryLiveCampaign, TwentySchedulesServeEachRequestOnce) {
    std::map<std::string, long> counts;
    long struck = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const fs::path scratch =
            fs::path(testing::TempDir()) / fmt::format("foundry.{}.{}", ::getpid(), seed);
        fs::create_directories(scratch);
        const drive::SeedOutcome outcome = run_live_schedule(seed, scratch);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "\n" << outcome.says;
        for (const auto& [name, count] : outcome.counts) {
            counts[name] += count;
            if (name.starts_with("fault.")) struck += count;
        }
        fs::remove_all(scratch);
    }
    EXPECT_GT(struck, 3);
    EXPECT_GT(counts["refused"], 3);
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
    const std::map<std::string, std::int64_t> quirks{
        {"watchdog", 0},  // none
        {"bulk_edge_bug", 1},     {"update_penalty_ns", 100},  {"reserve_elsewhere", 1},
        {"lazy_loading", 1},      {"refuse_memset_resize", 1}, {"keep_preferred_cluster", 1},
        {"multiprocessors", 114}, {"driver_version", 12080},   {"memory_bytes", 16 << 20}};
    for (const auto& [mode, word] : names_of(Mode()))
        for (const auto& [quirk, value] : quirks) {
            if (mode == Mode::relocate) continue;  // ends its context
            fake_.reset();
            fake_.set(quirk, value);
            EXPECT_TRUE(lives(mode) || quirk == "memory_bytes") << word << " " << quirk;
            EXPECT_EQ(fake_.count("live"), 0) << word << " " << quirk;
            EXPECT_EQ(fake_.count("device bytes"), 0) << word << " " << quirk;
        }
}

TEST_F(FoundryEngine, WhicheverCallFailsTokensAreRightAndNothingIsLeft) {
    fake_.reset();
    ASSERT_EQ(make_live_engine(course_.engine)->save(archive().string()), "");
#define ASSAY_NAME(name) #name,
    constexpr const char* calls[] = {ASSAY_DRIVER_CALLS(ASSAY_NAME)};
#undef ASSAY_NAME
    int failed = 0, survived = 0;
    for (const auto& [mode, word] : names_of(Mode())) {
        if (mode == Mode::relocate) continue;
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
            const std::int64_t tried = mode == Mode::no_templates ? 40 : 3;
            for (std::int64_t nth = 1; nth <= count; nth += 1 + count / tried) {
                fake_.reset();
                fake_.fail(call, nth, CUDA_ERROR_OUT_OF_MEMORY);
                survived += lives(mode);
                ++failed;
                EXPECT_EQ(fake_.count("live"), 0) << word << " " << call << " " << nth;
            }
        }
    }
    EXPECT_GT(survived, failed / 2);
}

}  // namespace
}  // namespace assay::foundry
