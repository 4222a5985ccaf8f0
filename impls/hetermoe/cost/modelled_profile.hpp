// A profile by the cost model instead of by measuring.
#pragma once

#include <string>
#include <vector>

#include "impls/hetermoe/cost/modelled_times.hpp"
#include "impls/hetermoe/policy/profile.hpp"

namespace assay::hetermoe {

/// GPUs of one kind: what a device profile says, and how many.
struct ModelledGpus {
    DeviceProfile device;
    int gpus = 0;
};

/// What there is to be planned for; a micro-batch of a GPU is one sequence.
struct ModelledSetup {
    ModelShape model;
    int tokens = 0;  ///< of a sequence
    ModelledGpus new_gpus, old_gpus;
    ClusterProfile network;  ///< its links; every GPU has one
    std::vector<int> micro_batches{2, 4, 8};
    double backward = 3;  ///< F, for what of exchanges is hidden
};

/// Throws UserError: a device that does not say how it computes attention, or a task of more than
/// longest_s.
TrainingProfile modelled_profile(const ModelledSetup& setup);

/// "a40:6": the shipped device profile of that id, or the file before the last colon, and how many.
/// `option` is how messages call it. Throws UserError.
ModelledGpus parse_gpus(const std::string& text, const std::string& option);

/// What else a GPU needs beside the states of its experts, while it works on so many micro-batches:
/// the inputs of every layer, kept for recomputing, and the largest task's activations; of experts,
/// `held` of a layer, which are computed one after the other. An attention GPU's states, of all but
/// experts, are among it.
double expert_gpu_bytes(const Workload& workload, int micro_batches, double held);
double attention_gpu_bytes(const Workload& workload, int micro_batches);

/// The same of a GPU that computes whole layers, attention and `held` experts of each, with the
/// states of both; `to_experts`: the rows that come to it. It takes the loss in pieces, whose
/// logits take less than a layer does.
double whole_layer_gpu_bytes(const Workload& workload, const Workload& to_experts,
                             int micro_batches, double held);

/// Activations of `held` experts of a layer and their rows, one expert at a time.
double expert_task_bytes(const Workload& workload, double held);

/// Experts of all layers that a GPU holds beside `rest` bytes.
std::int64_t expert_capacity(const DeviceProfile& device, const ModelShape& model, double rest);

/// What the states of a parameter take: FP16 weight and gradient, FP32 weight, two moments.
inline constexpr double state_bytes = 16;
/// The share of a GPU's memory that can be filled.
inline constexpr double usable_memory = 0.9;

}  // namespace assay::hetermoe
