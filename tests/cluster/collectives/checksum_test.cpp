// Corruption: what the checksum notices, that without it nobody does, and that a message counts
// only in its place.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "suite/cluster/collectives/checksum_layer.hpp"
#include "tests/cluster/collectives/run_ranks.hpp"
#include "tests/cluster/faults/faulty_group.hpp"

namespace assay::cluster {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(count);
    for (auto& byte : bytes) byte = std::uint8_t(random());
    return bytes;
}

TEST(MessageChecksum, EverySingleBitFlipChangesIt) {
    for (std::size_t size : {1, 2, 7, 8, 9, 63, 64, 65, 71, 128, 200, 1000}) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            auto bytes = random_bytes(size, seed);
            const auto right = message_checksum(bytes.data(), size, {});
            for (std::size_t bit = 0; bit < 8 * size; ++bit) {
                bytes[bit / 8] ^= std::uint8_t(1 << (bit % 8));
                ASSERT_NE(message_checksum(bytes.data(), size, {}), right)
                    << "bit " << bit << " of " << size << " bytes";
                bytes[bit / 8] ^= std::uint8_t(1 << (bit % 8));
            }
        }
    }
}

TEST(MessageChecksum, LengthSenderReceiverSequenceAndGroupCount) {
    const std::vector<std::uint8_t> zeros(200, 0);
    std::set<std::uint64_t> seen;
    for (std::size_t size = 0; size <= zeros.size(); ++size) {
        EXPECT_TRUE(seen.insert(message_checksum(zeros.data(), size, {1, 1, 2, 1})).second) << size;
    }
    for (const MessageIdentity& other :
         {MessageIdentity{2, 1, 2, 1}, MessageIdentity{1, 2, 2, 1}, MessageIdentity{1, 1, -1, 1},
          MessageIdentity{1, 2, 1, 1}, MessageIdentity{1, 1, 2, 2}}) {
        EXPECT_TRUE(seen.insert(message_checksum(zeros.data(), 16, other)).second);
    }
}

TEST(MessageChecksum, ExchangedWordsAndBlocksCount) {
    auto bytes = random_bytes(512, 3);
    const auto right = message_checksum(bytes.data(), bytes.size(), {});
    for (std::size_t length : {8, 64, 128}) {
        auto swapped = bytes;
        std::swap_ranges(swapped.begin(), swapped.begin() + length, swapped.begin() + 256);
        EXPECT_NE(message_checksum(swapped.data(), swapped.size(), {}), right) << length;
    }
}

TEST(MessageChecksum, DoesNotDependOnWhereTheMessageLies) {
    const auto bytes = random_bytes(333, 5);
    for (std::size_t offset = 0; offset < 9; ++offset) {
        std::vector<std::uint8_t> moved(offset);
        moved.insert(moved.end(), bytes.begin(), bytes.end());
        EXPECT_EQ(message_checksum(moved.data() + offset, bytes.size(), {}),
                  message_checksum(bytes.data(), bytes.size(), {}));
    }
}

/// One operation between ranks 0 and 1 that moves `bytes` from 0 to 1; returns what 1 got.
struct Operation {
    const char* name;
    std::function<void(Communicator&, const std::vector<std::uint8_t>&, std::vector<std::uint8_t>&)>
        run;
};

const std::vector<Operation>& operations() {
    using Bytes = std::vector<std::uint8_t>;
    static const std::vector<Operation> all{
        {"send",
         [](Communicator& comm, const Bytes& bytes, Bytes& got) {
             if (comm.rank() == 0) comm.send(bytes.data(), bytes.size(), Dtype::u8, 1);
             if (comm.rank() == 1) comm.recv(got.data(), got.size(), Dtype::u8, 0);
         }},
        {"broadcast",
         [](Communicator& comm, const Bytes& bytes, Bytes& got) {
             if (comm.rank() == 0) got = bytes;
             comm.broadcast(got.data(), got.size(), Dtype::u8, 0);
             if (comm.rank() == 0) {
                 EXPECT_EQ(got, bytes) << "the root's own";
             }
         }},
        {"all_gather",
         [](Communicator& comm, const Bytes& bytes, Bytes& got) {
             Bytes all(2 * bytes.size(), got[0]);
             const auto take = [&] { got.assign(all.begin(), all.begin() + long(bytes.size())); };
             try {
                 comm.all_gather(bytes.data(), bytes.size(), all.data(), Dtype::u8);
             } catch (const CommunicatorBroken&) {
                 take();
                 throw;
             }
             take();
         }},
        {"all_to_all_v",
         [](Communicator& comm, const Bytes& bytes, Bytes& got) {
             const auto count = std::int64_t(bytes.size());
             const std::vector<std::int64_t> out{0, comm.rank() == 0 ? count : 0};
             const std::vector<std::int64_t> in{comm.rank() == 1 ? count : 0, 0};
             comm.all_to_all_v(bytes.data(), out, got.data(), in, Dtype::u8);
         }},
        {"exchange_messages",
         [](Communicator& comm, const Bytes& bytes, Bytes& got) {
             std::vector<Message> messages(2);
             if (comm.rank() == 0) messages[1] = {std::as_bytes(std::span(bytes))};
             const auto arrived = comm.exchange_messages(messages);
             if (comm.rank() == 0) return;
             ASSERT_EQ(arrived[0].size(), got.size());
             std::memcpy(got.data(), arrived[0].data(), got.size());
         }},
    };
    return all;
}

TEST(Corruption, IsDetectedInEveryOperationAndNothingOfItReachesTheCaller) {
    for (const auto& operation : operations()) {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            FaultyGroup group(2, {.checksums = true}, seed);
            group.faults[0]->corrupt_next_message();
            const auto bytes = random_bytes(1 + seed * 5, seed);
            run_ranks(2, [&](int rank) {
                std::vector<std::uint8_t> got(bytes.size(), 0xEE);
                const auto before = got;
                if (rank == 0) {
                    operation.run(*group.members[0], bytes, got);
                    return;
                }
                try {
                    operation.run(*group.members[1], bytes, got);
                    ADD_FAILURE() << operation.name << " took a corrupt message, seed " << seed;
                } catch (const CorruptMessage& corrupt) {
                    EXPECT_EQ(corrupt.from(), 10);
                }
                EXPECT_EQ(got, before) << operation.name;
            });
            EXPECT_EQ(group.counts().corrupted, 1) << operation.name;
            // The one that noticed has left; so must the other.
            std::int64_t value = 0;
            EXPECT_THROW(group.members[1]->barrier(), CommunicatorBroken);
            EXPECT_THROW(group.members[0]->recv(&value, 1, Dtype::i64, 1), CommunicatorBroken);
        }
    }
}

TEST(Corruption, WithoutChecksumsOneBitIsSilentlyWrong) {
    for (const auto& operation : operations()) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            FaultyGroup group(2, {.checksums = false}, seed);
            group.faults[0]->corrupt_next_message();
            const auto bytes = random_bytes(40, seed);
            run_ranks(2, [&](int rank) {
                std::vector<std::uint8_t> got(bytes.size(), 0xEE);
                operation.run(*group.members[rank], bytes, got);
                if (rank == 0) return;
                int wrong = 0;
                for (std::size_t i = 0; i < bytes.size(); ++i) {
                    wrong += __builtin_popcount(unsigned(bytes[i] ^ got[i]));
                }
                EXPECT_EQ(wrong, 1) << operation.name;
            });
            EXPECT_EQ(group.counts().corrupted, 1);
        }
    }
}

TEST(Corruption, SendersKeepWhatTheySend) {
    FaultyGroup group(2, {.checksums = false});
    group.faults[0]->corrupt_next_message();
    run_ranks(2, [&](int rank) {
        std::vector<std::int64_t> mine(8, rank), all(16, -1);
        group.members[rank]->all_gather(mine.data(), 8, all.data(), Dtype::i64);
        EXPECT_EQ(mine, std::vector<std::int64_t>(8, rank));
        EXPECT_TRUE(std::equal(mine.begin(), mine.end(), all.begin() + 8 * rank)) << "its own part";
    });
}

TEST(Corruption, WaitsForAMessageToAnotherRankAndStrikesOnce) {
    FaultyGroup group(2, {.checksums = false});
    group.faults[0]->corrupt_next_message();
    run_ranks(2, [&](int rank) {
        auto& comm = *group.members[rank];
        comm.barrier();
        double sum = 1;
        comm.all_reduce_sum(&sum, 1, Dtype::f64);
        EXPECT_EQ(sum, 2);
        const std::vector<std::int64_t> to_self{rank == 0, rank == 1};
        std::int64_t out = 5, in = 0;
        comm.all_to_all_v(&out, to_self, &in, to_self, Dtype::i64);
        EXPECT_EQ(in, 5) << "what never leaves the rank was corrupted";
        EXPECT_EQ(group.counts().corrupted, 0);
        comm.barrier();
        for (int message = 0; message < 2; ++message) {
            out = 5;
            if (rank == 0) comm.send(&out, 1, Dtype::i64, 1);
            if (rank == 1) comm.recv(&out, 1, Dtype::i64, 0);
            if (rank == 1) {
                EXPECT_EQ(out == 5, message == 1);
            }
        }
    });
    EXPECT_EQ(group.counts().corrupted, 1);
}

/// A rank's end of a wire that survives shrink(): what a network that delivers late may look like.
class LateWire final : public Communicator {
  public:
    explicit LateWire(std::shared_ptr<Communicator> wire) : wire_(std::move(wire)) {}
    int rank() const override { return wire_->rank(); }
    int size() const override { return wire_->size(); }
    void all_to_all_v(const void*, std::span<const std::int64_t>, void*,
                      std::span<const std::int64_t>, Dtype) override {}
    std::vector<std::span<const std::byte>> exchange_messages(std::span<const Message>) override {
        return {};
    }
    void all_gather(const void*, std::size_t, void*, Dtype) override {}
    void all_reduce_sum(void*, std::size_t, Dtype) override {}
    void broadcast(void*, std::size_t, Dtype, int) override {}
    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        wire_->send(data, count, dtype, to);
    }
    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        wire_->recv(data, count, dtype, from);
    }
    void barrier() override {}
    void abort(const std::string& why) noexcept override { wire_->abort(why); }
    std::unique_ptr<Communicator> shrink(std::span<const int>, const std::string&) override {
        return std::make_unique<LateWire>(wire_);
    }

  private:
    std::shared_ptr<Communicator> wire_;
};

struct LatePair {
    LatePair() {
        auto ends = make_in_process_group(2);
        for (int rank = 0; rank < 2; ++rank) {
            raw[rank] = std::move(ends[rank]);
            checked[rank] = make_checksum_layer(std::make_unique<LateWire>(raw[rank]), {10, 11});
        }
    }
    std::shared_ptr<Communicator> raw[2];
    std::unique_ptr<Communicator> checked[2];
    std::int64_t value = 42, got = -1;
};

TEST(Checksum, AMessageOfTheOldGroupIsNotTakenInTheNewOne) {
    const std::vector<int> both{0, 1};
    for (const char* receivers_key : {"epoch 2", "epoch 3"}) {
        LatePair pair;
        const auto sender = pair.checked[0]->shrink(both, "epoch 2");
        const auto receiver = pair.checked[1]->shrink(both, receivers_key);
        sender->send(&pair.value, 1, Dtype::i64, 1);
        if (receivers_key == std::string("epoch 2")) {
            receiver->recv(&pair.got, 1, Dtype::i64, 0);
            EXPECT_EQ(pair.got, 42);
        } else {
            EXPECT_THROW(receiver->recv(&pair.got, 1, Dtype::i64, 0), CorruptMessage);
            EXPECT_EQ(pair.got, -1);
        }
    }
}

TEST(Checksum, AMessageThatOvertakesOrComesTwiceIsNotTaken) {
    std::byte first[16], second[16];
    const auto record = [&](LatePair& pair) {
        for (std::byte* message : {first, second}) {
            pair.checked[0]->send(&pair.value, 1, Dtype::i64, 1);
            pair.raw[1]->recv(message, sizeof first, Dtype::u8, 0);
        }
    };
    LatePair in_order, overtaken, twice;
    record(in_order);
    const auto deliver = [](LatePair& pair, const std::byte* message) {
        pair.raw[0]->send(message, sizeof first, Dtype::u8, 1);
        pair.checked[1]->recv(&pair.got, 1, Dtype::i64, 0);
    };
    EXPECT_NO_THROW(deliver(in_order, first));
    EXPECT_NO_THROW(deliver(in_order, second));
    EXPECT_THROW(deliver(overtaken, second), CorruptMessage);
    EXPECT_NO_THROW(deliver(twice, first));
    EXPECT_THROW(deliver(twice, first), CorruptMessage);
}

TEST(Checksum, NamesFollowTheSurvivors) {
    FaultyGroup group(3, {.checksums = true});
    const std::vector<int> survivors{0, 2};
    run_ranks(3, [&](int rank) {
        if (rank == 1) return;
        auto pair = group.members[rank]->shrink(survivors, "pair");
        std::int64_t value = 3;
        if (rank == 2) {
            group.faults[2]->corrupt_next_message();
            pair->send(&value, 1, Dtype::i64, 0);
            EXPECT_THROW(pair->recv(&value, 1, Dtype::i64, 0), CommunicatorBroken);
            return;
        }
        try {
            pair->recv(&value, 1, Dtype::i64, 1);
            ADD_FAILURE();
        } catch (const CorruptMessage& corrupt) {
            EXPECT_EQ(corrupt.from(), 12);
        }
    });
}

}  // namespace
}  // namespace assay::cluster
