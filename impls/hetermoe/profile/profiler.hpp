// Measures what a profile says (paper section 5, "profiler"): one new and one old GPU's worker are
// enough. Runs the very tasks of the training, on one worker and without peers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/hetermoe/policy/profile.hpp"
#include "impls/tensors/part.hpp"

namespace assay::hetermoe {

/// What is to be trained and on what; without libtorch, so that a command can fill it in.
struct ProfilerSettings {
    enum class Attention { fused, materialised, written_out };  ///< as nn::Attention

    bool mixtral = false;  ///< layers of Mixtral's shape, else GPT's
    int layers = 4, width = 256, heads = 8, kv_heads = 2;
    int experts = 8, top_k = 2, hidden = 896;
    int tokens = 256;   ///< of a sequence
    int sequences = 1;  ///< of a micro-batch
    std::vector<int> micro_batches{2, 4};
    int new_gpus = 1, old_gpus = 1;
    bool gpu = false;                    ///< the first one, else the processor
    std::optional<Attention> attention;  ///< none: fused on a GPU, else written_out
    std::optional<std::int64_t> memory;  ///< bytes of a worker, for capacities; none: any number
    double seconds = 0.5;                ///< for each of the times
};

/// A profile, and what was measured besides.
struct MeasuredProfile {
    TrainingProfile profile;  ///< both kinds as this device
    double backward = 0;      ///< F: backward tasks over forward ones, all of a layer's together
    std::string device;       ///< "cpu, 1 thread" or "cuda"
    std::int64_t expert_bytes = 0;    ///< weights, gradients and both moments of one
    std::int64_t boundary_bytes = 0;  ///< kept of a micro-batch in a layer by an attention worker
};

/// Median times of at least five repetitions and `seconds`; memory as libtorch allocates it. Both
/// kinds have this device's times: where they are unlike, each is measured on its own machine.
/// `progress`: what is measured next. Throws NotSupportedHere without the device.
MeasuredProfile measure_profile(const ProfilerSettings& settings,
                                const std::function<void(std::string_view)>& progress);
/// The same, from outside of the module of tensors.
inline const tensors::Part<decltype(measure_profile)> profiler{"hetermoe/profiler",
                                                               tensors::Needs::processes};

}  // namespace assay::hetermoe
