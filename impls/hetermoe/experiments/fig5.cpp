// Fig. 5: Theorem 1's order, and what becomes of it when two neighbours change places.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/hetermoe/experiments/every_order.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

// The units are nanoseconds; only their ratios matter.
TrainingProfile profile_of(const SampleSpec& spec) {
    TrainingProfile profile;
    profile.layers = static_cast<int>(integer_axis(spec, "layers"));
    profile.experts = 1;
    profile.new_kind.gpus = profile.old_kind.gpus = 1;
    const std::string stages = assay::to_string(spec.axes.at("stages"));
    profile.new_kind.attention = stages == "attention_longer" ? 4 : 3;
    profile.new_kind.head = stages == "equal" ? 3 : 0;
    profile.old_kind.expert = stages == "attention_longer" ? 2 : 4;
    return profile;
}

// Which of the paper's cases two neighbours of a queue are.
std::string swap_of(const Task& a, const Task& b) {
    if (a.layer != b.layer) return "swapped_layers";
    return a.kind == b.kind ? "swapped_micro_batches" : "swapped_passes";
}

struct Swaps {
    int shorter = 0, equal = 0, longer = 0;
    Ticks shortest = 0, longest = 0;
};

Swaps swaps_of(const std::string& variant, const TaskTimes& times, const StepShape& step) {
    const Ticks zebra = zebra_makespan(times, step);
    const QueueOrders orders = zebra_orders(step);
    Swaps swaps;
    std::optional<Ticks> shortest, longest;
    for (const Queue queue : {Queue::attention, Queue::expert}) {
        const auto q = static_cast<std::size_t>(queue);
        for (std::size_t i = 0; i + 1 < orders[q].size(); ++i) {
            const Task &a = orders[q][i], &b = orders[q][i + 1];
            // Of one micro-batch the order is given.
            if (swap_of(a, b) != variant || a.micro_batch == b.micro_batch) continue;
            QueueOrders swapped = orders;
            std::swap(swapped[q][i], swapped[q][i + 1]);
            const Ticks length =
                makespan(timeline(times, step, with_transfers_in_turn(std::move(swapped), step)));
            ++(length < zebra ? swaps.shorter : length == zebra ? swaps.equal : swaps.longer);
            shortest = std::min(shortest.value_or(length), length);
            longest = std::max(longest.value_or(length), length);
        }
    }
    swaps.shortest = shortest.value_or(zebra);
    swaps.longest = longest.value_or(zebra);
    return swaps;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const int micro_batches = static_cast<int>(integer_axis(spec, "micro_batches"));
    const TrainingProfile profile = profile_of(spec);
    const std::vector<int> offload(static_cast<std::size_t>(profile.layers), 0);
    const StepShape step{.micro_batches = micro_batches, .offload = offload};
    const TaskTimes times = task_times(profile, {1, 1}, Fraction(2), micro_batches);
    const Swaps swaps = swaps_of(spec.variant, times, step);
    const Ticks zebra = zebra_makespan(times, step);
    recorder.metric("shortest", Fraction(swaps.shortest, zebra).value());
    recorder.metric("longest", Fraction(swaps.longest, zebra).value());
    recorder.metric("swaps", swaps.shorter, {{"outcome", std::string("shorter")}});
    recorder.metric("swaps", swaps.equal, {{"outcome", std::string("equal")}});
    recorder.metric("swaps", swaps.longer, {{"outcome", std::string("longer")}});
}

}  // namespace

Experiment fig5() {
    Experiment experiment;
    experiment.id = "hetermoe/fig5";
    experiment.title = "Theorem 1's order with neighbours swapped";
    experiment.source = "arXiv 2504.03871v1, section 4.1, Fig. 5";
    experiment.says =
        "The paper draws its order (a), one with tasks of two layers swapped (b) and one with two "
        "micro-batches swapped (c), and proves by such swaps that its order is optimal. Here "
        "every pair of neighbours of the attention and of the expert GPU changes places, one "
        "pair at a time, transfers follow what produces them, and the step is compared with the "
        "paper's order: zebra. swapped_passes are neighbours of one layer of which one runs "
        "forward, one backward. Backward takes twice as long as forward, communication no time. "
        "stages: equal (attention 3, last stage 3, experts 4), free_head (the last stage takes "
        "no time), attention_longer (attention 4, experts 2, free last stage). No swap is shorter "
        "in any of them, as the proof argues; that several changes at once can be shorter is seen "
        "in x_order.";
    experiment.axes = {
        {"stages", "what tasks take", {"equal", "free_head", "attention_longer"}, false},
        {"layers",
         "with experts",
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}},
         false},
        {"micro_batches", "of a step", {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}}, false}};
    experiment.variants = {"zebra", "swapped_layers", "swapped_micro_batches", "swapped_passes"};
    experiment.metrics = {
        {"shortest", "ratio", "shortest step of any swap over Theorem 1's", Direction::lower, true},
        {"longest", "ratio", "longest step of any swap over Theorem 1's", Direction::lower, true},
        {"swaps",
         "count",
         "pairs of neighbours by what swapping them does to the step",
         Direction::none,
         true,
         {"outcome"}}};
    experiment.profiles = exact_profiles(0.05);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "longest",
                         .x = "layers",
                         .panels = {"stages", "micro_batches"},
                         .x_title = "layers",
                         .y_title = "longest step over Theorem 1's"};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::hetermoe
