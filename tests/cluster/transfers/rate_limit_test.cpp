// How transfers share a NIC, in a time of the test's own; and the bytes of headers.
#include "suite/cluster/transfers/rate_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "suite/cluster/transfers/wire.hpp"

namespace assay::cluster {
namespace {

using Time = RateLimit::Clock::time_point;

constexpr std::uint64_t kPieceBytes = 5000;
const Time kStart(std::chrono::hours(1));

Time::duration clock_time(double seconds) {
    return std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

/// Bytes of every transfer that have passed after `seconds`, when all begin at once and each asks
/// for its next piece up to `late_s` after the last one has passed.
std::vector<double> passed(double nic_rate, const std::vector<double>& link_rates, double seconds,
                           double late_s, std::mt19937_64& random) {
    struct Transfer {
        RateLimit link;
        std::optional<Passage> passage;
        Time next = kStart;
        double bytes = 0;
    };
    RateLimit nic;
    std::deque<Transfer> transfers(link_rates.size());
    for (Transfer& one : transfers) {
        one.passage.emplace(nic, nic_rate, one.link);
        one.passage->restart(kStart);
    }
    const Time end = kStart + clock_time(seconds);
    std::uniform_real_distribution<double> lateness(0, late_s);
    while (true) {
        const auto next = std::min_element(transfers.begin(), transfers.end(),
                                           [](auto& a, auto& b) { return a.next < b.next; });
        if (next->next >= end) break;
        const double link_rate = link_rates[std::size_t(next - transfers.begin())];
        const Time all = next->passage->pass(kPieceBytes, link_rate, next->next);
        if (all <= end) next->bytes += kPieceBytes;
        next->next = std::max(all, next->next) + clock_time(lateness(random));
    }
    std::vector<double> bytes;
    for (const Transfer& one : transfers) bytes.push_back(one.bytes);
    return bytes;
}

/// Progressive filling: rates grow together, each until its link is full, until the NIC is.
std::vector<double> fair_rates(double nic_rate, const std::vector<double>& link_rates) {
    std::vector<std::size_t> order(link_rates.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return link_rates[a] < link_rates[b]; });
    std::vector<double> rates(link_rates.size());
    double left = nic_rate;
    for (std::size_t done = 0; done < order.size(); ++done) {
        rates[order[done]] = std::min(link_rates[order[done]], left / double(order.size() - done));
        left -= rates[order[done]];
    }
    return rates;
}

TEST(RateLimits, SharesAreThoseOfProgressiveFilling) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> relative(0.02, 1.5);
    for (int round = 0; round < 200; ++round) {
        const double nic_rate = 1e6, seconds = 20;
        std::vector<double> link_rates(1 + random() % 6);
        for (double& rate : link_rates) rate = nic_rate * relative(random);
        const double late_s = round % 2 == 0 ? 0 : 0.01;
        const auto bytes = passed(nic_rate, link_rates, seconds, late_s, random);
        const auto rates = fair_rates(nic_rate, link_rates);
        for (std::size_t i = 0; i < rates.size(); ++i) {
            EXPECT_NEAR(bytes[i], rates[i] * seconds, 0.02 * rates[i] * seconds + 2 * kPieceBytes)
                << "transfer " << i << " of " << rates.size() << " in round " << round;
        }
    }
}

TEST(RateLimits, NothingIsSavedUpWhileNothingPasses) {
    RateLimit limit;
    const Time start(std::chrono::hours(1)), later = start + std::chrono::seconds(100);
    EXPECT_EQ(limit.pass(500, 1000, start), start + std::chrono::milliseconds(500));
    EXPECT_EQ(limit.pass(500, 1000, later), later + std::chrono::milliseconds(500));
    EXPECT_EQ(limit.pass(500, 1000, start), later + std::chrono::seconds(1)) << "one after another";
    EXPECT_EQ(limit.pass(1 << 30, 0, start), start) << "no limit";
    EXPECT_LT(limit.pass(~std::uint64_t{0}, 1e-300, start), Time::max()) << "no overflow";
}

TEST(RateLimits, PiecesAreShortInTimeAndNeverLongerThanAChunk) {
    EXPECT_EQ(piece_bytes(0, 0), kMostChunkBytes);
    EXPECT_EQ(piece_bytes(1e12, 1e12), kMostChunkBytes);
    EXPECT_EQ(piece_bytes(2e6, 0), 10'000u);
    EXPECT_EQ(piece_bytes(2e6, 1e6), 10'000u) << "links that use their share do not matter";
    EXPECT_EQ(piece_bytes(2e6, 1e5), 5'000u);
    EXPECT_EQ(piece_bytes(1, 1), 4096u);
}

TEST(TransferWire, HeadersSurviveTheWayAndOthersAreRefused) {
    const std::string token = draw_transfer_token();
    EXPECT_EQ(token.size(), kTransferTokenBytes);
    EXPECT_NE(token, draw_transfer_token());
    const auto bytes = encode_transfer_header({0x0123456789abcdef, token});
    const auto header = parse_transfer_header(bytes);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->id, 0x0123456789abcdefu);
    EXPECT_EQ(header->token, token);
    EXPECT_EQ(bytes[8], std::byte{0xef}) << "little endian";
    EXPECT_FALSE(parse_transfer_header(std::span(bytes).first(bytes.size() - 1)));
    for (std::size_t i = 0; i < 8; ++i) {
        auto other = bytes;
        other[i] ^= std::byte{1};
        EXPECT_FALSE(parse_transfer_header(other));
    }
    EXPECT_THROW(encode_transfer_header({1, "short"}), std::logic_error);
}

TEST(TransferWire, LengthsOfChunksAreChecked) {
    const auto reads = [](ChunkKind kind, std::uint32_t bytes) {
        const auto header = parse_chunk_header(encode_chunk_header({kind, bytes, 77}));
        if (header) {
            EXPECT_EQ(header->kind, kind);
            EXPECT_EQ(header->bytes, bytes);
            EXPECT_EQ(header->checksum, 77u);
        }
        return header.has_value();
    };
    EXPECT_TRUE(reads(ChunkKind::data, 1) && reads(ChunkKind::data, kMostChunkBytes));
    EXPECT_FALSE(reads(ChunkKind::data, 0) || reads(ChunkKind::data, kMostChunkBytes + 1));
    EXPECT_TRUE(reads(ChunkKind::end, 0) && reads(ChunkKind::end, kMostReasonBytes));
    EXPECT_FALSE(reads(ChunkKind::end, kMostReasonBytes + 1));
    EXPECT_FALSE(reads(ChunkKind(0), 1) || reads(ChunkKind(3), 1));
}

// The same bytes elsewhere in the object, or of another transfer, are not what is waited for.
TEST(TransferWire, AChecksumIsOfOnePlaceOfOneTransfer) {
    const std::array<std::byte, 5> content{std::byte{1}};
    const TransferOrder order{.id = 3, .from = 1, .to = 2, .offset = 100};
    const auto checksum = chunk_checksum(order, 7, content);
    auto other = order;
    other.id = 4;
    EXPECT_NE(chunk_checksum(other, 7, content), checksum);
    EXPECT_NE(chunk_checksum(order, 8, content), checksum);
    EXPECT_EQ(chunk_checksum(order, 7, content), checksum);
}

}  // namespace
}  // namespace assay::cluster
