// Profiles for tests: small, in whole nanoseconds, drawn at random or the paper's Fig. 6.
#pragma once

#include <random>
#include <vector>

#include "impls/hetermoe/policy/profile.hpp"

namespace assay::hetermoe {

/// The paper's Fig. 6: attention three quarters of an expert task, six experts, three layers.
inline TrainingProfile fig6_profile(Nanoseconds expert_on_new = 800) {
    TrainingProfile profile;
    profile.layers = 3;
    profile.experts = 6;
    profile.micro_batches = {3};
    profile.new_kind.gpus = 1;
    profile.new_kind.attention = 750;
    profile.new_kind.expert = expert_on_new;
    profile.old_kind.gpus = 1;
    profile.old_kind.expert = 1000;
    return profile;
}

inline TrainingProfile random_profile(std::mt19937_64& random, int most_gpus = 4) {
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    TrainingProfile profile;
    profile.layers = draw(1, 4);
    profile.experts = std::vector{1, 2, 3, 4, 6, 8, 12}[static_cast<std::size_t>(draw(0, 6))];
    profile.micro_batches = {draw(1, 4)};
    for (GpuKind* kind : {&profile.new_kind, &profile.old_kind}) {
        kind->gpus = draw(1, most_gpus);
        kind->attention = draw(1, 20);
        kind->expert = draw(1, 20);
        kind->head = draw(0, 9);
        if (draw(0, 2) == 0) kind->capacity = draw(0, 2 * profile.layers * profile.experts);
    }
    profile.exchange = draw(0, 2) == 0 ? 0 : draw(1, 12);
    profile.ep_exposed = Fraction(draw(0, 4), 4);
    profile.dense_sync = draw(0, 9);
    profile.expert_sync = draw(0, 9);
    return profile;
}

}  // namespace assay::hetermoe
