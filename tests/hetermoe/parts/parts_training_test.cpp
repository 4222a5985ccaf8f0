// Ranks that are threads on parts of one device against one process without any split, and their
// links. The device is the CPU, and a GPU where there is one.
#include "impls/hetermoe/parts/parts_training.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <numeric>
#include <thread>

#include "impls/hetermoe/parts/divided_gpu.hpp"
#include "impls/hetermoe/parts/part_links.hpp"
#include "impls/hetermoe/parts/parts_arms.hpp"
#include "suite/cluster/rank_threads.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

nn::MoeGptConfig small_model() {
    at::set_num_threads(1);
    return {.layers = 3,
            .width = 16,
            .heads = 2,
            .experts = 8,
            .top_k = 2,
            .hidden = 24,
            .context = 12,
            .dtype = at::kDouble};
}

// New parts have fused attention, old ones have not.
std::vector<Part> parts_of(int fused, int materialised) {
    std::vector<Part> parts(static_cast<std::size_t>(fused), {nn::Attention::fused, {}});
    for (int i = 0; i < materialised; ++i) parts.push_back({nn::Attention::materialised, {}});
    return parts;
}

// The same steps by nobody but this thread.
class Whole {
  public:
    Whole(const PartsTraining& training, const nn::MoeGptConfig& model)
        : training_(training), state_(model, 0) {
        for (const auto& key : nn::all_blocks(model.layers, model.experts))
            state_.make_initial(key).copy_state_from(training.block(key));
    }
    double step(std::int64_t number, int sequences) {
        const auto& model = state_.model();
        std::vector<std::vector<const nn::ParameterBlock*>> blocks(std::size_t(model.layers));
        for (const auto& key : state_.keys())
            if (key != nn::dense_key) blocks[std::size_t(key.first)].push_back(state_.find(key));
        nn::LocalExperts experts(blocks, model.shape);
        state_.zero_gradients();
        const auto loss = nn::moe_gpt_loss(model, *state_.find(nn::dense_key), experts,
                                           training_.tokens(number, 0, sequences).cpu()) /
                          (double(sequences) * model.context);
        loss.backward();
        for (const auto& key : state_.keys())
            state_.find(key)->values().add_(state_.find(key)->grad(),
                                            -PartsTraining::learning_rate);
        return loss.item<double>();
    }
    double largest_difference() const {
        double largest = 0;
        for (const auto& key : state_.keys()) {
            const auto wanted = state_.find(key)->state().front(),
                       ours = training_.block(key).state().front().cpu();
            largest = std::max(
                largest, (ours - wanted).norm().item<double>() / wanted.norm().item<double>());
        }
        return largest;
    }

  private:
    const PartsTraining& training_;
    nn::MoeState state_;
};

struct Together {
    GroupPlan plan;
    std::vector<std::size_t> members;
};

void expect_as_whole(std::vector<Part> parts, const std::vector<Together>& runs,
                     at::Device device = at::kCPU) {
    constexpr int sequences = 12, steps = 2;
    const auto model = small_model();
    PartsTraining training(model, device, std::move(parts), 7);
    Whole whole(training, model);
    std::int64_t step = 0;
    double first = 0, last = 0;
    for (const auto& [plan, members] : runs)
        for (const double loss : training.run(plan, members, sequences, steps).losses) {
            EXPECT_NEAR(loss, whole.step(step, sequences), 1e-12 * loss) << "step " << step;
            if (step++ == 0) first = loss;
            last = loss;
        }
    EXPECT_LT(whole.largest_difference(), 1e-9);
    EXPECT_NE(first, last);
}

TEST(PartsTraining, GroupsThatAlternateAreAsOneProcess) {
    expect_as_whole(parts_of(1, 1), {{{{1, 1}, 3, {0, 0, 0}}, {0, 1}}});
    expect_as_whole(parts_of(2, 2), {{{{2, 2}, 2, {1, 0, 2}}, {0, 1, 2, 3}}});
    expect_as_whole(parts_of(1, 2), {{{{1, 2}, 2, {1, 4, 0}}, {0, 1, 2}}});
}

TEST(PartsTraining, ExpertParallelismIsTheSameStepWithoutExpertRanks) {
    expect_as_whole(parts_of(1, 1), {{{{2, 0}, 1, {1, 1, 1}}, {0, 1}}});
    expect_as_whole(parts_of(2, 1), {{{{3, 0}, 2, {1, 1, 1}}, {0, 1, 2}}});
    expect_as_whole(parts_of(1, 1), {{{{1, 0}, 2, {1, 1, 1}}, {1}}});
}

// What arms do one after the other: experts change their rank, dense blocks of idle parts age.
TEST(PartsTraining, GroupsMayFollowEachOther) {
    expect_as_whole(parts_of(2, 2), {{{{4, 0}, 1, {1, 1, 1}}, {0, 1, 2, 3}},
                                     {{{1, 1}, 3, {2, 0, 4}}, {1, 3}},
                                     {{{2, 0}, 2, {1, 1, 1}}, {2, 3}},
                                     {{{2, 2}, 2, {1, 1, 1}}, {0, 1, 2, 3}}});
}

// Whatever the streams of ranks and links do side by side.
TEST(PartsTraining, OnPartsOfAGpuTheStepsAreTheSame) {
    if (const auto lacks = divided_gpu_lacks()) GTEST_SKIP() << *lacks;
    const DividedGpu gpu(std::vector<int>{24, 24, 16, 16});
    std::vector<Part> parts = parts_of(2, 2);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].stream = gpu.stream(i);
    const std::vector<Together> runs{{{{4, 0}, 1, {1, 1, 1}}, {0, 1, 2, 3}},
                                     {{{1, 1}, 3, {2, 0, 4}}, {1, 3}},
                                     {{{2, 2}, 2, {1, 1, 1}}, {0, 1, 2, 3}},
                                     {{{2, 0}, 2, {1, 1, 1}}, {2, 3}}};
    for (int round = 0; round < 5; ++round) expect_as_whole(parts, runs, at::Device(at::kCUDA, 0));
}

TEST(PartsTraining, SaysHowLongTasksTake) {
    PartsTraining training(small_model(), at::kCPU, parts_of(1, 1), 7);
    const std::vector<std::size_t> both{0, 1};
    const PartsRun run = training.run({{1, 1}, 2, {0, 0, 0}}, both, 4, 3);
    const RankTimes &attention = run.ranks[0], &experts = run.ranks[1];
    EXPECT_GT(attention.attention_s, 0);
    EXPECT_GT(attention.head_s, 0);
    EXPECT_EQ(attention.experts_s, 0);
    EXPECT_GT(experts.experts_s, 0);
    EXPECT_EQ(experts.attention_s, 0);
    for (const auto& rank : run.ranks) {
        EXPECT_GT(rank.busy_s, 0);
        EXPECT_LT(rank.busy_s, 1.2 * run.step_s);  // both are medians
    }
    EXPECT_GT(attention.busy_s, 6 * attention.attention_s / 3);
}

TEST(PartsTraining, EveryArmIsMeasured) {
    for (const Arm arm : {Arm::zebra, Arm::hetermoe, Arm::ep, Arm::dist_ep, Arm::ep_ideal}) {
        SCOPED_TRACE(to_string(arm));
        const PartsMeasurement made =
            measure_arm(arm, small_model(), at::kCPU, parts_of(1, 2), {1, 2}, 6, 2);
        EXPECT_GT(made.tokens_per_s, 0);
        EXPECT_GT(made.attention_ratio, 0);
        EXPECT_GT(made.experts_ratio, 0);
        EXPECT_EQ(made.new_busy.has_value(), arm != Arm::ep_ideal);
        EXPECT_EQ(made.old_busy.has_value(), made.new_busy.has_value());
        EXPECT_EQ(6 % made.micro_batches, 0);
        EXPECT_TRUE(made.moved == 0 || arm == Arm::hetermoe);
        // Two sequences of a rank: a third of the batch.
        EXPECT_TRUE(made.micro_batches <= 2 || (arm != Arm::ep && arm != Arm::ep_ideal));
    }
    // Half a sequence for each part is one.
    EXPECT_EQ(
        measure_arm(Arm::ep, small_model(), at::kCPU, parts_of(1, 1), {1, 1}, 1, 2).micro_batches,
        1);
    EXPECT_EQ(measure_arm(Arm::dist_ep, small_model(), at::kCPU, parts_of(1, 1), {1, 1}, 4, 2)
                  .micro_batches,
              1);
    EXPECT_THROW(measure_arm(Arm::pp, small_model(), at::kCPU, parts_of(1, 1), {1, 1}, 4, 2),
                 std::invalid_argument);
}

// ---- links -------------------------------------------------------------------------------------

using Body = std::function<void(int rank, cluster::Communicator& links)>;
void on_links(int ranks, const Body& body) {
    const auto links = make_part_links(ranks, at::kCPU);
    cluster::run_rank_threads(
        ranks, [&](int rank) { body(rank, *links[std::size_t(rank)]); },
        [&] {
            for (const auto& each : links) each->abort("a rank failed");
        });
}

// Rank i sends i + 2j values, each 100 i + j, to rank j.
TEST(PartLinks, RowsArriveWhereTheyAreWanted) {
    on_links(3, [](int rank, cluster::Communicator& links) {
        std::vector<std::int64_t> to, from;
        std::vector<double> send, wanted;
        for (int peer = 0; peer < 3; ++peer) {
            to.push_back(rank + 2 * peer);
            from.push_back(peer + 2 * rank);
            send.insert(send.end(), std::size_t(to.back()), 100 * rank + peer);
            wanted.insert(wanted.end(), std::size_t(from.back()), 100 * peer + rank);
        }
        std::vector<double> received(wanted.size(), -1);
        links.all_to_all_v(send.data(), to, received.data(), from, cluster::Dtype::f64);
        EXPECT_EQ(received, wanted) << "rank " << rank;
    });
}

TEST(PartLinks, SumsAreTheSameEverywhere) {
    on_links(3, [](int rank, cluster::Communicator& links) {
        std::vector<float> values(7);
        std::iota(values.begin(), values.end(), float(10 * rank));
        links.all_reduce_sum(values.data(), values.size(), cluster::Dtype::f32);
        for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 30 + 3 * float(i));
    });
}

TEST(PartLinks, RanksThatDisagreeAreTold) {
    const auto disagree = [](int rank, cluster::Communicator& links) {
        const std::vector<std::int64_t> to{1, 1}, from{1, rank == 0 ? 2 : 1};
        const std::vector<float> send(2);
        std::vector<float> received(3);
        links.all_to_all_v(send.data(), to, received.data(), from, cluster::Dtype::f32);
    };
    EXPECT_THROW(on_links(2, disagree), std::logic_error);
}

// Rank 2 breaks the group where rank 0 is about to copy what rank 1 sends: rank 1, whom no barrier
// holds any longer, may not have its memory back yet.
TEST(PartLinks, WhatAPeerCopiesStaysAlthoughAThirdRankBreaksTheGroup) {
    for (const bool sums : {false, true}) {
        std::vector<std::unique_ptr<cluster::Communicator>> links;
        std::promise<void> copies;
        std::atomic<bool> back{false};
        links = make_part_links(3, at::kCPU, [&](int rank) {
            if (rank == 2) {
                copies.get_future().wait();
                links[2]->abort("rank 2 breaks the group");
            }
            if (rank != 0) return;
            copies.set_value();
            for (int i = 0; i < 30 && !back; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            EXPECT_FALSE(back) << "rank 1 has left while it was copied from";
        });
        const auto take_part = [&](int rank) {
            std::vector<float> sent(3, 1), received(3);
            const std::vector<std::int64_t> ones(3, 1);
            auto& mine = *links[std::size_t(rank)];
            if (sums) return mine.all_reduce_sum(sent.data(), sent.size(), cluster::Dtype::f32);
            mine.all_to_all_v(sent.data(), ones, received.data(), ones, cluster::Dtype::f32);
        };
        cluster::run_rank_threads(
            3,
            [&](int rank) {
                EXPECT_THROW(take_part(rank), cluster::CommunicatorBroken) << "rank " << rank;
                if (rank == 1) back = true;
            },
            [] {});
    }
}

TEST(PartLinks, ARankThatFailsIsWaitedForByNobody) {
    EXPECT_THROW(on_links(2,
                          [](int rank, cluster::Communicator& links) {
                              if (rank == 1) throw std::domain_error("this one");
                              links.barrier();
                          }),
                 std::domain_error);
}

}  // namespace
}  // namespace assay::hetermoe
