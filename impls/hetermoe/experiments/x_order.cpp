// Our own addition: is Theorem 1's order the shortest of all?
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "impls/hetermoe/experiments/every_order.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

struct Instance {
    int attention = 0, expert = 0, backward = 0;
    Ticks zebra = 0, shortest = 0;
};

Instance solved(const SampleSpec& spec, int attention, int expert, int backward) {
    const std::string head = assay::to_string(spec.axes.at("head"));
    TrainingProfile profile;
    profile.layers = static_cast<int>(integer_axis(spec, "layers"));
    profile.experts = 1;
    profile.new_kind.attention = attention;
    profile.new_kind.head = head == "free" ? 0 : head == "half" ? attention / 2 : attention;
    profile.old_kind.expert = expert;
    profile.exchange = integer_axis(spec, "exchange");
    const int micro_batches = static_cast<int>(integer_axis(spec, "micro_batches"));
    const std::vector<int> offload(static_cast<std::size_t>(profile.layers), 0);
    const StepShape step{.micro_batches = micro_batches, .offload = offload};
    const TaskTimes times = task_times(profile, {1, 1}, Fraction(backward), micro_batches);
    return {attention, expert, backward, zebra_makespan(times, step), shortest_step(times, step)};
}

void run(const SampleSpec& spec, Recorder& recorder) {
    int optimal = 0, longer = 0;
    double worst = 1;
    std::vector<std::vector<Value>> rows;
    for (const int backward : {1, 2, 3}) {
        for (const int attention : {2, 4, 6, 8}) {
            for (const int expert : {2, 4, 6, 8}) {
                const Instance one = solved(spec, attention, expert, backward);
                ++(one.zebra == one.shortest ? optimal : longer);
                worst = std::max(worst, Fraction(one.zebra, one.shortest).value());
                rows.push_back({std::int64_t{attention}, std::int64_t{expert},
                                std::int64_t{backward}, static_cast<std::int64_t>(one.zebra),
                                static_cast<std::int64_t>(one.shortest)});
            }
        }
    }
    recorder.metric("instances", optimal, {{"outcome", std::string("optimal")}});
    recorder.metric("instances", longer, {{"outcome", std::string("longer")}});
    recorder.metric("worst_ratio", worst);
    const std::vector<TableColumn> columns{{"attention", "1"},
                                           {"expert", "1"},
                                           {"backward", "ratio"},
                                           {"theorem1", "1"},
                                           {"shortest", "1"}};
    recorder.table("steps", columns, rows);
}

}  // namespace

Experiment x_order() {
    Experiment experiment;
    experiment.id = "hetermoe/x_order";
    experiment.title = "Theorem 1's order against all orders";
    experiment.source = "our own; tests Theorem 1 of arXiv 2504.03871v1, section 4.1";
    experiment.says =
        "For attention and expert tasks of 2, 4, 6 and 8 and backward factors 1, 2 and 3 (48 "
        "instances per case) the shortest step over all orders of all four queues, found exactly "
        "by dynamic programming, against that of Theorem 1's order. The theorem assumes stages "
        "that take equally long. With a last stage that takes no time its order is often not "
        "the shortest: one layer, two micro-batches, attention 2, experts 1, backward twice "
        "forward takes 15, and 14 where the first micro-batch's experts run backward before the "
        "second one's run forward. With a last stage as long as attention it still fails, more "
        "rarely and by less: three layers, three micro-batches, attention 6, experts 8, backward "
        "as long as forward: 160 against 156.";
    experiment.axes = {
        {"head", "what the last stage takes", {"free", "half", "as_attention"}, false},
        {"layers", "with experts", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}, false},
        {"micro_batches", "of a step", {std::int64_t{2}, std::int64_t{3}}, false},
        {"exchange",
         "what a dispatch or combine takes",
         {std::int64_t{0}, std::int64_t{1}},
         false}};
    experiment.variants = {"zebra"};
    experiment.metrics = {
        {"instances",
         "count",
         "by whether Theorem 1's order is as short as any",
         Direction::none,
         true,
         {"outcome"}},
        {"worst_ratio", "ratio", "Theorem 1's step over the shortest, where it is longest",
         Direction::lower, true}};
    experiment.profiles = exact_profiles(0.5);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "worst_ratio",
                         .x = "layers",
                         .panels = {"head", "exchange"},
                         .x_title = "layers",
                         .y_title = "step over the shortest"};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::hetermoe
