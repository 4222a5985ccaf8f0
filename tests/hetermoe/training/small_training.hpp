// Small models and layouts for tests of the training.
#pragma once

#include <ATen/Parallel.h>

#include <string>
#include <utility>
#include <vector>

#include "impls/hetermoe/training/replay.hpp"

namespace assay::hetermoe {

inline const nn::ByteCorpus& sheep() {
    static const auto corpus = nn::ByteCorpus::from_text([] {
        std::string lines;
        for (int i = 0; i < 500; ++i) lines += std::to_string(i * 7919 % 1000) + " sheep\n";
        return lines;
    }());
    return corpus;
}

/// What a small training can be besides.
struct SmallModel {
    nn::MoeShape shape = nn::MoeShape::gpt;
    double capacity_factor = 0;
};

inline TrainingSettings small_training(at::ScalarType dtype, int experts = 8, int layers = 3,
                                       SmallModel model = {}) {
    at::set_num_threads(1);  // as the workers have it
    TrainingSettings settings;
    settings.model = {.layers = layers,
                      .width = 16,
                      .heads = 4,
                      .experts = experts,
                      .top_k = 2,
                      .hidden = 24,
                      .context = 12,
                      .dtype = dtype,
                      .shape = model.shape,
                      .kv_heads = 2,
                      .capacity_factor = model.capacity_factor};
    settings.sequences = 12;
    settings.seed = 5;
    return settings;
}

/// Workers 0, 1 … in rank order.
inline Layout layout_of(Group group, int groups, int micro_batches, std::vector<int> offload) {
    Layout layout{group, groups, micro_batches, std::move(offload), {}};
    for (int i = 0; i < groups * (group.attention + group.expert); ++i) layout.ranks.push_back(i);
    return layout;
}

}  // namespace assay::hetermoe
