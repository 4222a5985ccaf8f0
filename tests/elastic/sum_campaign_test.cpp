// The toy training in virtual time, under hundreds of seeded schedules: whoever is killed, frozen,
// asked to leave, or joins, the result is that of a training without faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "impls/elastic/drawn_times.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"
#include "tests/elastic/sum_training.hpp"

namespace assay::elastic {
namespace {

using testing::_;
using testing::Each;
using testing::Pair;

/// `faults` counts those that struck, and comings and goings, by kind.
SumTraining run_seed(std::uint64_t seed, std::map<std::string, long>& faults) {
    KeyedDice dice(seed);
    drive::EventQueue time;
    DrawnTimes times(dice, {});
    MemoryRecorder recorder;
    std::map<WorkerId, std::unique_ptr<SumMember>> members;
    const auto gather = [&](const SumMember&, const drive::Group& group, std::optional<Step> step) {
        std::vector<std::int64_t> given;
        for (const WorkerId worker : group.members)
            given.push_back(members.at(worker)->gives(step));
        return given;
    };
    const auto protocol = [&](drive::Worker& me) {
        members[me.id()] = std::make_unique<SumMember>(me.id(), gather);
        return member(me, *members[me.id()], {"regroup", "move"}, times);
    };
    const FaultPlan plan = random_fault_plan(
        {.workers = sum_settings().initial_workers, .steps = sum_settings().steps - 1, .faults = 3},
        seed, {{.name = "regroup"}, {.name = "move"}});
    drive::VirtualCluster cluster({{.name = {}, .protocol = protocol}}, time, times,
                                  {.faults = plan}, recorder);
    SumTraining training = train(cluster);
    for (const auto& event : recorder.events)
        if (event.kind == "fault") ++faults[event.detail.at("kind").get<std::string>()];
    return training;
}

TEST(ElasticSum, IsThatOfATrainingWithoutFaults) {
    std::map<std::string, long> faults;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        try {
            const SumTraining training = run_seed(seed, faults);
            EXPECT_THAT(training.sums, Each(Pair(_, expected_sum()))) << "seed " << seed;
            EXPECT_FALSE(training.sums.empty()) << "seed " << seed;
            EXPECT_FALSE(
                drive::first_difference(lazarus::Controller(sum_settings()), training.decisions))
                << "seed " << seed;
        } catch (const BrokenRule& broken) {
            ADD_FAILURE() << "seed " << seed << ": " << broken.why;
        }
    }
    for (const char* kind : {"kill", "hang", "stop", "join"}) EXPECT_GT(faults[kind], 20) << kind;
}

}  // namespace
}  // namespace assay::elastic
