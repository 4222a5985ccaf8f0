// The toy training on three clocks, with a member killed on the way: in virtual time, and in
// processes of their own, which really exchange what they add up. On all three the result is that
// of a training without faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"
#include "tests/elastic/sum_training.hpp"

namespace assay::elastic {
namespace {

using testing::_;
using testing::Each;
using testing::Pair;

class SteadyTimes final : public Times {
    double connecting(WorkerId, const Plan&) override { return 0.5; }
    double moving(WorkerId, const Plan&) override { return 1; }
    double computing(WorkerId, const Plan&, Step) override { return 2; }
    double summing(WorkerId, const Plan&, Step) override { return 0.5; }
};

const FaultPlan& faults() {
    static const FaultPlan plan = parse_fault_plan("kill:rank=1@step=3; join:count=1@step=4");
    return plan;
}

/// Where members share memory.
SumMember::Gather by_asking(std::map<WorkerId, std::unique_ptr<SumMember>>& members) {
    return [&](const SumMember&, const drive::Group& group, std::optional<Step> step) {
        std::vector<std::int64_t> given;
        for (const WorkerId worker : group.members)
            given.push_back(members.at(worker)->gives(step));
        return given;
    };
}

/// Where they are processes.
struct Rendezvous {
    std::uint16_t port = 0;
};
ASSAY_FIELDS(Rendezvous, port)
constexpr cluster::Seconds patience{10};

SumMember::Gather over_gloo(WorkerId self, std::uint16_t port) {
    const auto groups = std::make_shared<cluster::WorkerGroups>(
        self, cluster::gloo_groups(port, patience), patience,
        std::make_shared<cluster::LinkFaults>(self, 0));
    const auto made =
        std::make_shared<std::map<std::string, std::unique_ptr<cluster::Communicator>>>();
    return [=](const SumMember& me, const drive::Group& group, std::optional<Step> step) {
        const auto key = std::to_string(group.number) + (step ? "/ranks" : "/members");
        auto& communicator = (*made)[key];
        if (!communicator) communicator = groups->connect(key, group.members);
        const std::int64_t mine = me.gives(step);
        std::vector<std::int64_t> given(group.members.size());
        communicator->all_gather(&mine, 1, given.data(), cluster::Dtype::i64);
        return given;
    };
}

SumTraining in_virtual_time() {
    SteadyTimes times;
    drive::EventQueue time;
    drive::ConstantLatencies latencies(0, 1);
    MemoryRecorder recorder;
    std::map<WorkerId, std::unique_ptr<SumMember>> members;
    const auto protocol = [&](drive::Worker& me) {
        members[me.id()] = std::make_unique<SumMember>(me.id(), by_asking(members));
        return member(me, *members[me.id()], {"regroup", "move"}, times);
    };
    drive::VirtualCluster driver({{.name = {}, .protocol = protocol}}, time, latencies,
                                 {.faults = faults()}, recorder);
    return train(driver);
}

SumTraining across_processes(drive::Pace pace) {
    SteadyTimes times;
    MemoryRecorder recorder;
    std::unique_ptr<SumMember> mine;
    std::unique_ptr<cluster::RendezvousServer> rendezvous;
    const auto protocol = [&](drive::Worker& me) {
        const auto port = me.configuration<Rendezvous>().port;
        mine = std::make_unique<SumMember>(me.id(), over_gloo(me.id(), port));
        return member(me, *mine, {"regroup", "move"}, times);
    };
    const auto configure = [&](const drive::Spawn&) {
        return drive::to_json(Rendezvous{rendezvous->port()});
    };
    drive::ProcessOptions options;
    options.faults = faults();
    options.pace = pace;
    options.speed = 20;
    options.detect_s = 1;
    drive::ProcessDriver driver({{.name = {}, .protocol = protocol, .configure = configure}},
                                options, recorder);
    rendezvous = std::make_unique<cluster::RendezvousServer>();  // a thread: after the fork server
    return train(driver);
}

void expect_sum(const SumTraining& training) {
    EXPECT_THAT(training.sums, Each(Pair(_, expected_sum())));
    EXPECT_FALSE(training.sums.empty());
    EXPECT_FALSE(training.sums.contains(1)) << "it was killed";
    EXPECT_FALSE(drive::first_difference(lazarus::Controller(sum_settings()), training.decisions));
}

TEST(ElasticSum, IsRightInVirtualTime) { expect_sum(in_virtual_time()); }
TEST(ElasticSum, IsRightInPacedTime) { expect_sum(across_processes(drive::Pace::steady)); }
TEST(ElasticSum, IsRightInRealTime) { expect_sum(across_processes(drive::Pace::real)); }

}  // namespace
}  // namespace assay::elastic
