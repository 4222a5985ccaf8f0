// Ranks that decode together: the collective, graphs patched to another rank against those that
// this rank captures, groups as processes on the fake driver, and how one ends and comes back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/live/course.hpp"
#include "impls/foundry/live/ranks/rank_course.hpp"
#include "impls/foundry/toy/device/rank_kernels.hpp"
#include "impls/foundry/toy/host_kernels.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;
using drive::From;
using drive::To;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- the collective

template <class Job>
void launch(const char* kernel, const Job& job, int rows) {
    std::ranges::find(toy::host_kernels(), std::string_view(kernel), &fake::HostKernel::name)
        ->run({.grid = {static_cast<std::uint32_t>(rows), 1, 1},
               .block = {32, 1, 1},
               .shared_bytes = 0,
               .params = std::as_bytes(std::span(&job, 1))});
}

/// Heaps and what attention gave of some ranks, shared with child processes.
struct Shared {
    static constexpr int ranks = 3, rows = 2, words = rows * 32;
    static constexpr std::uint64_t heap_words = 1024;
    std::uint64_t heaps[ranks][heap_words];
    std::uint64_t attended[ranks][words];
    int batch = rows;

    void share(int rank) {
        launch("toy_share",
               toy::ShareJob{.own = heaps[rank],
                             .attended = attended[rank],
                             .batch = &batch,
                             .rank = rank,
                             .ranks = ranks,
                             .most_rows = rows,
                             .unused = 0},
               rows);
    }
    void sum(int rank) {
        launch("toy_sum",
               toy::SumJob{.own = heaps[rank],
                           .first = heaps[0],
                           .stride = sizeof heaps[0],
                           .attended = attended[rank],
                           .batch = &batch,
                           .ranks = ranks,
                           .most_rows = rows},
               rows);
    }
};

// Ranks 1 and 2 come late, each in its turn in another round: rank 0 waits for both, and a rank
// that is a round ahead has not written over what another still adds.
TEST(RankKernels, AddTheSharesOfRanksThatComeLate) {
    void* const memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    Shared& shared = *new (memory) Shared{};
    constexpr int rounds = 6;
    const auto value = [](int round, int word) {
        return static_cast<std::uint64_t>(round * 1000 + word + 1);
    };
    const auto works = [&](int rank) {
        bool right = true;  // one that is wrong goes on: others wait for it
        for (int round = 0; round < rounds; ++round) {
            for (int word = 0; word < Shared::words; ++word)
                shared.attended[rank][word] = value(round, word);
            if (round % Shared::ranks == rank)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            shared.share(rank);
            if ((round + 1) % Shared::ranks == rank)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            shared.sum(rank);
            for (int word = 0; word < Shared::words; ++word)
                right = right && shared.attended[rank][word] == value(round, word);
        }
        return right;
    };
    std::vector<pid_t> others;
    for (int rank = 1; rank < Shared::ranks; ++rank) {
        others.push_back(::fork());
        if (others.back() == 0) ::_exit(works(rank) ? 0 : 1);
    }
    EXPECT_TRUE(works(0));
    for (const pid_t other : others) {
        int status = 0;
        ASSERT_EQ(::waitpid(other, &status, 0), other);
        EXPECT_EQ(status, 0);
    }
    ::munmap(memory, sizeof(Shared));
}

// ---- the policy, without processes

struct Told {
    explicit Told(RankGroupSettings settings) : group(std::move(settings)) {}
    template <class Event>
    std::vector<RankGroup::Action> operator()(const Event& event) {
        std::vector<RankGroup::Action> actions;
        group.on(event, now_s += 1, actions);
        return actions;
    }
    std::vector<RankGroup::Action> joined(int worker, const std::string& instance) {
        return (*this)(drive::Joined{.worker = worker, .role = "server", .instance = instance});
    }
    /// Both ranks of a group come and can serve; what is asked of them then.
    std::vector<RankGroup::Action> ready(int first_worker, int number) {
        for (int rank = 0; rank < 2; ++rank)
            opened_with = joined(first_worker + rank, to_string(RankName{number, rank, 2}));
        for (int rank = 0; rank < 2; ++rank) (*this)(From<Opened>{first_worker + rank, {{0, 0}}});
        (*this)(From<Ready>{first_worker, {}});
        return (*this)(From<Ready>{first_worker + 1, {}});
    }
    RankGroup group;
    double now_s = 0;
    std::vector<RankGroup::Action> opened_with;
};
template <class Action>
std::vector<Action> those(const std::vector<RankGroup::Action>& actions) {
    std::vector<Action> found;
    for (const auto& action : actions)
        if (const auto* one = std::get_if<Action>(&action)) found.push_back(*one);
    return found;
}
RankGroupSettings two_ranks(std::vector<std::size_t> requests) {
    return {.mode = Mode::r1,
            .stages = {{.ranks = 2, .requests = requests.size(), .archives = {"a"}}},
            .requests = std::move(requests)};
}

TEST(RankGroup, CountsAnAnswerOnceAllRanksGiveTheSame) {
    Told told(two_ranks({0, 1}));
    EXPECT_THAT(told.group.first(),
                ElementsAre(drive::Spawn{"server", "0.0.2"}, drive::Spawn{"server", "0.1.2"}));
    EXPECT_THAT(
        those<To<Serve>>(told.ready(7, 0)),
        ElementsAre(To<Serve>{7, {0, 0, Make::nothing}}, To<Serve>{8, {0, 0, Make::nothing}}));
    EXPECT_THAT(those<To<Open>>(told.opened_with), ElementsAre(To<Open>{8, {Mode::r1, {"a"}}}));
    EXPECT_THAT(told(From<Served>{8, {0, 5}}), IsEmpty());
    EXPECT_THAT(
        those<To<Serve>>(told(From<Served>{7, {0, 5}})),
        ElementsAre(To<Serve>{7, {1, 1, Make::update}}, To<Serve>{8, {1, 1, Make::update}}));
    told(From<Served>{7, {1, 6}});
    EXPECT_THAT(told(From<Served>{8, {1, 6}}),
                ElementsAre(RankGroup::Action(drive::Stop{true, "all are served"})));
    EXPECT_EQ(told.group.result(0), 5U);
    EXPECT_EQ(told.group.result(1), 6U);
}

TEST(RankGroup, IsMadeAnewAndCapturesWhereRanksDisagreeFailOrRefuse) {
    const auto after = [](auto event) {
        Told told(two_ranks({0}));
        told.ready(0, 0);
        told(From<Served>{0, {0, 5}});
        const auto actions = told(event);
        EXPECT_THAT(those<drive::Evict>(actions), SizeIs(2));
        EXPECT_THAT(those<drive::Spawn>(actions),
                    ElementsAre(drive::Spawn{"server", "1.0.2"}, drive::Spawn{"server", "1.1.2"}));
        EXPECT_FALSE(told.group.result(0)) << "half of an answer is none";
        EXPECT_THAT(told(drive::Died{0}), IsEmpty()) << "it was ended";
        EXPECT_THAT(those<To<Serve>>(told.ready(2, 1)), SizeIs(2));
        EXPECT_THAT(those<To<Open>>(told.opened_with),
                    ElementsAre(To<Open>{3, {Mode::capture, {}}}));
        EXPECT_THAT(told.group.troubles(), SizeIs(1));
    };
    after(From<Served>{1, {0, 6}});
    after(From<Failed>{1, {0, 0, Make::nothing, "no memory"}});
    after(From<Refused>{1, {"another GPU"}});
}

TEST(RankGroup, CapturesOnceTwoGroupsAreLostBeforeTheyServed) {
    Told told(two_ranks({0}));
    told.joined(0, "0.0.2");
    EXPECT_THAT(those<drive::Spawn>(told(drive::Died{1})), SizeIs(2)) << "before it had joined";
    EXPECT_THAT(told.joined(2, "0.1.2"),
                ElementsAre(RankGroup::Action(drive::Evict{2, "its group is gone"})));
    told.ready(3, 1);
    EXPECT_EQ(those<To<Open>>(told.opened_with).front().message.mode, Mode::r1);
    EXPECT_THAT(those<drive::Evict>(told(drive::Stalled{4})), SizeIs(2));
    told.ready(5, 2);
    EXPECT_EQ(those<To<Open>>(told.opened_with).front().message.mode, Mode::capture);
    EXPECT_EQ(told.group.restarts(), 2);
}

TEST(RankGroup, EndsWhereGroupsAreLostAgainAndAgain) {
    RankGroupSettings settings = two_ranks({0});
    settings.restarts = 0;
    Told told(std::move(settings));
    told.joined(0, "0.0.2");
    const auto stops = those<drive::Stop>(told(drive::Died{0}));
    ASSERT_THAT(stops, SizeIs(1));
    EXPECT_FALSE(stops.front().ok);
}

TEST(RankGroup, RefusesStagesAndNamesThatCannotBe) {
    EXPECT_THROW(RankGroup({.mode = {}, .stages = {}, .requests = {}}), std::logic_error);
    EXPECT_THROW(RankGroup({.mode = {}, .stages = {{2, 1, {}}}, .requests = {0, 0}}),
                 std::logic_error);
    EXPECT_EQ(rank_name("3.1.4"), (RankName{3, 1, 4}));
    for (const char* const name : {"", "3.1", "3.1.4 ", "a"})
        EXPECT_THROW(rank_name(name), std::logic_error) << name;
}

// ---- processes

class Ranks : public ::testing::Test {
  protected:
    Ranks() {
        course_.engine.driver = fake_driver().string();
        course_.engine.region.base = 0x2f0000000000;  // sanitizers have the default one themselves
        course_.engine.step.most_rows = 4;
        course_.engine.step.split_from = 3;
        course_.engine.batches = {1, 2, 3, 4};
        course_.group.mode = Mode::r1;
    }
    fs::path archive(int ranks) {
        fs::path path = folder_ / std::to_string(ranks);
        EXPECT_EQ(save_rank(course_.engine, 0, ranks, path), "");
        return path;
    }
    /// A stage that serves each graph twice.
    void serve(int ranks, std::vector<std::string> archives = {}) {
        course_.group.stages.push_back({ranks, 8, std::move(archives)});
        for (const std::size_t graph : {0, 1, 1, 0, 3, 2, 2, 3})
            course_.group.requests.push_back(graph);
    }
    RankOutcome run() {
        course_.sockets = folder_ / fmt::format("sockets{}", runs_++);
        const RankOutcome outcome = run_ranks(course_, recorder_);
        EXPECT_TRUE(outcome.ok) << outcome.why;
        for (std::size_t request = 0; request < outcome.results.size(); ++request)
            EXPECT_EQ(outcome.results[request],
                      reference_result(course_.engine, static_cast<int>(request),
                                       course_.engine.batches[course_.group.requests[request]]))
                << request;
        return outcome;
    }

    testing::TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    RankCourse course_;
    MemoryRecorder recorder_;
    int runs_ = 0;
};

TEST_F(Ranks, PatchedGraphsAreThoseThatTheRankCaptures) {
    for (const int ranks : {2, 3, 8}) {
        const Archive of_first(archive(ranks));
        ASSERT_TRUE(of_first.manifest().ranks);
        EXPECT_THAT(of_first.manifest().golden, IsEmpty());
        for (int rank = 0; rank < ranks; ++rank) {
            const fs::path path = folder_ / fmt::format("{}.{}", ranks, rank);
            ASSERT_EQ(save_rank(course_.engine, rank, ranks, path), "");
            const Archive own(path);
            ASSERT_EQ(own.graphs().size(), of_first.graphs().size());
            for (std::size_t graph = 0; graph < own.graphs().size(); ++graph) {
                Graph patched = of_first.graphs().graph(graph);
                // In each layer a rank's number and two addresses, of which one half changes.
                EXPECT_EQ(patch_rank(patched, *of_first.manifest().ranks, rank, ranks),
                          rank == 0 ? 0U : 3U * 2U);
                EXPECT_EQ(patched, own.graphs().graph(graph)) << rank << " of " << ranks;
                patch_rank(patched, *own.manifest().ranks, 0, ranks);
                EXPECT_EQ(patched, of_first.graphs().graph(graph)) << "and back";
            }
        }
    }
}

// Of the communicator, and of what lies around it.
TEST_F(Ranks, LeaveNothingInTheDriverWhicheverCallFails) {
    const auto driver = open_driver(fake_driver());
    const fake::FakeControl control(*driver);
    course_.engine.batches = {1};
    const auto save = [&](const std::string& name) {
        try {
            return save_rank(course_.engine, 1, 2, folder_ / name);
        } catch (const DriverError& error) {
            return std::string(error.what());
        }
    };
    for (const char* const call : {"cuMemAddressReserve", "cuMemCreate", "cuMemMap",
                                   "cuMemSetAccess", "cuMemsetD8Async", "cuCtxSynchronize"}) {
        control.reset();
        EXPECT_EQ(save(call), "");
        EXPECT_EQ(control.count("live"), 0);
        const std::int64_t count = control.count(call);
        EXPECT_GE(count, 1);
        for (std::int64_t nth = 1; nth <= count; ++nth) {
            control.reset();
            control.fail(call, nth, CUDA_ERROR_OUT_OF_MEMORY);
            EXPECT_NE(save("none"), "") << call << nth;
            EXPECT_EQ(control.count("live"), 0) << call << nth;
        }
    }
    control.reset();
    control.set("reserve_elsewhere");
    EXPECT_THAT(save("none"), HasSubstr("is taken in this process"));
    control.reset();
}

TEST_F(Ranks, DecodeWhatOneProcessDoes) {
    for (const int ranks : {1, 2, 4}) serve(ranks, {archive(ranks).string()});
    const RankOutcome outcome = run();
    EXPECT_THAT(outcome.troubles, IsEmpty());
    ASSERT_THAT(outcome.groups, SizeIs(3));
    for (const GroupCourse& group : outcome.groups) {
        EXPECT_EQ(group.served, 8U);
        EXPECT_LE(group.joined_s, group.ready_s);
        EXPECT_LT(group.ready_s, group.first_s);
        EXPECT_LT(group.first_s, group.last_s);
    }
    EXPECT_LT(outcome.groups[0].last_s, outcome.groups[1].joined_s) << "one after the other";
}

TEST_F(Ranks, DecodeTheSameCapturedAndWithAnArchiveOfEach) {
    course_.group.mode = Mode::capture;
    serve(2);
    EXPECT_THAT(run().troubles, IsEmpty());
    course_.group = {.mode = Mode::r3_lazy, .stages = {}, .requests = {}};
    std::vector<std::string> own;
    for (const int rank : {0, 1}) {
        own.push_back((folder_ / fmt::format("own{}", rank)).string());
        ASSERT_EQ(save_rank(course_.engine, rank, 2, own.back()), "");
    }
    serve(2, own);
    EXPECT_THAT(run().troubles, IsEmpty());
}

TEST_F(Ranks, OfOtherArchivesRefuseThemAndCapture) {
    serve(2, {archive(3).string()});
    EXPECT_THAT(run().troubles, Contains(HasSubstr("of 3 ranks, this server's of 2")));
    course_.group.stages = {{2, 8, {archive(1).string()}}};
    EXPECT_THAT(run().troubles, Contains(HasSubstr("of 1 rank, this server's of 2")));
    const std::string other = (folder_ / "elsewhere").string();
    EngineSettings moved = course_.engine;
    moved.region.size /= 2;
    ASSERT_EQ(save_rank(moved, 0, 2, other), "");
    course_.group.stages = {{2, 8, {other}}};
    EXPECT_THAT(run().troubles, Contains(HasSubstr("heaps lie elsewhere")));
}

TEST_F(Ranks, AreMadeAnewWhereOneIsLost) {
    serve(2, {archive(2).string()});
    course_.progress_s = 1;
    for (const char* const fault :
         {"kill:role=server,rank=1@step=3", "kill:role=server,rank=0,phase=prepare@step=0",
          "hang:role=server,rank=0@step=2"}) {
        course_.faults.faults = {parse_fault(fault, fault_phases())};
        const RankOutcome outcome = run();
        EXPECT_EQ(outcome.faults_struck, 1) << fault;
        EXPECT_EQ(outcome.restarts, 1) << fault;
        EXPECT_THAT(outcome.troubles, ElementsAre(HasSubstr("a rank "))) << fault;
        std::size_t served = 0;
        for (const GroupCourse& group : outcome.groups) served += group.served;
        EXPECT_EQ(served, course_.group.requests.size()) << fault << ": each request once";
    }
}

}  // namespace
}  // namespace assay::foundry
