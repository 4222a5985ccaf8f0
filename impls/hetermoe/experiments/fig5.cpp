// Fig. 5: Theorem 1's order, and what becomes of it when two neighbours change places.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "impls/hetermoe/experiments/every_order.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

enum class Stages { equal, free_head, attention_longer };
ASSAY_NAMES(Stages, equal, free_head, attention_longer)

/// Theorem 1's, and which of its neighbours are swapped.
enum class Order { zebra, swapped_layers, swapped_micro_batches, swapped_passes };
ASSAY_NAMES(Order, zebra, swapped_layers, swapped_micro_batches, swapped_passes)

struct Fig5 {
    Stages stages{};
    int layers = 0, micro_batches = 0;
    Order order{};
};

// The units are nanoseconds; only their ratios matter.
TrainingProfile profile_of(const Fig5& fig5) {
    TrainingProfile profile;
    profile.layers = fig5.layers;
    profile.experts = 1;
    profile.new_kind.gpus = profile.old_kind.gpus = 1;
    const bool longer = fig5.stages == Stages::attention_longer;
    profile.new_kind.attention = longer ? 4 : 3;
    profile.new_kind.head = fig5.stages == Stages::equal ? 3 : 0;
    profile.old_kind.expert = longer ? 2 : 4;
    return profile;
}

// Which of the paper's cases two neighbours of a queue are.
Order swap_of(const Task& a, const Task& b) {
    if (a.layer != b.layer) return Order::swapped_layers;
    return a.kind == b.kind ? Order::swapped_micro_batches : Order::swapped_passes;
}

struct Swaps {
    int shorter = 0, equal = 0, longer = 0;
    Ticks shortest = 0, longest = 0;
};

Swaps swaps_of(Order order, const TaskTimes& times, const StepShape& step) {
    const Ticks zebra = zebra_makespan(times, step);
    const QueueOrders orders = zebra_orders(step);
    Swaps swaps;
    std::optional<Ticks> shortest, longest;
    for (const Queue queue : {Queue::attention, Queue::expert}) {
        const auto q = static_cast<std::size_t>(queue);
        for (std::size_t i = 0; i + 1 < orders[q].size(); ++i) {
            const Task &a = orders[q][i], &b = orders[q][i + 1];
            // Of one micro-batch the order is given.
            if (swap_of(a, b) != order || a.micro_batch == b.micro_batch) continue;
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

void run(const Fig5& fig5, Recorder& recorder) {
    const std::vector<int> offload(static_cast<std::size_t>(fig5.layers), 0);
    const StepShape step{.micro_batches = fig5.micro_batches, .offload = offload};
    const TaskTimes times = task_times(profile_of(fig5), {1, 1}, Fraction(2), fig5.micro_batches);
    const Swaps swaps = swaps_of(fig5.order, times, step);
    const Ticks zebra = zebra_makespan(times, step);
    recorder.metric("shortest", Fraction(swaps.shortest, zebra).value());
    recorder.metric("longest", Fraction(swaps.longest, zebra).value());
    recorder.metric("swaps", swaps.shorter, {{"outcome", std::string("shorter")}});
    recorder.metric("swaps", swaps.equal, {{"outcome", std::string("equal")}});
    recorder.metric("swaps", swaps.longer, {{"outcome", std::string("longer")}});
}

}  // namespace

Experiment fig5() {
    Declaration<Fig5> fig5(
        {.id = "hetermoe/fig5",
         .title = "Theorem 1's order with neighbours swapped",
         .source = "arXiv 2504.03871v1, section 4.1, Fig. 5",
         .says =
             "The paper draws its order (a), one with tasks of two layers swapped (b) and one with "
             "two micro-batches swapped (c), and proves by such swaps that its order is optimal. "
             "Here every pair of neighbours of the attention and of the expert GPU changes places, "
             "one pair at a time, transfers follow what produces them, and the step is compared "
             "with the paper's order: zebra. swapped_passes are neighbours of one layer of which "
             "one runs forward, one backward. Backward takes twice as long as forward, "
             "communication no time. stages: equal (attention 3, last stage 3, experts 4), "
             "free_head (the last stage takes no time), attention_longer (attention 4, experts 2, "
             "free last stage). No swap is shorter in any of them, as the proof argues; that "
             "several changes at once can be shorter is seen in x_order.",
         .metrics = {{"shortest", "ratio", "shortest step of any swap over Theorem 1's",
                      Direction::lower, true},
                     {"longest", "ratio", "longest step of any swap over Theorem 1's",
                      Direction::lower, true},
                     {"swaps",
                      "count",
                      "pairs of neighbours by what swapping them does to the step",
                      Direction::none,
                      true,
                      {"outcome"}}},
         .profiles = exact_profiles(0.05),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "longest",
                    .x = "layers",
                    .panels = {"stages", "micro_batches"},
                    .x_title = "layers",
                    .y_title = "longest step over Theorem 1's"}});
    fig5.axis("stages", &Fig5::stages, "what tasks take");
    fig5.axis("layers", &Fig5::layers, "with experts", {1, 2, 3, 4});
    fig5.axis("micro_batches", &Fig5::micro_batches, "of a step", {2, 3, 4});
    fig5.variants(&Fig5::order);
    return fig5.runs(run);
}

}  // namespace assay::hetermoe
