// grouped_all_reduce against sums in double, its sizes of exchange, and its refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "suite/cluster/collectives/grouped_all_reduce.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "tests/cluster/collectives/grouped_sums.hpp"
#include "tests/cluster/collectives/run_ranks.hpp"

namespace assay::cluster {
namespace {

TEST(GroupedAllReduce, IsCloseToTheSumInDouble) {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        const int size = 1 + int(seed % 7);
        const GroupedSums sums(size, Dtype::f32, seed);
        auto members = make_in_process_group(size);
        run_ranks(size, [&](int rank) {
            auto data = sums.data_of(rank);
            auto buffers = sums.buffers(data);
            grouped_all_reduce(*members[rank], buffers, Dtype::f32);
            // A sum of n floats in any order is within (n - 1) half ulps of the magnitudes' sum.
            EXPECT_LE(sums.worst_error(data), (size - 1) * 0x1p-24) << "seed " << seed;
        });
    }
}

// The bits of a buffer's sum depend on its holders' values in order, not on who else is in the
// group.
TEST(GroupedAllReduce, BitsDoNotDependOnTheGroupsSize) {
    const std::vector<float> a{0.1f, 1e8f, -3.3f}, b{0.2f, 1.0f, 1e-7f}, c{0.3f, -1e8f, 7.7f};
    auto reduce = [&](int size, std::vector<int> holders) {
        std::vector<std::vector<float>> values{a, b, c};
        auto members = make_in_process_group(size);
        run_ranks(size, [&](int rank) {
            SharedBuffer buffer{3, holders, nullptr};
            for (std::size_t h = 0; h < 3; ++h) {
                if (holders[h] == rank) buffer.data = values[h].data();
            }
            grouped_all_reduce(*members[rank], std::span(&buffer, 1), Dtype::f32);
        });
        EXPECT_EQ(values[0], values[1]);
        EXPECT_EQ(values[0], values[2]);
        return values[0];
    };
    EXPECT_EQ(reduce(3, {0, 1, 2}), reduce(8, {1, 4, 7}));
}

TEST(GroupedAllReduce, RefusesListsThatContradictThemselves) {
    auto members = make_in_process_group(1);
    float value = 1;
    auto reduce = [&](SharedBuffer buffer, Dtype dtype = Dtype::f32) {
        grouped_all_reduce(*members[0], std::span(&buffer, 1), dtype);
    };
    EXPECT_THROW(reduce({1, {}, &value}), std::invalid_argument);
    EXPECT_THROW(reduce({1, {1}, &value}), std::invalid_argument);
    EXPECT_THROW(reduce({1, {-1}, &value}), std::invalid_argument);
    EXPECT_THROW(reduce({1, {0, 0}, &value}), std::invalid_argument);
    EXPECT_THROW(reduce({-1, {0}, &value}), std::invalid_argument);
    EXPECT_THROW(reduce({1, {0}, nullptr}), std::invalid_argument);
    EXPECT_THROW(reduce({1, {0}, &value}, Dtype::bf16), std::invalid_argument);
    reduce({1, {0}, &value});
    EXPECT_EQ(value, 1);
}

TEST(OrderedSum, RoundsBf16OnceToNearestEven) {
    // 1 + 2^-9 + 2^-9: each step rounded to bf16 would stay 1, the float sum 1 + 2^-8 ties to even.
    const std::uint16_t one = 0x3f80, tiny = 0x3b00, more = 0x3b80;  // 1, 2^-9, 2^-8
    std::uint16_t out = 0;
    const void* tie[] = {&one, &tiny, &tiny};
    ordered_sum(tie, 1, Dtype::bf16, &out);
    EXPECT_EQ(out, 0x3f80);
    const void* above[] = {&one, &more, &tiny};
    ordered_sum(above, 1, Dtype::bf16, &out);
    EXPECT_EQ(out, 0x3f81);
    const std::uint16_t nan = 0x7f81;
    const void* with_nan[] = {&one, &nan};
    ordered_sum(with_nan, 1, Dtype::bf16, &out);
    EXPECT_GT(out & 0x7fff, 0x7f80) << "a NaN must not round to infinity";
}

}  // namespace
}  // namespace assay::cluster
