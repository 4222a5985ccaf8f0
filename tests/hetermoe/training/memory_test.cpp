// What an attention rank's activations take at the peak of a step, counted to the byte.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "impls/hetermoe/training/cut_stages.hpp"
#include "impls/hetermoe/training/tensor_memory.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "tests/hetermoe/training/small_training.hpp"

namespace assay::hetermoe {
namespace {

struct Peak {
    std::int64_t bytes = 0;       ///< of tensors alive, beyond the state
    std::int64_t boundaries = 0;  ///< of all layers and micro-batches
    double share() const { return static_cast<double>(bytes) / static_cast<double>(boundaries); }
};

// A step of a group of one and one; rank 0's threads are counted.
Peak peak_of(const nn::MoeGptConfig& model, int micro_batches) {
    at::set_num_threads(1);
    const GroupPlan plan{
        {1, 1}, micro_batches, std::vector<int>(static_cast<std::size_t>(model.layers), 0)};
    std::vector<at::Tensor> tokens;
    for (int i = 0; i < micro_batches; ++i)
        tokens.push_back(sheep().batch(1, 0, i, 1, model.context));
    const auto memory = std::make_shared<TensorMemory>();
    const auto counted = [&](const Task& task) {
        if (queue_of(task.kind) == Queue::attention) return;  // that thread counts already
        thread_local const TensorMemory::Counting counting(memory);
    };
    auto out = cluster::make_in_process_group(2), in = cluster::make_in_process_group(2);
    Peak peak;
    const auto rank = [&](std::size_t i) {
        at::set_num_threads(1);
        nn::MoeState state(model, 1);
        for (const auto& key : nn::all_blocks(model.layers, model.experts))
            if ((key == nn::dense_key) == (i == 0)) state.make_initial(key);
        GroupLinks links(*out[i], *in[i]);
        if (i == 1) {
            run_group_step(plan, {}, 1, state, links);
            return;
        }
        const TensorMemory::Counting counting(memory);
        run_group_step(plan, tokens, 1, state, links, {.before = counted});
        peak.bytes = memory->peak_bytes();
    };
    std::thread attention(rank, 0), experts(rank, 1);
    attention.join();
    experts.join();
    const std::int64_t rows = model.context, k = model.top_k, width = model.width;
    peak.boundaries = micro_batches * model.layers * rows *
                      ((1 + k) * width * 4 + k * 4 + k * 8);  // CutStages keeps these
    return peak;
}

// Beside them there are the order of rows (16 bytes for each choice), the rows on their way, and
// the activations of the one stage that is computed. Many layers and micro-batches make the last
// small.
TEST(HetermoeMemory, AtThePeakThereAreBoundariesAndLittleElse) {
    const nn::MoeGptConfig model{.layers = 12,
                                 .width = 128,
                                 .heads = 4,
                                 .experts = 4,
                                 .top_k = 2,
                                 .hidden = 64,
                                 .context = 32};
    const Peak peak = peak_of(model, 12);
    EXPECT_GE(peak.share(), 1) << "or something is not counted";
    EXPECT_LE(peak.share(), 1.1);
    RecordProperty("peak_over_boundaries", std::to_string(peak.share()));
    std::cout << "peak over boundaries " << peak.share() << "\n";
}

}  // namespace
}  // namespace assay::hetermoe
