// What every back end of Communicator must do. A back end's test file defines a factory
//     struct Factory { std::unique_ptr<Communicator> make(int rank, int size, milliseconds
//     timeout); };
// (one object per group, make() is called on one thread per rank) and instantiates the suite.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/collectives/grouped_all_reduce.hpp"
#include "tests/cluster/collectives/grouped_sums.hpp"
#include "tests/cluster/collectives/run_ranks.hpp"

namespace assay::cluster {

using std::chrono::milliseconds;

template <class Factory>
class CommunicatorConformance : public testing::Test {
  protected:
    void run(int size, const std::function<void(Communicator&)>& body,
             milliseconds timeout = milliseconds(20000)) {
        Factory factory;
        run_ranks(size, [&](int rank) {
            auto comm = factory.make(rank, size, timeout);
            body(*comm);
        });
    }
};
TYPED_TEST_SUITE_P(CommunicatorConformance);

TYPED_TEST_P(CommunicatorConformance, KnowsItsPlace) {
    std::atomic<int> ranks{0};
    this->run(3, [&](Communicator& comm) {
        EXPECT_EQ(comm.size(), 3);
        ranks += 1 << comm.rank();
    });
    EXPECT_EQ(ranks, 0b111);
}

// Rank r sends (r + to) % 3 elements to `to`: some counts are zero, and no two ranks send alike.
TYPED_TEST_P(CommunicatorConformance, AllToAllDeliversUnequalAndEmptyParts) {
    for (int size : {1, 2, 4}) {
        this->run(size, [&](Communicator& comm) {
            std::vector<std::int64_t> send_counts, recv_counts, send, expected;
            for (int other = 0; other < size; ++other) {
                send_counts.push_back((comm.rank() + other) % 3);
                recv_counts.push_back((other + comm.rank()) % 3);
                for (int i = 0; i < send_counts.back(); ++i) {
                    send.push_back(comm.rank() * 1000 + other * 10 + i);
                }
                for (int i = 0; i < recv_counts.back(); ++i) {
                    expected.push_back(other * 1000 + comm.rank() * 10 + i);
                }
            }
            std::vector<std::int64_t> recv(expected.size(), -1);
            comm.all_to_all_v(send.data(), send_counts, recv.data(), recv_counts, Dtype::i64);
            EXPECT_EQ(recv, expected);
        });
    }
}

TYPED_TEST_P(CommunicatorConformance, AllToAllOfNothingAtAll) {
    this->run(3, [&](Communicator& comm) {
        const std::vector<std::int64_t> none(3, 0);
        comm.all_to_all_v(nullptr, none, nullptr, none, Dtype::f32);
        comm.barrier();
    });
}

// Of lengths that only the sender knows: from nothing to some that are longer than all before.
TYPED_TEST_P(CommunicatorConformance, MessagesOfUnknownLengthArriveWhole) {
    for (int size : {1, 2, 3}) {
        this->run(size, [&](Communicator& comm) {
            const auto length_of = [](int from, int to, std::size_t round) {
                constexpr std::size_t lengths[]{0, 5, 300000, 65527, 65528, 65529, 1, 2000000, 7};
                return lengths[(round + std::size_t(from) + 2 * std::size_t(to)) % 9];
            };
            const auto byte_at = [](int from, int to, std::size_t i) {
                return std::byte(i * 31 + i / 251 + std::size_t(7 * from + to));
            };
            for (std::size_t round = 0; round < 18; ++round) {
                std::vector<std::vector<std::byte>> sent(size);
                std::vector<Message> messages(size);
                for (int to = 0; to < size; ++to) {
                    sent[to].resize(length_of(comm.rank(), to, round));
                    for (std::size_t i = 0; i < sent[to].size(); ++i)
                        sent[to][i] = byte_at(comm.rank(), to, i);
                    const std::span<const std::byte> all(sent[to]);
                    messages[to] = {all.first(all.size() / 3), all.subspan(all.size() / 3)};
                }
                const auto arrived = comm.exchange_messages(messages);
                ASSERT_EQ(arrived.size(), std::size_t(size));
                for (int from = 0; from < size; ++from) {
                    ASSERT_EQ(arrived[from].size(), length_of(from, comm.rank(), round));
                    for (std::size_t i = 0; i < arrived[from].size(); ++i)
                        ASSERT_EQ(arrived[from][i], byte_at(from, comm.rank(), i)) << i;
                }
            }
        });
    }
}

TYPED_TEST_P(CommunicatorConformance, AnExchangeOfMessagesIsAbortedLikeAnyOther) {
    const auto start = std::chrono::steady_clock::now();
    this->run(2, [&](Communicator& comm) {
        const std::vector<std::byte> much(1 << 20);
        const std::vector<Message> messages(2, Message{much});
        comm.exchange_messages(messages);
        if (comm.rank() == 1) {
            std::this_thread::sleep_for(milliseconds(100));
            return comm.abort("rank 1 was told to leave");
        }
        std::thread aborter([&] {
            std::this_thread::sleep_for(milliseconds(50));
            comm.abort("told so");
        });
        EXPECT_THROW(comm.exchange_messages(messages), CommunicatorBroken);
        aborter.join();
        EXPECT_THROW(comm.exchange_messages(messages), CommunicatorBroken);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TYPED_TEST_P(CommunicatorConformance, EveryDtypeTravels) {
    this->run(2, [&](Communicator& comm) {
        for (Dtype dtype : {Dtype::u8, Dtype::i64, Dtype::f32, Dtype::f64, Dtype::bf16}) {
            const std::size_t bytes = 5 * size_of(dtype);
            std::vector<std::uint8_t> mine(bytes), all(2 * bytes);
            for (std::size_t i = 0; i < bytes; ++i)
                mine[i] = std::uint8_t(i * 7 + comm.rank() * 64 + 1);
            comm.all_gather(mine.data(), 5, all.data(), dtype);
            for (std::size_t i = 0; i < 2 * bytes; ++i) {
                ASSERT_EQ(all[i], std::uint8_t((i % bytes) * 7 + (i / bytes) * 64 + 1));
            }
            const std::vector<std::int64_t> send_counts{2, 3};
            const std::vector<std::int64_t> recv_counts(2, comm.rank() == 0 ? 2 : 3);
            std::vector<std::uint8_t> got(2 * recv_counts[0] * size_of(dtype));
            comm.all_to_all_v(mine.data(), send_counts, got.data(), recv_counts, dtype);
            const std::size_t skipped = comm.rank() == 0 ? 0 : 2 * size_of(dtype);
            EXPECT_EQ(got[0], std::uint8_t(skipped * 7 + 1));
        }
    });
}

TYPED_TEST_P(CommunicatorConformance, AllReduceSums) {
    this->run(4, [&](Communicator& comm) {
        std::vector<float> floats(1001);
        for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = float(i + comm.rank());
        comm.all_reduce_sum(floats.data(), floats.size(), Dtype::f32);
        for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(floats[i], float(4 * i + 6));
        std::int64_t integer = std::int64_t{1} << (40 + comm.rank());
        comm.all_reduce_sum(&integer, 1, Dtype::i64);
        EXPECT_EQ(integer, std::int64_t{15} << 40);
        std::uint16_t bf16 = 0x3f80;  // 1.0
        comm.all_reduce_sum(&bf16, 1, Dtype::bf16);
        EXPECT_EQ(bf16, 0x4080);  // 4.0
    });
}

TYPED_TEST_P(CommunicatorConformance, BroadcastFromEveryRoot) {
    this->run(3, [&](Communicator& comm) {
        for (int root = 0; root < 3; ++root) {
            std::vector<double> data(17, comm.rank() == root ? 1.5 + root : -1.0);
            comm.broadcast(data.data(), data.size(), Dtype::f64, root);
            EXPECT_EQ(data, std::vector<double>(17, 1.5 + root));
        }
    });
}

TYPED_TEST_P(CommunicatorConformance, MessagesBetweenTwoRanksKeepTheirOrder) {
    this->run(3, [&](Communicator& comm) {
        const int next = (comm.rank() + 1) % 3, previous = (comm.rank() + 2) % 3;
        for (std::int64_t i = 0; i < 20; ++i) {
            std::int64_t out = comm.rank() * 100 + i, in = -1;
            // Rank 0 starts the ring, so that nobody relies on send() being buffered.
            if (comm.rank() == 0) comm.send(&out, 1, Dtype::i64, next);
            comm.recv(&in, 1, Dtype::i64, previous);
            if (comm.rank() != 0) comm.send(&out, 1, Dtype::i64, next);
            EXPECT_EQ(in, previous * 100 + i);
        }
    });
}

TYPED_TEST_P(CommunicatorConformance, NobodyPassesABarrierBeforeAllCame) {
    std::atomic<int> came{0};
    this->run(4, [&](Communicator& comm) {
        for (int round = 1; round <= 5; ++round) {
            if (comm.rank() == round % 4) std::this_thread::sleep_for(milliseconds(5));
            ++came;
            comm.barrier();
            EXPECT_GE(came.load(), 4 * round);
            comm.barrier();
        }
    });
}

TYPED_TEST_P(CommunicatorConformance, WrongArgumentsAreRefusedAndHarmless) {
    this->run(2, [&](Communicator& comm) {
        std::int64_t value = 1;
        const std::vector<std::int64_t> three(3, 0), negative{0, -1}, two(2, 0);
        EXPECT_THROW(comm.all_to_all_v(&value, three, &value, two, Dtype::i64),
                     std::invalid_argument);
        EXPECT_THROW(comm.all_to_all_v(&value, two, &value, negative, Dtype::i64),
                     std::invalid_argument);
        EXPECT_THROW(comm.exchange_messages(std::vector<Message>(3)), std::invalid_argument);
        EXPECT_THROW(comm.broadcast(&value, 1, Dtype::i64, 2), std::invalid_argument);
        EXPECT_THROW(comm.send(&value, 1, Dtype::i64, comm.rank()), std::invalid_argument);
        EXPECT_THROW(comm.recv(&value, 1, Dtype::i64, -1), std::invalid_argument);
        const std::vector<int> without_me{1 - comm.rank()}, descending{1, 0};
        EXPECT_THROW(comm.shrink(without_me, "a"), std::invalid_argument);
        EXPECT_THROW(comm.shrink(descending, "b"), std::invalid_argument);
        comm.all_reduce_sum(&value, 1, Dtype::i64);
        EXPECT_EQ(value, 2);
    });
}

TYPED_TEST_P(CommunicatorConformance, AbortWakesABlockedCallAndStaysBroken) {
    const auto start = std::chrono::steady_clock::now();
    this->run(2, [&](Communicator& comm) {
        if (comm.rank() == 1) {
            std::this_thread::sleep_for(milliseconds(100));
            return comm.abort("rank 1 was told to leave");
        }
        std::thread aborter([&] {
            std::this_thread::sleep_for(milliseconds(50));
            comm.abort("told so");
        });
        float value = 0;
        try {
            comm.recv(&value, 1, Dtype::f32, 1);
            ADD_FAILURE() << "received what nobody sent";
        } catch (const CommunicatorBroken& broken) {
            EXPECT_NE(std::string(broken.what()).find("told so"), std::string::npos)
                << broken.what();
        }
        aborter.join();
        EXPECT_THROW(comm.barrier(), CommunicatorBroken);
        EXPECT_THROW(comm.send(&value, 1, Dtype::f32, 1), CommunicatorBroken);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15))
        << "the blocked call waited for its timeout instead of the abort";
}

TYPED_TEST_P(CommunicatorConformance, AMissingPeerSurfacesOnEveryRankWithinTheTimeout) {
    this->run(
        3,
        [&](Communicator& comm) {
            const auto start = std::chrono::steady_clock::now();
            if (comm.rank() == 2) {  // hangs: is there, but takes no part
                std::this_thread::sleep_for(milliseconds(1500));
                return;
            }
            std::vector<float> data(100, 1.0f);
            EXPECT_THROW(comm.all_reduce_sum(data.data(), data.size(), Dtype::f32),
                         CommunicatorBroken);
            EXPECT_THROW(comm.barrier(), CommunicatorBroken);
            // Generous: two thirds of a bound that a broken timeout (never) would exceed.
            EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
        },
        milliseconds(500));
}

TYPED_TEST_P(CommunicatorConformance, SurvivorsOfAnAbortShrinkAndContinue) {
    this->run(4, [&](Communicator& comm) {
        comm.barrier();
        if (comm.rank() == 1) return comm.abort("dies");
        comm.abort("rank 1 died");
        const std::vector<int> survivors{0, 2, 3};
        auto smaller = comm.shrink(survivors, "conformance-epoch-2");
        ASSERT_EQ(smaller->size(), 3);
        EXPECT_EQ(smaller->rank(), comm.rank() == 0 ? 0 : comm.rank() - 1);
        std::int64_t sum = comm.rank();
        smaller->all_reduce_sum(&sum, 1, Dtype::i64);
        EXPECT_EQ(sum, 0 + 2 + 3);
        const std::vector<int> last{0, 2};
        if (smaller->rank() == 1) return;
        auto pair = smaller->shrink(last, "conformance-epoch-3");
        std::int64_t one = 1;
        pair->all_reduce_sum(&one, 1, Dtype::i64);
        EXPECT_EQ(one, 2);
    });
}

TYPED_TEST_P(CommunicatorConformance, GroupedAllReduceGivesTheSameBitsOnEveryBackEnd) {
    for (int size : {1, 2, 5}) {
        for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
            const GroupedSums sums(size, dtype, 11 + size);
            this->run(size, [&](Communicator& comm) {
                auto data = sums.data_of(comm.rank());
                auto buffers = sums.buffers(data);
                grouped_all_reduce(comm, buffers, dtype);
                EXPECT_EQ(data, sums.expected_bits(comm.rank()));
            });
        }
    }
}

REGISTER_TYPED_TEST_SUITE_P(
    CommunicatorConformance, KnowsItsPlace, AllToAllDeliversUnequalAndEmptyParts,
    AllToAllOfNothingAtAll, MessagesOfUnknownLengthArriveWhole,
    AnExchangeOfMessagesIsAbortedLikeAnyOther, EveryDtypeTravels, AllReduceSums,
    BroadcastFromEveryRoot, MessagesBetweenTwoRanksKeepTheirOrder,
    NobodyPassesABarrierBeforeAllCame, WrongArgumentsAreRefusedAndHarmless,
    AbortWakesABlockedCallAndStaysBroken, AMissingPeerSurfacesOnEveryRankWithinTheTimeout,
    SurvivorsOfAnAbortShrinkAndContinue, GroupedAllReduceGivesTheSameBitsOnEveryBackEnd);

}  // namespace assay::cluster
