// The NCCL back end over the stand-in: the conformance suite with each kind of NCCL there is, and
// what only it promises.
#include "suite/cluster/nccl/nccl.hpp"

#include <mutex>

#include "suite/base/error.hpp"
#include "suite/cluster/nccl/packing.hpp"
#include "tests/cluster/collectives/communicator_conformance.hpp"
#include "tests/cluster/nccl/fake.hpp"

namespace assay::cluster {
namespace {

constexpr char right[] = FAKE_NCCL_RIGHT, no_shrink[] = FAKE_NCCL_NO_SHRINK;

template <const char* file>
class NcclFactory {
  public:
    NcclFactory() : rendezvous_(make_local_rendezvous()) {}
    ~NcclFactory() { fake_.expect_clean(); }
    std::unique_ptr<Communicator> make(int rank, int size, milliseconds timeout) {
        NcclContext context(rendezvous_, {.timeout = timeout}, fake_.parts);
        return context.make_group("group", rank, size);
    }

  private:
    FakeNccl fake_{file};
    std::shared_ptr<Rendezvous> rendezvous_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Nccl, CommunicatorConformance, NcclFactory<right>);
INSTANTIATE_TYPED_TEST_SUITE_P(NcclWithoutShrink, CommunicatorConformance, NcclFactory<no_shrink>);

/// A group of threads, each with a context of its own.
class Nccl : public testing::Test {
  protected:
    using Body = std::function<void(DeviceCommunicator&, NcclContext&)>;
    void run(int size, const Body& body, milliseconds timeout = milliseconds(20000)) {
        run_ranks(size, [&](int rank) {
            NcclContext context(rendezvous, {.timeout = timeout}, fake.parts);
            const auto group = context.make_device_group("group", rank, size);
            body(*group, context);
        });
        fake.expect_clean();
    }
    template <class Call>
    static std::string why_broken(const Call& call) {
        try {
            call();
        } catch (const CommunicatorBroken& broken) {
            return broken.what();
        }
        return "it is not";
    }

    FakeNccl fake;
    std::shared_ptr<Rendezvous> rendezvous = make_local_rendezvous();
};

TEST_F(Nccl, EveryOperationLeavesThroughNcclEvenOfOneRank) {
    run(1, [&](DeviceCommunicator& comm, NcclContext&) {
        std::int64_t value = 5, copy = 0;
        const std::vector<std::int64_t> one{1};
        comm.all_to_all_v(&value, one, &copy, one, Dtype::i64);
        EXPECT_EQ(copy, 5);
        comm.all_reduce_sum(&value, 1, Dtype::i64);
        comm.all_gather(&value, 1, &copy, Dtype::i64);
        comm.broadcast(&value, 1, Dtype::i64, 0);
        comm.barrier();
        EXPECT_EQ(value, 5);
    });
    EXPECT_EQ(fake.count("launches"), 5);
    EXPECT_EQ(fake.count("ncclCommFinalize"), 1);
    EXPECT_EQ(fake.count("ncclCommDestroy"), 1);
    EXPECT_EQ(fake.count("ncclCommAbort"), 0);
}

TEST_F(Nccl, DeferredOperationsKeepTheirOrderAndEndWithWait) {
    run(2, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.set_deferred(true);
        std::vector<std::int64_t> sums(50, 1), gathered(100);
        for (int round = 0; round < 6; ++round)
            comm.all_reduce_sum(sums.data(), sums.size(), Dtype::i64);
        comm.all_gather(sums.data(), sums.size(), gathered.data(), Dtype::i64);
        comm.wait();
        EXPECT_EQ(gathered, std::vector<std::int64_t>(100, 64));
    });
}

TEST_F(Nccl, MessagesAreNotCopiedBehindWhatMayHangThoughCallsAreDeferred) {
    run(2, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.set_deferred(true);
        std::vector<std::int64_t> sums(1 << 16, 1);
        comm.all_reduce_sum(sums.data(), sums.size(), Dtype::i64);
        const std::vector<std::byte> large(1 << 20, std::byte(comm.rank()));
        const auto arrived = comm.exchange_messages(std::vector<Message>(2, Message{large}));
        ASSERT_EQ(arrived[1].size(), large.size());
        EXPECT_EQ(arrived[1].back(), std::byte(1));
        EXPECT_EQ(sums.back(), 2);
    });
    EXPECT_EQ(fake.count("copies of the host's memory that may wait"), 0);
}

TEST_F(Nccl, TheCallersStreamIsUsedAndStays) {
    void* stream = nullptr;
    fake.parts.cuda->stream_create(&stream, 1);
    {
        NcclContext context(rendezvous, {.stream = stream}, fake.parts);
        const auto group = context.make_device_group("own", 0, 1);
        EXPECT_EQ(group->stream(), stream);
        group->barrier();
    }
    EXPECT_EQ(fake.count("streams"), 1);
    fake.parts.cuda->stream_destroy(stream);
}

TEST_F(Nccl, SmallBuffersArePackedOnTheDevice) {
    run(3, [&](DeviceCommunicator& comm, NcclContext&) {
        const std::size_t large = nccl::largest_packed_bytes / sizeof(float) + 1;
        std::vector<std::vector<float>> data{std::vector<float>(7, 1.0f),
                                             {},
                                             std::vector<float>(large, 2.0f),
                                             std::vector<float>(130, 3.0f)};
        std::vector<DeviceBuffer> buffers;
        for (auto& buffer : data) buffers.push_back({buffer.data(), buffer.size()});
        for (int round = 0; round < 2; ++round) comm.all_reduce_sum_each(buffers, Dtype::f32);
        EXPECT_EQ(data[0], std::vector<float>(7, 9.0f));
        EXPECT_EQ(data[2], std::vector<float>(large, 18.0f));
        EXPECT_EQ(data[3], std::vector<float>(130, 27.0f));
    });
    EXPECT_EQ(fake.count("launches"), 3 * 2);
    EXPECT_EQ(fake.count("copies"), 3 * 2 * 4);
}

TEST(NcclPacking, AlignsPiecesAndLeavesLargeAndSingleOnesAlone) {
    using nccl::plan_packing;
    EXPECT_EQ(plan_packing(std::vector<std::size_t>{20, 0, 4, 1}).pieces,
              (std::vector<nccl::Piece>{{0, 0}, {2, 32}, {3, 48}}));
    EXPECT_EQ(plan_packing(std::vector<std::size_t>{20, 0, 4, 1}).bytes, 49u);
    const auto one = plan_packing(std::vector<std::size_t>{2 << 20, 8});
    EXPECT_EQ(one.alone, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(one.bytes, 0u);
    const auto many = plan_packing(std::vector<std::size_t>(40, nccl::largest_packed_bytes));
    EXPECT_EQ(many.pieces.size(), 32u);
    EXPECT_EQ(many.alone.size(), 8u);
}

// Failures.

TEST_F(Nccl, AHangingOperationIsAbortedInTimeAndWritesNoMore) {
    run(
        2,
        [&](DeviceCommunicator& comm, NcclContext&) {
            comm.barrier();
            if (comm.rank() == 1) return;
            fake.set("hang", 1);
            const std::string why = why_broken([&] { comm.barrier(); });
            EXPECT_NE(why.find("barrier: not finished within 300 ms"), std::string::npos) << why;
            EXPECT_EQ(fake.parts.cuda->stream_query(comm.stream()), nccl::cuda_success);
            EXPECT_EQ(why_broken([&] { comm.barrier(); }), why);
        },
        milliseconds(300));
    EXPECT_EQ(fake.count("ncclCommAbort"), 1);
}

TEST_F(Nccl, AnErrorThatComesLaterIsToldWithItsText) {
    fake.set("async_error", 3);
    run(1, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.barrier();
        comm.barrier();
        const std::string why = why_broken([&] { comm.barrier(); });
        EXPECT_EQ(why,
                  "barrier: NCCL says: remote process exited or there was a network error (said "
                  "the fake)");
    });
    EXPECT_EQ(fake.count("ncclCommAbort"), 1);
}

TEST_F(Nccl, AnErrorOfADeferredOperationIsToldByWait) {
    fake.set("async_error", 1);
    run(1, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.set_deferred(true);
        float value = 1;
        try {
            comm.all_reduce_sum(&value, 1, Dtype::f32);
        } catch (const CommunicatorBroken&) {
            return;  // it was faster
        }
        EXPECT_NE(why_broken([&] { comm.wait(); }).find("remote process"), std::string::npos);
    });
}

TEST_F(Nccl, ARefusedCallAndAnErrorOfTheDeviceBreakTheGroup) {
    fake.set("refuse_call", 1);
    run(1, [&](DeviceCommunicator& comm, NcclContext&) {
        EXPECT_EQ(why_broken([&] { comm.barrier(); }),
                  "barrier: NCCL says: unhandled system error (said the fake)");
    });
    rendezvous = make_local_rendezvous();
    run(1, [&](DeviceCommunicator& comm, NcclContext&) {
        fake.set("device_error", 1);
        EXPECT_EQ(why_broken([&] { comm.barrier(); }),
                  "barrier: the device says: an illegal memory access was encountered");
    });
}

TEST_F(Nccl, ADeadMemberBreaksTheOthersByNcclsOwnError) {
    fake.set("remote_errors");
    run(3, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.barrier();
        if (comm.rank() == 2) return comm.abort("dies");
        const auto start = std::chrono::steady_clock::now();
        EXPECT_NE(why_broken([&] { comm.barrier(); }).find("remote process"), std::string::npos);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    });
    EXPECT_EQ(fake.count("ncclCommAbort"), 3);
}

TEST_F(Nccl, TheContextAbortsItsGroupsFromAnotherThread) {
    run(2, [&](DeviceCommunicator& comm, NcclContext& context) {
        comm.barrier();
        if (comm.rank() == 1) return comm.abort("is told, too");
        std::thread aborter([&] {
            std::this_thread::sleep_for(milliseconds(50));
            context.abort("group", "worker 7 is gone");
        });
        float value = 0;
        EXPECT_EQ(why_broken([&] { comm.recv(&value, 1, Dtype::f32, 1); }), "worker 7 is gone");
        aborter.join();
        EXPECT_EQ(why_broken([&] { context.make_group("group", 0, 1); }), "worker 7 is gone");
    });
}

TEST_F(Nccl, AGroupThatDoesNotComeAboutFailsInTime) {
    NcclContext context(rendezvous, {.timeout = milliseconds(300)}, fake.parts);
    EXPECT_NE(why_broken([&] { context.make_group("lonely", 0, 2); }).find("did not come in time"),
              std::string::npos);
    fake.set("init_hangs");
    EXPECT_EQ(why_broken([&] { context.make_group("hangs", 0, 1); }),
              "make_group: not under way within 300 ms");
    fake.set("init_hangs", 0);
    fake.set("no_unique_id");
    EXPECT_EQ(why_broken([&] { context.make_group("no id", 0, 1); }),
              "ncclGetUniqueId: unhandled system error");
    EXPECT_THROW(context.make_group("g", 2, 2), std::invalid_argument);
    fake.expect_clean();
    EXPECT_EQ(fake.count("ncclCommAbort"), 1);
}

TEST_F(Nccl, ADeviceThatIsNotThereIsSaid) {
    NcclContext context(rendezvous, {.device = 3}, fake.parts);
    EXPECT_EQ(why_broken([&] { context.make_group("g", 0, 1); }),
              "device: the device says: invalid device ordinal");
}

// Shrinking.

void expect_smaller(DeviceCommunicator& comm, const std::string& key) {
    const auto smaller = comm.shrink(std::vector<int>{0, 2}, key);
    EXPECT_EQ(smaller->size(), 2);
    EXPECT_EQ(smaller->rank(), comm.rank() / 2);
    std::int64_t sum = comm.rank() + 1;
    smaller->all_reduce_sum(&sum, 1, Dtype::i64);
    EXPECT_EQ(sum, 4);
}

TEST_F(Nccl, AWellGroupShrinksByNcclAndStays) {
    run(3, [&](DeviceCommunicator& comm, NcclContext&) {
        if (comm.rank() == 1) return;
        expect_smaller(comm, "smaller");
        float value = 0;
        const int other = comm.rank() == 0 ? 2 : 0;
        if (comm.rank() == 0) comm.send(&value, 1, Dtype::f32, other);
        if (comm.rank() == 2) comm.recv(&value, 1, Dtype::f32, other);
    });
    EXPECT_EQ(fake.count("shrinks"), 2);
    EXPECT_EQ(fake.count("unique ids"), 1);
}

TEST_F(Nccl, WhatIsOutstandingIsCutOffByShrinking) {
    run(3, [&](DeviceCommunicator& comm, NcclContext&) {
        comm.barrier();
        if (comm.rank() == 1) return;
        comm.set_deferred(true);
        std::vector<float> data(10, 1.0f);
        comm.all_reduce_sum(data.data(), data.size(), Dtype::f32);  // rank 1 does not come
        expect_smaller(comm, "smaller");
        EXPECT_EQ(why_broken([&] { comm.wait(); }), "a smaller group has replaced it");
    });
    EXPECT_EQ(fake.count("shrinks that abort"), 2);
}

TEST_F(Nccl, SurvivorsOfWhomOneIsBrokenMeetAnew) {
    run(3, [&](DeviceCommunicator& comm, NcclContext&) {
        if (comm.rank() == 1) return;
        if (comm.rank() == 2) comm.abort("knows of it already");
        expect_smaller(comm, "smaller");
    });
    EXPECT_EQ(fake.count("shrinks"), 0);
    EXPECT_EQ(fake.count("unique ids"), 2);
}

TEST_F(Nccl, WhoWaitsForOthersToShrinkIsAbortedByTheNewKey) {
    run(3, [&](DeviceCommunicator& comm, NcclContext& context) {
        comm.barrier();
        if (comm.rank() != 0) return;  // rank 2 does not shrink
        std::thread aborter([&] {
            std::this_thread::sleep_for(milliseconds(50));
            context.abort("smaller", "worker 7 is gone");
        });
        EXPECT_EQ(why_broken([&] {
                      comm.shrink(std::vector<int>{0, 2}, "smaller");
                  }),
                  "worker 7 is gone");
        aborter.join();
    });
}

TEST_F(Nccl, AShrinkThatNcclRefusesBreaks) {
    fake.set("refuse_shrink");
    run(2, [&](DeviceCommunicator& comm, NcclContext&) {
        if (comm.rank() == 1) return;
        EXPECT_NE(why_broken([&] { comm.shrink(std::vector<int>{0}, "k"); }).find("shrink: NCCL"),
                  std::string::npos);
    });
}

}  // namespace
}  // namespace assay::cluster
