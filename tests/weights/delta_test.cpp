// Deltas between bytes in memory, against a loop over elements.
#include "impls/weights/delta.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "suite/base/error.hpp"
#include "tests/weights/naive_delta.hpp"

namespace assay::weights {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Raw applied(const Raw& delta, Raw version) {
    apply_delta(nn::UntrustedFile("d.delta", delta), version);
    return version;
}

/// Why it is refused, with the version as it was before; empty: it is not.
std::string refusal(const Raw& delta, const Raw& version) {
    Raw changed = version;
    try {
        apply_delta(nn::UntrustedFile("d.delta", delta), changed);
    } catch (const UserError& error) {
        EXPECT_EQ(changed, version) << error.what();
        EXPECT_THAT(error.what(), StartsWith("d.delta: "));
        return error.what();
    }
    return {};
}

/// In pieces of these elements; what is missing behind them is the last piece.
Raw written(const Elements& before, const Elements& after, OffsetType offsets,
            std::size_t piece = std::numeric_limits<std::size_t>::max() / 2) {
    const Raw a = raw(before), b = raw(after);
    Raw file;
    DeltaWriter writer(count_changes(a, b), offsets, [&](std::uint64_t at, auto bytes) {
        file.resize(std::max<std::size_t>(file.size(), at + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
    });
    for (std::size_t at = 0; at < a.size(); at += 2 * piece) {
        const std::size_t bytes = std::min(2 * piece, a.size() - at);
        writer.add(std::span(a).subspan(at, bytes), std::span(b).subspan(at, bytes));
    }
    writer.finish();
    return file;
}

TEST(WeightsDelta, IsWhatALoopFinds) {
    std::mt19937_64 random(1);
    for (const std::size_t elements : {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 1000, 40000})
        for (const double share : {0.0, 0.01, 0.3, 1.0}) {
            const Elements before = random_elements(elements, random);
            const Elements after = changed_at_random(before, share, random);
            const NaiveDelta expected = naive_delta(before, after);
            EXPECT_EQ(count_changes(raw(before), raw(after)), expected.offsets.size());
            EXPECT_EQ(make_delta(raw(before), raw(after)), expected.bytes())
                << elements << " " << share;
            EXPECT_EQ(applied(expected.bytes(), raw(before)), raw(after));
            EXPECT_EQ(applied(expected.bytes(), raw(after)), raw(after)) << "twice";
        }
}

TEST(WeightsDelta, TheFormatByHand) {
    const Elements before{0x3f80, 0x0000, 0x4000}, after{0x3f80, 0x8000, 0x4001};
    const std::vector<int> expected{2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0,    0,    0,    0,
                                    0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0x00, 0x80, 0x01, 0x40};
    Raw bytes;
    for (const int byte : expected) bytes.push_back(static_cast<std::byte>(byte));
    EXPECT_EQ(make_delta(raw(before), raw(after)), bytes);
    EXPECT_EQ(written(before, after, OffsetType::u32), bytes);
    const Raw wide = written(before, after, OffsetType::u64);
    ASSERT_EQ(wide.size(), 16U + 2 * 10);
    EXPECT_EQ(wide[10], std::byte{1});
    EXPECT_EQ(wide[24], std::byte{2}) << "the second offset";
    EXPECT_EQ(applied(wide, raw(before)), raw(after));
}

TEST(WeightsDelta, KeepsEveryBit) {
    // Zeros of both signs, infinities, NaNs that differ in payload and sign, denormal numbers.
    const Elements values{0x0000, 0x8000, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0x7fc1, 0xffc0, 0x0001};
    for (const std::uint16_t from : values)
        for (const std::uint16_t to : values) {
            const Elements before(40, from);
            Elements after = before;
            after[37] = to;
            after[3] = to;
            const Raw delta = make_delta(raw(before), raw(after));
            EXPECT_EQ(delta.size(), from == to ? 16U : 16U + 2 * 6) << from << " " << to;
            EXPECT_EQ(applied(delta, raw(before)), raw(after));
        }
}

TEST(WeightsDelta, PiecesAndAddressesChangeNothing) {
    std::mt19937_64 random(2);
    const Elements before = random_elements(5000, random);
    const Elements after = changed_at_random(before, 0.2, random);
    for (const OffsetType offsets : {OffsetType::u32, OffsetType::u64}) {
        const Raw expected = naive_delta(before, after, offsets == OffsetType::u64).bytes();
        for (const std::size_t piece : {1, 7, 32, 1000, 5000})
            EXPECT_EQ(written(before, after, offsets, piece), expected) << piece;
        const nn::UntrustedFile file("d.delta", expected);
        for (const std::size_t piece : {1, 7, 32, 1000, 5000}) {
            Raw version = raw(before);
            DeltaReader reader(file, before.size());
            EXPECT_EQ(reader.offsets(), offsets);
            for (std::size_t at = 0; at < version.size(); at += 2 * piece)
                reader.replace(
                    std::span(version).subspan(at, std::min(2 * piece, version.size() - at)));
            EXPECT_EQ(version, raw(after)) << piece;
        }
    }
    Raw a = raw(before), b = raw(after);
    const Raw aligned = make_delta(a, b);
    a.insert(a.begin(), std::byte{});
    b.insert(b.begin(), 3, std::byte{});
    EXPECT_EQ(make_delta(std::span(a).subspan(1), std::span(b).subspan(3)), aligned);
}

/// More than is held in memory at a time.
TEST(WeightsDelta, OfSeveralPieces) {
    std::mt19937_64 random(3);
    const Elements before = random_elements(3 * piece_elements + 5, random);
    for (const double share : {0.4, 1.0}) {
        const Elements after = changed_at_random(before, share, random);
        const NaiveDelta expected = naive_delta(before, after);
        ASSERT_GT(expected.offsets.size(), piece_elements);
        EXPECT_TRUE(make_delta(raw(before), raw(after)) == expected.bytes());
        EXPECT_TRUE(applied(expected.bytes(), raw(before)) == raw(after));
        Raw bad = expected.bytes();  // an offset behind the first piece that is read
        const std::size_t at = 16 + 4 * (piece_elements + 3);
        std::copy_n(bad.begin() + static_cast<std::ptrdiff_t>(at), 4,
                    bad.begin() + static_cast<std::ptrdiff_t>(at + 4));
        EXPECT_THAT(refusal(bad, raw(before)), HasSubstr("offsets ascend"));
    }
}

/// More than counters of 16 bits hold, in every place of a block.
TEST(WeightsDelta, CountsBeyondSixteenBits) {
    constexpr std::size_t elements = 140'000 * 32 + 3;
    const Raw zeros(2 * elements), other(2 * elements, std::byte{0x80});
    EXPECT_EQ(count_changes(zeros, other), elements);
}

TEST(WeightsDelta, WritersAreToldOfWeightsThatMove) {
    const Raw zeros(8), other{8, std::byte{1}};
    const auto ignore = [](std::uint64_t, std::span<const std::byte>) {};
    const auto moved = ThrowsMessage<UserError>(HasSubstr("changed while they were compared"));
    EXPECT_THAT(
        [&] {
            DeltaWriter writer(3, OffsetType::u32, ignore);
            writer.add(zeros, other);
        },
        moved);
    EXPECT_THAT(
        [&] {
            DeltaWriter writer(5, OffsetType::u32, ignore);
            writer.add(zeros, other);
            writer.finish();
        },
        moved);
    EXPECT_THROW(make_delta(zeros, Raw(6)), std::invalid_argument);
    EXPECT_THROW(make_delta(Raw(3), Raw(3)), std::invalid_argument);
}

TEST(WeightsDelta, RefusesWhatIsNone) {
    const Raw version = raw(Elements(64));
    const auto with = [](std::size_t at, int byte) {
        Raw file = NaiveDelta{.offsets = {5, 9}, .values = {1, 2}}.bytes();
        file.at(at) = static_cast<std::byte>(byte);
        return file;
    };
    ASSERT_EQ(refusal(with(0, 2), version), "");
    EXPECT_THAT(refusal({}, version), HasSubstr("has 0 bytes; the header of a delta has 16"));
    EXPECT_THAT(refusal(with(8, 4), version), HasSubstr("its elements have 4 bytes"));
    EXPECT_THAT(refusal(with(9, 1), version), HasSubstr("its elements have 258 bytes"));
    EXPECT_THAT(refusal(with(10, 2), version), HasSubstr("flags are 0x2, of which only bit 0"));
    EXPECT_THAT(refusal(with(11, 0x80), version), HasSubstr("flags are 0x8000"));
    EXPECT_THAT(refusal(with(12, 1), version), HasSubstr("reserved number is 1"));
    EXPECT_THAT(refusal(with(15, 0x80), version), HasSubstr("reserved number is -2147483648"));
    EXPECT_THAT(refusal(with(0, 3), version), HasSubstr("has 28 bytes; with 3 changed elements"));
    EXPECT_THAT(refusal(with(7, 0xff), version), HasSubstr("for weights of 64"));
    EXPECT_THAT(refusal(with(16, 64), version), HasSubstr("element 64 changed, the weights have"));
    EXPECT_THAT(refusal(with(20, 5), version), HasSubstr("offset 5 comes behind 5"));
    EXPECT_THAT(refusal(with(20, 4), version), HasSubstr("offset 4 comes behind 5"));
    EXPECT_EQ(refusal(with(20, 63), version), "");
    const NaiveDelta far{.offsets = {(std::uint64_t{1} << 32) + 5}, .values = {1}, .wide = true};
    EXPECT_THAT(refusal(far.bytes(), version), HasSubstr("element 4294967301 changed"));
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THAT(
        refusal(NaiveDelta{.offsets = {last}, .values = {1}, .wide = true}.bytes(), version),
        HasSubstr("element 18446744073709551615 changed"));
    // A count whose bytes would overflow to those that are there.
    Raw overflow;
    append(overflow, std::uint64_t{1} << 63, 8);
    append(overflow, 2, 8);
    EXPECT_THROW(check_delta(nn::UntrustedFile("d.delta", overflow), last), UserError);
}

/// Every change of one byte of the header and every torn or longer file is refused, or means the
/// same.
TEST(WeightsDelta, DamagedHeadersAndTornFiles) {
    std::mt19937_64 random(4);
    const Elements before = random_elements(70, random);
    for (const double share : {0.0, 0.1, 1.0})
        for (const bool wide : {false, true}) {
            const Elements after = changed_at_random(before, share, random);
            const Raw file = naive_delta(before, after, wide).bytes();
            int taken = 0;
            for (std::size_t at = 0; at < delta_header_bytes; ++at)
                for (int byte = 0; byte < 256; ++byte) {
                    Raw damaged = file;
                    damaged[at] = static_cast<std::byte>(byte);
                    if (damaged == file || !refusal(damaged, raw(before)).empty()) continue;
                    EXPECT_EQ(applied(damaged, raw(before)), raw(after)) << at << " " << byte;
                    ++taken;
                }
            EXPECT_EQ(taken, share == 0 ? 1 : 0) << "offsets that are not there have any width";
            for (std::size_t size = 0; size < file.size(); ++size)
                EXPECT_NE(refusal({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)},
                                  raw(before)),
                          "");
            for (std::size_t more = 1; more <= 12; ++more) {
                Raw longer = file;
                longer.resize(file.size() + more);
                EXPECT_THAT(refusal(longer, raw(before)), HasSubstr("cut off or damaged"));
            }
        }
}

TEST(WeightsDelta, ReadersStayWithinTheVersion) {
    const Raw delta = NaiveDelta{.offsets = {1, 3}, .values = {7, 8}}.bytes();
    const nn::UntrustedFile file("d.delta", delta);
    Raw five(10), odd(3);
    DeltaReader reader(file, 4);
    EXPECT_THROW(reader.replace(five), std::out_of_range);
    EXPECT_THROW(reader.replace(odd), std::out_of_range);
    EXPECT_NO_THROW(check_delta(file, 4));
    EXPECT_THROW(check_delta(file, 3), UserError);
}

TEST(WeightsDelta, SizesAndBreakEven) {
    EXPECT_EQ(offset_type(0), OffsetType::u32);
    EXPECT_EQ(offset_type(4294967295), OffsetType::u32);
    EXPECT_EQ(offset_type(4294967296), OffsetType::u64);
    EXPECT_EQ(delta_bytes(0, OffsetType::u64), 16U);
    EXPECT_EQ(delta_bytes(10, OffsetType::u32), 76U);
    EXPECT_EQ(delta_bytes(10, OffsetType::u64), 116U);
    EXPECT_DOUBLE_EQ(break_even_density(OffsetType::u32), 1.0 / 3);
    EXPECT_DOUBLE_EQ(break_even_density(OffsetType::u64), 1.0 / 5);
    // AstraFlow's example: 14.77e9 elements, 0.69 % changed, 1.02 GB.
    EXPECT_NEAR(static_cast<double>(delta_bytes(101'913'000, offset_type(14'770'000'000))), 1.02e9,
                0.005e9);
    // On either side of the break-even density the smaller transfer is chosen.
    constexpr std::uint64_t elements = 3'000'000;
    for (const OffsetType offsets : {OffsetType::u32, OffsetType::u64})
        for (std::uint64_t changed = 0; changed <= elements; changed += 11'111) {
            const double density = static_cast<double>(changed) / elements;
            EXPECT_EQ(mode_for(4, 4, density, offsets) == TransferMode::delta,
                      delta_bytes(changed, offsets) <= 2 * elements)
                << changed;
        }
}

TEST(WeightsDelta, FullOrDelta) {
    EXPECT_EQ(mode_for(7, 7, 0.01), TransferMode::delta);
    EXPECT_EQ(mode_for(7, 7, 0), TransferMode::delta);
    EXPECT_EQ(mode_for(0, 0, 0), TransferMode::full) << "nothing to apply it to";
    EXPECT_EQ(mode_for(0, 7, 0), TransferMode::full);
    EXPECT_EQ(mode_for(7, 0, 0), TransferMode::full) << "none is offered";
    EXPECT_EQ(mode_for(6, 7, 0), TransferMode::full) << "one was missed";
    EXPECT_EQ(mode_for(8, 7, 0), TransferMode::full);
    EXPECT_EQ(mode_for(7, 7, 0.34), TransferMode::full);
    EXPECT_EQ(mode_for(7, 7, 0.25, OffsetType::u32), TransferMode::delta);
    EXPECT_EQ(mode_for(7, 7, 0.25, OffsetType::u64), TransferMode::full);
    EXPECT_EQ(mode_for(7, 7, std::numeric_limits<double>::quiet_NaN()), TransferMode::full);
}

}  // namespace
}  // namespace assay::weights
