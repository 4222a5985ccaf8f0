#include "impls/hetermoe/cost/modelled_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "impls/hetermoe/profile/profile_file.hpp"

namespace assay::hetermoe {
namespace {

Nanoseconds nanoseconds(double seconds) {
    if (!(seconds <= longest_s))
        throw UserError(fmt::format(
            "a task of this model would take {:.3g} s, more than {} s: give shorter sequences",
            seconds, longest_s));
    return std::max<Nanoseconds>(1, std::llround(seconds * 1e9));
}

GpuKind gpu_kind(const GpuSeconds& seconds, int gpus, std::int64_t capacity) {
    return {.gpus = gpus,
            .attention = nanoseconds(seconds.attention),
            .expert = nanoseconds(seconds.expert),
            .head = nanoseconds(seconds.head),
            .capacity = capacity};
}

// States of all but experts, and the inputs of all layers.
double attention_kept_bytes(const Workload& workload, int micro_batches) {
    const ModelShape& model = workload.model;
    const double tokens = workload.tokens * workload.sequences;
    return state_bytes * (model.dense_parameters() + model.embedding_parameters()) +
           value_bytes * model.layers * micro_batches * tokens * model.hidden;
}

// Logits in FP16 and, for the loss, in FP32; or a layer's projections.
double attention_task_bytes(const Workload& workload) {
    return value_bytes * workload.tokens * workload.sequences *
           std::max(3 * ModelShape::vocabulary, 12.0 * workload.model.hidden);
}

}  // namespace

std::int64_t expert_capacity(const DeviceProfile& device, const ModelShape& model, double rest) {
    const double left = usable_memory * device.memory_bytes.value - rest;
    return static_cast<std::int64_t>(
        std::max(0.0, left / (state_bytes * model.expert_parameters())));
}

double expert_task_bytes(const Workload& workload, double held) {
    const ModelShape& model = workload.model;
    return value_bytes * workload.rows() * (2 * model.hidden + 6 * model.expert_width() / held);
}

double expert_gpu_bytes(const Workload& workload, int micro_batches, double held) {
    const ModelShape& model = workload.model;
    const double inputs = double(model.layers) * micro_batches * workload.rows() * model.hidden;
    return value_bytes * inputs + expert_task_bytes(workload, held);
}

double attention_gpu_bytes(const Workload& workload, int micro_batches) {
    return attention_kept_bytes(workload, micro_batches) + attention_task_bytes(workload);
}

double whole_layer_gpu_bytes(const Workload& workload, const Workload& to_experts,
                             int micro_batches, double held) {
    const ModelShape& model = workload.model;
    const double experts = expert_task_bytes(to_experts, std::max(1.0, held)),
                 rows = double(model.layers) * micro_batches * to_experts.rows() * model.hidden;
    return attention_kept_bytes(workload, micro_batches) + value_bytes * rows +
           state_bytes * model.layers * held * model.expert_parameters() +
           std::max(value_bytes * workload.tokens * workload.sequences * 12 * model.hidden,
                    experts);
}

TrainingProfile modelled_profile(const ModelledSetup& setup) {
    const auto& [fresh, new_gpus] = setup.new_gpus;
    const auto& [old, old_gpus] = setup.old_gpus;
    ClusterProfile cluster = setup.network;
    cluster.devices = {fresh.id, old.id};
    const CostModel costs(cluster, {fresh, old});
    const Workload work{.model = setup.model, .tokens = double(setup.tokens)};
    const double experts = setup.model.experts, of_an_old = std::max(1.0, experts / old_gpus);
    const GpuSeconds of_new = gpu_seconds(costs, 0, work, std::max(1.0, experts / new_gpus)),
                     of_old = gpu_seconds(costs, 1, work, of_an_old);
    const int most = *std::max_element(setup.micro_batches.begin(), setup.micro_batches.end());
    const double exchange = exchange_s(cluster, work);

    TrainingProfile profile;
    profile.layers = setup.model.layers;
    profile.experts = setup.model.experts;
    profile.micro_batches = setup.micro_batches;
    profile.new_kind = gpu_kind(
        of_new, new_gpus, expert_capacity(fresh, setup.model, attention_gpu_bytes(work, most)));
    profile.old_kind =
        gpu_kind(of_old, old_gpus,
                 expert_capacity(old, setup.model, expert_gpu_bytes(work, most, of_an_old)));
    profile.exchange = nanoseconds(exchange);
    // Rows for experts of its own a GPU does not send.
    const double travelling = 1 - 1.0 / (new_gpus + old_gpus);
    const double exposed =
        travelling * exposed_share(travelling * exchange, std::max(of_new.expert, of_old.expert),
                                   setup.backward, piece_s(costs), Links::shared);
    profile.ep_exposed = Fraction(std::llround(exposed * 1e4), 10'000);
    const auto sync = [&](double parameters) {
        return nanoseconds(value_bytes * parameters /
                           reached(cluster.link_bandwidth, cluster.link_efficiency));
    };
    profile.dense_sync = sync(setup.model.dense_parameters() + setup.model.embedding_parameters());
    profile.expert_sync = sync(setup.model.expert_parameters());
    return profile;
}

ModelledGpus parse_gpus(const std::string& text, const std::string& option) {
    const std::size_t colon = text.rfind(':');
    int gpus = 0;
    if (colon != std::string::npos && colon > 0) {
        const char *first = text.data() + colon + 1, *last = text.data() + text.size();
        const auto [end, error] = std::from_chars(first, last, gpus);
        if (error != std::errc{} || end != last) gpus = 0;
    }
    if (gpus < 1 || gpus > most_of_a_count)
        throw UserError(
            fmt::format("{} {}: give a device profile and how many of them, 1 to {}, as a40:6",
                        option, text, most_of_a_count));
    return {.device = device_profile(text.substr(0, colon)), .gpus = gpus};
}

}  // namespace assay::hetermoe
