// Algorithm 1, and our search in its place.
#include "impls/hetermoe/policy/squeeze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "impls/hetermoe/policy/expert_map.hpp"
#include "impls/hetermoe/policy/plan.hpp"
#include "impls/hetermoe/policy/squeeze_search.hpp"
#include "tests/hetermoe/policy/profiles.hpp"

namespace assay::hetermoe {
namespace {

using Vector = std::vector<int>;

const PlanSettings forward_as_backward{.asym = Asym::search, .backward = Fraction(1)};

std::int64_t sum(const Vector& vector) {
    return std::accumulate(vector.begin(), vector.end(), std::int64_t{0});
}

// The paper's Fig. 6: experts move in layers 2 and 3.
TEST(HetermoeSqueeze, MovesWhatThePapersFigure6Moves) {
    const TrainingProfile profile = fig6_profile();
    const Chunks chunks = chunks_of(profile, {1, 1}).value();
    EXPECT_EQ(squeeze(profile, {1, 1}, chunks, Asym::published), (Vector{0, 1, 1}));
    EXPECT_EQ(squeeze(profile, {1, 1}, chunks, Asym::printed), (Vector{0, 1, 1}));
}

// To which shapes of groups the algorithm applies.
TEST(HetermoeSqueeze, NeedsGroupsOfWhichOneSizeDividesTheOther) {
    TrainingProfile profile = fig6_profile();
    profile.experts = 24;
    EXPECT_FALSE(chunks_of(profile, {4, 3}));
    const auto moved = [&](int m, int n) {
        const Chunks chunks = chunks_of(profile, {m, n}).value();
        EXPECT_EQ(m * chunks.taken, n * chunks.given);
        return Vector{chunks.taken, chunks.given, chunks.per_layer};
    };
    EXPECT_EQ(moved(4, 2), (Vector{1, 2, 6}));
    EXPECT_EQ(moved(4, 4), (Vector{1, 1, 6}));
    EXPECT_EQ(moved(4, 8), (Vector{2, 1, 3}));
}

TEST(HetermoeSqueeze, ThePrintedFormDiffersWhereGroupsAreUneven) {
    TrainingProfile profile = fig6_profile();
    profile.layers = 8;
    profile.experts = 24;
    const Group group{1, 2};
    profile.new_kind.attention = 300;
    profile.new_kind.expert = 200;
    const Chunks chunks = chunks_of(profile, group).value();
    // T_E 500, T_X 100; gathered 200. n1 = 2, n2 = 1: a chunk squeezes (500 + 200) / 12 of it, or
    // (1000 + 100) / 12 as printed.
    EXPECT_EQ(squeeze(profile, group, chunks, Asym::published), (Vector{3, 3, 4, 3, 4, 3, 4, 3}));
    EXPECT_EQ(squeeze(profile, group, chunks, Asym::printed), (Vector{2, 2, 2, 2, 2, 3, 2, 2}));
}

// The algorithm as the paper lists it, with its alpha, beta and t.
Vector as_listed(const TrainingProfile& profile, const Group& group, const Chunks& chunks) {
    const Fraction share(group.attention, group.expert), layers(profile.layers);
    const Fraction gathered =
        Fraction(profile.old_kind.expert) * share - Fraction(*profile.new_kind.attention);
    const Fraction squeezed = Fraction(group.expert, profile.experts) * share *
                              (Fraction(chunks.given) * Fraction(profile.old_kind.expert) +
                               Fraction(chunks.taken) * Fraction(profile.new_kind.expert));
    const auto scaled = [&](std::int64_t bound) {
        return Fraction(bound) * squeezed / (layers * gathered);
    };
    const Fraction alpha = std::min(scaled(chunks.most), Fraction(1));
    const Fraction beta = std::max(scaled(chunks.least), Fraction(1));
    // At most one of the two bounds is active.
    EXPECT_TRUE(alpha == Fraction(1) || beta == Fraction(1));
    Fraction t;
    Vector moved;
    for (int layer = 0; layer < profile.layers; ++layer) {
        t = t + alpha * beta * gathered;
        const Wide c = (t / squeezed).floor();
        t = t - Fraction(c) * squeezed;
        moved.push_back(static_cast<int>(c));
    }
    return moved;
}

TEST(HetermoeSqueeze, IsTheListedAlgorithmAndKeepsItsBounds) {
    std::mt19937_64 random(1);
    int compared = 0, floor_active = 0, ceiling_active = 0;
    for (int i = 0; i < 5000; ++i) {
        const TrainingProfile profile = random_profile(random, 8);
        const Group group{profile.new_kind.gpus, profile.old_kind.gpus};
        if (profile.experts % group.expert != 0) continue;
        const auto chunks = chunks_of(profile, group);
        if (!chunks || chunks->least > chunks->most) continue;
        const Vector moved = squeeze(profile, group, *chunks, Asym::published);
        ASSERT_GE(sum(moved), chunks->least);
        ASSERT_LE(sum(moved), chunks->most);
        for (const int c : moved) ASSERT_TRUE(c >= 0 && c <= chunks->per_layer);
        const bool bubble = Wide{profile.old_kind.expert} * group.attention >
                            Wide{*profile.new_kind.attention} * group.expert;
        if (!bubble) {
            // Nothing to gather: only what does not fit moves.
            ASSERT_EQ(sum(moved), chunks->least);
            continue;
        }
        ASSERT_EQ(moved, as_listed(profile, group, *chunks));
        ++compared;
        floor_active += chunks->least > 0 && sum(moved) == chunks->least;
        ceiling_active += sum(moved) == chunks->most;
    }
    EXPECT_GT(compared, 300);
    EXPECT_GT(floor_active, 20);
    EXPECT_GT(ceiling_active, 20);
}

TEST(HetermoeSqueeze, CapacitiesAreOfAGpuOverAllLayers) {
    TrainingProfile profile = fig6_profile();
    profile.old_kind.capacity = 18;
    EXPECT_EQ(chunks_of(profile, {1, 1})->least, 0);
    profile.old_kind.capacity = 13;
    EXPECT_EQ(chunks_of(profile, {1, 1})->least, 5);
    EXPECT_EQ(sum(squeeze(profile, {1, 1}, *chunks_of(profile, {1, 1}), Asym::published)), 5);
    EXPECT_FALSE(fits_unmoved(profile, {1, 1}));
    profile.new_kind.capacity = 5;
    EXPECT_EQ(chunks_of(profile, {1, 1})->most, 5);
    profile.new_kind.capacity = 1;
    profile.old_kind.capacity.reset();
    EXPECT_EQ(squeeze(profile, {1, 1}, *chunks_of(profile, {1, 1}), Asym::published),
              (Vector{0, 0, 1}));
}

// ---- search ----------------------------------------------------------------------------------

// The best of all vectors, an odometer's way.
Vector best_by_counting(const TrainingProfile& profile, const Group& group, const Chunks& chunks,
                        int micro_batches) {
    const TaskTimes times = task_times(profile, group, Fraction(1), micro_batches);
    Vector vector(static_cast<std::size_t>(profile.layers), 0), best;
    Ticks shortest = 0;
    for (;;) {
        if (sum(vector) >= chunks.least && sum(vector) <= chunks.most) {
            const Vector offload = offload_of(vector, chunks);
            const Ticks length =
                zebra_makespan(times, {.micro_batches = micro_batches, .offload = offload});
            const bool better =
                best.empty() || length < shortest ||
                (length == shortest &&
                 (sum(vector) < sum(best) || (sum(vector) == sum(best) && vector < best)));
            if (better) {
                best = vector;
                shortest = length;
            }
        }
        std::size_t digit = 0;
        while (digit < vector.size() && vector[digit] == chunks.per_layer) vector[digit++] = 0;
        if (digit == vector.size()) return best;
        ++vector[digit];
    }
}

TEST(HetermoeSearch, FindsTheBestOfFewVectors) {
    std::mt19937_64 random(2);
    int searched = 0, better = 0;
    for (int i = 0; i < 300; ++i) {
        const TrainingProfile profile = random_profile(random);
        const Group group{profile.new_kind.gpus, profile.old_kind.gpus};
        if (profile.experts % group.expert != 0) continue;
        const auto chunks = chunks_of(profile, group);
        if (!chunks || chunks->least > chunks->most) continue;
        int vectors = 0;
        for_each_vector(profile.layers, *chunks,
                        [&](const Vector&) { return ++vectors <= most_vectors; });
        if (vectors > 700) continue;  // for the sake of the test's time
        const int micro_batches = profile.micro_batches.front();
        const Vector best = best_by_counting(profile, group, *chunks, micro_batches);
        const auto found = offload_for(profile, group, forward_as_backward, micro_batches);
        ASSERT_EQ(found.value(), offload_of(best, *chunks));
        ++searched;
        better += best != squeeze(profile, group, *chunks, Asym::published);
    }
    EXPECT_GT(searched, 60);
    EXPECT_GT(better, 10);
}

TEST(HetermoeSearch, VisitsEveryVectorOnceFewestFirst) {
    const Chunks chunks{.taken = 1, .given = 1, .per_layer = 2, .least = 1, .most = 4};
    std::vector<Vector> seen;
    for_each_vector(3, chunks, [&](const Vector& vector) {
        seen.push_back(vector);
        return true;
    });
    EXPECT_EQ(seen.size(), 3u + 6 + 7 + 6);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(), [](const Vector& a, const Vector& b) {
        return sum(a) < sum(b) || (sum(a) == sum(b) && a < b);
    }));
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
    EXPECT_EQ(seen.front(), (Vector{0, 0, 1}));
    EXPECT_EQ(seen.back(), (Vector{2, 2, 0}));
}

TEST(HetermoeSearch, IsNeverLongerThanAlgorithm1WhereThereAreTooManyToTry) {
    std::mt19937_64 random(3);
    int shorter = 0;
    for (int i = 0; i < 40; ++i) {
        TrainingProfile profile = random_profile(random);
        profile.layers = 12;
        profile.experts = 24;
        profile.new_kind.capacity.reset();
        profile.old_kind.capacity.reset();
        const Group group{1, 1};
        const TaskTimes times = task_times(profile, group, Fraction(1), 4);
        const auto length = [&](const Vector& offload) {
            return zebra_makespan(times, {.micro_batches = 4, .offload = offload});
        };
        const auto found = offload_for(profile, group, forward_as_backward, 4);
        const auto published = offload_for(profile, group, {Asym::published, Fraction(1)}, 4);
        const auto unmoved = offload_for(profile, group, {Asym::off, Fraction(1)}, 4);
        ASSERT_TRUE(length(*found) <= std::min(length(*published), length(*unmoved)));
        shorter += length(*found) < length(*published);
    }
    EXPECT_GT(shorter, 5);
}

// ---- where experts live ------------------------------------------------------------------------

TEST(HetermoeHomes, KeepsTheFirstAndDealsTheOthersInBlocks) {
    EXPECT_EQ(homes(6, {1, 1}, 0), (Vector{1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(homes(6, {1, 1}, 2), (Vector{1, 1, 1, 1, 0, 0}));
    EXPECT_EQ(homes(8, {2, 2}, 1), (Vector{2, 2, 2, 0, 3, 3, 3, 1}));
    EXPECT_EQ(homes(8, {1, 2}, 3), (Vector{1, 0, 0, 0, 2, 0, 0, 0}));
    EXPECT_EQ(homes(8, {4, 2}, 2), (Vector{4, 4, 0, 1, 5, 5, 2, 3}));
    EXPECT_EQ(homes(4, {2, 2}, 2), (Vector{0, 0, 1, 1}));
}

TEST(HetermoeHomes, GiveEveryGpuOfAKindEquallyMany) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 500; ++i) {
        TrainingProfile profile = random_profile(random, 6);
        profile.experts = 24;
        const Group group{profile.new_kind.gpus, profile.old_kind.gpus};
        if (24 % group.expert != 0) continue;
        const auto chunks = chunks_of(profile, group);
        if (!chunks) continue;
        for (int c = 0; c <= chunks->per_layer; ++c) {
            const int offload = c * chunks->given;
            Vector held(static_cast<std::size_t>(group.attention + group.expert));
            for (const int gpu : homes(24, group, offload))
                ++held.at(static_cast<std::size_t>(gpu));
            for (int gpu = 0; gpu < group.attention + group.expert; ++gpu)
                ASSERT_EQ(held[static_cast<std::size_t>(gpu)],
                          gpu < group.attention ? c * chunks->taken : 24 / group.expert - offload);
        }
    }
}

}  // namespace
}  // namespace assay::hetermoe
