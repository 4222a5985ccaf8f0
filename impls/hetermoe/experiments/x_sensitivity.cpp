// Where splitting pays and where it loses: experts of a token, the network, micro-batches.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {

Experiment x_sensitivity() {
    const auto whole = [](std::initializer_list<std::int64_t> numbers) {
        return std::vector<Value>(numbers.begin(), numbers.end());
    };
    return paper_experiment(
        {.id = "hetermoe/x_sensitivity",
         .title = "Where splitting pays",
         .source = "our own; the paper varies neither",
         .says = "D1 on O1 with other numbers of experts for a token, other networks and other "
                 "numbers of micro-batches.",
         .axes = {{"top_k", "experts of a token", whole({1, 2, 4, 8}), true},
                  {"gbps", "of a GPU's link, Gbit/s", whole({10, 25, 50, 100, 200, 400}), true},
                  {"batch", "sequences of a step for each new GPU: most micro-batches",
                   whole({1, 2, 4, 8, 16}), true},
                  sequence_axis(whole({8, 32}))},
         .variants = {"hetermoe", "ep", "ep_ideal", "dist_ep"},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "gbps",
                    .panels = {"top_k", "batch", "sequence"},
                    .x_title = "Gbit/s of a GPU",
                    .y_title = "tokens per second"},
         .point =
             [](const SampleSpec& spec) {
                 Point point = panel_point("d1-o1");
                 point.model.top_k = static_cast<int>(integer_axis(spec, "top_k", 1, 24));
                 const double gbps = number_axis(spec, "gbps");
                 if (!(gbps >= 1e-3 && gbps <= 1e6))
                     throw UserError("gbps: give a number from 0.001 to 1000000");
                 point.network.link_bandwidth = {
                     .value = gbps / 8 * 1e9, .kind = "assumed", .source = "axis gbps"};
                 return point;
             },
         .sheet_only = true});
}

}  // namespace assay::hetermoe
