// The in-process back end against the common conformance suite, and what only it promises.
#include "suite/cluster/collectives/in_process.hpp"
#include "tests/cluster/collectives/communicator_conformance.hpp"

namespace assay::cluster {
namespace {

class InProcessFactory {
  public:
    std::unique_ptr<Communicator> make(int rank, int size, milliseconds timeout) {
        std::call_once(once_, [&] { members_ = make_in_process_group(size, timeout); });
        return std::move(members_.at(rank));
    }

  private:
    std::once_flag once_;
    std::vector<std::unique_ptr<Communicator>> members_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(InProcess, CommunicatorConformance, InProcessFactory);

TEST(InProcess, DestroyingAMemberBreaksEveryoneWhoWaitsForIt) {
    auto members = make_in_process_group(4);
    std::atomic<int> broken{0};
    run_ranks(4, [&](int rank) {
        if (rank == 3) {
            members[3].reset();
            return;
        }
        float value = 0;
        EXPECT_THROW(members[rank]->all_reduce_sum(&value, 1, Dtype::f32), CommunicatorBroken);
        ++broken;
    });
    EXPECT_EQ(broken, 3);
}

TEST(InProcess, WhatAMemberSentBeforeItLeftStillArrives) {
    auto members = make_in_process_group(2);
    std::int64_t value = 7;
    members[0]->send(&value, 1, Dtype::i64, 1);
    members[0].reset();
    std::int64_t got = 0;
    members[1]->recv(&got, 1, Dtype::i64, 0);
    EXPECT_EQ(got, 7);
    EXPECT_THROW(members[1]->recv(&got, 1, Dtype::i64, 0), CommunicatorBroken);
}

TEST(InProcess, DifferentCollectivesAreNamed) {
    auto members = make_in_process_group(2);
    std::int64_t value = 7;
    members[0]->send(&value, 1, Dtype::i64, 1);
    try {
        members[1]->broadcast(&value, 1, Dtype::i64, 0);
        FAIL() << "a send was taken for a broadcast";
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("called send"), std::string::npos) << error.what();
    }
}

TEST(InProcess, AGroupNeedsARank) { EXPECT_THROW(make_in_process_group(0), std::invalid_argument); }

}  // namespace
}  // namespace assay::cluster
